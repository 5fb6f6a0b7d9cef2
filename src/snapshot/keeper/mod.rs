//! Keeps the directory current: loads or builds a generation at the start, builds the next one when the exports change,
//! and keeps the last good one when they can't be served.

mod disk;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use disk::load;

use super::artifact::Artifact;
use super::directory::{Degraded, Directory};
use super::generation::Generation;
use super::source::{ReadSet, Source};
use super::stamp::FolderStamp;
use super::store::{Manifest, Store, StoreError};
use super::{OpenError, Snapshot, build};
use crate::export::{Export, FindError, Limits, Report, Severity};

/// What a keeper works with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the exports come from.
    pub source: Source,
    /// Where generations are kept; `None`: in memory only.
    pub index: Option<PathBuf>,
    /// Whether generations are only loaded from there and never written.
    pub read_only: bool,
    /// Whether the valid records of an invalid set are served.
    pub skip_invalid: bool,
    /// The largest share of records that may vanish unconfirmed, in per cent.
    pub max_removed: u8,
    /// How large an export may be.
    pub limits: Limits,
}

/// What is being done, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reading and checking, counted in bytes.
    Reading,
    /// Indexing, counted in products.
    Indexing,
    /// Writing to disk; not counted.
    Writing,
}

/// Is told what a keeper does.
pub trait Observer: Send {
    /// So much of so much is done.
    fn progress(&mut self, phase: Phase, done: u64, total: u64);
    /// Exports were read, and this is what was found.
    fn report(&mut self, report: &Report);
}

/// Why there is nothing to serve.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The exports can't be found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The exports have errors; they were reported.
    #[error(
        "the exports are not served: {errors} {}, first {first}; mend them, or serve the valid records with --skip-invalid",
        if *.errors == 1 { "error" } else { "errors" }
    )]
    Invalid {
        /// How many.
        errors: usize,
        /// The first: where and what.
        first: String,
    },
    /// A generation can't be built or opened.
    #[error("the directory can't be built")]
    Open(#[from] OpenError),
    /// The disk refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a look at the exports led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The generation in force was loaded as it is.
    Loaded(Kept),
    /// The exports make the generation that is served already.
    Unchanged,
    /// A new generation was built and published.
    Published(Kept),
    /// The exports can't be served, so the last good generation is.
    KeptLastGood(Kept),
}

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The generation.
    pub generation: String,
    /// How many products it has.
    pub software_count: usize,
}

