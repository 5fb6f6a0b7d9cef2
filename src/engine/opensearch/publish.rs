//! Publication: one small document names the index that is being served.
//!
//! It's replaced by compare-and-set, so one of two concurrent publications fails. A second document
//! is a lease with an expiry, so that builds take turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::cluster::{Cluster, ClusterError, ClusterRequest};
use super::fill::create;
use super::index_prefix::IndexPrefix;
use super::mapping;

/// Id of the document that names the published index.
const PUBLISHED: &str = "published";

const LEASE: &str = "lease";

/// How long a lease is valid without being renewed. Must exceed the clock skew between machines.
const LEASE_TIME: Duration = Duration::from_mins(1);

/// How often it's renewed.
const RENEWAL: Duration = Duration::from_secs(15);

/// Delay between attempts to take a held lease.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The products' index.
    pub index: String,
    pub generation: String,
    pub products: u64,
    /// Of the products' index.
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
    #[error("another generation was published meanwhile, or the lease of the build was lost; start the build again")]
    Overtaken,
}

/// A document's version, for compare-and-set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Version {
    #[serde(rename = "_seq_no")]
    seq_no: u64,
    #[serde(rename = "_primary_term")]
    primary_term: u64,
}

#[derive(Deserialize)]
struct Stored<T> {
    #[serde(flatten)]
    version: Version,
    #[serde(rename = "_source")]
    source: T,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Holder {
    owner: String,
    expires_at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct Publisher {
    cluster: Arc<Cluster>,
    prefix: IndexPrefix,
}

impl Publisher {
    pub fn new(cluster: Arc<Cluster>, prefix: IndexPrefix) -> Self {
        Self { cluster, prefix }
    }

    /// The published generation; `None` if there's none yet.
    pub async fn published(&self) -> Result<Option<(Published, Version)>, ClusterError> {
        self.read(PUBLISHED).await
    }

    /// Publishes a generation, if the current one still has version `before`.
    ///
    /// # Errors
    /// [`PublishError::Overtaken`] if it doesn't.
    pub async fn publish(&self, published: &Published, before: Option<Version>) -> Result<(), PublishError> {
        match self.write(PUBLISHED, published, before).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_conflict() => Err(PublishError::Overtaken),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the lease. While another build holds it, waits and calls `waits` once with its owner.
    pub async fn lease(&self, owner: &str, mut waits: impl FnMut(&str)) -> Result<Lease, ClusterError> {
        create(&self.cluster, &self.prefix.state(), &mapping::state()).await?;
        let mut is_told = false;
        loop {
            let current: Option<(Holder, Version)> = self.read(LEASE).await?;
            let free = current.as_ref().is_none_or(|(holder, _)| holder.expires_at < Timestamp::now());
            if free {
                match self.write(LEASE, &holder(owner), current.map(|(_, version)| version)).await {
                    Ok(version) => return Ok(Lease::keep(self.clone(), owner.to_owned(), version)),
                    // Another build was faster.
                    Err(error) if error.is_conflict() => {}
                    Err(error) => return Err(error),
                }
            } else if let (Some((holder, _)), false) = (&current, is_told) {
                waits(&holder.owner);
                is_told = true;
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Deletes the indices of all generations except the published and the previous one, including
    /// those of interrupted builds. Only the lease's holder may do this.
    pub async fn delete_old(&self, published: &Published) -> Result<Vec<String>, ClusterError> {
        #[derive(Deserialize)]
        struct Index {
            index: String,
        }
        let request = ClusterRequest::get(&format!("/_cat/indices/{}", self.prefix.pattern()));
        let all: Vec<Index> = self.cluster.send(request.query("format", "json").query("h", "index")).await?.json()?;
        let kept = [Some(published.index.as_str()), published.previous.as_deref()];
        let is_old =
            |name: &String| self.prefix.products_of(name).is_some_and(|products| !kept.contains(&Some(products)));
        let old: Vec<_> = all.into_iter().map(|of| of.index).filter(is_old).collect();
        for index in &old {
            match self.cluster.send(ClusterRequest::delete(&format!("/{index}"))).await {
                Ok(_) | Err(ClusterError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(old)
    }

    fn path(&self, id: &str) -> String {
        format!("/{}/_doc/{id}", self.prefix.state())
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, id: &str) -> Result<Option<(T, Version)>, ClusterError> {
        match self.cluster.send(ClusterRequest::document(&self.path(id))).await {
            Ok(response) => {
                let Stored { version, source } = response.json()?;
                Ok(Some((source, version)))
            }
            Err(ClusterError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a document if it still has the version `before`, or if it's new and `before` is
    /// `None`.
    async fn write(
        &self,
        id: &str,
        content: &impl Serialize,
        before: Option<Version>,
    ) -> Result<Version, ClusterError> {
        let body = serde_json::to_vec(content).unwrap_or_default();
        let request = ClusterRequest::put(&self.path(id), body).once();
        self.cluster.send(conditional(request, before)).await?.json()
    }
}

fn conditional(request: ClusterRequest, before: Option<Version>) -> ClusterRequest {
    match before {
        Some(version) => request
            .query("if_seq_no", version.seq_no.to_string())
            .query("if_primary_term", version.primary_term.to_string()),
        None => request.query("op_type", "create"),
    }
}

fn holder(owner: &str) -> Holder {
    Holder { owner: owner.to_owned(), expires_at: Timestamp::now() + LEASE_TIME }
}

/// The exclusive right to build and publish. Renewed until it's released or dropped; a dropped
/// lease expires.
#[derive(Debug)]
pub struct Lease {
    publisher: Publisher,
    is_lost: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Lease {
    fn keep(publisher: Publisher, owner: String, version: Version) -> Self {
        let is_lost = Arc::new(AtomicBool::new(false));
        let (renewing, lost) = (publisher.clone(), Arc::clone(&is_lost));
        let task = tokio::spawn(async move {
            let (mut version, mut renewed) = (version, tokio::time::Instant::now());
            loop {
                tokio::time::sleep(RENEWAL).await;
                match renewing.write(LEASE, &holder(&owner), Some(version)).await {
                    Ok(newer) => (version, renewed) = (newer, tokio::time::Instant::now()),
                    Err(error) if error.is_conflict() => break,
                    Err(_) if renewed.elapsed() > LEASE_TIME => break,
                    Err(_) => {}
                }
            }
            lost.store(true, Ordering::Relaxed);
        });
        Self { publisher, is_lost, task }
    }

    /// Whether another build may already hold the lease.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    pub async fn release(self) {
        self.task.abort();
        if !self.is_lost() {
            let request = ClusterRequest::new(Method::DELETE, &self.publisher.path(LEASE));
            let _ = self.publisher.cluster.send(request).await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.task.abort();
    }
}
