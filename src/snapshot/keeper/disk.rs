//! What a keeper does on disk: writes generations, tries again where it couldn't, and takes over what another process
//! wrote.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Keeper, Phase};
use crate::snapshot::artifact::Artifact;
use crate::snapshot::directory::Degraded;
use crate::snapshot::generation::Generation;
use crate::snapshot::reload::ReloadOutcome;
use crate::snapshot::stamp::FolderStamp;
use crate::snapshot::store::{Manifest, NewGeneration, Store, StoreError};
use crate::snapshot::{OpenError, Snapshot};

/// How long a generation that couldn't be written waits until it is tried again.
const RETRY: Duration = Duration::from_secs(30);

impl Keeper {
    /// Picks up a generation that another process has put in force, and tries again to write one that couldn't be.
    pub fn look_at_index(&mut self, now: Instant) {
        let Some(store) = self.store.clone() else { return };
        match store.current() {
            Some(manifest) if self.is_news(&manifest) => self.take_over(&store, manifest),
            None if self.unsaved_since.is_none() && self.directory.current().is_some() => {
                self.disk_problem = Some(Degraded {
                    code: "index_lost",
                    detail: format!("{} holds no generation any more; it is written again", store.folder().display()),
                });
                self.unsaved_since = Some(now.checked_sub(RETRY).unwrap_or(now));
                self.show_health();
            }
            _ => {}
        }
        if self.unsaved_since.is_some_and(|since| now.duration_since(since) >= RETRY) {
            self.unsaved_since = Some(now);
            self.save_again(&store);
        }
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
        match load(store, &manifest) {
            Ok(snapshot) => {
                tracing::info!(generation = %manifest.generation, "a generation built by another process is taken over");
                self.seen = Some(manifest.inputs.clone());
                self.saved = Some(manifest);
                (self.exports_problem, self.disk_problem) = (None, None);
                (self.unsaved_since, self.unusable) = (None, None);
                self.publish(snapshot);
                self.note(started, ReloadOutcome::Loaded);
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a new generation can't be taken over");
                // Said once: nothing that is finished is ever changed, so it stays unusable.
                self.unusable = Some(manifest.folder_name());
            }
        }
    }

    /// Builds what is served once more and writes it, for its parts aren't kept in memory. Exports that make something
    /// else by now are left to [`refresh`](Keeper::refresh), which decides whether that may be served.
    fn save_again(&mut self, store: &Store) {
        if self.exports_problem.is_some() {
            return;
        }
        let seen = self.seen.clone();
        let set = self.read();
        self.seen = seen;
        let Ok(set) = set else { return };
        let generation = Generation::of(&set.report.exports);
        if self.directory.current().is_none_or(|served| served.generation() != generation.as_str()) {
            return;
        }
        match self.build(&set.report.exports, &generation) {
            Ok((snapshot, artifact)) => {
                self.saved = self.save(store, &artifact, &snapshot, &generation, set.stamp).ok();
                self.show_health();
            }
            Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "the index can't be built again"),
        }
    }

    /// Writes a generation; a failure is remembered and shown, for the generation is served from memory all the same.
    pub(super) fn save(
        &mut self,
        store: &Store,
        artifact: &Artifact,
        snapshot: &Snapshot,
        generation: &Generation,
        inputs: FolderStamp,
    ) -> Result<Manifest, StoreError> {
        self.observer.progress(Phase::Writing, 0, 0);
        let saved = store.save(
            artifact,
            NewGeneration {
                generation: generation.clone(),
                built_at: jiff::Timestamp::now().to_string(),
                software_count: snapshot.catalogue.software_count() as u64,
                inputs,
                skipped_invalid: self.settings.skip_invalid,
            },
        );
        match &saved {
            Ok(_) => (self.disk_problem, self.unsaved_since) = (None, None),
            Err(error) => {
                let error = error as &dyn std::error::Error;
                tracing::error!(error, "the generation can't be written; it is served from memory");
                let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
                self.disk_problem = Some(Degraded {
                    code: "index_not_written",
                    detail: format!("{error}{cause}; the directory is served from memory, and writing is tried again"),
                });
                self.unsaved_since = Some(Instant::now());
            }
        }
        saved
    }

    /// Remembers that these files make the generation on disk, so that the next start needn't read them.
    pub(super) fn restamp(&mut self, inputs: FolderStamp) {
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
