//! Publishes generations: one small document names the index being served.
//!
//! It's replaced by compare-and-set, so if two publications are concurrent, one fails.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::cluster::{Cluster, ClusterError, ClusterRequest};
use super::index_prefix::IndexPrefix;

/// Id of the document that names the published index.
const PUBLISHED: &str = "published";

/// The time limit for writing a document. A node that's busy with a fill may take a while.
const TIME: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The product index.
    pub index: String,
    pub generation: String,
    pub products: u64,
    /// Number of shards in the product index.
    #[serde(default)]
    pub shards: usize,
    /// The number of invalid exports that were skipped, and of invalid records in other exports.
    pub skipped: [u64; 2],
    /// RFC 3339 in UTC.
    pub published_at: String,
    /// The format of the parts.
    pub format: u32,
    /// The previous generation's index, which is kept until the next publication.
    pub previous: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("a document can't be written as JSON")]
    Json(#[from] serde_json::Error),
    #[error("another generation has been published, or the build has lost its lease; start the build again")]
    Overtaken,
}

impl PublishError {
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Cluster(error) if error.is_conflict())
    }
}

/// A document's version, for compare-and-set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Version {
    #[serde(rename = "_seq_no")]
    pub(super) seq_no: u64,
    #[serde(rename = "_primary_term")]
    pub(super) primary_term: u64,
}

#[derive(Deserialize)]
struct Stored<T> {
    #[serde(flatten)]
    version: Version,
    #[serde(rename = "_source")]
    source: T,
}

#[derive(Debug, Clone)]
pub struct Publisher {
    pub(super) cluster: Arc<Cluster>,
    pub(super) prefix: IndexPrefix,
}

impl Publisher {
    pub fn new(cluster: Arc<Cluster>, prefix: IndexPrefix) -> Self {
        Self { cluster, prefix }
    }

    /// The published generation; `None` if there's none yet.
    pub async fn published(&self) -> Result<Option<(Published, Version)>, ClusterError> {
        self.read(PUBLISHED).await
    }

    /// Publishes a generation if the current one still has version `before`.
    pub(super) async fn publish(&self, published: &Published, before: Option<Version>) -> Result<(), PublishError> {
        match self.write(PUBLISHED, published, before).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_conflict() => Err(PublishError::Overtaken),
            Err(error) => Err(error),
        }
    }

    pub(super) fn path(&self, id: &str) -> String {
        format!("/{}/_doc/{id}", self.prefix.state())
    }

    pub(super) async fn read<T: DeserializeOwned>(&self, id: &str) -> Result<Option<(T, Version)>, ClusterError> {
        match self.cluster.send(ClusterRequest::document(&self.path(id))).await {
            Ok(response) => {
                let Stored { version, source } = response.json()?;
                Ok(Some((source, version)))
            }
            Err(ClusterError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a document if it still has version `before`, or if it's new and `before` is `None`.
    pub(super) async fn write(
        &self,
        id: &str,
        content: &impl Serialize,
        before: Option<Version>,
    ) -> Result<Version, PublishError> {
        let request = ClusterRequest::put(&self.path(id), serde_json::to_vec(content)?).once().timeout(TIME);
        Ok(self.cluster.send(conditional(request, before)).await?.json()?)
    }
}

pub(super) fn conditional(request: ClusterRequest, before: Option<Version>) -> ClusterRequest {
    match before {
        Some(version) => request
            .query("if_seq_no", version.seq_no.to_string())
            .query("if_primary_term", version.primary_term.to_string()),
        None => request.query("op_type", "create"),
    }
}
