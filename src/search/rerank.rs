//! Reranks the best hits by what the word score doesn't include: meaning, and how words are spelled.

use serde::Serialize;

use super::collect::{RankedHit, Tier};
use super::forward::{Forward, VALUE_END, until};
use super::lexicon::{FIRST_WORD, WordId};
use super::meaning::Meanings;
use super::plan::{Meaning, Rerank, Signals};
use crate::catalogue::Ordinal;
use crate::record::Section;

/// The number of hits to rerank between checks of whether the page is complete.
const STEP: usize = 16;

/// How many hits to compare by meaning. With twice as many, the judged queries' mean score
/// would improve by 0.0001.
pub const MEANT: usize = 50;

/// Similarities are rounded to this many steps. That way, products with the same word score can
/// tie, and are then sorted by quality.
const LIKENESS_STEPS: f32 = 8.0;

impl Rerank {
    /// Upper bound on the factor that a score is multiplied by.
    fn upper_bound(&self) -> f32 {
        match self {
            Self::None | Self::ShortestName => 1.0,
            Self::Signals(signals) => {
                // A compound spelled as one word counts as a spelling of both words, so a single
                // spelling can be enough for all words.
                let spelling = if signals.spellings.iter().any(Option::is_some) { 1.0 } else { 0.0 };
                signals.factor(Shares { spelling, ..Shares::default() })
            }
        }
    }

    /// A document's signals; zero if the rerank uses none.
    pub fn shares(&self, forward: &Forward, meanings: &Meanings, ordinal: Ordinal) -> Shares {
        match self {
            Self::Signals(signals) => Shares {
                meaning: signals.meaning.as_ref().map_or(0.0, |of| meanings.likeness(&of.reference, ordinal)),
                ..signals.shares(forward, ordinal)
            },
            Self::None | Self::ShortestName => Shares::default(),
        }
    }

    pub fn factor(&self, shares: Shares) -> f32 {
        match self {
            Self::Signals(signals) => signals.factor(shares),
            Self::None | Self::ShortestName => 1.0,
        }
    }

