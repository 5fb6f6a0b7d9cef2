//! Slots: a query's words, with the terms that match each of them.

use crate::search::lexicon::{StemId, WordId};
use crate::search::plan::{Alternative, Term, WordGroup};
use crate::text::analyse::{Word, is_conjunction};
use crate::text::english;

#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub word: Word,
    pub alternatives: Vec<Alternative>,
    /// Whether a product must match this slot to count as having all the words.
    pub required: bool,
    pub in_phrase: bool,
    /// The word as spelled in the query, if it's in the lexicon.
    pub spelling: Option<WordId>,
    /// The letters that were typed, if the word is a prefix.
    pub prefix: Option<String>,
    /// The highest document frequency among the alternatives.
    pub document_frequency: u32,
    /// The stems of the name's other words, if the slot stands for a whole name.
    pub others: Vec<StemId>,
}

impl Slot {
    pub(super) fn finds(&self) -> bool {
        !self.alternatives.is_empty()
    }

    pub(super) fn is_function_word(&self) -> bool {
        english::is_function_word(&self.word.folded)
    }

    /// Whether a product doesn't need to have the word.
    pub(super) fn is_optional(&self) -> bool {
        self.is_function_word() || is_conjunction(&self.word.folded)
    }

    /// The stems that match the slot, with their weights.
    pub(super) fn stems(&self) -> impl Iterator<Item = (StemId, f32)> + '_ {
        let alternatives = self.alternatives.iter().filter_map(|alternative| match alternative.term {
            Term::Word(stem) => Some((stem, alternative.weight)),
            _ => None,
        });
        alternatives.chain(self.others.iter().map(|stem| (*stem, 0.0)))
    }

    pub(super) fn group(&self) -> WordGroup {
        WordGroup { alternatives: self.alternatives.clone(), required: self.required, indispensable: self.in_phrase }
    }
}
