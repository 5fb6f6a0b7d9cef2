//! What a keeper does on disk: writes generations, tries again where it couldn't, and takes over what another process
//! wrote.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apart::{caught, caught_apart};
use super::{Keeper, Phase, RETRY};
use crate::snapshot::artifact::Artifact;
use crate::snapshot::directory::Degraded;
use crate::snapshot::generation::Generation;
use crate::snapshot::memory;
use crate::snapshot::reload::ReloadOutcome;
use crate::snapshot::source::ReadSet;
use crate::snapshot::stamp::FolderStamp;
use crate::snapshot::store::{Manifest, NewGeneration, Store, StoreError};
use crate::snapshot::{OpenError, Snapshot};

/// How long a generation that was just written is served from the memory that it was built in: until that of the build
/// has gone back to the system. What is loaded earlier lies among it, and keeps it.
const SETTLE: Duration = Duration::from_secs(3);

/// A generation that is served and should be on disk, but isn't.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    /// When writing it was last tried; `None`: not yet.
    tried_at: Option<Instant>,
    /// What is to be written; `None` where it has to be built once more.
    parts: Option<(Artifact, NewGeneration)>,
}

impl Keeper {
    /// Looks after the index: picks up a generation that another process has put in force, and tries again to write one
    /// that couldn't be. To be called now and then.
    pub fn look_at_index(&mut self, now: Instant) {
        self.free_retired();
        memory::give_back();
        if let Err(message) = caught(|| self.follow_index(now)) {
            let detail = format!("the program failed while looking after the index ({message}); please report it");
            let problem = Degraded { code: "index_panicked", count: None, detail };
            if self.index_problem.as_ref() != Some(&problem) {
                tracing::error!("{}", problem.detail);
            }
            self.index_problem = Some(problem);
            self.show_health();
        }
    }

    /// Has what couldn't be written tried again at the next look, however short ago it was tried.
    pub fn retry_soon(&mut self) {
        if let Some(unsaved) = &mut self.unsaved {
            unsaved.tried_at = None;
        }
    }

    fn follow_index(&mut self, now: Instant) {
        let Some(store) = self.store.clone() else { return };
        match store.current() {
            Some(manifest) if self.is_news(&manifest) => self.take_over(&store, manifest),
            // One index and two versions of the program, while one takes over from the other: neither undoes the other's
            // work.
            None if store.is_foreign_in_force() => {}
            None if self.unsaved.is_none() && self.directory.current().is_some() => self.bring_back(&store),
            _ => {}
        }
        if self.written_at.is_some_and(|written_at| now.saturating_duration_since(written_at) >= SETTLE) {
            self.serve_from_disk();
        }
        let is_due = |unsaved: &Unsaved| {
            unsaved.tried_at.is_none_or(|tried_at| now.saturating_duration_since(tried_at) >= RETRY)
        };
        if self.unsaved.as_ref().is_some_and(is_due) {
            self.save_again(&store, now);
        }
    }

    /// Puts in force again what is served, where nothing is in force any more.
    fn bring_back(&mut self, store: &Store) {
        if let Some(saved) = &self.saved
            && store.verify(saved).is_ok()
            && store.restamp(saved, saved.inputs.clone()).is_ok()
        {
            tracing::warn!(generation = %saved.generation, "nothing was in force on disk; what is served is again");
            return;
        }
        let folder = store.folder().display();
        let detail = format!("{folder} holds no generation any more; it is written again");
        tracing::warn!("{detail}");
        self.disk_problem = Some(Degraded { code: "index_lost", count: None, detail });
        (self.saved, self.unsaved) = (None, Some(Unsaved::default()));
        self.show_health();
    }

    /// Whether a generation on disk is another one than is served, made of the exports as they are, and not known to be
    /// damaged.
    fn is_news(&self, manifest: &Manifest) -> bool {
        let name = manifest.folder_name();
        let is_other = self.saved.as_ref().is_none_or(|saved| saved.folder_name() != name);
        is_other
            && self.unusable.as_ref() != Some(&name)
            && self.is_ours(manifest)
            && self.settings.source.stamp().is_ok_and(|stamp| stamp == manifest.inputs)
    }

