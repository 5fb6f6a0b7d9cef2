//! Keeps the directory current: loads or builds a generation at the start, builds the next one when the exports change,
//! and keeps the last good one when they can't be served.

mod apart;
mod disk;
mod outcome;
mod reloading;
mod settings;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apart::caught;
use disk::{Unsaved, load};
use outcome::invalid;
pub use outcome::{KeepError, Kept, Outcome};
use reloading::starves;
pub use settings::{Observer, Phase, Settings};

use super::artifact::Artifact;
use super::directory::{Degraded, Directory};
use super::failpoint::{Step, pass};
use super::generation::Generation;
use super::priority::Share;
use super::source::ReadSet;
use super::stamp::FolderStamp;
use super::store::{Manifest, Store};
use super::{BuildError, OpenError, Snapshot, build};
use crate::export::Export;

/// How long what failed through no fault of the exports waits until it is tried again.
const RETRY: Duration = Duration::from_secs(30);
/// After how many products it is looked whether a build gets enough of the processor.
const LOOK_EVERY: u64 = 64;
/// Why a valid set is held back.
const RECORDS_REMOVED: &str = "records_removed";

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
    /// What is served, should be on disk and isn't.
    unsaved: Option<Unsaved>,
    /// When reading or building last failed through no fault of the exports.
    failed_at: Option<Instant>,
    /// When what is served was written, if it isn't served from disk yet.
    written_at: Option<Instant>,
    /// When what is on disk was last compared with its checksums, to be written again where it is damaged.
    mended_at: Option<Instant>,
    exports_problem: Option<Degraded>,
    disk_problem: Option<Degraded>,
    /// What went wrong while looking after the index.
    index_problem: Option<Degraded>,
    /// Generations that were served until requests under way let go of them.
    retired: Vec<Arc<Snapshot>>,
    /// How many generations were built.
    builds: u64,
    /// Whether requests are answered beside it.
    gives_way: bool,
    /// What a reload that yields to all others gets of the processor.
    share: Option<Share>,
    /// Whether the observer was told of the exports that the reload under way has read.
    reported: bool,
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
            unsaved: None,
            failed_at: None,
            written_at: None,
            mended_at: None,
            exports_problem: None,
            disk_problem: None,
            index_problem: None,
            retired: Vec::new(),
            builds: 0,
            gives_way: false,
            share: None,
            reported: false,
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
    /// be served the last good generation is. What an earlier process was killed over is swept.
    ///
    /// # Errors
    /// Where there is nothing to serve at all.
    pub fn start(&mut self) -> Result<Outcome, KeepError> {
        let outcome = self.noted(Self::load_or_serve)?;
        if let Some(store) = self.store.as_ref().filter(|_| !self.settings.read_only) {
            store.tidy();
        }
        Ok(outcome)
    }

    /// Looks at the exports again and publishes what they make, unless that can't or mustn't be served.
    ///
    /// # Errors
    /// Where there is nothing to serve at all.
    pub fn refresh(&mut self) -> Result<Outcome, KeepError> {
        self.noted(Self::read_and_serve)
    }

    /// Whether it is time to look again though the exports haven't changed: reading or building failed through no fault
    /// of theirs, or what is served turned out to be damaged on disk.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        let waited = |since: Instant| now.saturating_duration_since(since) >= RETRY;
        self.failed_at.is_some_and(waited) || (self.serves_damaged() && self.mended_at.is_none_or(waited))
    }

    fn serves_damaged(&self) -> bool {
        self.directory.current().is_some_and(|current| current.catalogue.is_damaged())
    }

    fn load_or_serve(&mut self) -> Result<Outcome, KeepError> {
        match self.load_unchanged() {
            Some(outcome) => Ok(outcome),
            None => self.read_and_serve(),
        }
    }

    fn read_and_serve(&mut self) -> Result<Outcome, KeepError> {
        if self.recognises() {
            return Ok(Outcome::Unchanged);
        }
        let set = self.read()?;
        self.serve(set)
    }

    fn holds_back(&self) -> bool {
        self.exports_problem.as_ref().is_some_and(|problem| problem.code == RECORDS_REMOVED)
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
            let about = self.about(&generation, &snapshot, set.stamp);
            self.save(&store, artifact, about)?;
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
        pass(Step::Read);
        let observer = std::cell::RefCell::new(&mut self.observer);
        let set = self
            .settings
            .source
            .read(&self.settings.limits, &|done, total| observer.borrow_mut().progress(Phase::Reading, done, total))?;
        self.seen = Some(set.stamp.clone());
        if starves(self.share).is_break() {
            return Err(OpenError::from(BuildError::Stopped).into());
        }
        // One that yields may be stopped and begin again; what it has reported stays reported.
        if !std::mem::replace(&mut self.reported, self.share.is_some()) {
            self.observer.report(&set.report);
        }
        let servable = set.report.is_valid() || (self.settings.skip_invalid && !set.report.exports.is_empty());
        if servable { Ok(set) } else { Err(invalid(&set.report)) }
    }

    fn serve(&mut self, set: ReadSet) -> Result<Outcome, KeepError> {
        let generation = Generation::of(&set.report.exports);
        let current = self.directory.current();
        if current.as_ref().is_some_and(|current| current.generation() == generation.as_str()) {
            self.mend(&set, &generation);
            self.confirm(set.stamp);
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
            if self.exports_problem.as_ref() != Some(&problem) {
                tracing::warn!("{}", problem.detail);
            }
            self.exports_problem = Some(problem);
            return Ok(Outcome::KeptLastGood(self.publish(previous)));
        }
        if at_start && let Some((snapshot, manifest)) = self.load_any(|manifest| manifest.generation == generation) {
            self.saved = Some(manifest);
            self.restamp(set.stamp);
            return Ok(Outcome::Loaded(self.publish(snapshot)));
        }
        let ReadSet { report, stamp } = set;
        let (snapshot, artifact) = self.build(&report.exports, &generation)?;
        // They take several times what is served.
        drop(report);
        self.exports_problem = None;
        if let Some(store) = self.store.clone().filter(|_| !self.settings.read_only) {
            // Persist, then publish: a restart never falls behind what callers have seen.
            let about = self.about(&generation, &snapshot, stamp);
            drop(self.save(&store, artifact, about));
        }
        Ok(Outcome::Published(self.publish(snapshot)))
    }

    /// Whether the exports are byte for byte those that the generation served was made of, and it is whole on disk: then
    /// they needn't be checked again. Where something was left out of them only checking can tell.
    fn recognises(&mut self) -> bool {
        let Some(current) = self.directory.current() else { return false };
        if self.settings.skip_invalid || current.catalogue.is_damaged() {
            return false;
        }
        let Some((generation, stamp)) = self.settings.source.generation(&self.settings.limits) else { return false };
        if generation.as_str() != current.generation() {
            return false;
        }
        if let (Some(store), Some(saved)) = (&self.store, &self.saved)
            && store.verify(saved).is_err()
        {
            return false;
        }
        pass(Step::Read);
        self.seen = Some(stamp.clone());
        self.confirm(stamp);
        true
    }

    /// The exports, which looked so, make what is served.
    fn confirm(&mut self, stamp: FolderStamp) {
        self.exports_problem = None;
        // An index that another version has taken over since stays its.
        if !self.store.as_ref().is_some_and(Store::is_foreign_in_force) {
            self.restamp(stamp);
        }
        self.show_health();
    }

    fn build(&mut self, exports: &[Export], generation: &Generation) -> Result<(Arc<Snapshot>, Artifact), OpenError> {
        let (observer, share) = (&mut self.observer, self.share);
        let artifact = build(exports, &mut |done, total| {
            observer.progress(Phase::Indexing, done, total);
            // Asking takes longer than a product.
            if done % LOOK_EVERY == 0 { starves(share) } else { ControlFlow::Continue(()) }
        });
        self.builds += u64::from(!matches!(artifact, Err(BuildError::Stopped)));
        let artifact = artifact?;
        let snapshot = Snapshot::open(generation.clone(), &artifact)?;
        Ok((snapshot, artifact))
    }

    fn keep_last_good(&mut self, error: KeepError) -> Result<Outcome, KeepError> {
        let last_good = match self.directory.current() {
            Some(current) => Some(current),
            None => caught(|| self.load_any(|_| true)).ok().flatten().map(|(snapshot, manifest)| {
                self.saved = Some(manifest);
                snapshot
            }),
        };
        let Some(last_good) = last_good else { return Err(error) };
        let detail = format!("{error}; the last good generation is served");
        let problem = Degraded { code: error.code(), count: error.count(), detail };
        // Logged once: what is tried again fails the same way more often than not.
        if self.exports_problem.as_ref() != Some(&problem) {
            tracing::error!(error = &error as &dyn std::error::Error, "the last good generation stays");
        }
        self.exports_problem = Some(problem);
        Ok(Outcome::KeptLastGood(self.publish(last_good)))
    }

    /// Why a valid set needs to be confirmed: it would remove more records than may vanish by accident.
    fn removes_too_much(&self, previous: &Snapshot, exports: &[Export]) -> Option<Degraded> {
        let before = previous.catalogue.software_count();
        let ids: HashSet<&str> =
            exports.iter().flat_map(|export| export.software.iter().map(|software| &*software.id)).collect();
        let removed = previous.catalogue.ids().filter(|id| !ids.contains(id.as_str())).count();
        (removed * 100 > before * usize::from(self.settings.max_removed)).then(|| Degraded {
            code: RECORDS_REMOVED,
            count: Some(removed),
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
        pass(Step::PublishBefore);
        let published = Arc::as_ptr(&snapshot);
        let before = self.directory.publish(snapshot);
        self.retired.extend(before.filter(|before| Arc::as_ptr(before) != published));
        pass(Step::PublishAfter);
        self.show_health();
        kept
    }

    /// Frees generations that no request needs any more. Freeing a large one takes a while, so it is done here and not by
    /// the last request that had one.
    fn free_retired(&mut self) {
        self.retired.retain(|snapshot| Arc::strong_count(snapshot) > 1);
    }

    fn show_health(&self) {
        let problems = self.exports_problem.iter().chain(&self.disk_problem).chain(&self.index_problem);
        self.directory.set_degraded(problems.cloned().collect());
    }
}
