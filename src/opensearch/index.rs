//! A server's side of a directory in a cluster: follows what's published.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::time::MissedTickBehavior;

use super::connection::Connection;
use super::view::{View, published};
use super::{Error, ErrorKind, IndexPrefix};
use crate::error::chain;

/// How often the publication is checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// A directory's indices in a cluster, with a view of what's published.
#[derive(Debug)]
pub struct Index {
    pub(super) connection: Arc<Connection>,
    pub(super) prefix: IndexPrefix,
    view: ArcSwapOption<View>,
    status: ArcSwap<Status>,
}

/// The directory as of one publication. Each request uses one from start to finish.
#[derive(Debug, Clone)]
pub struct Directory {
    pub(super) index: Arc<Index>,
    pub view: Arc<View>,
}

/// Whether the directory can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Ready,
    /// It can't, for this reason, given as a stable code and as text.
    Failing {
        code: &'static str,
        detail: String,
    },
}

impl Index {
    /// Doesn't send anything yet.
    pub fn new(connection: Arc<Connection>, prefix: IndexPrefix) -> Arc<Self> {
        let detail = "the directory is being loaded".to_owned();
        Arc::new(Self {
            connection,
            prefix,
            view: ArcSwapOption::empty(),
            status: ArcSwap::from_pointee(Status::Failing { code: "starting", detail }),
        })
    }

    /// The directory as last published; `None` until it has been loaded.
    pub fn current(self: &Arc<Self>) -> Option<Directory> {
        Some(Directory { index: Arc::clone(self), view: self.view.load_full()? })
    }

    /// Whether the last check succeeded.
    pub fn status(&self) -> Arc<Status> {
        self.status.load_full()
    }

    /// Checks what's published, and loads it if it's new. Returns whether it was.
    pub async fn check(&self) -> Result<bool, Error> {
        let outcome = self.load_new().await;
        self.status.store(Arc::new(match &outcome {
            Ok(_) => Status::Ready,
            Err(error) => Status::Failing { code: self.code(error), detail: chain(error) },
        }));
        outcome
    }

    async fn load_new(&self) -> Result<bool, Error> {
        let current = self.view.load_full();
        let published = published(&self.connection, &self.prefix).await?.ok_or(Error::NothingPublished)?;
        if current.is_some_and(|view| view.version == published.1) {
            return Ok(false);
        }
        self.view.store(Some(Arc::new(View::load(&self.connection, published).await?)));
        Ok(true)
    }

    /// Follows what's published until the future is dropped. Logs when the status changes, and
    /// passes it on.
    pub async fn follow(self: Arc<Self>, on_change: impl Fn(&Status)) {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let before = self.status();
            let outcome = self.check().await;
            match (&*self.status(), outcome) {
                (_, Ok(true)) => tracing::info!("serving a new publication from the cluster"),
                (after, _) if *after == *before => continue,
                (Status::Ready, _) => tracing::info!("following the cluster again"),
                (Status::Failing { detail, .. }, _) => tracing::warn!("can't follow the cluster: {detail}; retrying"),
            }
            on_change(&self.status());
        }
    }

    fn code(&self, error: &Error) -> &'static str {
        match error {
            Error::NothingPublished if self.view.load().is_some() => "generation_lost",
            Error::NothingPublished => "nothing_published",
            Error::Cluster(error) => match error.kind {
                ErrorKind::Authentication => "cluster_authentication",
                ErrorKind::Unavailable | ErrorKind::Overloaded => "cluster_unavailable",
                _ => "cluster_failed",
            },
            _ => "generation_damaged",
        }
    }
}
