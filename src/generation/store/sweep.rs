//! Removes generations that can no longer be needed at startup.

use std::fs;
use std::path::Path;

use crate::generation::failpoint::{Step, pass};
use crate::generation::store::{MANIFEST, NEXT, Store};

/// How many generations are kept: the current one and the previous one.
const KEPT: usize = 2;

impl Store {
    /// Removes what a killed process left behind, unless another process is writing, in which case
    /// that process will sweep anyway.
    pub fn tidy(&self) {
        if let Ok(file) = self.open_lock()
            && file.try_lock().is_ok()
        {
            self.sweep();
        }
    }

    /// Removes everything that doesn't need to be kept, including unfinished folders and files. The
    /// lock must be held.
    pub(super) fn sweep(&self) {
        pass(Step::SweepBegun);
        remove_unfinished_files(&self.folder);
        let kept = self.kept();
        for name in self.generation_names() {
            let folder = self.folder.join(&name);
            if kept.contains(&name) {
                remove_unfinished_files(&folder);
                continue;
            }
            pass(Step::SweepManifest);
            // Remove the manifest first, so a half-removed generation never looks complete.
            drop(fs::remove_file(folder.join(MANIFEST)));
            pass(Step::SweepParts);
            if let Err(error) = fs::remove_dir_all(&folder) {
                tracing::warn!(folder = %folder.display(), %error, "an old generation can't be removed");
            }
        }
        self.sweep_marks();
        pass(Step::SweepDone);
    }

    /// The folders that might be used at startup: this version's current generation (or else its
    /// newest) and its newest other one, plus the newest one from another version. So if you switch
    /// to an older or newer program that has run here before, it finds its own generation and can
    /// serve right away instead of building first.
    fn kept(&self) -> Vec<String> {
        let mut generations = Vec::new();
        let mut kept = Vec::new();
        for manifest in self.candidates() {
            // A newer build of the same generation supersedes an older one.
            if generations.len() < KEPT && !generations.contains(&manifest.generation) {
                kept.push(manifest.folder_name());
                generations.push(manifest.generation);
            }
        }
        let current = self.current_name();
        let foreign = self.generation_names().into_iter().filter_map(|name| Some((self.foreign(&name)?, name)));
        let newest = foreign.max_by_key(|(head, name)| (Some(name) == current.as_ref(), head.built_at.clone()));
        kept.extend(newest.map(|(_, name)| name));
        kept
    }
}

/// Removes unfinished files left by processes that have ended. While the lock is held, no other
/// process writes.
fn remove_unfinished_files(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(NEXT.as_bytes()) {
            drop(fs::remove_file(entry.path()));
        }
    }
}
