//! Fills the indices of a generation in two passes over the records: the first one finds all words, the second one writes the
//! documents.

use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use super::super::artifact::{CHANGES, DOWNLOADS, SEARCH, TABLES, TEXTS, VERSIONS};
use super::super::generation::Generation;
use super::super::log::{ChangeLog, Former};
use super::super::{Artifact, BuildError};
use super::PARTS_FORMAT;
use crate::catalogue::{Bulk, Catalogue, CatalogueBuilder, CatalogueError, Records};
use crate::engine::EngineError;
use crate::engine::opensearch::cluster::{Cluster, ClusterError};
use crate::engine::opensearch::{
    DocumentWriter, Fill, FilledGeneration, IndexPrefix, Parts, PublishError, Published, Publisher,
};
use crate::export::{Export, Skipped};
use crate::search::forward::Forward;
use crate::search::lexicon::LexiconError;
use crate::search::score::Scorer;
use crate::search::{Ranking, SearchBuilder, SearchIndex, SearchIndexError, SearchParts};

/// Why a generation can't be filled or published.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The parts can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The parts that were built can't be read back.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The words that were found can't be read back.
    #[error(transparent)]
    Search(#[from] SearchIndexError),
    /// The cluster refuses or doesn't respond.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The cluster refuses or doesn't respond.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The generation is filled and can't be published.
    #[error("the generation can't be published")]
    Publish(#[from] PublishError),
}

/// Gets the products done and their number, of both passes together; may stop the fill.
type Progress<'p> = dyn FnMut(u64, u64) -> ControlFlow<()> + Send + 'p;

/// Fills and publishes a generation.
pub struct Filler<'f> {
    /// The cluster.
    pub cluster: Arc<Cluster>,
    /// The prefix of the directory's indices.
    pub prefix: IndexPrefix,
    /// The shards of the products' index; by default as many as their number takes.
    pub shards: Option<NonZeroU16>,
    /// Called with the owner of the lease where another build has its turn.
    pub waits: &'f mut (dyn FnMut(&str) + Send),
    /// Called after each product.
    pub progress: &'f mut Progress<'f>,
}

impl std::fmt::Debug for Filler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filler").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// A generation, ready to be written: its records as they were read, and as they are stored.
struct Prepared {
    records: CatalogueBuilder,
    written: Records,
    scorer: Scorer,
    forward: Forward,
    parts: Vec<(String, Bytes)>,
}

