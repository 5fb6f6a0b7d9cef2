//! An opened generation: what requests are answered from.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::artifact::{self, Artifact};
use super::build::{BuildError, Processors, build};
use super::log::ChangeLog;
use super::name::Generation;
use crate::catalogue::{Bulk, Catalogue, CatalogueError, Records};
use crate::engine::{Engine, EngineError, TantivyEngine, TantivyIndex};
use crate::export::{Export, ExportSet, Skipped};
use crate::scratch::Scratch;
use crate::search::headings::HeadingIndex;
use crate::search::{Ranking, SearchIndex, SearchIndexError};

/// One immutable generation of the directory. A request takes the current one once and uses nothing else.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) generation: Generation,
    pub(crate) skipped: Skipped,
    /// Categories, glossary and exports.
    pub catalogue: Arc<Catalogue>,
    /// The products, which the service reads through the engine.
    pub(crate) records: Arc<Records>,
    /// The changes since the generations before it.
    pub changes: ChangeLog,
    /// The words.
    pub search: SearchIndex,
    pub engine: Box<dyn Engine>,
    /// The glossary, to search in.
    pub glossary: HeadingIndex,
    /// The categories, to search in.
    pub categories: HeadingIndex,
}

/// Why a generation can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It can't be built to begin with.
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("the generation has no part `{0}`")]
    Missing(&'static str),
    /// The catalogue is damaged.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("the log of changes can't be decoded")]
    Changes(#[source] postcard::Error),
    /// The search side is damaged.
    #[error(transparent)]
    Search(#[from] SearchIndexError),
    /// The engine's index is damaged.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Snapshot {
    /// Opens a generation from its parts.
    pub fn open(generation: Generation, artifact: Artifact) -> Result<Arc<Self>, OpenError> {
        Self::open_ranked(generation, artifact, Ranking::default())
    }

    /// Opens a generation of the valid part of a set.
    pub fn open_skipping(generation: Generation, artifact: Artifact, skipped: Skipped) -> Result<Arc<Self>, OpenError> {
        Ok(Arc::new(Self { skipped, ..Self::open_parts(generation, artifact, Ranking::default())? }))
    }

    /// Opens a generation with other weights than the service's, to measure what they are worth.
    pub fn open_ranked(generation: Generation, artifact: Artifact, ranking: Ranking) -> Result<Arc<Self>, OpenError> {
        Self::open_parts(generation, artifact, ranking).map(Arc::new)
    }

    fn open_parts(generation: Generation, mut artifact: Artifact, ranking: Ranking) -> Result<Self, OpenError> {
        // First, so that what is decoded afterwards takes the memory of the files, which are copied.
        let index = TantivyIndex::load(artifact.take_prefixed(artifact::ENGINE))?;
        let (catalogue, records) = open_catalogue(&mut artifact)?;
        let (catalogue, records) = (Arc::new(catalogue), Arc::new(records));
        // Neither read here nor kept: it is for the next build.
        drop(artifact.take(artifact::VERSIONS));
        let changes = artifact.take(artifact::CHANGES).map(|part| ChangeLog::decode(&part)).transpose();
        let changes = changes.map_err(OpenError::Changes)?.unwrap_or_default();
        let mut take = |name: &'static str| artifact.take(name).ok_or(OpenError::Missing(name));
        let (search, scorer, forward) = SearchIndex::open(&take(artifact::SEARCH)?, records.len(), ranking)?;
        let (of_engine, its_records) = (Arc::clone(&catalogue), Arc::clone(&records));
        let engine = Box::new(TantivyEngine::open(index, scorer, forward, of_engine, its_records)?);
        let glossary = HeadingIndex::glossary(&catalogue.tables.glossary);
        let categories = HeadingIndex::categories(&catalogue.tables.categories);
        let skipped = Skipped::default();
        Ok(Self { generation, skipped, catalogue, records, changes, search, engine, glossary, categories })
    }

    /// Builds a generation and opens it, in memory only.
    pub fn build(exports: Vec<Export>) -> Result<Arc<Self>, OpenError> {
        let scratch = Scratch::in_memory();
        let set = ExportSet::of(exports, &scratch).map_err(BuildError::scratch)?;
        let generation = Generation::of(&set).map_err(BuildError::scratch)?;
        let parts = build(set, &scratch, Processors::One, &mut |_, _| ControlFlow::Continue(()))?;
        Self::open(generation, Artifact::read(parts).map_err(BuildError::scratch)?)
    }

    /// The generation's name.
    pub fn generation(&self) -> &str {
        self.generation.as_str()
    }

    /// The number of products.
    pub fn software_count(&self) -> usize {
        self.search.documents
    }

    /// The products, for tests of engines.
    #[cfg(test)]
    pub(crate) fn records(&self) -> Arc<Records> {
        Arc::clone(&self.records)
    }

    /// The invalid part of the exports, which it doesn't have.
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }
}

/// Opens the catalogue and the records of a generation, and takes their parts.
pub fn open_catalogue(artifact: &mut Artifact) -> Result<(Catalogue, Records), OpenError> {
    let downloads = artifact.downloads.take();
    // Each part is freed once it is decoded, so that the next one can take its memory.
    let mut take = |name: &'static str| artifact.take(name).ok_or(OpenError::Missing(name));
    let downloads = downloads.map_or_else(|| take(artifact::DOWNLOADS).map(Bulk::Memory), Ok)?;
    Ok(Catalogue::open(&take(artifact::TABLES)?, take(artifact::TEXTS)?, downloads)?)
}
