//! Keeps the directory current: loads or builds a generation at the start, has the next one built when the exports
//! change, and keeps the last good one when they can't be served.

use std::sync::Arc;
use std::time::{Duration, Instant};

mod build;
mod index;
pub mod watch;

pub(crate) use self::index::load;
use crate::generation::Generation;
use crate::generation::Observer;
use crate::generation::Settings;
use crate::generation::Snapshot;
use crate::generation::failpoint::{Step, pass};
use crate::generation::stamp::FolderStamp;
use crate::generation::store::{Manifest, Store};
use crate::generation::{BuildFailure, FailureCode};
use crate::panics;
use crate::update::directory::{Degraded, Directory};
use crate::update::reload::{Reload, ReloadOutcome};

/// The least time between a failure that isn't of the exports and the next attempt.
const RETRY: Duration = Duration::from_secs(30);
/// The same time in durations of the attempt: repeated failures take at most a tenth of the time.
const RETRY_FACTOR: u32 = 10;

/// Keeps a directory current.
pub struct Reloader {
    settings: Settings,
    store: Option<Store>,
    directory: Arc<Directory>,
    observer: Box<dyn Observer>,
    /// The stamp of the exports when they were last read.
    seen: Option<FolderStamp>,
    /// The generation on disk that is served; `None` while what is served isn't on disk.
    saved: Option<Manifest>,
    /// The stamp of the exports that a generation served from memory was built of.
    unsaved: Option<FolderStamp>,
    /// The folder of a current generation on disk that turned out to be damaged.
    rejected: Option<String>,
    /// The time of the next attempt after a failure.
    retry_at: Option<Instant>,
    exports_problem: Option<Degraded>,
    index_problem: Option<Degraded>,
    /// Generations that are served no more, and that requests in progress may still hold.
    retired: Vec<Arc<Snapshot>>,
    /// The number of generations that were built.
    builds: u64,
}

/// The result of a look at the exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A generation that was on disk is published as it is.
    Loaded(ServedGeneration),
    /// The exports make the generation that is served already.
    Unchanged,
    /// A new generation was built and published.
    Published(ServedGeneration),
    /// The exports can't be served, so the last good generation is.
    KeptLastGood(ServedGeneration),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedGeneration {
    pub generation: String,
    /// The number of its products.
    pub software_count: usize,
}

impl ServedGeneration {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self { generation: snapshot.generation().to_owned(), software_count: snapshot.software_count() }
    }
}

