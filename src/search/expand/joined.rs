//! Finds query words that may be written as one word.

use std::ops::Range;

use super::Expander;
use crate::search::TermLookup;
use crate::search::lexicon::WordId;
use crate::text::analyse::{Gap, compound, is_conjunction};

/// A query of up to this many words may be a name that has several parts, so more than two words
/// may be joined.
const JOINED_WITHIN: usize = 6;

/// The maximum number of query words that are joined into one.
const MOST_JOINED: usize = 4;

impl<L: TermLookup> Expander<'_, L> {
    /// The words in the lexicon that consist of several neighbouring query words, each with its
    /// range of query words. A conjunction between two words may be omitted: `r and d` is `rd`.
    pub(super) fn joined(&self) -> Vec<(Range<usize>, WordId)> {
        let words = &self.query.words;
        let most = if words.len() <= JOINED_WITHIN { MOST_JOINED } else { 2 };
        let mut found = Vec::new();
        for start in 0..words.len() {
            let mut joined = words[start].folded.clone();
            for (at, word) in words.iter().enumerate().skip(start + 1).take(most - 1) {
                if !matches!(word.gap, Gap::Joined | Gap::Space) {
                    break;
                }
                if at == start + 1
                    && is_conjunction(&word.folded)
                    && let Some(behind) = words.get(at + 1)
                {
                    let around = self.index.lexicon.word(&compound(&words[start], behind));
                    found.extend(around.map(|around| (start..at + 2, around)));
                }
                joined.push_str(&word.folded);
                found.extend(self.index.lexicon.word(&joined).map(|joined| (start..at + 1, joined)));
            }
        }
        found
    }
}
