//! Export files as the source of generations. The first generation is loaded from disk or built.
//! Later ones are built when the files change, or picked up if another process has built them.

mod build;
mod events;
mod index;

use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use self::events::FsEvents;
use crate::generation::stamp::FolderStamp;
use crate::generation::store::{Manifest, Store};
use crate::generation::{BuildFailure, Change, INDEX_FORMAT, Observer, Settings, Snapshot};
use crate::update::debounce::Debouncer;
use crate::update::signal::Signal;
use crate::update::state::{About, Health, Problem};
use crate::update::{Look, Opened, Origin, Start};

/// Builds generations from export files.
pub struct ExportFiles {
    settings: Settings,
    store: Option<Store>,
    observer: Box<dyn Observer>,
    events: Option<FsEvents>,
    debouncer: Debouncer,
    kept: Kept,
    /// The folder of a current generation on disk that turned out to be unusable.
    rejected: Option<String>,
}

/// Where the served generation is stored.
#[derive(Debug)]
enum Kept {
    /// Not stored anywhere, or not where it should be.
    Nowhere,
    OnDisk(Manifest),
    /// In memory only, with the stamp of its files.
    InMemory(FolderStamp),
}

impl std::fmt::Debug for ExportFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExportFiles").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl ExportFiles {
    pub fn new(settings: Settings, observer: Box<dyn Observer>) -> Self {
        Self {
            store: settings.index.as_deref().map(Store::new),
            settings,
            observer,
            events: None,
            debouncer: Debouncer::new(None, Instant::now()),
            kept: Kept::Nowhere,
            rejected: None,
        }
    }

    /// Starts watching the folder. Call this before startup, so no change is missed in between.
    pub fn watch(&mut self, signals: SyncSender<Signal>) {
        let events = self.events.insert(FsEvents::new(signals));
        events.follow(self.settings.source.folder());
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The stamp of the files when they were last read.
    pub fn seen(&self) -> Option<&FolderStamp> {
        self.debouncer.seen()
    }

    fn set_seen(&mut self, stamp: Option<FolderStamp>) {
        self.debouncer.read(stamp, Instant::now());
    }

    /// The index folder, if it may be written to.
    fn writable_store(&self) -> Option<&Store> {
        self.store.as_ref().filter(|_| !self.settings.read_only)
    }
}

impl Origin for ExportFiles {
    type Error = BuildFailure;

    const NEW: &'static str = "published a new generation";
    const UNCHANGED: Option<&'static str> = Some("the exports are unchanged");
    const RECOVERED: &'static str = "serving the current exports";

    /// Unchanged files are loaded from disk. Changed ones are built; until then the last good
    /// generation is served.
    fn restore(&mut self, health: &mut Health) -> Start {
        if let Some(snapshot) = self.load_unchanged(health) {
            return Start::Serve(snapshot, Some(Timestamp::now()));
        }
        // New exports are compared with the last good generation, to see which records they would
        // remove.
        let last_good = self.load_last_good();
        let format = self.store.as_ref().and_then(Store::foreign_format);
        if let Some(format) = format.filter(|_| last_good.is_none()) {
            tracing::info!(
                "the index has format {format}, from another version of the program; rebuilding it from the exports in format \
                 {INDEX_FORMAT}; no action is needed"
            );
        }
        Start::Fetch(last_good)
    }

    fn look(&mut self, now: Instant, health: &mut Health) -> Look {
        if let Some(events) = &mut self.events {
            events.follow(self.settings.source.folder());
        }
        if let Some(snapshot) = self.look_at_index(now, health) {
            return Look::Found(snapshot);
        }
        if self.debouncer.look(self.settings.source.stamp().ok(), now) { Look::Due } else { Look::Nothing }
    }

    fn max_wait(&self) -> Duration {
        self.debouncer.max_wait()
    }

    fn fetch(&mut self, last_good: Option<&Snapshot>, health: &mut Health) -> Result<Option<Opened>, BuildFailure> {
        let before = self.seen().cloned();
        // Set this even if there turns out to be nothing to read, so the same files aren't tried
        // again.
        self.set_seen(self.settings.source.stamp().ok());
        let Some((snapshot, outcome)) = self.build(last_good, health)? else { return Ok(None) };
        let served = health.directory().current();
        let served = served.as_ref().map(|served| served.contents());
        let change = Change::between(served, snapshot.contents(), (before.as_ref(), self.seen()));
        Ok(Some(Opened { snapshot, outcome, change: Some(change) }))
    }

    fn panicked(panic: String) -> BuildFailure {
        BuildFailure::panicked(&panic)
    }

    fn problem(&self, failure: &BuildFailure, last_good: Option<&Snapshot>, _: &Health) -> Problem {
        let (served, consequence) = match last_good {
            Some(_) => ("the last good generation is being served", "keeping the last good generation"),
            None => ("nothing is being served yet", "there is nothing to serve"),
        };
        let (detail, log) = (format!("{failure}; {served}"), format!("{consequence}: {failure}"));
        let mut problem = Problem::new(About::Exports, failure.code.as_str(), detail, Some(log));
        (problem.reason.count, problem.is_retried) = (failure.count, failure.is_transient);
        problem
    }

    fn tidy(&self) {
        self.writable_store().inspect(|store| store.tidy());
    }
}
