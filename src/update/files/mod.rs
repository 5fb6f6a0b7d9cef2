//! Export files as the source of generations. The first generation is loaded from disk or built.
//! Later ones are built when the files change, or picked up if another process has built them.

mod events;

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use self::events::FsEvents;
use crate::generation::builder::{Builder, Built};
use crate::generation::failpoint::{Step, pass};
use crate::generation::process::ServedIds;
use crate::generation::source::FolderStamp;
use crate::generation::store::{Manifest, Store};
use crate::generation::{
    BuildFailure, Change, FailureCode, Generation, INDEX_FORMAT, Observer, Processors, Settings, Snapshot,
};
use crate::update::debounce::{Debouncer, Signal};
use crate::update::directory::Outcome;
use crate::update::state::{About, Health, Problem};
use crate::update::stored::{load, load_any, may_open, skipped};
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

/// A generation to publish, or `None` to keep what's being served.
type Publication = Option<(Arc<Snapshot>, Outcome)>;

impl ExportFiles {
    /// Builds the files' generation, unless it's already being served and, if required, stored on
    /// disk.
    fn build(&mut self, last_good: Option<&Snapshot>, health: &mut Health) -> Result<Publication, BuildFailure> {
        // Files from which the served generation was built needn't be checked again.
        let known = self.generation_of_files();
        if let (Some(store), Some((generation, _))) = (&self.store, &known) {
            may_open(store, generation)?;
        }
        let known = known.filter(|(generation, _)| health.serves(generation)).map(|(_, stamp)| stamp);
        if let Some(stamp) = &known
            && !health.serves_damaged()
            && self.is_current()
        {
            pass(Step::Read);
            self.set_seen(Some(stamp.clone()));
            self.rejected = None;
            health.end(|about| about == About::Index);
            return Ok(None);
        }
        let Some(store) = self.writable_store().cloned() else {
            return self.build_in_memory(last_good, known, health);
        };
        match self.build_on_disk(&store, last_good, health) {
            Ok(built) => self.open(&store, built, health),
            Err(failure) if failure.code.is_of_index() => {
                let detail = format!("{failure}; the directory is being served from memory until it can be written");
                let log = format!("the generation can't be written; serving it from memory: {failure}");
                health.begin(Problem::new(About::Index, failure.code.as_str(), detail, Some(log)));
                self.build_in_memory(last_good, known, health)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Builds a generation on disk, unless it's already there.
    fn build_on_disk(
        &mut self,
        store: &Store,
        last_good: Option<&Snapshot>,
        health: &mut Health,
    ) -> Result<Built, BuildFailure> {
        let served = last_good.map(ServedIds::of).unwrap_or_default();
        let (processors, started) = (begin(health), Instant::now());
        let built = match &self.settings.process {
            None => {
                let observer = &mut *self.observer;
                Builder { settings: &self.settings, observer, served: Some(served), processors }.build_on_disk(store)
            }
            Some(process) => {
                let mut watch = |used| health.watch_build(started.elapsed(), used);
                let built = process.run(&served, processors, &mut *self.observer, &mut watch);
                built.and_then(|(folder, is_new)| {
                    let missing = || format!("the newly built generation {folder} can't be read");
                    let manifest = store.manifest(&folder);
                    let manifest =
                        manifest.ok_or_else(|| BuildFailure::transient(FailureCode::BuildFailed, missing()))?;
                    Ok(Built { manifest, is_new })
                })
            }
        }?;
        if built.is_new {
            health.directory().count_build();
        }
        Ok(built)
    }

    /// Opens a generation that was built from the files and is current on disk.
    fn open(&mut self, store: &Store, built: Built, health: &mut Health) -> Result<Publication, BuildFailure> {
        let Built { manifest, is_new } = built;
        let was_served = health.serves(&manifest.generation);
        let is_same = was_served && self.keeps(&manifest);
        self.set_seen(Some(manifest.inputs.clone()));
        // Load it even if the content is the same: what's being served may be in memory only, or
        // read from a damaged file.
        let snapshot = if is_same && !health.serves_damaged() { None } else { Some(load(store, &manifest)?) };
        if health.end(|about| about == About::Index) {
            tracing::info!(generation = %manifest.generation, "writing the index again");
        }
        (self.kept, self.rejected) = (Kept::OnDisk(manifest), None);
        let outcome = match (was_served, is_new) {
            (true, _) => Outcome::Unchanged,
            (false, true) => Outcome::Published,
            (false, false) => Outcome::Loaded,
        };
        Ok(snapshot.map(|snapshot| (snapshot, outcome)))
    }

    /// Builds in memory, because building on disk isn't possible. `known` is the files' stamp if
    /// they produce the served generation.
    fn build_in_memory(
        &mut self,
        last_good: Option<&Snapshot>,
        known: Option<FolderStamp>,
        health: &Health,
    ) -> Result<Publication, BuildFailure> {
        // A generation that couldn't be written isn't rebuilt each time writing is retried.
        if matches!(&self.kept, Kept::InMemory(stamp) if Some(stamp) == self.seen()) {
            return Ok(None);
        }
        if let Some(stamp) = known {
            self.set_seen(Some(stamp.clone()));
            self.kept = Kept::InMemory(stamp);
            return Ok(None);
        }
        let observer = &mut *self.observer;
        let served = Some(last_good.map(ServedIds::of).unwrap_or_default());
        let (snapshot, stamp) = Builder { settings: &self.settings, observer, served, processors: begin(health) }
            .build_in_memory(last_good)?;
        health.directory().count_build();
        let is_served = health.serves(&snapshot.generation);
        self.set_seen(Some(stamp.clone()));
        self.kept = Kept::InMemory(stamp);
        Ok((!is_served).then_some((snapshot, Outcome::Published)))
    }
}

/// Logs that a build is starting. Returns the processors that it may use: all of them if nothing is
/// being served.
fn begin(health: &Health) -> Processors {
    tracing::info!("building a generation");
    if health.directory().current().is_some() { Processors::One } else { Processors::All }
}

impl ExportFiles {
    /// Loads the current generation, if it was built from the files as they are now.
    fn load_unchanged(&mut self, health: &mut Health) -> Option<Arc<Snapshot>> {
        let store = self.store.as_ref()?;
        if let Some(problem) = skipped(store) {
            health.begin(problem);
            self.rejected = store.current_name();
            return None;
        }
        let manifest = store.current().filter(|of| self.is_built_alike(of) && self.may_serve(of))?;
        let stamp = self.settings.source.stamp().ok().filter(|stamp| !stamp.is_empty())?;
        let is_unchanged = stamp == manifest.inputs
            || self.generation_of_files().is_some_and(|(generation, _)| generation == manifest.generation);
        if !is_unchanged {
            return None;
        }
        match load(store, &manifest) {
            Ok(snapshot) => {
                self.set_seen(Some(stamp));
                self.kept = Kept::OnDisk(manifest);
                Some(snapshot)
            }
            Err(failure) => {
                tracing::warn!("the index is damaged; rebuilding it: {failure}");
                None
            }
        }
    }

    /// Loads the first intact generation on disk.
    fn load_last_good(&mut self) -> Option<Arc<Snapshot>> {
        let store = self.store.as_ref()?;
        let (snapshot, manifest) =
            load_any(store, |manifest| self.is_ours(manifest) && self.may_serve_or_warn(manifest))?;
        self.kept = Kept::OnDisk(manifest);
        Some(snapshot)
    }

    /// Returns a generation that another process has made current, and checks whether the served
    /// one is gone.
    fn look_at_index(&mut self, now: Instant, health: &mut Health) -> Option<Arc<Snapshot>> {
        let store = self.store.clone()?;
        match store.current() {
            Some(manifest) if self.should_take_over(&manifest) => return self.take_over(&store, manifest),
            // Two versions of the program may share an index while one replaces the other. Neither
            // should undo the other's work.
            None if matches!(self.kept, Kept::OnDisk(_))
                && !self.settings.read_only
                && store.foreign_format().is_none() =>
            {
                let detail = format!("{} no longer contains a generation; writing it again", store.folder().display());
                tracing::warn!("{detail}");
                self.kept = Kept::Nowhere;
                health.begin(Problem::new(About::Index, "index_lost", detail, None));
                health.retry_now(now);
            }
            _ => {}
        }
        None
    }

    /// Whether the served generation is intact and current on disk, if it should be there.
    fn is_current(&self) -> bool {
        let Some(store) = self.writable_store() else { return true };
        let Kept::OnDisk(kept) = &self.kept else { return false };
        store.verify(kept).is_ok()
            && (store.current_name() == Some(kept.folder_name()) || store.foreign_format().is_some())
    }

    /// The generation that the files produce, identified by a hash of their bytes. `None` with
    /// `skip_invalid`, because the result then depends on checking the files.
    fn generation_of_files(&self) -> Option<(Generation, FolderStamp)> {
        if self.settings.skip_invalid {
            return None;
        }
        let (generation, stamp) = self.settings.source.generation(&self.settings.limits)?;
        Some((self.settings.name(generation), stamp))
    }

    /// Whether a generation on disk differs from the served one, was built from the exports as they
    /// are now, and isn't known to be unusable.
    fn should_take_over(&self, manifest: &Manifest) -> bool {
        !self.keeps(manifest)
            && self.rejected.as_ref() != Some(&manifest.folder_name())
            && self.is_built_alike(manifest)
            && self.settings.source.stamp().is_ok_and(|stamp| stamp == manifest.inputs)
    }

    /// Whether a generation on disk is the served one.
    fn keeps(&self, manifest: &Manifest) -> bool {
        matches!(&self.kept, Kept::OnDisk(kept) if kept.folder_name() == manifest.folder_name())
    }

    fn take_over(&mut self, store: &Store, manifest: Manifest) -> Option<Arc<Snapshot>> {
        // Set this before the attempt, so a failure isn't repeated every second.
        self.rejected = Some(manifest.folder_name());
        if !self.may_serve_or_warn(&manifest) {
            return None;
        }
        match load(store, &manifest) {
            Ok(snapshot) => {
                tracing::info!(generation = %manifest.generation, "picked up a generation that another process built");
                self.set_seen(Some(manifest.inputs.clone()));
                (self.kept, self.rejected) = (Kept::OnDisk(manifest), None);
                Some(snapshot)
            }
            Err(failure) => {
                // Log this once: a finished generation never changes, so it stays unreadable.
                tracing::warn!("a new generation can't be used: {failure}");
                None
            }
        }
    }

    /// Whether a generation has the same kind of source as ours, i.e. a folder or the embedded
    /// exports, and its exports were signed with keys that are trusted now. The demo is never a folder's last good
    /// generation.
    fn is_ours(&self, manifest: &Manifest) -> bool {
        manifest.inputs.is_empty() == self.settings.source.folder().is_none()
            && self.settings.limits.trusted_keys.cover(&manifest.trusted_keys)
    }

    /// Whether a generation is ours and was built with the operator's current options.
    fn is_built_alike(&self, manifest: &Manifest) -> bool {
        self.is_ours(manifest)
            && manifest.id_prefixes == self.settings.id_prefixes
            && manifest.meaning == self.settings.meaning
            && manifest.trusted_keys == self.settings.limits.trusted_keys
    }

    /// Whether a generation may be served. Without `skip_invalid` it must be complete.
    fn may_serve(&self, manifest: &Manifest) -> bool {
        self.settings.skip_invalid || manifest.skipped.is_none()
    }

    fn may_serve_or_warn(&self, manifest: &Manifest) -> bool {
        let may_serve = self.may_serve(manifest);
        if !may_serve {
            tracing::warn!(
                generation = %manifest.generation,
                "a generation in the index leaves out {}; it was built with --skip-invalid and isn't served without it",
                manifest.skipped
            );
        }
        may_serve
    }
}
