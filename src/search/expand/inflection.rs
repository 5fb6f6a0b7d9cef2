//! Finds other forms of a query's words, and compounds that contain them, in the directory's
//! languages other than English.

use super::Expander;
use super::slot::Slot;
use crate::search::TermLookup;
use crate::search::lexicon::Relation;
use crate::search::plan::{Alternative, MatchKind, Term};

/// The maximum number of words that a stem expands to. Words from the best records come first.
const MOST_WORDS: usize = 50;

impl<L: TermLookup> Expander<'_, L> {
    /// Adds the words that share a stem with the slot's word in any language, and the compounds
    /// that contain it, because a query doesn't say which language it's in.
    pub(super) fn push_inflections(&self, slot: &mut Slot) {
        let (lexicon, ranking) = (&self.index.lexicon, &self.index.ranking);
        for language in lexicon.inflected() {
            let stem = language.stem(slot.word.spelling());
            for (relation, kind, weight) in [
                (Relation::Form, MatchKind::Stem, ranking.inflection),
                (Relation::Compound, MatchKind::Inner, ranking.in_compound),
            ] {
                for word in lexicon.related(relation, *language, &stem).into_iter().take(MOST_WORDS) {
                    let term = Term::Word(word);
                    if !slot.alternatives.iter().any(|alternative| alternative.term == term) {
                        slot.alternatives.push(Alternative { kind, term, weight });
                    }
                }
            }
        }
    }
}
