//! An opened generation, from which requests are served.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use super::artifact::{self, Artifact};
use super::build::{BuildError, Processors, build};
use super::log::{ChangeLog, ChangePlace, Former, LogStep, ProductChange, Versions};
use super::merged::MergedChanges;
use super::name::{Generation, MeaningOption};
use super::past::Recalled;
use crate::catalogue::{Bulk, Catalogue, CatalogueError, Ordinal, Records};
use crate::export::{Export, ExportSet, Skipped};
use crate::index::{Index, IndexError, IndexFiles};
use crate::record::AttributeNumber;
use crate::scratch::Scratch;
use crate::search::headings::HeadingIndex;
use crate::search::{Ranking, SearchIndex, SearchIndexError};

/// An immutable generation of the directory. A request picks up the current one once, and uses only
/// that.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) generation: Generation,
    pub(crate) skipped: Skipped,
    pub catalogue: Arc<Catalogue>,
    pub(crate) records: Arc<Records>,
    pub changes: ChangeLog,
    /// The same changes, merged.
    pub merged_changes: MergedChanges,
    /// The former records that the changes were made to.
    pub past: Past,
    pub search: SearchIndex,
    pub index: Index,
    /// The glossary, for searches.
    pub glossary: HeadingIndex,
    /// The categories, for searches.
    pub categories: HeadingIndex,
    /// The attributes that queries can name values of, with the
    /// [names](crate::record::Attribute::names) of yes-or-no attributes.
    pub(crate) understood: Vec<(AttributeNumber, Vec<String>)>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The generation couldn't be built in the first place.
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("the generation has no part `{0}`")]
    Missing(&'static str),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("the change log can't be decoded")]
    Changes(#[source] postcard::Error),
    #[error(transparent)]
    Search(#[from] SearchIndexError),
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl Snapshot {
    /// Opens a generation. If it was built from the valid part of a set, `skipped` is the rest.
    pub fn open(generation: Generation, artifact: Artifact, skipped: Skipped) -> Result<Arc<Self>, OpenError> {
        Self::open_ranked(generation, artifact, skipped, Ranking::default())
    }

    /// Opens a generation with weights other than the service's, to measure their effect.
    pub fn open_ranked(
        generation: Generation,
        mut artifact: Artifact,
        skipped: Skipped,
        ranking: Ranking,
    ) -> Result<Arc<Self>, OpenError> {
        // Load the index first: it copies the files, so whatever is decoded afterwards can reuse
        // their memory.
        let files = IndexFiles::load(artifact.take_prefixed(artifact::INDEX))?;
        let (catalogue, records) = open_catalogue(&mut artifact)?;
        let (catalogue, records) = (Arc::new(catalogue), Arc::new(records));
        // Drop the versions without reading them: only the next build needs them.
        drop(artifact.take(artifact::VERSIONS));
        let changes = artifact.take(artifact::CHANGES).map(|part| ChangeLog::decode(&part)).transpose();
        let changes = changes.map_err(OpenError::Changes)?.unwrap_or_default();
        let (search, documents) =
            SearchIndex::open(&required(&mut artifact, artifact::SEARCH)?, records.len(), ranking)?;
        let index = Index::open(files, documents, Arc::clone(&catalogue), Arc::clone(&records))?;
        let glossary = HeadingIndex::glossary(&catalogue.tables.glossary);
        let categories = HeadingIndex::categories(&catalogue.tables.categories);
        let understood = catalogue.tables.attributes.understood();
        let understood = understood.map(|(number, attribute)| (number, attribute.names())).collect();
        let merged_changes = MergedChanges::new(&changes);
        let past = Past::open(&changes, &generation, &catalogue, &records).unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "feeds are empty: the past can't be opened");
            Past::default()
        });
        Ok(Arc::new(Self {
            generation,
            skipped,
            catalogue,
            records,
            changes,
            merged_changes,
            past,
            search,
            index,
            glossary,
            categories,
            understood,
        }))
    }

    /// Builds and opens a generation in memory only.
    pub fn build(exports: Vec<Export>) -> Result<Arc<Self>, OpenError> {
        let scratch = Scratch::in_memory();
        let set = ExportSet::of(exports, &scratch).map_err(BuildError::scratch)?;
        let generation = Generation::of(&set).map_err(BuildError::scratch)?;
        let parts = build(set, &scratch, Processors::One, MeaningOption::On, &mut |_, _| ControlFlow::Continue(()))?;
        Self::open(generation, Artifact::read(parts).map_err(BuildError::scratch)?, Skipped::default())
    }

    pub fn generation(&self) -> &str {
        self.generation.as_str()
    }

    /// This generation, for comparison with the next one.
    pub(crate) fn former(&self) -> Result<Former, postcard::Error> {
        let (texts, dictionary) = self.records.texts();
        let versions = postcard::to_stdvec(&(dictionary, self.records.versions()))?;
        let versions = Versions { versions: Bulk::Memory(versions.into()), texts: Some(texts) };
        Ok(Former { generation: self.generation.clone(), versions, log: self.changes.clone() })
    }

    pub fn software_count(&self) -> usize {
        self.search.documents
    }

    /// What's compared between generations.
    pub(crate) fn contents(&self) -> (&Catalogue, &Records) {
        (&self.catalogue, &self.records)
    }

    /// The products, for tests of the index.
    #[cfg(test)]
    pub(crate) fn records(&self) -> Arc<Records> {
        Arc::clone(&self.records)
    }

    /// The invalid part of the exports, which was left out.
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }
}