    /// Whether a generation was made of the exports of a folder, as this keeper's are, or of the embedded ones: the demo
    /// is nobody's last good generation.
    pub(super) fn is_ours(&self, manifest: &Manifest) -> bool {
        manifest.inputs.is_empty() == self.settings.source.folder().is_none()
    }

    fn take_over(&mut self, store: &Store, manifest: Manifest) {
        let started = Instant::now();
        // Remembered before it is tried: what can't even be tried isn't tried each second.
        self.unusable = Some(manifest.folder_name());
        match load(store, &manifest) {
            Ok(snapshot) => {
                tracing::info!(generation = %manifest.generation, "a generation built by another process is taken over");
                self.seen = Some(manifest.inputs.clone());
                self.saved = Some(manifest);
                (self.exports_problem, self.disk_problem, self.index_problem) = (None, None, None);
                (self.unsaved, self.unusable, self.failed_at) = (None, None, None);
                self.publish(snapshot);
                self.note(started, ReloadOutcome::Loaded);
            }
            Err(error) => {
                // Said once: nothing that is finished is ever changed, so it stays unusable.
                tracing::warn!(error = &error as &dyn std::error::Error, "a new generation can't be taken over");
            }
        }
    }

    /// Writes what is served. Where its parts aren't at hand they are built once more; exports that make something else by
    /// now are left to [`refresh`](Keeper::refresh), which decides whether that may be served.
    fn save_again(&mut self, store: &Store, now: Instant) {
        let parts = self.unsaved.take().and_then(|unsaved| unsaved.parts);
        self.unsaved = Some(Unsaved { tried_at: Some(now), parts: None });
        let parts = parts.filter(|(_, about)| self.serves(&about.generation));
        if let Some((artifact, about)) = parts.or_else(|| self.build_again()) {
            drop(self.save(store, artifact, about));
            self.show_health();
        }
    }

    fn serves(&self, generation: &Generation) -> bool {
        self.directory.current().is_some_and(|served| served.generation() == generation.as_str())
    }

