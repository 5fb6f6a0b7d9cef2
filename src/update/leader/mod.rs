//! Follows a leader: serves the generations that another server, a web server or object storage publishes as files.
//!
//! The files are those of an index folder: `CURRENT`, and for each generation `manifest.json` and the parts that it names. They are
//! pulled into this server's own index folder, verified, and published as a generation of a local build is.

mod client;
mod error;
mod pull;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

pub use client::{Leader, LeaderError};
pub use error::{FollowError, UnreadableKey};

use crate::error::chain;
use crate::generation::BuildFailure;
use crate::generation::store::{Manifest, Store};
use crate::generation::{Change, Snapshot};
use crate::update::directory::{Degraded, Directory};
use crate::update::files::watch::Signal;
use crate::update::files::{ServedGeneration, load};
use crate::update::reload::{Reload, ReloadOutcome};
use client::Pointer;

/// The interval between two looks at a leader that can be followed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The longest interval after failures; it doubles with each one.
const MAX_BACK_OFF: Duration = Duration::from_secs(30);

/// Follows a leader.
#[derive(Debug)]
pub struct Follower {
    leader: Leader,
    store: Store,
    directory: Arc<Directory>,
    /// The entity tag of the pointer to the generation that is served.
    tag: Option<String>,
    /// The generation on disk that is served.
    saved: Option<Manifest>,
    /// Looks that failed since the last one that succeeded.
    failures: u32,
    problem: Option<Problem>,
    /// Generations that are served no more, and that requests in progress may still hold.
    retired: Vec<Arc<Snapshot>>,
}

/// The failure of the last look.
#[derive(Debug)]
struct Problem {
    code: &'static str,
    since: Timestamp,
}

impl Follower {
    /// A follower of an empty directory, with an index folder of its own.
    pub fn new(leader: Leader, store: Store, directory: Arc<Directory>) -> Self {
        Self { leader, store, directory, tag: None, saved: None, failures: 0, problem: None, retired: Vec::new() }
    }

    /// The leader's address.
    pub fn leader(&self) -> &str {
        self.leader.url()
    }

    /// Publishes the newest whole generation of the index folder, if there is one.
    pub fn start(&mut self) -> Option<ServedGeneration> {
        let started = Instant::now();
        let (snapshot, manifest) =
            self.store.candidates().into_iter().find_map(|manifest| {
                match BuildFailure::catch(|| load(&self.store, &manifest)) {
                    Ok(snapshot) => Some((snapshot, manifest)),
                    Err(failure) => {
                        tracing::warn!("a generation on disk can't be used: {failure}");
                        None
                    }
                }
            })?;
        let served = self.publish(snapshot, manifest);
        // It is current only once the leader has said so.
        let last = Reload { outcome: ReloadOutcome::Loaded, at: Timestamp::now(), took: started.elapsed() };
        let status = self.directory.reloads().after(last, 0);
        self.directory.set_reloads(super::ReloadStatus { current_at: manifest_time(self.saved.as_ref()), ..status });
        Some(served)
    }

    /// Looks at the leader once and publishes its generation if it is another one. Returns the time until the next look.
    pub fn look(&mut self) -> Duration {
        self.retired.retain(|snapshot| Arc::strong_count(snapshot) > 1);
        let started = Instant::now();
        let looked =
            crate::panics::catch(|| self.follow(started)).unwrap_or_else(|panic| Err(FollowError::Panicked(panic)));
        match looked {
            Ok(()) => {
                self.failures = 0;
                self.recovered();
                POLL_INTERVAL
            }
            Err(error) => {
                self.record(started, ReloadOutcome::Failed);
                self.failed(&error);
                let wait = POLL_INTERVAL.saturating_mul(1 << self.failures.min(5)).min(MAX_BACK_OFF);
                self.failures = self.failures.saturating_add(1);
                wait
            }
        }
    }

    fn follow(&mut self, started: Instant) -> Result<(), FollowError> {
        let is_settled = self.is_settled();
        let tag = self.tag.as_deref().filter(|_| is_settled);
        let (name, tag) = match self.leader.current(tag)? {
            Pointer::Unchanged => {
                self.confirm();
                return Ok(());
            }
            Pointer::Current { name, tag } => (name, tag),
        };
        let generation = name.split('-').next().unwrap_or_default();
        // Another build of the same generation has the same content.
        if !(is_settled && self.saved.as_ref().is_some_and(|saved| saved.generation.as_str() == generation)) {
            self.take(&name, generation, started)?;
        }
        self.tag = tag;
        self.confirm();
        Ok(())
    }