/// Former records, and today's records of the products that changed, as a generation of their own.
#[derive(Debug, Default)]
pub struct Past {
    /// `None` if nothing changed.
    versions: Option<Arc<Snapshot>>,
    /// Newest first, and by id within a step.
    transitions: Vec<(ChangePlace, Transition)>,
    /// When the last change happened whose versions aren't known.
    lost_at: Option<String>,
}

/// The versions of a product before and after a change; `None` if it didn't exist.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    pub before: Option<Ordinal>,
    pub after: Option<Ordinal>,
}

impl Past {
    fn open(
        log: &ChangeLog,
        generation: &Generation,
        catalogue: &Catalogue,
        records: &Records,
    ) -> Result<Self, OpenError> {
        let Recalled { parts, changes, lost_at } = Recalled::of(log, catalogue, records)?;
        let Some(parts) = parts else { return Ok(Self { lost_at, ..Self::default() }) };
        let artifact = Artifact::read(parts).map_err(BuildError::scratch)?;
        let versions = Snapshot::open(generation.clone(), artifact, Skipped::default())?;
        let known = |version: Option<u32>| match version {
            None => Some(None),
            Some(number) => versions.records.find(&number.to_string()).map(Some),
        };
        let transitions = changes.into_iter().filter_map(|(place, before, after)| {
            Some((place, Transition { before: known(before)?, after: known(after)? }))
        });
        Ok(Self { transitions: transitions.collect(), versions: Some(versions), lost_at })
    }

    /// The records before and after each change, under ids of their own.
    pub fn versions(&self) -> Option<&Snapshot> {
        self.versions.as_deref()
    }

    /// The changes whose versions are known, newest first, and by id within a step.
    pub fn changes<'l>(
        &'l self,
        log: &'l ChangeLog,
    ) -> impl Iterator<Item = (&'l LogStep, &'l ProductChange, Transition)> {
        self.transitions.iter().map(|(place, transition)| {
            let (step, change) = log.entry(*place);
            (step, change, *transition)
        })
    }

    /// Since when all changes' versions are known (RFC 3339 in UTC); empty if unknown.
    pub fn since<'l>(&'l self, log: &'l ChangeLog) -> &'l str {
        self.lost_at.as_deref().unwrap_or_else(|| log.begun_at())
    }
}

/// Opens a generation's catalogue and records, taking their parts out of the artifact.
pub fn open_catalogue(artifact: &mut Artifact) -> Result<(Catalogue, Records), OpenError> {
    let downloads = artifact.take_downloads();
    // Each part is freed once it's decoded, so the next one can reuse its memory.
    let tables = required(artifact, artifact::TABLES)?;
    Ok(Catalogue::open(&tables, required(artifact, artifact::TEXTS)?, downloads)?)
}

/// Removes a part that every generation has, and returns it.
fn required(artifact: &mut Artifact, name: &'static str) -> Result<Bytes, OpenError> {
    artifact.take(name).ok_or(OpenError::Missing(name))
}
