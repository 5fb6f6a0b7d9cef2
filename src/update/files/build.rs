//! Builds of the reloader: on disk, by a process of their own or in this one, or in memory.

use crate::generation::Processors;
use crate::generation::Snapshot;
use crate::generation::builder::{Builder, Built};
use crate::generation::process::ServedIds;
use crate::generation::stamp::FolderStamp;
use crate::generation::store::Store;
use crate::generation::{BuildFailure, FailureCode};
use crate::update::files::{Outcome, Reloader, load};

impl Reloader {
    /// Builds a generation of the exports, on disk, unless it is there.
    pub(super) fn build_on_disk(&mut self, store: &Store, served: Option<&Snapshot>) -> Result<Built, BuildFailure> {
        let served = served.map(ServedIds::of).unwrap_or_default();
        let processors = self.processors();
        let built = match &self.settings.process {
            None => {
                let observer = &mut *self.observer;
                Builder { settings: &self.settings, observer, served: Some(served), processors }.build_on_disk(store)
            }
            Some(process) => process.run(&served, processors, &mut *self.observer).and_then(|(folder, is_new)| {
                let missing = || format!("the generation {folder} that was built can't be read");
                let manifest = store.manifest(&folder);
                let manifest = manifest.ok_or_else(|| BuildFailure::transient(FailureCode::BuildFailed, missing()))?;
                Ok(Built { manifest, is_new })
            }),
        }?;
        self.builds += u64::from(built.is_new);
        Ok(built)
    }

    /// The processors that a build may use: all as long as nothing is served.
    fn processors(&self) -> Processors {
        if self.directory.current().is_some() { Processors::One } else { Processors::All }
    }

    /// Serves a generation of the exports that is current on disk.
    pub(super) fn serve(&mut self, store: &Store, built: Built) -> Result<Outcome, BuildFailure> {
        let Built { manifest, is_new } = built;
        let was_served = self.serves(&manifest.generation);
        let is_same =
            was_served && self.saved.as_ref().is_some_and(|saved| saved.folder_name() == manifest.folder_name());
        self.seen = Some(manifest.inputs.clone());
        // Loaded even where the content is the same: what is served may be in memory only, or read a damaged file.
        let snapshot = if is_same && !self.serves_damaged() { None } else { Some(load(store, &manifest)?) };
        if self.index_problem.is_some() {
            tracing::info!(generation = %manifest.generation, "the index is written again");
        }
        self.saved = Some(manifest);
        self.clear_problems();
        let Some(served) = snapshot.map(|snapshot| self.publish(snapshot)) else { return Ok(Outcome::Unchanged) };
        Ok(match (was_served, is_new) {
            (true, _) => Outcome::Unchanged,
            (false, true) => Outcome::Published(served),
            (false, false) => Outcome::Loaded(served),
        })
    }

    /// Builds in memory, where a build on disk isn't possible. `known` is the stamp of files that make the generation that is served.
    pub(super) fn reload_in_memory(
        &mut self,
        served: Option<&Snapshot>,
        known: Option<FolderStamp>,
    ) -> Result<Outcome, BuildFailure> {
        // A generation that couldn't be written isn't built again each time that writing is tried.
        if self.unsaved.is_some() && self.unsaved == self.seen {
            self.exports_problem = None;
            self.publish_problems();
            return Ok(Outcome::Unchanged);
        }
        if let Some(stamp) = known {
            (self.seen, self.unsaved, self.exports_problem) = (Some(stamp.clone()), Some(stamp), None);
            self.publish_problems();
            return Ok(Outcome::Unchanged);
        }
        let ids = served.map(ServedIds::of).unwrap_or_default();
        let processors = self.processors();
        let observer = &mut *self.observer;
        let (snapshot, stamp) =
            Builder { settings: &self.settings, observer, served: Some(ids), processors }.build_in_memory(served)?;
        self.builds += 1;
        let is_same = self.serves(&snapshot.generation);
        (self.seen, self.unsaved, self.exports_problem) = (Some(stamp.clone()), Some(stamp), None);
        if is_same {
            self.publish_problems();
            return Ok(Outcome::Unchanged);
        }
        self.saved = None;
        Ok(Outcome::Published(self.publish(snapshot)))
    }
}
