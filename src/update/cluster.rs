//! A cluster as the source of generations. Opens the generation that the cluster has published.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::engine::opensearch::cluster::{Cluster, ClusterError};
use crate::engine::opensearch::{IndexPrefix, PartsError, Published, Publisher, is_missing};
use crate::error::chain;
use crate::generation::Snapshot;
use crate::generation::cluster::{OpenRemoteError, open};
use crate::update::reload::Outcome;
use crate::update::state::{About, Health, Problem};
use crate::update::{Opened, Origin, Start};

/// The reason in `/readyz` while the cluster isn't responding.
pub const CLUSTER_UNAVAILABLE: &str = "cluster_unavailable";
/// The reason in `/readyz` while the served index is missing from the cluster.
pub const GENERATION_LOST: &str = "generation_lost";

/// Opens a cluster's generations.
#[derive(Debug)]
pub struct ClusterFollower {
    cluster: Arc<Cluster>,
    publisher: Publisher,
    runtime: Handle,
    /// The publication being served. Building a generation again results in a new publication.
    served: Option<Published>,
}

/// Why following a cluster failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterFollowError {
    #[error(transparent)]
    Open(#[from] OpenRemoteError),
    #[error("the served index {index} is no longer in the cluster; run --reindex with the same --engine options")]
    Lost { index: String },
    #[error("the program failed ({0}); please report it")]
    Panicked(String),
}

impl ClusterFollower {
    pub fn new(cluster: Arc<Cluster>, prefix: IndexPrefix, runtime: Handle) -> Self {
        Self { publisher: Publisher::new(Arc::clone(&cluster), prefix), cluster, runtime, served: None }
    }
}

impl Origin for ClusterFollower {
    type Error = ClusterFollowError;

    const NEW: &'static str = "published a new generation from the cluster";
    const RECOVERED: &'static str = "following the cluster again";

    fn restore(&mut self, _: &mut Health) -> Start {
        Start::Fetch(None)
    }

    fn fetch(&mut self, _: Option<&Snapshot>, _: &mut Health) -> Result<Option<Opened>, ClusterFollowError> {
        let opened = self.runtime.block_on(async {
            let published =
                self.publisher.published().await.map_err(PartsError::from).map_err(OpenRemoteError::from)?;
            let published = published.map(|(published, _)| published);
            if let Some(served) = &self.served
                && published.as_ref().is_none_or(|published| published == served)
                && is_missing(&self.cluster, &served.index).await
            {
                return Err(ClusterFollowError::Lost { index: served.index.clone() });
            }
            let published = published.ok_or(OpenRemoteError::Nothing)?;
            if self.served.as_ref() == Some(&published) {
                return Ok(None);
            }
            Ok(Some((open(&self.cluster, &published).await?, published)))
        });
        Ok(opened?.map(|(snapshot, published)| {
            self.served = Some(published);
            Opened { snapshot, outcome: Outcome::Published, change: None }
        }))
    }

    fn panicked(panic: String) -> ClusterFollowError {
        ClusterFollowError::Panicked(panic)
    }

    fn problem(&self, error: &ClusterFollowError, _: Option<&Snapshot>, _: &Health) -> Problem {
        let (code, text) = (code(error), chain(error));
        let (detail, log) = (format!("{text}; retrying"), format!("can't follow the cluster: {text}; retrying"));
        let mut problem = Problem::new(About::Remote, code, detail, Some(log));
        // Back off before retrying a damaged generation, because reading one takes a while.
        // Anything else is tried again every second.
        problem.is_retried = code == GENERATION_DAMAGED;
        problem
    }
}

const GENERATION_DAMAGED: &str = "generation_damaged";

fn code(error: &ClusterFollowError) -> &'static str {
    match error {
        ClusterFollowError::Panicked(_) => "follow_panicked",
        ClusterFollowError::Lost { .. } => GENERATION_LOST,
        ClusterFollowError::Open(OpenRemoteError::Nothing) => "nothing_published",
        ClusterFollowError::Open(OpenRemoteError::Parts(PartsError::Cluster(error))) => match error {
            error if error.is_rejected_user() => "cluster_authentication",
            ClusterError::Unavailable(_) | ClusterError::Overloaded { .. } => CLUSTER_UNAVAILABLE,
            _ => "cluster_failed",
        },
        ClusterFollowError::Open(
            OpenRemoteError::Parts(PartsError::Damaged { .. } | PartsError::File(_)) | OpenRemoteError::Open(_),
        ) => GENERATION_DAMAGED,
        ClusterFollowError::Open(OpenRemoteError::Format { .. }) => "generation_format",
    }
}