    /// Whether what is served is whole and current in the index folder.
    fn is_settled(&self) -> bool {
        let is_whole = self.directory.current().is_some_and(|current| !current.catalogue.is_damaged());
        is_whole
            && self.saved.as_ref().is_some_and(|saved| {
                let name = saved.folder_name();
                self.store.current_name().as_ref() == Some(&name) && self.store.manifest(&name).is_some()
            })
    }

    /// Publishes the leader's generation, from the index folder if it has the same one, else from the leader.
    fn take(&mut self, name: &str, generation: &str, started: Instant) -> Result<(), FollowError> {
        let same = |manifest: &Manifest| manifest.generation.as_str() == generation;
        let on_disk =
            self.store.candidates().into_iter().filter(same).find(|manifest| self.store.verify(manifest).is_ok());
        let is_back = self.directory.current().is_some_and(|current| current.generation() != generation);
        let (manifest, pulled) = match on_disk {
            // One that comes back after another one has another log of changes, and nothing else.
            Some(manifest) if is_back => (pull::pull_log(&self.leader, &self.store, name, &manifest)?, 0),
            Some(manifest) => (manifest, 0),
            None => pull::pull(&self.leader, &self.store, name)?,
        };
        let snapshot = match BuildFailure::catch(|| load(&self.store, &manifest)) {
            Ok(snapshot) => snapshot,
            Err(failure) => {
                // It must not take the place of a good one.
                self.store.discard(&manifest);
                return Err(FollowError::Unusable(failure));
            }
        };
        let manifest = self.store.make_current(&manifest, manifest.inputs.clone())?;
        let before = self.directory.current();
        let served = self.publish(snapshot, manifest);
        self.store.tidy();
        self.record(started, if pulled > 0 { ReloadOutcome::Published } else { ReloadOutcome::Loaded });
        let after = self.directory.current();
        let records = [&before, &after].map(|of| of.as_deref().map(|of| &*of.records));
        let change = Change::between(records[0], records[1], (None, None));
        tracing::info!(
            generation = served.generation,
            software = served.software_count,
            added = change.added,
            removed = change.removed,
            changed = change.changed,
            pulled_bytes = pulled,
            took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "a new generation of the leader is served"
        );
        Ok(())
    }

    fn publish(&mut self, snapshot: Arc<Snapshot>, manifest: Manifest) -> ServedGeneration {
        let served = ServedGeneration::of(&snapshot);
        self.retired.extend(self.directory.publish(snapshot));
        self.saved = Some(manifest);
        served
    }

    /// Notes that what is served is what the leader has.
    fn confirm(&self) {
        let status = (*self.directory.reloads()).clone();
        self.directory.set_reloads(super::ReloadStatus { current_at: Some(Timestamp::now()), ..status });
    }

    fn record(&self, started: Instant, outcome: ReloadOutcome) {
        let reload = Reload { outcome, at: Timestamp::now(), took: started.elapsed() };
        self.directory.set_reloads(self.directory.reloads().after(reload, 0));
    }

    /// Sets the reason in `/readyz`, and logs it when it begins or becomes another one.
    fn failed(&mut self, error: &FollowError) {
        let (code, text) = (error.code(), chain(error));
        if self.problem.as_ref().is_none_or(|problem| problem.code != code) {
            let since = self.problem.as_ref().map_or_else(Timestamp::now, |problem| problem.since);
            self.problem = Some(Problem { code, since });
            let serves = self.directory.current().map_or_else(
                || "there is nothing to serve until it can be followed".to_owned(),
                |current| format!("generation {} stays", current.generation()),
            );
            tracing::error!(reason = code, "the leader isn't followed: {text}; {serves}, and it is tried again");
        }
        let since = self.problem.as_ref().map(|problem| problem.since);
        let current_at = self.directory.reloads().current_at;
        let served = match current_at {
            Some(at) => format!("what is served was last seen to be current at {at}"),
            None => "nothing is served yet".to_owned(),
        };
        let detail = format!("{text}; {served}, and the leader is tried again");
        self.directory.set_degraded(vec![Degraded { code, since, detail, ..Degraded::default() }]);
    }

    fn recovered(&mut self) {
        if let Some(problem) = self.problem.take() {
            self.directory.set_degraded(Vec::new());
            tracing::info!(since = %problem.since, "recovered: the leader is followed again");
        }
    }
}

/// When a generation was built.
fn manifest_time(manifest: Option<&Manifest>) -> Option<Timestamp> {
    manifest?.built_at.parse().ok()
}

/// Follows until the stop signal, on a thread of its own.
pub fn follow(follower: &mut Follower, signals: &Receiver<Signal>) {
    loop {
        let next = Instant::now() + follower.look();
        loop {
            match signals.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Signal::Reload) | Err(RecvTimeoutError::Timeout) => break,
                Ok(Signal::FsEvent) => {}
            }
        }
    }
}
