//! Builds the parts of a generation out of validated exports.

use std::ops::ControlFlow;
use std::path::Path;

use bytes::Bytes;

use super::artifact::{Artifact, DOWNLOADS, ENGINE, SEARCH, TABLES, TEXTS};
use crate::catalogue::{CatalogueBuildError, CatalogueBuilder};
use crate::engine::{EngineError, TantivyBuilder};
use crate::export::Export;
use crate::search::SearchBuilder;
use crate::search::lexicon::LexiconError;
use crate::snapshot::failpoint::{Step, pass};

/// Why a generation can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The records can't be laid out.
    #[error("the records can't be laid out")]
    Catalogue(#[from] CatalogueBuildError),
    /// The words can't be indexed.
    #[error("the words can't be indexed")]
    Words(#[from] LexiconError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The search side can't be encoded.
    #[error("the search tables can't be encoded")]
    Encode(#[from] postcard::Error),
    /// Whoever is told of the progress asked to stop.
    #[error("building was stopped")]
    Stopped,
}

/// Builds the parts of a generation. `progress` is told the products indexed so far and their number, and may stop it. With a folder for scratch files, less is held in
/// memory.
///
/// # Errors
/// Where a part can't be built, or it is stopped.
pub fn build(
    exports: Vec<Export>,
    scratch: Option<&Path>,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Artifact, BuildError> {
    let mut records = CatalogueBuilder::new(exports, scratch)?;
    let mut search = SearchBuilder::new(records.synonyms());
    let mut engine = TantivyBuilder::new()?;
    let count = records.software_count() as u64;
    pass(Step::BuildBegun);
    for (done, product) in (1..).zip(records.software()) {
        pass(Step::BuildProduct);
        let (software, categories) = product?;
        engine.push(search.push(&software, categories))?;
        if progress(done, count).is_break() {
            return Err(BuildError::Stopped);
        }
    }
    pass(Step::BuildFinish);
    let mut parts = vec![(SEARCH.to_owned(), Bytes::from(search.finish()?.encode()?))];
    parts.extend(engine.finish()?.into_iter().map(|(name, content)| (format!("{ENGINE}{name}"), content)));
    // Last, so that the answers aren't in memory beside what indexing needs.
    let catalogue = records.finish()?;
    let catalogue = [(TABLES, catalogue.tables), (TEXTS, catalogue.arena), (DOWNLOADS, catalogue.downloads)];
    parts.extend(catalogue.map(|(name, content)| (name.to_owned(), Bytes::from(content))));
    pass(Step::BuildOpen);
    Ok(Artifact { parts, downloads: None })
}
