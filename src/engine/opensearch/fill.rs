//! Fills a generation's indices: streams the documents, stores the parts and verifies everything.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bulk::BulkLoader;
use super::cluster::{Cluster, ClusterError, ClusterRequest};
use super::dictionary::{DictionaryBuilder, Example};
use super::document::{self, AnalysedProduct, Checksum, DocumentWriter};
use super::mapping;
use super::parts::{PARTS, write_parts};
use super::records::REVIEWS;
use crate::catalogue::{Bulk, StoredReview};
use crate::engine::{EngineError, FillError};
use crate::scratch::Scratch;
use crate::search::Term;

/// The name of the part that [`OpenSearchEngine::open`](super::OpenSearchEngine::open) reads.
pub const DICTIONARY: &str = "dictionary";

/// For creating and refreshing indices.
const TIME: Duration = Duration::from_mins(2);

/// For merging an index into one segment.
const MERGE_TIME: Duration = Duration::from_hours(2);

/// Fills the indices of a generation. If an interrupted fill left an index behind, it's filled
/// again; documents have their own ids, so this does no harm.
#[derive(Debug)]
pub struct Fill {
    cluster: Arc<Cluster>,
    index: String,
    shards: usize,
    products: BulkLoader,
    reviews: BulkLoader,
    dictionary: DictionaryBuilder,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledGeneration {
    pub index: String,
    pub products: u64,
    pub shards: usize,
}

impl Fill {
    /// Creates the indices of a generation. `index` names the products' index; `shards` defaults to
    /// what the number of products requires. The dictionary is built in scratch files.
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

    /// Adds the next product. Products must come in ordinal order.
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
    /// hold what was sent.
    pub async fn finish(mut self, mut parts: Vec<(String, Bulk)>) -> Result<FilledGeneration, FillError> {
        self.products.finish().await?;
        self.reviews.finish().await?;
        parts.push((DICTIONARY.to_owned(), self.dictionary.finish().map_err(FillError::Scratch)?));
        write_parts(&self.cluster, &self.index, &parts).await?;
        let reviews = format!("{}{REVIEWS}", self.index);
        for index in [&self.index, &reviews] {
            let merge = ClusterRequest::new(Method::POST, &format!("/{index}/_forcemerge"));
            let merge = merge.query("max_num_segments", "1").once().timeout(MERGE_TIME);
            self.cluster.send(merge).await.map_err(EngineError::from)?;
        }
        let all = format!("{0},{0}{REVIEWS},{0}{PARTS}", self.index);
        let refresh = ClusterRequest::new(Method::POST, &format!("/{all}/_refresh")).timeout(TIME);
        self.cluster.send(refresh).await.map_err(EngineError::from)?;
        wait_for_copies(&self.cluster, &all).await?;
        verify(&self.cluster, &self.index, self.products.count, self.products.checksum).await?;
        verify(&self.cluster, &reviews, self.reviews.count, self.reviews.checksum).await?;
        Ok(FilledGeneration { index: self.index, products: self.products.count, shards: self.shards })
    }
}

/// Creates an index unless it exists.
pub(super) async fn create(cluster: &Cluster, index: &str, settings: &Value) -> Result<(), ClusterError> {
    let request = ClusterRequest::put(&format!("/{index}"), settings.to_string()).timeout(TIME);
    match cluster.send(request).await {
        Err(ClusterError::Rejected { status: StatusCode::BAD_REQUEST, reason, .. })
            if reason.kind.as_deref() == Some("resource_already_exists_exception") =>
        {
            Ok(())
        }
        other => other.map(drop),
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
                "the indices don't have all their copies yet; they are published all the same"
            );
            Ok(())
        }
    }
}

async fn verify(cluster: &Cluster, index: &str, count: u64, checksum: Checksum) -> Result<(), EngineError> {
    #[derive(Deserialize)]
    struct Response {
        hits: Hits,
        aggregations: Sums,
    }
    #[derive(Deserialize)]
    struct Hits {
        total: Total,
    }
    #[derive(Deserialize)]
    struct Total {
        value: u64,
    }
    #[derive(Deserialize)]
    struct Sums {
        a: Sum,
        b: Sum,
    }
    #[derive(Deserialize)]
    struct Sum {
        value: f64,
    }
    let body = json!({"size": 0, "track_total_hits": true, "aggs": {
        "a": {"sum": {"field": "check_a"}}, "b": {"sum": {"field": "check_b"}},
    }});
    let request = ClusterRequest::search(&format!("/{index}/_search"), body.to_string()).timeout(TIME);
    let found: Response = cluster.send(request).await?.json()?;
    #[expect(clippy::cast_precision_loss, reason = "below 2^53: see `CHECKSUM_BITS`")]
    let sums = [checksum.a as f64, checksum.b as f64];
    let is_whole = found.hits.total.value == count
        && (found.aggregations.a.value - sums[0]).abs() < 0.5
        && (found.aggregations.b.value - sums[1]).abs() < 0.5;
    if is_whole {
        return Ok(());
    }
    Err(EngineError::index("verified")(format!(
        "the index {index} holds {} documents, of which some are others than the {count} that were sent; delete it and build \
         it again",
        found.hits.total.value
    )))
}