impl Filler<'_> {
    /// Fills the indices of a generation and publishes it; one that is published already stays as it is.
    ///
    /// # Errors
    /// Where a part can't be built, the cluster refuses, or another generation was published meanwhile.
    pub async fn fill_and_publish(
        mut self,
        exports: Vec<Export>,
        generation: &Generation,
        skipped: Skipped,
    ) -> Result<Published, FillError> {
        let state = Publisher::new(Arc::clone(&self.cluster), self.prefix.clone());
        let owner = format!("{} on {}", std::process::id(), rustix::system::uname().nodename().to_string_lossy());
        let lease = state.lease(&owner, &mut self.waits).await?;
        let before = state.published().await?;
        let (former, version) = before.map_or((None, None), |(published, version)| (Some(published), Some(version)));
        let index = self.prefix.generation(generation.as_str());
        let is_same = |published: &&Published| published.index == index && published.format == PARTS_FORMAT;
        if let Some(published) = former.as_ref().filter(is_same) {
            lease.release().await;
            return Ok(published.clone());
        }
        let at = jiff::Timestamp::now().to_string();
        let log = former_log(&self.cluster, former.as_ref()).await;
        let filled = self.fill(exports, generation, log, &at).await?;
        let published = Published {
            previous: former.map(|of| of.index).filter(|of| *of != filled.index),
            index: filled.index,
            generation: generation.to_string(),
            products: filled.products,
            shards: filled.shards,
            skipped: [skipped.exports, skipped.records],
            published_at: at,
            format: PARTS_FORMAT,
        };
        if lease.is_lost() {
            return Err(PublishError::Overtaken.into());
        }
        state.publish(&published, version).await?;
        for index in state.delete_old(&published).await? {
            tracing::info!(index, "the index of an old generation is deleted");
        }
        lease.release().await;
        Ok(published)
    }

    /// Fills the indices of a generation.
    ///
    /// # Errors
    /// Where a part can't be built, or the cluster refuses.
    pub(crate) async fn fill(
        &mut self,
        exports: Vec<Export>,
        generation: &Generation,
        former: Option<Former>,
        at: &str,
    ) -> Result<FilledGeneration, FillError> {
        let Prepared { records, written, scorer, forward, mut parts } = self.prepare(exports)?;
        let mut artifact = Artifact { parts: std::mem::take(&mut parts), downloads: None };
        ChangeLog::add_to(&mut artifact, former, generation, at).map_err(BuildError::Encode)?;
        let writer = DocumentWriter { records: &written, scorer: &scorer, forward: &forward };
        let count = records.software_count();
        let index = self.prefix.generation(generation.as_str());
        let mut fill = Fill::begin(Arc::clone(&self.cluster), index, count, self.shards).await?;
        let mut search = SearchBuilder::new(records.synonyms());
        for ((ordinal, id), product) in (0..).zip(written.ids()).zip(records.software()) {
            let (software, categories) = product.map_err(BuildError::Catalogue)?;
            let terms: Vec<_> = search.push(&software, categories).collect();
            fill.push(&writer, ordinal, &id, &terms).await?;
            self.advance(count as u64 + u64::from(ordinal) + 1, 2 * count as u64)?;
        }
        Ok(fill.finish(&writer, artifact.parts).await?)
    }

    /// The first pass.
    fn prepare(&mut self, exports: Vec<Export>) -> Result<Prepared, FillError> {
        let records = CatalogueBuilder::new(exports, None).map_err(BuildError::Catalogue)?;
        let count = records.software_count();
        let mut search = SearchBuilder::new(records.synonyms());
        for (done, product) in (1..).zip(records.software()) {
            let (software, categories) = product.map_err(BuildError::Catalogue)?;
            drop(search.push(&software, categories));
            self.advance(done, 2 * count as u64)?;
        }
        let SearchParts { lexicon, forward, thesaurus, lengths } = search.finish().map_err(words)?;
        let scorer = Scorer::new(&lengths, &Ranking::default());
        let found = SearchParts { lexicon, forward: Forward::default(), thesaurus, lengths: Vec::new() };
        let found = found.encode().map_err(BuildError::Encode)?;
        let forward = forward.with_stems(SearchIndex::open_words(&found, count)?.lexicon.stems());
        let built = records.finish().map_err(BuildError::Catalogue)?;
        let downloads = Bytes::from(built.downloads);
        let (catalogue, written) = Catalogue::open(&built.tables, built.arena.into(), Bulk::Memory(downloads.clone()))?;
        let reduced = catalogue.without_products(&written).map_err(BuildError::Catalogue)?;
        let parts: [(&str, Bytes); 5] = [
            (SEARCH, found.into()),
            (TABLES, reduced.tables.into()),
            (TEXTS, reduced.arena.into()),
            (DOWNLOADS, downloads),
            (VERSIONS, built.versions.into()),
        ];
        let parts = parts.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
        Ok(Prepared { records, written, scorer, forward, parts })
    }

    fn advance(&mut self, done: u64, count: u64) -> Result<(), BuildError> {
        if (self.progress)(done, count).is_break() { Err(BuildError::Stopped) } else { Ok(()) }
    }
}

fn words(error: LexiconError) -> BuildError {
    BuildError::Words(error)
}

/// The generation before with its log; `None` where it can't be read: then the log begins again.
async fn former_log(cluster: &Arc<Cluster>, former: Option<&Published>) -> Option<Former> {
    let former = former?;
    let parts = Parts::open(Arc::clone(cluster), &former.index).await.ok()?;
    let [versions, changes] = [VERSIONS, CHANGES].map(|name| parts.get(name));
    let (versions, changes) = (versions?.read().await.ok()?, changes?.read().await.ok()?);
    Former::of_parts(Generation::named(&former.generation), &versions, &changes)
}
