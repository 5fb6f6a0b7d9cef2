//! Reranks the best hits by what the word score doesn't include: meaning, and how words are spelled.

use serde::Serialize;

use super::collect::{RankedHit, Tier};
use super::forward::Forward;
use super::lexicon::WordId;
use super::meaning::Meanings;
use super::plan::{Meaning, Signals};
use crate::catalogue::Ordinal;
use crate::record::Section;

/// The number of hits to rerank between checks of whether the page is complete.
const STEP: usize = 16;

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Shares {
    /// The share of the query's words that names and short fields spell exactly the same way, from
    /// 0 to 1.
    pub spelling: f32,
    /// How close the record is to the query in meaning, from 0 to 1.
    pub meaning: f32,
}

impl Meaning {
    /// Adds what the meaning is worth to the hits' scores. The scores of exact names, pinned products,
    /// related products and documents that come last with a score of 0 don't change.
    fn add(&self, meanings: &Meanings, best: &mut [RankedHit]) {
        meanings.fetch(best.iter().map(|hit| hit.ordinal));
        for hit in best.iter_mut() {
            let comes_last = hit.score == 0.0;
            if hit.tier < Tier::Pinned && !hit.tier.is_related() && !comes_last {
                hit.score += self.worth(hit.score, meanings.likeness(&self.reference, hit.ordinal));
            }
        }
    }

    /// What a document's meaning adds to its score: a share of the distance between the score and
    /// the bound.
    pub fn worth(&self, score: f32, likeness: f32) -> f32 {
        self.weight * (self.bound - score).max(0.0) * likeness
    }
}

impl Signals {
    pub fn factor(&self, shares: Shares) -> f32 {
        1.0 + self.spelling * shares.spelling
    }

    /// Puts hits into their final order. Only the first `wanted` positions are sure
    /// to be final.
    pub fn rerank(&self, forward: &Forward, meanings: &Meanings, best: &mut [RankedHit], wanted: usize) {
        if let Some(meaning) = &self.meaning {
            meaning.add(meanings, best);
        }
        best.sort_unstable_by(|a, b| b.cmp(a));
        // A compound spelled as one word counts as a spelling of both words, so a single spelling can
        // be enough for all words.
        let spelling = if self.spellings.iter().any(Option::is_some) { 1.0 } else { 0.0 };
        let upper_bound = self.factor(Shares { spelling, ..Shares::default() });
        let mut reranked = 0;
        let mut order = Vec::with_capacity(best.len());
        while reranked < best.len() {
            // This is an upper bound for the next hit, and so for all that follow, because
            // tied hits are sorted from best to worst.
            let next = RankedHit { score: best[reranked].score * upper_bound, ..best[reranked] };
            if reranked >= wanted.max(1) && best[reranked].tier < Tier::Pinned {
                order.clear();
                order.extend_from_slice(&best[..reranked]);
                let (_, last, _) = order.select_nth_unstable_by(wanted.max(1) - 1, |a, b| b.cmp(a));
                if *last > next {
                    break;
                }
            }
            let end = best.len().min(reranked + STEP);
            forward.fetch(best[reranked..end].iter().map(|hit| hit.ordinal));
            for hit in &mut best[reranked..end] {
                let spelling = self.share_spelled(forward, hit.ordinal);
                hit.score = match hit.tier {
                    // Exact names are ranked by spelling, and equally spelled ones by quality.
                    Tier::ExactName => spelling,
                    Tier::Pinned | Tier::Related | Tier::RelatedDemo => hit.score,
                    _ => hit.score * self.factor(Shares { spelling, ..Shares::default() }),
                };
            }
            reranked = end;
        }
        best[..reranked].sort_unstable_by(|a, b| b.cmp(a));
    }

    /// A document's signals.
    pub fn shares(&self, forward: &Forward, meanings: &Meanings, ordinal: Ordinal) -> Shares {
        let meaning = self.meaning.as_ref().map_or(0.0, |of| meanings.likeness(&of.reference, ordinal));
        Shares { spelling: self.share_spelled(forward, ordinal), meaning }
    }

    fn share_spelled(&self, forward: &Forward, ordinal: Ordinal) -> f32 {
        let mut spelled = 0_u32;
        let is_spelling = |word: &WordId| self.spellings.contains(&Some(*word));
        for word in forward.words_until(ordinal, Section::Summary).filter(is_spelling) {
            let Some(matched) = self.stems.of(forward.stem_of(word)) else { continue };
            let slot = matched.trailing_zeros() as usize;
            if self.spellings.get(slot).is_some_and(|spelling| *spelling == Some(word)) {
                spelled |= matched;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most thirty")]
        let (spelled, all) = (spelled.count_ones() as f32, self.spellings.len().max(1) as f32);
        spelled / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::meaning::reference;

    #[test]
    fn meaning_counts_less_the_higher_the_word_score() {
        let reference = reference(["photography"].into_iter()).expect("a direction");
        let meaning = Meaning { reference, weight: 0.5, bound: 10.0 };
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
