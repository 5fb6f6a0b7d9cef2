//! Follows the generation that a cluster has in service.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::runtime::Handle;

use crate::engine::opensearch::cluster::{Cluster, ClusterError};
use crate::engine::opensearch::{IndexPrefix, PartsError, Publisher};
use crate::error::chain;
use crate::generation::Snapshot;
use crate::generation::cluster::{OpenRemoteError, open};
use crate::update::ReloadStatus;
use crate::update::directory::{Degraded, Directory};
use crate::update::files::ServedGeneration;
use crate::update::files::watch::Signal;
use crate::update::reload::{Reload, ReloadOutcome};

/// The interval between two looks at the cluster.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The longest interval while a generation is damaged; it doubles with each failure.
const MAX_BACK_OFF: Duration = Duration::from_secs(30);

/// The reason in `/readyz` while the cluster doesn't respond.
pub const CLUSTER_UNAVAILABLE: &str = "cluster_unavailable";

/// Follows a cluster.
#[derive(Debug)]
pub struct ClusterFollower {
    cluster: Arc<Cluster>,
    publisher: Publisher,
    directory: Arc<Directory>,
    /// The name of the cluster in the log.
    origin: String,
    /// The index that is served.
    served: Option<String>,
    failures: u32,
    problem: Option<Problem>,
}

/// The failure of the last look.
#[derive(Debug)]
struct Problem {
    code: &'static str,
    since: Timestamp,
}

impl ClusterFollower {
    /// A follower of an empty directory.
    pub fn new(cluster: Arc<Cluster>, prefix: IndexPrefix, directory: Arc<Directory>, origin: String) -> Self {
        let publisher = Publisher::new(Arc::clone(&cluster), prefix);
        Self { cluster, publisher, directory, origin, served: None, failures: 0, problem: None }
    }

    /// The name of the cluster in the log.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Looks at the cluster once and publishes its generation if it is another one. Returns that one.
    pub async fn look(&mut self) -> Result<Option<ServedGeneration>, Duration> {
        let started = Instant::now();
        match self.take(started).await {
            Ok(served) => {
                self.failures = 0;
                self.recovered();
                let status = (*self.directory.reloads()).clone();
                self.directory.set_reloads(ReloadStatus { current_at: Some(Timestamp::now()), ..status });
                Ok(served)
            }
            Err(error) => {
                self.record(started, ReloadOutcome::Failed);
                let code = code(&error);
                self.failed(code, &chain(&error));
                // To read a damaged generation again and again takes more than a look.
                let is_unusable =
                    matches!(error, OpenRemoteError::Open(_) | OpenRemoteError::Parts(PartsError::Damaged { .. }));
                self.failures = if is_unusable { self.failures.saturating_add(1) } else { 0 };
                Err(POLL_INTERVAL.saturating_mul(1 << self.failures.min(5)).min(MAX_BACK_OFF))
            }
        }
    }

    async fn take(&mut self, started: Instant) -> Result<Option<ServedGeneration>, OpenRemoteError> {
        let published = self.publisher.published().await.map_err(PartsError::from)?;
        let Some((published, _)) = published else { return Err(OpenRemoteError::Nothing) };
        if self.served.as_ref() == Some(&published.index) {
            return Ok(None);
        }
        let snapshot = open(&self.cluster, &published).await?;
        let served = ServedGeneration::of(&snapshot);
        drop::<Option<Arc<Snapshot>>>(self.directory.publish(snapshot));
        self.record(started, ReloadOutcome::Published);
        if self.served.replace(published.index).is_some() {
            tracing::info!(
                generation = served.generation,
                software = served.software_count,
                took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                "a new generation of the cluster is served"
            );
        }
        Ok(Some(served))
    }

    fn record(&self, started: Instant, outcome: ReloadOutcome) {
        let reload = Reload { outcome, at: Timestamp::now(), took: started.elapsed() };
        self.directory.set_reloads(self.directory.reloads().after(reload, 0));
    }

    /// Sets the reason in `/readyz`, and logs it when it begins or becomes another one.
    fn failed(&mut self, code: &'static str, text: &str) {
        if self.problem.as_ref().is_none_or(|problem| problem.code != code) {
            let since = self.problem.as_ref().map_or_else(Timestamp::now, |problem| problem.since);
            self.problem = Some(Problem { code, since });
            tracing::error!(reason = code, "the cluster isn't followed: {text}; it is tried again");
        }
        let since = self.problem.as_ref().map(|problem| problem.since);
        let detail = format!("{text}; it is tried again");
        self.directory.set_degraded(vec![Degraded { code, since, detail, ..Degraded::default() }]);
    }

    fn recovered(&mut self) {
        if let Some(problem) = self.problem.take() {
            self.directory.set_degraded(Vec::new());
            tracing::info!(since = %problem.since, "recovered: the cluster is followed again");
        }
    }
}

fn code(error: &OpenRemoteError) -> &'static str {
    match error {
        OpenRemoteError::Nothing => "nothing_published",
        OpenRemoteError::Parts(PartsError::Cluster(error)) => match error {
            ClusterError::Unavailable(_) | ClusterError::Overloaded { .. } => CLUSTER_UNAVAILABLE,
            ClusterError::Authentication { .. } => "cluster_authentication",
            _ => "cluster_failed",
        },
        OpenRemoteError::Parts(PartsError::Damaged { .. } | PartsError::File(_)) | OpenRemoteError::Open(_) => {
            "generation_damaged"
        }
        OpenRemoteError::Format { .. } => "generation_format",
    }
}

/// Follows until the stop signal, on a thread of its own.
pub fn follow(follower: &mut ClusterFollower, runtime: &Handle, signals: &Receiver<Signal>) {
    loop {
        let wait = match runtime.block_on(follower.look()) {
            Ok(_) => POLL_INTERVAL,
            Err(wait) => wait,
        };
        let next = Instant::now() + wait;
        loop {
            match signals.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Signal::Reload) | Err(RecvTimeoutError::Timeout) => break,
                Ok(Signal::FsEvent) => {}
            }
        }
    }
}
