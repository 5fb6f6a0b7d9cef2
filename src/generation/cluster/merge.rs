//! Exports merged into one directory in scratch files, and named.

use crate::catalogue::{Bulk, CatalogueBuildError, ScratchCatalogue, ScratchCatalogueBuilder, ScratchParts};
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
    pub(super) catalogue: ScratchCatalogue,
    pub(super) parts: ScratchParts,
    pub(super) scratch: Scratch,
}

impl MergedSet {
    /// Merges a set, with the operator's prefixes of ids. `progress` gets the exports done and their number.
    pub fn new(
        set: &ScratchSet,
        prefixes: &IdPrefixes,
        scratch: &Scratch,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Self, FillError> {
        let failed = |error: CatalogueBuildError| FillError::catalogue(error, scratch);
        let mut namer = Namer::new();
        let mut builder = ScratchCatalogueBuilder::new(scratch.clone()).map_err(failed)?;
        for (done, export) in (1..).zip(set.exports()) {
            let (export, document) = export.map_err(|error| scratch.error(error))?;
            namer.push(&export);
            builder.push(export, Bulk::File(document)).map_err(failed)?;
            progress(done, set.export_count() as u64);
        }
        let (catalogue, parts) = builder.finish().map_err(failed)?;
        let skipped = set.report.skipped;
        let generation = namer.finish().prefixed(prefixes).skipping(skipped);
        Ok(Self { generation, skipped, catalogue, parts, scratch: scratch.clone() })
    }

    /// Exports in memory, under this name.
    #[cfg(test)]
    pub(crate) fn of(mut exports: Vec<Export>, generation: Generation, scratch: &Scratch) -> Self {
        exports.sort_by(|a, b| a.id.cmp(&b.id));
        let mut builder = ScratchCatalogueBuilder::new(scratch.clone()).expect("a builder");
        for export in exports {
            let document = Bulk::Memory(export.document.clone());
            builder.push(export, document).expect("merged");
        }
        let (catalogue, parts) = builder.finish().expect("merged");
        Self { generation, skipped: Skipped::default(), catalogue, parts, scratch: scratch.clone() }
    }
}
