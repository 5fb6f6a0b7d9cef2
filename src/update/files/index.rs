//! The index folder of a server that builds generations: which generations it may load, and what
//! another process has changed.

use std::sync::Arc;
use std::time::Instant;

use crate::generation::stamp::FolderStamp;
use crate::generation::store::{Manifest, Store};
use crate::generation::{Generation, Snapshot};
use crate::update::files::{ExportFiles, Kept};
use crate::update::state::{About, Health, Problem};
use crate::update::stored::{load, load_any, skipped};

impl ExportFiles {
    /// Loads the current generation, if it was built from the files as they are now.
    pub(super) fn load_unchanged(&mut self, health: &mut Health) -> Option<Arc<Snapshot>> {
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
    pub(super) fn load_last_good(&mut self) -> Option<Arc<Snapshot>> {
        let store = self.store.as_ref()?;
        let (snapshot, manifest) =
            load_any(store, |manifest| self.is_ours(manifest) && self.may_serve_or_warn(manifest))?;
        self.kept = Kept::OnDisk(manifest);
        Some(snapshot)
    }

    /// Returns a generation that another process has made current, and checks whether the served
    /// one is gone.
    pub(super) fn look_at_index(&mut self, now: Instant, health: &mut Health) -> Option<Arc<Snapshot>> {
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
    pub(super) fn is_current(&self) -> bool {
        let Some(store) = self.writable_store() else { return true };
        let Kept::OnDisk(kept) = &self.kept else { return false };
        store.verify(kept).is_ok()
            && (store.current_name() == Some(kept.folder_name()) || store.foreign_format().is_some())
    }

    /// The generation that the files produce, identified by a hash of their bytes. `None` with
    /// `skip_invalid`, because the result then depends on checking the files.
    pub(super) fn generation_of_files(&self) -> Option<(Generation, FolderStamp)> {
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
    pub(super) fn keeps(&self, manifest: &Manifest) -> bool {
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
    /// exports. The demo is never a folder's last good generation.
    fn is_ours(&self, manifest: &Manifest) -> bool {
        manifest.inputs.is_empty() == self.settings.source.folder().is_none()
    }

    /// Whether a generation is ours and was built with the operator's current id prefixes.
    fn is_built_alike(&self, manifest: &Manifest) -> bool {
        self.is_ours(manifest)
            && manifest.id_prefixes == self.settings.id_prefixes
            && manifest.meaning == self.settings.meaning
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
