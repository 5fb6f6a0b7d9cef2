//! A word of a query and the terms that match it.

use crate::search::lexicon::{StemId, WordId};
use crate::search::plan::{Alternative, Group, Term};
use crate::text::analyse::Word;
use crate::text::english;

/// A word of the query with its alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub word: Word,
    /// The terms that match it.
    pub alternatives: Vec<Alternative>,
    /// Whether a product must have it to have all words.
    pub required: bool,
    /// Whether it is a word of a phrase.
    pub in_phrase: bool,
    /// The word as spelled in the query, where the lexicon has it.
    pub spelling: Option<WordId>,
    /// The letters it begins with, where it is a prefix.
    pub prefix: Option<String>,
    /// In how many products the most frequent alternative occurs.
    pub document_frequency: u32,
    /// The stems of the other words of a name that it stands for.
    pub others: Vec<StemId>,
}

impl Slot {
    pub(super) fn finds(&self) -> bool {
        !self.alternatives.is_empty()
    }

    pub(super) fn is_function_word(&self) -> bool {
        english::is_function_word(&self.word.folded)
    }

    /// The stems that stand for it, with their weights.
    pub(super) fn stems(&self) -> impl Iterator<Item = (StemId, f32)> + '_ {
        let alternatives = self.alternatives.iter().filter_map(|alternative| match alternative.term {
            Term::Word(stem) => Some((stem, alternative.weight)),
            _ => None,
        });
        alternatives.chain(self.others.iter().map(|stem| (*stem, 0.0)))
    }

    pub(super) fn group(&self) -> Group {
        Group { alternatives: self.alternatives.clone(), required: self.required, indispensable: self.in_phrase }
    }
}
