//! The reranking signals as filters: spelling and proximity, with their shares.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::clauses::{any, in_a_row};
use super::statistics::Statistics;
use crate::search::{Signals, StemId};

/// Maximum number of stems per query word used to find neighbours. OpenSearch rejects queries with
/// more than 1,024 clauses. Only very short prefixes have more stems, and proximity adds little to
/// the score.
const MAX_NEIGHBOURS: usize = 64;

/// For each word of the query, a filter for documents that spell the word the same way, with its
/// share.
pub(super) fn spelling_shares(signals: &Signals, statistics: &impl Statistics) -> Vec<(Value, f32)> {
    let mut by_word: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (slot, spelling) in signals.spellings.iter().enumerate() {
        let Some(spelling) = *spelling else { continue };
        // A compound that stands for several words counts as a spelling of each of them.
        let Some(mask) = signals.stems.of(statistics.stem_of(spelling)) else { continue };
        if mask.trailing_zeros() as usize == slot {
            for word in bits(mask) {
                by_word.entry(word).or_default().push(format!("{spelling:x}"));
            }
        }
    }
    let share = share_of(signals.spellings.len());
    by_word.into_values().map(|spellings| (json!({"terms": {"short": spellings}}), share)).collect()
}

/// For each pair of neighbouring words in the query, a filter for documents in which the two words
/// are next to each other, with the pair's share.
pub(super) fn neighbour_shares(signals: &Signals) -> Vec<(Value, f32)> {
    let words = signals.spellings.len();
    let mut stems: Vec<(StemId, u32)> = signals.stems.iter().collect();
    stems.sort_unstable();
    let with = |mask: u32| {
        let stems = stems.iter().filter(move |(_, of)| of & mask == mask).map(|(stem, _)| *stem);
        stems.take(MAX_NEIGHBOURS).collect::<Vec<_>>()
    };
    let share = share_of(words.saturating_sub(1));
    let mut shares = Vec::new();
    for first in 0..words.saturating_sub(1) {
        let (one, other) = (1 << first, 1 << (first + 1));
        let (ones, others, both) = (with(one), with(other), with(one | other));
        let mut ways = Vec::new();
        if !ones.is_empty() && !others.is_empty() {
            ways.push(in_a_row("near", &[ones, others]));
        }
        if !both.is_empty() {
            let both: Vec<_> = both.iter().map(|stem| format!("{stem:x}")).collect();
            ways.push(json!({"terms": {"near": both}}));
        }
        if !ways.is_empty() {
            shares.push((any(ways), share));
        }
    }
    shares
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |bit| mask & (1 << bit) != 0)
}

fn share_of(words: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "at most thirty")]
    let words = words.max(1) as f32;
    1.0 / words
}
