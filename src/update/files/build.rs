//! Builds from export files: on disk, in a child process or this one, or in memory.

use std::sync::Arc;
use std::time::Instant;

use crate::generation::builder::{Builder, Built};
use crate::generation::failpoint::{Step, pass};
use crate::generation::process::ServedIds;
use crate::generation::stamp::FolderStamp;
use crate::generation::store::Store;
use crate::generation::{BuildFailure, FailureCode, Processors, Snapshot};
use crate::update::files::{ExportFiles, Kept};
use crate::update::reload::Outcome;
use crate::update::state::{About, Health, Problem};
use crate::update::stored::{load, may_open};

/// A generation to publish, or `None` to keep what's being served.
type Publication = Option<(Arc<Snapshot>, Outcome)>;

impl ExportFiles {
    /// Builds the files' generation, unless it's already being served and, if required, stored on
    /// disk.
    pub(super) fn build(
        &mut self,
        last_good: Option<&Snapshot>,
        health: &mut Health,
    ) -> Result<Publication, BuildFailure> {
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
