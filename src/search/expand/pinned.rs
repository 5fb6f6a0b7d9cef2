//! The products that are pinned to a query.

use super::Expander;
use super::slot::Slot;
use crate::search::plan::{Alternative, MatchKind, Term, TermLookup};

pub(super) fn alternative(term: &Term) -> Alternative {
    Alternative { kind: MatchKind::Pinned, term: term.clone(), weight: 1.0 }
}

impl<L: TermLookup> Expander<'_, L> {
    /// The terms of the products pinned to a query, given its words. Also adds those products to
    /// the report.
    pub(super) fn pinned<'w>(&mut self, words: impl Iterator<Item = &'w str> + Clone) -> Result<Vec<Term>, L::Error> {
        let mut terms = Vec::new();
        for (term, id) in self.index.pins.of(words) {
            if self.lookup.document_frequency(&term)? > 0 {
                self.report.pinned.push(id.to_owned());
                terms.push(term);
            }
        }
        Ok(terms)
    }

    /// Makes the pinned products alternatives in each slot. If none are pinned to the query as
    /// typed, uses the products pinned to the corrected query. Returns the ones used.
    pub(super) fn pin(
        &mut self,
        mut pinned: Vec<Term>,
        corrected: &[String],
        slots: &mut [Slot],
    ) -> Result<Vec<Term>, L::Error> {
        let is_corrected = corrected.iter().zip(&self.query.words).any(|(corrected, word)| *corrected != word.folded);
        if pinned.is_empty() && is_corrected {
            pinned = self.pinned(corrected.iter().map(String::as_str))?;
        }
        for slot in slots {
            let missing: Vec<_> =
                pinned.iter().map(alternative).filter(|pinned| !slot.alternatives.contains(pinned)).collect();
            slot.alternatives.extend(missing);
        }
        Ok(pinned)
    }
}
