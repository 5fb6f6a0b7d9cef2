//! The products that are pinned to a query.

use super::Expander;
use super::slot::Slot;
use crate::search::plan::{Alternative, Documents, Kind, Term};

pub(super) fn alternative(term: &Term) -> Alternative {
    Alternative { kind: Kind::Pinned, term: term.clone(), weight: 1.0 }
}

impl<D: Documents> Expander<'_, D> {
    /// The terms of the products pinned to a query, given its words. Also adds those products to
    /// the report.
    pub(super) fn pinned<'w>(&mut self, words: impl Iterator<Item = &'w str> + Clone) -> Result<Vec<Term>, D::Error> {
        let mut terms = Vec::new();
        for (term, id) in self.index.pins.of(words) {
            if self.documents.document_frequency(&term)? > 0 {
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
    ) -> Result<Vec<Term>, D::Error> {
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
