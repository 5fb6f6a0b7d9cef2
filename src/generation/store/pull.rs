//! Receives generations pulled from a leader into a separate folder, then moves them next to the
//! others. Also opens files for followers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::file::{open_in, sync_folder};
use crate::generation::store::link::remove_linked;
use crate::generation::store::write::write_manifest;
use crate::generation::store::{MANIFEST, Manifest, Store, StoreError, is_generation_name, is_part_name};

/// The prefix of a folder that a generation is being pulled into. The folder survives a restart, so
/// the parts needn't be pulled again.
pub(super) const PULL: &str = ".pull-";

impl Store {
    /// Creates the folder to pull a generation into, or finds what has already been received. All
    /// files in it may be written to. Folders for other generations are removed.
    pub(crate) fn begin_pull(&self, name: &str) -> Result<PathBuf, StoreError> {
        self.create()?;
        let folder = self.folder.join(format!("{PULL}{name}"));
        self.remove_pulls(Some(&folder));
        match fs::create_dir(&folder) {
            // A symbolic link to a folder isn't accepted.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir()) => {}
            created => created.map_err(StoreError::io("creating", &folder))?,
        }
        remove_linked(&folder);
        Ok(folder)
    }

    /// Removes a folder that a generation was being pulled into.
    #[expect(clippy::unused_self, reason = "it's a store operation")]
    pub(crate) fn end_pull(&self, folder: &Path) {
        drop(fs::remove_dir_all(folder));
    }

    /// Moves a received generation, whose parts have been verified and synced, next to the others.
    /// It isn't current yet.
    pub(crate) fn finish_pull(&self, folder: &Path, manifest: &Manifest) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        let manifest = Manifest { build: self.unused_build(&manifest.generation), ..manifest.clone() };
        remove_others(folder, &manifest);
        write_manifest(folder, &manifest)?;
        let target = self.folder.join(manifest.folder_name());
        fs::rename(folder, &target).map_err(StoreError::io("renaming", folder))?;
        sync_folder(&self.folder).map_err(StoreError::io("syncing", &self.folder))?;
        Ok(manifest)
    }

    /// Removes a generation that turned out to be unusable.
    pub(crate) fn discard(&self, manifest: &Manifest) {
        if self.current_name().as_ref() != Some(&manifest.folder_name()) {
            let folder = self.folder.join(manifest.folder_name());
            // Remove the manifest first, so a half-removed generation never looks complete.
            drop(fs::remove_file(folder.join(MANIFEST)));
            drop(fs::remove_dir_all(folder));
        }
    }

    /// Removes all folders that generations were being pulled into, except this one.
    pub(super) fn remove_pulls(&self, but: Option<&Path>) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_pull = entry.file_name().as_encoded_bytes().starts_with(PULL.as_bytes());
            if is_pull && Some(&*entry.path()) != but {
                drop(fs::remove_dir_all(entry.path()));
            }
        }
    }

    /// Opens a generation's manifest or part for a follower.
    pub fn open_published(&self, name: &str, file: &str) -> io::Result<File> {
        if is_generation_name(name) && is_part_name(file) {
            open_in(&self.folder.join(name), file)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

/// Removes files that the manifest doesn't name, such as those from another build with the same
/// name.
fn remove_others(folder: &Path, manifest: &Manifest) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if manifest.parts.iter().all(|part| entry.file_name() != *part.name) {
            drop(fs::remove_file(entry.path()));
        }
    }
}
