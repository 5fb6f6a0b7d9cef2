//! Fills a generation's indices: streams the documents, stores the parts and verifies everything.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::Value;

use super::bulk::BulkLoader;
use super::cluster::{Cluster, ClusterError, ClusterRequest};
use super::dictionary::{DictionaryBuilder, Example};
use super::document::{self, AnalysedProduct, DocumentWriter};
use super::mapping;
use super::parts::{Manifest, PARTS, write_manifest, write_parts};
use super::records::REVIEWS;
use super::verify::{FilledGeneration, all, verify};
use crate::catalogue::{Bulk, StoredReview};
use crate::engine::{EngineError, FillError};
use crate::scratch::Scratch;
use crate::search::Term;

/// The name of the part that [`OpenSearchEngine::open`](super::OpenSearchEngine::open) reads into
/// memory.
pub const DICTIONARY: &str = "dictionary";

/// The time limit for creating or refreshing indices.
const TIME: Duration = Duration::from_mins(2);

/// The time limit for merging an index into one segment.
const MERGE_TIME: Duration = Duration::from_hours(2);

/// Fills a generation's indices, which must not exist yet.
#[derive(Debug)]
pub struct Fill {
    cluster: Arc<Cluster>,
    index: String,
    shards: usize,
    products: BulkLoader,
    reviews: BulkLoader,
    dictionary: DictionaryBuilder,
}

impl Fill {
    /// Creates a generation's indices. `index` is the product index's name; `shards` defaults to as
    /// many as the products require. The dictionary is built in scratch files.
    pub async fn begin(
        cluster: Arc<Cluster>,
        index: String,
        products: u64,
        shards: Option<NonZeroU16>,
        scratch: &Scratch,
    ) -> Result<Self, EngineError> {
        let by_number = || mapping::shards(usize::try_from(products).unwrap_or(usize::MAX));
        let shards = shards.map_or_else(by_number, |shards| usize::from(shards.get()));
        create(&cluster, &index, &mapping::products(shards)).await?;
        create(&cluster, &format!("{index}{REVIEWS}"), &mapping::reviews()).await?;
        create(&cluster, &format!("{index}{PARTS}"), &mapping::parts()).await?;
        Ok(Self {
            products: BulkLoader::new(Arc::clone(&cluster), &index),
            reviews: BulkLoader::new(Arc::clone(&cluster), &format!("{index}{REVIEWS}")),
            dictionary: DictionaryBuilder::new(scratch),
            cluster,
            index,
            shards,
        })
    }

    /// Adds the next product. Products must be added in ordinal order.
    pub async fn push(&mut self, writer: &DocumentWriter<'_>, product: &AnalysedProduct) -> Result<(), FillError> {
        for (term, occurrences) in &product.terms {
            self.dictionary.count(term).map_err(FillError::Scratch)?;
            if matches!(term, Term::Name(_) | Term::AlternativeTo(_)) {
                let example = Example {
                    ordinal: product.ordinal,
                    is_demo: product.is_demo,
                    score: writer.scores.score(occurrences.packed(), &product.lengths),
                    categories: &product.categories,
                };
                self.dictionary.push_example(term, example).map_err(FillError::Scratch)?;
            }
        }
        Ok(self.products.push(&writer.product(product)?).await?)
    }

    pub async fn push_review(&mut self, review: &StoredReview) -> Result<(), EngineError> {
        self.reviews.push(&document::review(review)?).await
    }

    /// Stores the remaining documents and the parts, merges the indices, and verifies that they
    /// contain what was sent.
    pub async fn finish(mut self, mut parts: Vec<(String, Bulk)>) -> Result<FilledGeneration, FillError> {
        self.products.finish().await?;
        self.reviews.finish().await?;
        parts.push((DICTIONARY.to_owned(), self.dictionary.finish().map_err(FillError::Scratch)?));
        let parts = write_parts(&self.cluster, &self.index, &parts).await?;
        let reviews = format!("{}{REVIEWS}", self.index);
        for index in [&self.index, &reviews] {
            let merge = ClusterRequest::new(Method::POST, &format!("/{index}/_forcemerge"));
            let merge = merge.query("max_num_segments", "1").once().timeout(MERGE_TIME);
            self.cluster.send(merge).await.map_err(EngineError::from)?;
        }
        let all = all(&self.index);
        let refresh = ClusterRequest::new(Method::POST, &format!("/{all}/_refresh")).timeout(TIME);
        self.cluster.send(refresh).await.map_err(EngineError::from)?;
        wait_for_copies(&self.cluster, &all).await?;
        let (products, reviewed) = (self.products.totals, self.reviews.totals);
        verify(&self.cluster, &self.index, products).await?;
        verify(&self.cluster, &reviews, reviewed).await?;
        let manifest = Manifest { parts, products, reviews: reviewed, shards: self.shards };
        write_manifest(&self.cluster, &self.index, &manifest).await?;
        Ok(FilledGeneration { index: self.index, products: products.count, shards: self.shards })
    }
}

async fn create(cluster: &Cluster, index: &str, settings: &Value) -> Result<(), ClusterError> {
    let request = ClusterRequest::put(&format!("/{index}"), settings.to_string()).timeout(TIME);
    cluster.send(request).await.map(drop)
}

/// Creates an index unless it exists.
pub(super) async fn create_missing(cluster: &Cluster, index: &str, settings: &Value) -> Result<(), ClusterError> {
    match create(cluster, index, settings).await {
        Err(ClusterError::Rejected { status: StatusCode::BAD_REQUEST, reason, .. })
            if reason.kind.as_deref() == Some("resource_already_exists_exception") =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Waits until every shard has its replicas, if the cluster has enough nodes. A failure is only
/// logged.
async fn wait_for_copies(cluster: &Cluster, indices: &str) -> Result<(), EngineError> {
    let health = ClusterRequest::get(&format!("/_cluster/health/{indices}")).query("wait_for_status", "green");
    match cluster.send(health.query("timeout", "60s").timeout(TIME)).await {
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the indices don't have all their replicas yet; publishing them anyway"
            );
            Ok(())
        }
    }
}