/// Keeps a directory current.
pub struct Keeper {
    settings: Settings,
    store: Option<Store>,
    directory: Arc<Directory>,
    observer: Box<dyn Observer>,
    /// What the exports looked like when they were last read.
    seen: Option<FolderStamp>,
    /// The generation on disk that is served; `None` while what is served isn't on disk.
    saved: Option<Manifest>,
    /// The folder of a generation in force on disk that turned out to be damaged.
    unusable: Option<String>,
    /// Since when what is served should be on disk and isn't.
    unsaved_since: Option<Instant>,
    exports_problem: Option<Degraded>,
    disk_problem: Option<Degraded>,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Keeper {
    /// A keeper of a directory that is still empty.
    #[must_use]
    pub fn new(settings: Settings, directory: Arc<Directory>, observer: Box<dyn Observer>) -> Self {
        Self {
            store: settings.index.as_deref().map(Store::new),
            settings,
            directory,
            observer,
            seen: None,
            saved: None,
            unusable: None,
            unsaved_since: None,
            exports_problem: None,
            disk_problem: None,
        }
    }

    /// What it works with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the exports looked like when they were last read.
    #[must_use]
    pub fn seen(&self) -> Option<&FolderStamp> {
        self.seen.as_ref()
    }

    /// Publishes the first generation: unchanged exports are loaded from disk, changed ones built, and where they can't
    /// be served the last good generation is.
    ///
    /// # Errors
    /// Where there is nothing to serve at all.
    pub fn start(&mut self) -> Result<Outcome, KeepError> {
        if let Some(outcome) = self.load_unchanged() {
            return Ok(outcome);
        }
        self.refresh()
    }

    /// Looks at the exports again and publishes what they make, unless that can't or mustn't be served.
    ///
    /// # Errors
    /// Where there is nothing to serve at all.
    pub fn refresh(&mut self) -> Result<Outcome, KeepError> {
        match self.read() {
            Ok(set) => self.serve(set),
            Err(error) => self.keep_last_good(error),
        }
    }

    /// Builds a generation whatever is there already and puts it in force on disk, where a running server finds it.
    ///
    /// # Errors
    /// Where the exports are invalid, or it can't be built or written.
    pub fn reindex(&mut self) -> Result<Kept, KeepError> {
        let set = self.read()?;
        let generation = Generation::of(&set.report.exports);
        let (snapshot, artifact) = self.build(&set.report.exports, &generation)?;
        if let Some(store) = self.store.clone() {
            self.saved = Some(self.save(&store, &artifact, &snapshot, &generation, set.stamp)?);
        }
        Ok(self.publish(snapshot))
    }

    fn load_unchanged(&mut self) -> Option<Outcome> {
        let store = self.store.clone()?;
        let manifest = self.in_force()?;
        let folder = self.settings.source.folder()?;
        let stamp = super::stamp::stamp(folder).ok()?;
        if stamp.is_empty() || stamp != manifest.inputs || manifest.skipped_invalid != self.settings.skip_invalid {
            return None;
        }
        match load(&store, &manifest) {
            Ok(snapshot) => {
                self.seen = Some(stamp);
                self.saved = Some(manifest);
                Some(Outcome::Loaded(self.publish(snapshot)))
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the index is damaged; it is built again");
                None
            }
        }
    }

    /// The manifest of the generation in force on disk, if it is one of these exports'.
    fn in_force(&self) -> Option<Manifest> {
        self.store.as_ref()?.current().filter(|manifest| self.is_ours(manifest))
    }

    /// Reads the exports; what can't be served is an error.
    fn read(&mut self) -> Result<ReadSet, KeepError> {
        // Remembered even if there turns out to be nothing to read: what was seen once needn't be tried again.
        self.seen = self.settings.source.stamp().ok();
        let observer = std::cell::RefCell::new(&mut self.observer);
        let set = self
            .settings
            .source
            .read(&self.settings.limits, &|done, total| observer.borrow_mut().progress(Phase::Reading, done, total))?;
        self.seen = Some(set.stamp.clone());
        self.observer.report(&set.report);
        let servable = set.report.is_valid() || (self.settings.skip_invalid && !set.report.exports.is_empty());
        if servable { Ok(set) } else { Err(invalid(&set.report)) }
    }

    fn serve(&mut self, set: ReadSet) -> Result<Outcome, KeepError> {
        let generation = Generation::of(&set.report.exports);
        let current = self.directory.current();
        if current.as_ref().is_some_and(|current| current.generation() == generation.as_str()) {
            self.exports_problem = None;
            self.restamp(set.stamp);
            self.show_health();
            return Ok(Outcome::Unchanged);
        }
        let at_start = current.is_none();
        // At a start nothing is served yet: what was in force before is what would lose records. Where these exports
        // made it, whatever it lost was confirmed then.
        let previous = match current {
            Some(current) => Some(current),
            None if self.in_force().is_some_and(|manifest| manifest.generation == generation) => None,
            None => self.load_any(|_| true).map(|(snapshot, manifest)| {
                self.saved = Some(manifest);
                snapshot
            }),
        };
        if let Some(previous) = previous
            && let Some(problem) = self.removes_too_much(&previous, &set.report.exports)
        {
            tracing::warn!("{}", problem.detail);
            self.exports_problem = Some(problem);
            return Ok(Outcome::KeptLastGood(self.publish(previous)));
        }
        if at_start && let Some((snapshot, manifest)) = self.load_any(|manifest| manifest.generation == generation) {
            self.saved = Some(manifest);
            self.restamp(set.stamp);
            return Ok(Outcome::Loaded(self.publish(snapshot)));
        }
        let (snapshot, artifact) = match self.build(&set.report.exports, &generation) {
            Ok(built) => built,
            Err(error) => return self.keep_last_good(error.into()),
        };
        self.exports_problem = None;
        if let Some(store) = self.store.clone().filter(|_| !self.settings.read_only) {
            // Persist, then publish: a restart never falls behind what callers have seen.
            self.saved = self.save(&store, &artifact, &snapshot, &generation, set.stamp).ok();
        }
        Ok(Outcome::Published(self.publish(snapshot)))
    }

    fn build(&mut self, exports: &[Export], generation: &Generation) -> Result<(Arc<Snapshot>, Artifact), OpenError> {
        let observer = &mut self.observer;
        let artifact = build(exports, &mut |done, total| observer.progress(Phase::Indexing, done, total))?;
        let snapshot = Snapshot::open(generation.clone(), &artifact)?;
        Ok((snapshot, artifact))
    }

    fn keep_last_good(&mut self, error: KeepError) -> Result<Outcome, KeepError> {
        let last_good = match self.directory.current() {
            Some(current) => Some(current),
            None => self.load_any(|_| true).map(|(snapshot, manifest)| {
                self.saved = Some(manifest);
                snapshot
            }),
        };
        let Some(last_good) = last_good else { return Err(error) };
        let code = match error {
            KeepError::Find(_) => "exports_missing",
            KeepError::Invalid { .. } => "exports_invalid",
            KeepError::Open(_) | KeepError::Store(_) => "build_failed",
        };
        tracing::error!(error = &error as &dyn std::error::Error, "the last good generation stays");
        self.exports_problem = Some(Degraded { code, detail: format!("{error}; the last good generation is served") });
        Ok(Outcome::KeptLastGood(self.publish(last_good)))
    }

    /// Why a valid set needs to be confirmed: it would remove more records than may vanish by accident.
    fn removes_too_much(&self, previous: &Snapshot, exports: &[Export]) -> Option<Degraded> {
        let before = previous.catalogue.software_count();
        let ids: HashSet<&str> =
            exports.iter().flat_map(|export| export.software.iter().map(|software| &*software.id)).collect();
        let removed = previous.catalogue.ids().filter(|id| !ids.contains(id.as_str())).count();
        (removed * 100 > before * usize::from(self.settings.max_removed)).then(|| Degraded {
            code: "records_removed",
            detail: format!(
                "the exports would remove {removed} of {before} products, more than {} per cent; confirm it with \
                 `software-directory --reindex`, or bring the records back",
                self.settings.max_removed
            ),
        })
    }

    fn publish(&mut self, snapshot: Arc<Snapshot>) -> Kept {
        let kept =
            Kept { generation: snapshot.generation().to_owned(), software_count: snapshot.catalogue.software_count() };
        self.directory.publish(snapshot);
        self.show_health();
        kept
    }

    fn show_health(&self) {
        self.directory.set_degraded(self.exports_problem.iter().chain(&self.disk_problem).cloned().collect());
    }
}

/// What the operator is told of exports with errors: all of them were reported, the first one is named again.
fn invalid(report: &Report) -> KeepError {
    let errors = || report.findings.iter().filter(|finding| finding.severity() == Severity::Error);
    // Codes are in the order of the layers: what isn't JSON is worse than what is missing from it, wherever it stands.
    let first = errors().min_by_key(|finding| finding.code).map_or_else(String::new, |finding| {
        let file = finding.location.file.display();
        match &finding.location.place {
            Some(place) => format!("{file}:{}:{}: {}", place.line, place.column, finding.message),
            None => format!("{file}: {}", finding.message),
        }
    });
    KeepError::Invalid { errors: errors().count(), first }
}
