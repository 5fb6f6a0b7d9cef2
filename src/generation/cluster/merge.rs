//! A directory that has been merged and named.

use crate::catalogue::Merged;
use crate::export::Skipped;
use crate::generation::{Generation, MeaningOption};

/// A directory that's ready to be written to a cluster.
#[derive(Debug)]
pub struct MergedSet {
    pub(crate) generation: Generation,
    pub(crate) skipped: Skipped,
    pub(crate) meaning: MeaningOption,
    pub(crate) merged: Merged,
}
