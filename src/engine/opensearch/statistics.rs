//! The statistics that weight a query's clauses.

use crate::search::{Group, StemId, Term};

pub(super) trait Statistics {
    /// The factor by which all of a group's scores are multiplied.
    fn scale(&self, group: &Group) -> f32;

    fn frequency(&self, term: &Term) -> u32;

    fn stem_of(&self, word: u32) -> StemId;
}
