//! Exports merged into one directory and named.

use crate::catalogue::{Merged, Merger};
#[cfg(test)]
use crate::export::Export;
use crate::export::{IdPrefixes, ScratchSet, Skipped};
use crate::generation::Generation;
use crate::generation::cluster::FillError;
use crate::generation::name::Namer;
use crate::scratch::Scratch;

/// A directory that is ready to be filled into a cluster.
#[derive(Debug)]
pub struct MergedSet {
    pub(super) generation: Generation,
    pub(super) skipped: Skipped,
    pub(super) merged: Merged,
}

impl MergedSet {
    /// Merges a set, with the operator's prefixes of ids. `progress` gets the exports done and their number.
    pub fn new(
        set: &ScratchSet,
        prefixes: &IdPrefixes,
        scratch: &Scratch,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Self, FillError> {
        let failed = |error| FillError::build(error, scratch);
        let mut namer = Namer::new();
        let mut merger = Merger::new(scratch).map_err(|error| failed(error.into()))?;
        for (done, export) in (1..).zip(set.exports()) {
            let export = export.map_err(|error| scratch.error(error))?;
            namer.push(&export);
            merger.push(export).map_err(|error| failed(error.into()))?;
            progress(done, set.export_count() as u64);
        }
        let skipped = set.report.skipped;
        let generation = namer.finish().prefixed(prefixes).skipping(skipped);
        Ok(Self { generation, skipped, merged: merger.finish().map_err(|error| failed(error.into()))? })
    }

    /// Exports in memory, under this name.
    #[cfg(test)]
    pub(crate) fn of(exports: Vec<Export>, generation: Generation, scratch: &Scratch) -> Self {
        let merged = Merged::of(exports, scratch).expect("merged");
        Self { generation, skipped: Skipped::default(), merged }
    }
}