    /// Puts hits, sorted by score, into their final order. Only the first `wanted` positions
    /// are sure to be final.
    pub fn rerank(&self, forward: &Forward, meanings: &Meanings, best: &mut [RankedHit], wanted: usize) {
        match self {
            Self::None => {}
            Self::Signals(signals) => {
                if let Some(meaning) = &signals.meaning {
                    meaning.add(meanings, best);
                }
                signals.rerank(forward, best, wanted, self.upper_bound());
            }
            Self::ShortestName => {
                for hit in best.iter_mut() {
                    hit.score /= name_length(forward.words(hit.ordinal));
                }
                best.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Shares {
    /// The share of the query's words that names and short fields spell exactly the same way, from
    /// 0 to 1.
    pub spelling: f32,
    /// How close the record is to the query in meaning, from 0 to 1.
    pub meaning: f32,
}

impl Meaning {
    /// Adds what the meaning is worth to the hits' scores and sorts them again. The
    /// scores of exact names, pinned products, related products and documents that come last with a
    /// score of 0 don't change.
    fn add(&self, meanings: &Meanings, best: &mut [RankedHit]) {
        // Scores only increase, so the hits after these stay where they are.
        let count = best.len().min(MEANT);
        let best = &mut best[..count];
        meanings.fetch(best.iter().map(|hit| hit.ordinal));
        for hit in best.iter_mut() {
            let comes_last = hit.score == 0.0;
            if hit.tier < Tier::Pinned && !hit.tier.is_related() && !comes_last {
                hit.score += self.worth(hit.score, meanings.likeness(&self.reference, hit.ordinal));
            }
        }
        best.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// What a document's meaning adds to its score: a share of the distance between the score and
    /// the bound. The closer the score is to the bound, the smaller the share, because the words
    /// are then a better match.
    pub fn worth(&self, score: f32, likeness: f32) -> f32 {
        let decided = (score / self.bound).min(1.0).powi(2);
        let likeness = (likeness * LIKENESS_STEPS).round() / LIKENESS_STEPS;
        self.weight * (1.0 - decided) * (self.bound - score).max(0.0) * likeness
    }
}

impl Signals {
    pub fn factor(&self, shares: Shares) -> f32 {
        1.0 + self.spelling * shares.spelling
    }

    /// Reranks hits until none of the remaining ones can be among the best `wanted`.
    fn rerank(&self, forward: &Forward, best: &mut [RankedHit], wanted: usize, upper_bound: f32) {
        let mut reranked = 0;
        let mut order = Vec::with_capacity(best.len());
        while reranked < best.len() {
            // This is an upper bound for the next hit, and so for all that follow, because
            // tied hits are sorted from best to worst.
            let next = RankedHit { score: best[reranked].score * upper_bound, ..best[reranked] };
            if wanted <= reranked && best[reranked].tier < Tier::Pinned {
                order.clear();
                order.extend_from_slice(&best[..reranked]);
                let (_, last, _) = order.select_nth_unstable_by(wanted.saturating_sub(1), |a, b| b.cmp(a));
                if *last > next {
                    break;
                }
            }
            let end = best.len().min(reranked + STEP);
            forward.fetch(best[reranked..end].iter().map(|hit| hit.ordinal));
            for hit in &mut best[reranked..end] {
                let shares = self.shares(forward, hit.ordinal);
                hit.score = match hit.tier {
                    // Exact names are ranked by spelling, and equally spelled ones by quality.
                    Tier::ExactName => shares.spelling,
                    Tier::Pinned | Tier::Related | Tier::RelatedDemo => hit.score,
                    _ => hit.score * self.factor(shares),
                };
            }
            reranked = end;
        }
        best[..reranked].sort_unstable_by(|a, b| b.cmp(a));
    }

    pub fn shares(&self, forward: &Forward, ordinal: Ordinal) -> Shares {
        let mut spelled = 0_u32;
        for word in forward.words_until(ordinal, Section::Summary).filter(|word| *word >= FIRST_WORD) {
            let Some(matched) = self.stems.of(forward.stem_of(word)) else { continue };
            let slot = matched.trailing_zeros() as usize;
            if self.spellings.get(slot).is_some_and(|spelling| *spelling == Some(word)) {
                spelled |= matched;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most thirty")]
        let (spelled, all) = (spelled.count_ones() as f32, self.spellings.len().max(1) as f32);
        Shares { spelling: spelled / all, meaning: 0.0 }
    }
}

/// The word count of a document's shortest name or alias, never less than 1.
pub fn name_length(document: impl Iterator<Item = WordId>) -> f32 {
    let (mut shortest, mut words) = (u16::MAX, 0_u16);
    for word in until(document, Section::Name) {
        if word == VALUE_END {
            shortest = shortest.min(words);
            words = 0;
        } else {
            words = words.saturating_add(1);
        }
    }
    f32::from(shortest.clamp(1, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::meaning::reference;

    #[test]
    fn meaning_counts_less_the_higher_the_word_score() {
        let reference = reference(["photography"].into_iter()).expect("a direction");
        let meaning = Meaning { reference, weight: 0.5, bound: 10.0 };
        // All words are in the name, so meaning hardly counts.
        assert!(meaning.worth(9.5, 1.0) < 0.05);
        assert!(meaning.worth(9.0, 1.0) < meaning.worth(4.0, 1.0) / 4.0);
        assert_eq!(meaning.worth(4.0, 0.0).to_bits(), 0.0_f32.to_bits());
        let mut before = 0.0;
        for score in [0.0, 1.0, 2.0, 4.0, 6.0, 9.0, 10.0] {
            let (less, more) = (meaning.worth(score, 0.3), meaning.worth(score, 1.0));
            assert!(0.0 <= less && less <= more && score + more <= meaning.bound, "{score}: {less} {more}");
            // Of two products with the same meaning, the one with the better score stays first.
            assert!(before < score + more, "{score}: {before} {more}");
            before = score + more;
        }
    }
}
