//! Opens a generation from a cluster, i.e. the parts that are kept in memory.

use std::sync::Arc;

use crate::catalogue::Bulk;
use crate::engine::opensearch::cluster::Cluster;
use crate::engine::opensearch::{DICTIONARY, OpenSearchEngine, Parts, PartsError, Published};
use crate::export::Skipped;
use crate::generation::Generation;
use crate::generation::artifact::{CHANGES, SEARCH, TABLES, TEXTS, download_name};
use crate::generation::cluster::PARTS_FORMAT;
use crate::generation::snapshot::required;
use crate::generation::{Artifact, OpenError, Snapshot};
use crate::search::SearchIndex;

/// Why a cluster's generation couldn't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenRemoteError {
    /// The generation's parts couldn't be read.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// The generation's parts don't match each other.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the cluster has no generation yet; build one with --reindex and the same --engine options")]
    Nothing,
    #[error(
        "generation {generation} was built by another version of this program; run --reindex with the version that serves it"
    )]
    Format { generation: String },
}

/// Opens a published generation.
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
    for name in (0..).map(download_name) {
        let Some(part) = parts.get(&name) else { break };
        artifact.downloads.push((name, Bulk::Pieces(Arc::new(part.blocking()))));
    }
    let generation = Generation::named(&published.generation);
    let skipped = Skipped { exports: published.skipped[0], records: published.skipped[1] };
    Ok(Snapshot::open_parts(generation, artifact, skipped, |artifact, catalogue, records| {
        let documents = usize::try_from(published.products).unwrap_or(usize::MAX);
        let search = SearchIndex::open_words(&required(artifact, SEARCH)?, documents)?;
        let engine = OpenSearchEngine::open(
            Arc::clone(cluster),
            published.index.clone(),
            (documents, published.shards),
            &required(artifact, DICTIONARY)?,
            search.lexicon.stems(),
            (Arc::clone(catalogue), records.columns.real),
        )?;
        Ok((search, Box::new(engine)))
    })?)
}
