//! The last look at the best candidates: what a score over unordered words can't see.

use super::SearchIndex;
use super::collect::{Candidate, Tier};
use super::expand::Expansion;
use super::field::Section;
use super::forward::{SECTION_END, VALUE_END};
use super::ranking::Ranking;
use crate::catalogue::Ordinal;

/// What a closer look multiplies a score by at most.
pub fn most(index: &SearchIndex, expansion: &Expansion) -> f32 {
    // A compound that is spelled as one word counts for both, so one spelling is enough for all of them.
    let can_be = |is: bool| if is { 1.0 } else { 0.0 };
    let most = Signals {
        spelling: can_be(expansion.slots.iter().any(|slot| slot.spelling.is_some())),
        proximity: can_be(expansion.slots.len() > 1),
    };
    most.factor(&index.ranking)
}

/// Looks closely at candidates, best first, as far as it takes: until no other one can come among the best `wanted`.
/// Afterwards these are in order.
pub fn rerank(index: &SearchIndex, expansion: &Expansion, best: &mut [Candidate], wanted: usize) {
    let most = most(index, expansion);
    let mut looked = 0;
    let mut order = Vec::with_capacity(best.len());
    while looked < best.len() {
        // What the next one comes to at most, and so all behind it: of equals it is the best.
        let next = Candidate { score: best[looked].score * most, ..best[looked] };
        if wanted <= looked && best[looked].tier != Tier::Title {
            order.clear();
            order.extend_from_slice(&best[..looked]);
            let (_, last, _) = order.select_nth_unstable_by(wanted.saturating_sub(1), |a, b| b.cmp(a));
            if *last > next {
                break;
            }
        }
        let end = best.len().min(looked + STEP);
        index.forward.fetch(best[looked..end].iter().map(|candidate| candidate.ordinal));
        for candidate in &mut best[looked..end] {
            let signals = look(index, expansion, candidate.ordinal);
            // Whole names are equals but for their spelling: quality decides between them.
            candidate.score = if candidate.tier == Tier::Title {
                signals.spelling
            } else {
                candidate.score * signals.factor(&index.ranking)
            };
        }
        looked = end;
    }
    best[..looked].sort_unstable_by(|a, b| b.cmp(a));
}

/// How many candidates are looked at before it is asked whether it takes more.
const STEP: usize = 16;

/// What a closer look at a document found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signals {
    /// The share of the query's words that the short fields have in the very spelling, 0 to 1.
    pub spelling: f32,
    /// The share of the query's neighbours that are neighbours there, 0 to 1.
    pub proximity: f32,
}

impl Signals {
    /// What a score is multiplied by.
    #[must_use]
    pub fn factor(self, ranking: &Ranking) -> f32 {
        1.0 + ranking.spelling * self.spelling + ranking.proximity * self.proximity
    }
}

/// Looks at a document's name and short fields.
fn look(index: &SearchIndex, expansion: &Expansion, ordinal: Ordinal) -> Signals {
    let slots = &expansion.slots;
    let mut spelled = 0_u32;
    let mut neighbours = 0_u32;
    let mut before = 0_u32;
    for word in index.forward.words_until(ordinal, Section::Summary) {
        let matched = if word == VALUE_END || word == SECTION_END {
            None
        } else {
            expansion.stems.of(index.lexicon.stem_of(word))
        };
        let Some(matched) = matched else {
            before = 0;
            continue;
        };
        let slot = matched.trailing_zeros() as usize;
        if slots.get(slot).is_some_and(|slot| slot.spelling == Some(word)) {
            spelled |= matched;
        }
        // Bit n: words n and n + 1 of the query are neighbours here, or one word that is both.
        neighbours |= (before | matched) & (matched >> 1);
        before = matched;
    }
    let count = |bits: u32| bits.count_ones() as usize;
    Signals {
        spelling: share(count(spelled), slots.len()),
        proximity: share(count(neighbours), slots.len().saturating_sub(1)),
    }
}

/// The share of a few words, 0 to 1; 0 where there are none.
fn share(found: usize, all: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "at most ten")]
    let (found, all) = (found as f32, all.max(1) as f32);
    found / all
}

/// The number of words of a document's shortest name or alias, at least 1.
#[must_use]
pub fn title_length(index: &SearchIndex, ordinal: Ordinal) -> f32 {
    let (mut least, mut words) = (u16::MAX, 0_u16);
    for word in index.forward.words_until(ordinal, Section::Title) {
        if word == VALUE_END {
            least = least.min(words);
            words = 0;
        } else {
            words = words.saturating_add(1);
        }
    }
    f32::from(least.clamp(1, 1000))
}
