//! Verifies that a generation's indices exist and contain what was sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::cluster::{Cluster, ClusterError, ClusterRequest, Unavailability};
use super::document::Totals;
use super::mapping;
use super::parts::{PARTS, Parts, PartsError};
use super::records::REVIEWS;
use crate::engine::EngineError;
use crate::text::count::{agreeing, counted};

/// The time limit for summing an index's columns.
const TIME: Duration = Duration::from_mins(2);

/// How long to wait for shards on nodes that are still starting.
const SHARDS_TIME: Duration = Duration::from_mins(1);

/// A generation whose indices are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledGeneration {
    pub index: String,
    pub products: u64,
    pub shards: usize,
}

/// Why a generation's indices can't be used.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("{0}")]
    NotWhole(String),
    #[error(transparent)]
    Cluster(ClusterError),
}

impl From<ClusterError> for Unusable {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::NotFound { .. } | ClusterError::InvalidResponse { .. } => Self::NotWhole(error.to_string()),
            error => Self::Cluster(error),
        }
    }
}

impl From<PartsError> for Unusable {
    fn from(error: PartsError) -> Self {
        match error {
            PartsError::Cluster(error) => error.into(),
            other => Self::NotWhole(other.to_string()),
        }
    }
}

/// Whether any of a generation's indices is missing; `false` if that can't be determined.
pub async fn is_missing(cluster: &Cluster, index: &str) -> bool {
    // This is a search because a server's user isn't allowed to do anything else.
    let body = json!({"size": 0, "track_total_hits": false});
    let search = ClusterRequest::search(&format!("/{}/_search", all(index)), body.to_string());
    cluster.send(search).await.is_err_and(|error| error.is_missing_index())
}

/// Returns a generation if it exists, is complete and has the current mapping. Otherwise returns
/// `None` and logs why.
///
/// # Errors
///
/// If a request to the cluster fails.
pub async fn find_whole(cluster: &Arc<Cluster>, index: &str) -> Result<Option<FilledGeneration>, EngineError> {
    let mut outcome = check(cluster, index).await;
    if let Err(Unusable::Cluster(ClusterError::Unavailable(Unavailability::MissingShards { .. }))) = outcome {
        let health = ClusterRequest::get(&format!("/_cluster/health/{}", all(index)));
        let health = health.query("wait_for_status", "yellow").query("timeout", format!("{}s", SHARDS_TIME.as_secs()));
        // The response doesn't matter, because the indices are checked again.
        drop(cluster.send(health.timeout(2 * SHARDS_TIME)).await);
        outcome = check(cluster, index).await;
    }
    let reason = match outcome {
        Ok(whole) => return Ok(Some(whole)),
        Err(Unusable::Cluster(error @ ClusterError::Unavailable(Unavailability::MissingShards { .. }))) => {
            error.to_string()
        }
        Err(Unusable::Cluster(error)) => return Err(error.into()),
        Err(Unusable::NotWhole(reason)) => reason,
    };
    tracing::warn!(index, reason, "the generation in the cluster is incomplete; filling it again");
    Ok(None)
}

async fn check(cluster: &Arc<Cluster>, index: &str) -> Result<FilledGeneration, Unusable> {
    check_mappings(cluster, index).await?;
    let parts = Parts::open(Arc::clone(cluster), index).await?;
    let (products, reviews) = (parts.manifest.products, parts.manifest.reviews);
    verify_totals(cluster, index, products).await?;
    verify_totals(cluster, &format!("{index}{REVIEWS}"), reviews).await?;
    parts.verify().await?;
    Ok(FilledGeneration { index: index.to_owned(), products: products.count, shards: parts.manifest.shards })
}

async fn check_mappings(cluster: &Cluster, index: &str) -> Result<(), Unusable> {
    let found = ClusterRequest::get(&format!("/{}/_mapping", all(index)));
    let found: BTreeMap<String, Value> = cluster.send(found).await?.json()?;
    for (end, expected) in [("", mapping::products(1)), (REVIEWS, mapping::reviews()), (PARTS, mapping::parts())] {
        let name = format!("{index}{end}");
        if found.get(&name).map(|found| &found["mappings"]["_meta"]) != Some(&expected["mappings"]["_meta"]) {
            return Err(Unusable::NotWhole(format!("index {name} has a different mapping")));
        }
    }
    Ok(())
}

/// Compares an index with what was sent.
pub(super) async fn verify(cluster: &Cluster, index: &str, sent: Totals) -> Result<(), EngineError> {
    verify_totals(cluster, index, sent).await.map_err(|error| match error {
        Unusable::Cluster(error) => error.into(),
        not_whole @ Unusable::NotWhole(_) => EngineError::index("verified")(not_whole),
    })
}

async fn verify_totals(cluster: &Cluster, index: &str, sent: Totals) -> Result<(), Unusable> {
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
    let sums = [sent.checksum.a as f64, sent.checksum.b as f64];
    let is_whole = found.hits.total.value == sent.count
        && (found.aggregations.a.value - sums[0]).abs() < 0.5
        && (found.aggregations.b.value - sums[1]).abs() < 0.5;
    if is_whole {
        return Ok(());
    }
    Err(Unusable::NotWhole(format!(
        "index {index} contains {}, which doesn't match the {} that {} sent",
        counted(found.hits.total.value, "document"),
        sent.count,
        agreeing(sent.count, "was", "were")
    )))
}

/// All of a generation's indices, as part of a path.
pub(super) fn all(index: &str) -> String {
    format!("{index},{index}{REVIEWS},{index}{PARTS}")
}
