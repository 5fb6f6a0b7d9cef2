//! The reloader's part on disk: which generation may be loaded, and those that another process builds.

use std::sync::Arc;
use std::time::Instant;

use crate::error::chain;
use crate::generation::Generation;
use crate::generation::Snapshot;
use crate::generation::artifact::DOWNLOADS;
use crate::generation::stamp::FolderStamp;
use crate::generation::store::{Manifest, Store, StoreError};
use crate::generation::{BuildFailure, FailureCode};
use crate::update::directory::Degraded;
use crate::update::files::Reloader;
use crate::update::reload::ReloadOutcome;

/// The memory that a generation takes while it is loaded, decoded tables included, in bytes of its parts.
const LOADING_FACTOR: u64 = 2;

impl Reloader {
    /// Compares the index with what is served: takes over a generation that another process has made current, and notices that
    /// the served one is gone. To be called at intervals.
    pub fn look_at_index(&mut self, now: Instant) {
        // Freeing a large generation takes a while, so it is done here and not by the last request that had it.
        self.retired.retain(|snapshot| Arc::strong_count(snapshot) > 1);
        let Some(store) = self.store.clone() else { return };
        match store.current() {
            Some(manifest) if self.should_take_over(&manifest) => self.take_over(&store, manifest),
            // One index and two versions of the program, while one takes over from the other: neither undoes the other's
            // work.
            None if self.saved.is_some() && !self.settings.read_only && !store.is_foreign_current() => {
                let folder = store.folder().display();
                let detail = format!("{folder} holds no generation any more; it is written again");
                tracing::warn!("{detail}");
                self.index_problem = Some(Degraded { code: "index_lost", detail, ..Degraded::default() });
                (self.saved, self.retry_at) = (None, Some(now));
                self.publish_problems();
            }
            _ => {}
        }
    }

    /// The stamp of the files where they are byte for byte those that the generation served was made of: then they needn't be
    /// checked again. Not known with `skip_invalid`.
    pub(super) fn known_files(&self) -> Option<FolderStamp> {
        let (generation, stamp) = self.generation_of_files()?;
        self.serves(&generation).then_some(stamp)
    }

    /// Whether the generation that is served is whole and current on disk, where it should be.
    pub(super) fn is_current(&self) -> bool {
        let Some(store) = self.store.as_ref().filter(|_| !self.settings.read_only) else { return true };
        self.saved.as_ref().is_some_and(|saved| {
            store.verify(saved).is_ok()
                && (store.current_name() == Some(saved.folder_name()) || store.is_foreign_current())
        })
    }

    /// The generation that the files make, by a hash of their bytes; `None` with `skip_invalid`, which depends on a check.
    pub(super) fn generation_of_files(&self) -> Option<(Generation, FolderStamp)> {
        if self.settings.skip_invalid {
            return None;
        }
        let (generation, stamp) = self.settings.source.generation(&self.settings.limits)?;
        Some((generation.prefixed(&self.settings.id_prefixes), stamp))
    }

    /// Whether a generation on disk is another one than is served, made of the exports as they are, and not known to be
    /// damaged.
    fn should_take_over(&self, manifest: &Manifest) -> bool {
        let name = manifest.folder_name();
        let is_other = self.saved.as_ref().is_none_or(|saved| saved.folder_name() != name);
        is_other
            && self.rejected.as_ref() != Some(&name)
            && self.is_ours(manifest)
            && self.has_our_prefixes(manifest)
            && self.settings.source.stamp().is_ok_and(|stamp| stamp == manifest.inputs)
    }

    /// Whether a generation was made of the exports of a folder, as this reloader's are, or of the embedded ones: the demo
    /// is never the last good generation of a folder.
    fn is_ours(&self, manifest: &Manifest) -> bool {
        manifest.inputs.is_empty() == self.settings.source.folder().is_none()
    }

    /// Whether a generation was built with the operator's prefixes of ids as they are now.
    pub(super) fn has_our_prefixes(&self, manifest: &Manifest) -> bool {
        manifest.id_prefixes == self.settings.id_prefixes
    }

    /// Whether a generation may be served: without `skip_invalid` only a complete one.
    pub(super) fn may_serve(&self, manifest: &Manifest) -> bool {
        self.settings.skip_invalid || manifest.skipped.is_none()
    }

    /// Like [`Self::may_serve`], and logs a refusal.
    fn may_serve_or_warn(&self, manifest: &Manifest) -> bool {
        let may_serve = self.may_serve(manifest);
        if !may_serve {
            tracing::warn!(
                generation = %manifest.generation,
                "a generation in the index leaves out {}: it was built with --skip-invalid, and is not served without it",
                manifest.skipped
            );
        }
        may_serve
    }

    /// The manifest of the current generation on disk, if it is one of these exports'.
    pub(super) fn current(&self) -> Option<Manifest> {
        self.store.as_ref()?.current().filter(|manifest| self.is_ours(manifest))
    }

    fn take_over(&mut self, store: &Store, manifest: Manifest) {
        let started = Instant::now();
        let was_degraded = self.has_problem();
        // Set before the attempt, so that one that fails isn't repeated each second.
        self.rejected = Some(manifest.folder_name());
        if !self.may_serve_or_warn(&manifest) {
            return;
        }
        match BuildFailure::catch(|| load(store, &manifest)) {
            Ok(snapshot) => {
                tracing::info!(generation = %manifest.generation, "a generation built by another process is taken over");
                (self.seen, self.saved, self.retry_at) = (Some(manifest.inputs.clone()), Some(manifest), None);
                self.clear_problems();
                self.publish(snapshot);
                self.record(started, ReloadOutcome::Loaded);
                self.log_recovery(was_degraded);
            }
            // Logged once: a finished generation never changes, so it stays unreadable.
            Err(failure) => tracing::warn!("a new generation can't be taken over: {failure}"),
        }
    }

    /// The first generation on disk that is whole.
    pub(super) fn load_any(&self) -> Option<(Arc<Snapshot>, Manifest)> {
        let store = self.store.as_ref()?;
        let candidates = store.candidates().into_iter();
        let mut candidates = candidates.filter(|manifest| self.is_ours(manifest) && self.may_serve_or_warn(manifest));
        candidates.find_map(|manifest| match load(store, &manifest) {
            Ok(snapshot) => Some((snapshot, manifest)),
            Err(failure) => {
                tracing::warn!("a generation on disk can't be used: {failure}");
                None
            }
        })
    }
}

pub(crate) fn load(store: &Store, manifest: &Manifest) -> Result<Arc<Snapshot>, BuildFailure> {
    let unreadable = |error: &StoreError| {
        BuildFailure::transient(FailureCode::BuildFailed, format!("the generation can't be loaded: {}", chain(error)))
    };
    // Memory that runs out while tables are decoded would end the process; here it is a failure like others.
    let in_memory = manifest.parts.iter().filter(|part| part.name != DOWNLOADS);
    let bytes = in_memory.map(|part| part.size).sum::<u64>().saturating_mul(LOADING_FACTOR);
    if usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        let detail = format!("the generation can't be loaded: there aren't {} MiB of memory for it", bytes >> 20);
        return Err(BuildFailure::transient(FailureCode::BuildFailed, detail));
    }
    let artifact = store.load(manifest).map_err(|error| unreadable(&error))?;
    Ok(Snapshot::open_skipping(manifest.generation.clone(), artifact, manifest.skipped)?)
}
