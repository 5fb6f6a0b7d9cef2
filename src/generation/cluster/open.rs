//! Opens a generation of a cluster: the parts that are held in memory.

use std::sync::Arc;

use crate::catalogue::Bulk;
use crate::engine::opensearch::cluster::Cluster;
use crate::engine::opensearch::{DICTIONARY, OpenSearchEngine, Parts, PartsError, Published};
use crate::export::Skipped;
use crate::generation::Generation;
use crate::generation::artifact::{CHANGES, DOWNLOADS, SEARCH, TABLES, TEXTS};
use crate::generation::cluster::PARTS_FORMAT;
use crate::generation::log::ChangeLog;
use crate::generation::{Artifact, OpenError, Snapshot, open_catalogue};
use crate::search::SearchIndex;
use crate::search::headings::HeadingIndex;

/// Why a generation of a cluster can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenRemoteError {
    /// Its parts can't be read.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Its parts don't belong together.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the cluster has no generation yet: fill it with --reindex and the same --engine options")]
    Nothing,
    #[error(
        "generation {generation} was filled by another version of this program: run --reindex with the version that serves it"
    )]
    Format { generation: String },
}

/// Opens a generation that was published.
pub async fn open(cluster: &Arc<Cluster>, published: &Published) -> Result<Arc<Snapshot>, OpenRemoteError> {
    if published.format != PARTS_FORMAT {
        return Err(OpenRemoteError::Format { generation: published.generation.clone() });
    }
    let parts = Parts::open(Arc::clone(cluster), &published.index).await?;
    let mut artifact = Artifact::default();
    for name in [SEARCH, TABLES, TEXTS, CHANGES, DICTIONARY] {
        if let Some(part) = parts.get(name) {
            artifact.parts.push((name.to_owned(), part.read().await?));
        }
    }
    artifact.downloads = parts.get(DOWNLOADS).map(|part| Bulk::Pieces(Arc::new(part.blocking())));
    Ok(open_parts(Arc::clone(cluster), published, artifact)?)
}

fn open_parts(
    cluster: Arc<Cluster>,
    published: &Published,
    mut artifact: Artifact,
) -> Result<Arc<Snapshot>, OpenError> {
    let (catalogue, records) = open_catalogue(&mut artifact)?;
    let (catalogue, records) = (Arc::new(catalogue), Arc::new(records));
    let changes = artifact.take(CHANGES).map(|part| ChangeLog::decode(&part)).transpose();
    let changes = changes.map_err(OpenError::Changes)?.unwrap_or_default();
    let mut take = |name: &'static str| artifact.take(name).ok_or(OpenError::Missing(name));
    let documents = usize::try_from(published.products).unwrap_or(usize::MAX);
    let search = SearchIndex::open_words(&take(SEARCH)?, documents)?;
    let engine = OpenSearchEngine::open(
        cluster,
        published.index.clone(),
        (documents, published.shards),
        &take(DICTIONARY)?,
        search.lexicon.stems(),
        (Arc::clone(&catalogue), records.columns.real),
    )?;
    let glossary = HeadingIndex::glossary(&catalogue.tables.glossary);
    let categories = HeadingIndex::categories(&catalogue.tables.categories);
    Ok(Arc::new(Snapshot {
        generation: Generation::named(&published.generation),
        skipped: Skipped { exports: published.skipped[0], records: published.skipped[1] },
        catalogue,
        records,
        changes,
        search,
        engine: Box::new(engine),
        glossary,
        categories,
    }))
}
