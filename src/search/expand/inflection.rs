//! Other forms of a query's words, in the languages of the directory besides English.

use super::Expander;
use super::slot::Slot;
use crate::search::Documents;
use crate::search::plan::{Alternative, Kind, Term};

impl<D: Documents> Expander<'_, D> {
    /// Adds the words that share a stem with the slot's word in any language: a query doesn't say which one it's in.
    pub(super) fn push_inflections(&self, slot: &mut Slot) {
        let (lexicon, weight) = (&self.index.lexicon, self.index.ranking.inflection);
        for language in lexicon.inflected() {
            for stem in lexicon.forms(*language, &language.stem(slot.word.spelling())) {
                let term = Term::Word(stem);
                if !slot.alternatives.iter().any(|alternative| alternative.term == term) {
                    slot.alternatives.push(Alternative { kind: Kind::Stem, term, weight });
                }
            }
        }
    }
}