    fn build_again(&mut self) -> Option<(Artifact, NewGeneration)> {
        if self.exports_problem.is_some() {
            return None;
        }
        let seen = self.seen.clone();
        let set = self.read();
        self.seen = seen;
        let set = set.ok()?;
        let generation = Generation::of(&set.report.exports);
        if !self.serves(&generation) {
            return None;
        }
        match self.build(&set.report.exports, &generation) {
            Ok((snapshot, artifact)) => Some((artifact, self.about(&generation, &snapshot, set.stamp))),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the index can't be built again");
                None
            }
        }
    }

    /// Writes the generation that is served once more, where what is on disk isn't what was written.
    pub(super) fn mend(&mut self, set: &ReadSet, generation: &Generation) {
        let (Some(store), Some(saved)) = (self.store.clone(), &self.saved) else { return };
        if self.settings.read_only {
            return;
        }
        self.mended_at = Some(Instant::now());
        let Err(error) = store.verify(saved) else {
            // The file that is open may be another one than has the name now.
            if self.serves_damaged() {
                self.serve_from_disk();
            }
            return;
        };
        tracing::warn!(error = &error as &dyn std::error::Error, "the index is damaged; it is written again");
        self.saved = None;
        match self.build(&set.report.exports, generation) {
            Ok((snapshot, artifact)) => {
                let about = self.about(generation, &snapshot, set.stamp.clone());
                // What is served may read the damaged file.
                if self.save(&store, artifact, about).is_ok() && self.serves_damaged() {
                    self.publish(snapshot);
                }
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the index can't be built again");
            }
        }
    }

    /// Serves what is served from disk, as a start would load it: what is rarely asked for stays there, and nothing lies
    /// scattered over the memory that building needed. Where that fails, it is served as it is.
    fn serve_from_disk(&mut self) {
        self.written_at = None;
        let (Some(store), Some(saved)) = (&self.store, &self.saved) else { return };
        if !self.serves(&saved.generation) {
            return;
        }
        match caught_apart(|| load(store, saved)) {
            Ok(Ok(snapshot)) => drop(self.publish(snapshot)),
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "what was written can't be read back");
            }
            Err(message) => {
                tracing::error!("the program failed while reading back what it wrote ({message}); please report it");
            }
        }
    }

    /// What the manifest of a generation built just now says.
    pub(super) fn about(&self, generation: &Generation, snapshot: &Snapshot, inputs: FolderStamp) -> NewGeneration {
        NewGeneration {
            generation: generation.clone(),
            built_at: jiff::Timestamp::now().to_string(),
            software_count: snapshot.catalogue.software_count() as u64,
            inputs,
            skipped_invalid: self.settings.skip_invalid,
        }
    }

    /// Writes a generation; a failure is remembered, shown and tried again, for the generation is served from memory all
    /// the same.
    pub(super) fn save(&mut self, store: &Store, artifact: Artifact, about: NewGeneration) -> Result<(), StoreError> {
        self.observer.progress(Phase::Writing, 0, 0);
        match store.save(&artifact, about.clone()) {
            Ok(manifest) => {
                if self.disk_problem.is_some() {
                    tracing::info!(generation = %manifest.generation, "the index is written again");
                }
                self.saved = Some(manifest);
                self.written_at = Some(Instant::now());
                (self.disk_problem, self.index_problem, self.unsaved) = (None, None, None);
                Ok(())
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
                let problem = Degraded {
                    code: "index_not_written",
                    count: None,
                    detail: format!("{error}{cause}; the directory is served from memory, and writing is tried again"),
                };
                // Logged once, however often it is tried in vain.
                if self.disk_problem.as_ref().is_none_or(|before| before.code != problem.code) {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "the generation can't be written; it is served from memory");
                }
                self.disk_problem = Some(problem);
                self.saved = None;
                self.unsaved = Some(Unsaved { tried_at: Some(Instant::now()), parts: Some((artifact, about)) });
                Err(error)
            }
        }
    }

    /// Remembers that these files make the generation on disk, so that the next start needn't read them.
    pub(super) fn restamp(&mut self, inputs: FolderStamp) {
        if let Some((_, about)) = self.unsaved.as_mut().and_then(|unsaved| unsaved.parts.as_mut()) {
            about.inputs = inputs;
            return;
        }
        let (Some(store), Some(saved)) = (&self.store, &self.saved) else { return };
        if self.settings.read_only {
            return;
        }
        if saved.inputs == inputs && store.current_name().as_deref() == Some(&saved.folder_name()) {
            return;
        }
        match store.restamp(saved, inputs) {
            Ok(manifest) => self.saved = Some(manifest),
            // Only the next start is slower for it.
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the manifest can't be brought up to date");
            }
        }
    }

    /// The first generation on disk that is wanted and whole.
    pub(super) fn load_any(&self, wanted: impl Fn(&Manifest) -> bool) -> Option<(Arc<Snapshot>, Manifest)> {
        let store = self.store.as_ref()?;
        let mut candidates =
            store.candidates().into_iter().filter(|manifest| self.is_ours(manifest) && wanted(manifest));
        candidates.find_map(|manifest| match load(store, &manifest) {
            Ok(snapshot) => Some((snapshot, manifest)),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a generation on disk can't be used");
                None
            }
        })
    }
}

/// Why a generation on disk can't be loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the generation on disk can't be opened")]
    Open(#[from] OpenError),
}

pub(super) fn load(store: &Store, manifest: &Manifest) -> Result<Arc<Snapshot>, LoadError> {
    let artifact = store.load(manifest)?;
    Ok(Snapshot::open(manifest.generation.clone(), &artifact)?)
}