impl std::fmt::Debug for Reloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloader").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Reloader {
    /// A reloader of a directory that is still empty.
    pub fn new(settings: Settings, directory: Arc<Directory>, observer: Box<dyn Observer>) -> Self {
        Self {
            store: settings.index.as_deref().map(Store::new),
            settings,
            directory,
            observer,
            seen: None,
            saved: None,
            unsaved: None,
            rejected: None,
            retry_at: None,
            exports_problem: None,
            index_problem: None,
            retired: Vec::new(),
            builds: 0,
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The stamp of the exports when they were last read.
    pub fn seen(&self) -> Option<&FolderStamp> {
        self.seen.as_ref()
    }

    /// Publishes the first generation: unchanged exports are loaded from disk, changed ones built, and where they can't
    /// be served the last good generation is. Unfinished folders of a killed process are removed.
    pub fn start(&mut self) -> Result<Outcome, BuildFailure> {
        let started = Instant::now();
        let outcome = match self.load_unchanged() {
            Some(outcome) => {
                self.record(started, ReloadOutcome::Loaded);
                outcome
            }
            None => self.refresh()?,
        };
        if let Some(store) = self.store.as_ref().filter(|_| !self.settings.read_only) {
            store.tidy();
        }
        Ok(outcome)
    }

    /// Looks at the exports again and publishes what they make, unless that can't or mustn't be served.
    pub fn refresh(&mut self) -> Result<Outcome, BuildFailure> {
        let started = Instant::now();
        let was_degraded = self.has_problem();
        self.retry_at = None;
        // At a start nothing is served yet: what was current before is what would lose records.
        let last_good = match self.directory.current() {
            Some(current) => Some((current, self.saved.clone())),
            None => panics::catch(|| self.load_any()).ok().flatten().map(|(snapshot, saved)| (snapshot, Some(saved))),
        };
        let ended = BuildFailure::catch(|| self.reload(last_good.as_ref().map(|(snapshot, _)| &**snapshot)));
        let is_withheld = ended.as_ref().is_err_and(|failure| failure.code == FailureCode::RecordsRemoved);
        let ended = ended.or_else(|failure| {
            if failure.is_transient {
                self.retry_after(started);
            }
            self.keep_last_good(failure, last_good)
        });
        if self.index_problem.is_some() {
            self.retry_after(started);
        }
        self.record(
            started,
            match &ended {
                Ok(Outcome::Published(_)) => ReloadOutcome::Published,
                Ok(Outcome::Loaded(_)) => ReloadOutcome::Loaded,
                Ok(Outcome::Unchanged) => ReloadOutcome::Unchanged,
                Ok(Outcome::KeptLastGood(_)) if is_withheld => ReloadOutcome::Withheld,
                Ok(Outcome::KeptLastGood(_)) | Err(_) => ReloadOutcome::Failed,
            },
        );
        self.log_recovery(was_degraded);
        ended
    }

    /// Whether it is time to look again though the exports haven't changed: something failed through no fault of theirs,
    /// or what is served turned out to be damaged on disk.
    pub fn is_due(&self, now: Instant) -> bool {
        self.retry_at.map_or_else(|| self.serves_damaged(), |at| now >= at)
    }

    fn load_unchanged(&mut self) -> Option<Outcome> {
        let manifest = self.current()?;
        if !self.may_serve(&manifest) || !self.has_our_prefixes(&manifest) {
            return None;
        }
        let stamp = self.settings.source.stamp().ok().filter(|stamp| !stamp.is_empty())?;
        let is_unchanged = stamp == manifest.inputs || {
            let made = self.generation_of_files();
            made.is_some_and(|(generation, _)| generation == manifest.generation)
        };
        if !is_unchanged {
            return None;
        }
        match load(self.store.as_ref()?, &manifest) {
            Ok(snapshot) => {
                (self.seen, self.saved) = (Some(stamp), Some(manifest));
                Some(Outcome::Loaded(self.publish(snapshot)))
            }
            Err(failure) => {
                tracing::warn!("the index is damaged; it is built again: {failure}");
                None
            }
        }
    }

    fn reload(&mut self, served: Option<&Snapshot>) -> Result<Outcome, BuildFailure> {
        let known = self.known_files();
        if let Some(stamp) = &known
            && !self.serves_damaged()
            && self.is_current()
        {
            pass(Step::Read);
            self.seen = Some(stamp.clone());
            self.clear_problems();
            return Ok(Outcome::Unchanged);
        }
        // Set even if there turns out to be nothing to read: the same files needn't be tried again.
        self.seen = self.settings.source.stamp().ok();
        let Some(store) = self.store.clone().filter(|_| !self.settings.read_only) else {
            return self.reload_in_memory(served, known);
        };
        match self.build_on_disk(&store, served) {
            Ok(built) => self.serve(&store, built),
            Err(failure) if failure.code.is_of_index() => {
                let detail = format!("{failure}; the directory is served from memory, and writing is tried again");
                // Logged once, however often it is tried in vain.
                if self.index_problem.as_ref().is_none_or(|before| before.code != failure.code.as_str()) {
                    tracing::error!("the generation can't be written; it is served from memory: {failure}");
                }
                self.index_problem = Some(Degraded { code: failure.code.as_str(), detail, ..Degraded::default() });
                self.reload_in_memory(served, known)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Clears all problems: the generation of the exports is served, and it is on disk.
    fn clear_problems(&mut self) {
        (self.exports_problem, self.index_problem, self.unsaved, self.rejected) = (None, None, None, None);
        self.publish_problems();
    }

    fn serves(&self, generation: &Generation) -> bool {
        self.directory.current().is_some_and(|served| served.generation == *generation)
    }

    fn serves_damaged(&self) -> bool {
        self.directory.current().is_some_and(|current| current.catalogue.is_damaged())
    }

    fn keep_last_good(
        &mut self,
        failure: BuildFailure,
        last_good: Option<(Arc<Snapshot>, Option<Manifest>)>,
    ) -> Result<Outcome, BuildFailure> {
        // The failure may have come after publishing.
        let last_good = self.directory.current().map(|current| (current, self.saved.clone())).or(last_good);
        let served = if last_good.is_some() { "the last good generation is served" } else { "nothing is served yet" };
        let problem = Degraded {
            code: failure.code.as_str(),
            count: failure.count,
            export_count: None,
            since: None,
            detail: format!("{failure}; {served}"),
        };
        let is_known = self.exports_problem.as_ref() == Some(&problem);
        self.exports_problem = Some(problem);
        let Some((last_good, saved)) = last_good else {
            self.publish_problems();
            return Err(failure);
        };
        self.saved = saved;
        // Logged once: what is tried again fails the same way more often than not.
        if !is_known {
            tracing::error!("the last good generation stays: {failure}");
        }
        Ok(Outcome::KeptLastGood(self.publish(last_good)))
    }

    fn retry_after(&mut self, started: Instant) {
        let now = Instant::now();
        self.retry_at = Some(now + RETRY.max((now - started) * RETRY_FACTOR));
    }

    fn publish(&mut self, snapshot: Arc<Snapshot>) -> ServedGeneration {
        let served = ServedGeneration::of(&snapshot);
        pass(Step::PublishBefore);
        let published = Arc::as_ptr(&snapshot);
        let before = self.directory.publish(snapshot);
        self.retired.extend(before.filter(|before| Arc::as_ptr(before) != published));
        pass(Step::PublishAfter);
        self.publish_problems();
        served
    }

    fn has_problem(&self) -> bool {
        self.exports_problem.is_some() || self.index_problem.is_some()
    }

    /// Logs the end of all problems, so that the last line about them isn't an error.
    fn log_recovery(&self, was_degraded: bool) {
        if was_degraded
            && !self.has_problem()
            && let Some(current) = self.directory.current()
        {
            tracing::info!(
                generation = current.generation(),
                software = current.software_count(),
                "recovered: the exports are served as they are"
            );
        }
    }

    /// Publishes the problems as the reasons in `/readyz`.
    fn publish_problems(&self) {
        let problems = self.exports_problem.iter().chain(&self.index_problem);
        self.directory.set_degraded(problems.cloned().collect());
    }

    /// Adds a reload to the counts that metrics show.
    fn record(&self, started: Instant, outcome: ReloadOutcome) {
        let reload = Reload { outcome, at: jiff::Timestamp::now(), took: started.elapsed() };
        self.directory.set_reloads(self.directory.reloads().after(reload, self.builds));
    }
}
