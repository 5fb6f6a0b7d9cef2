//! Statistics of a generation, which the clauses of a query are weighted by.

use crate::search::{Group, StemId, Term};

/// The statistics that a query needs besides the plan.
pub(super) trait Statistics {
    /// The factor of a group's scores.
    fn scale(&self, group: &Group) -> f32;

    /// The number of documents with a term.
    fn frequency(&self, term: &Term) -> u32;

    /// The stem of a spelling.
    fn stem_of(&self, word: u32) -> StemId;
}
