//! The log of changes, which a new generation takes over from those before it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::file::open_in;
use crate::generation::artifact::{CHANGES, VERSIONS};
use crate::generation::log::Former;
use crate::generation::stamp::FolderStamp;
use crate::generation::store::read::read;
use crate::generation::store::write::{write_manifest, write_synced};
use crate::generation::store::{Manifest, PartEntry, Store, StoreError};
use crate::scratch::Bulk;

impl Store {
    /// The current generation, or else the newest one, as the next one's predecessor.
    pub(crate) fn former(&self) -> Option<Former> {
        self.candidates().into_iter().find_map(|manifest| {
            let (versions, log) = (self.part(&manifest, VERSIONS)?, self.part(&manifest, CHANGES)?);
            Former::from_parts(manifest.generation, Bulk::Memory(versions.into()), &log)
        })
    }

    /// The versions of the products of a generation.
    pub(crate) fn versions(&self, manifest: &Manifest) -> Option<Bulk> {
        Some(Bulk::Memory(self.part(manifest, VERSIONS)?.into()))
    }

    /// A part of a generation, if it is whole.
    fn part(&self, manifest: &Manifest, name: &str) -> Option<Vec<u8>> {
        let part = manifest.parts.iter().find(|part| part.name == name)?;
        let file = open_in(&self.folder.join(manifest.folder_name()), name).ok()?;
        let (content, is_whole) = read(&file, part).ok()?;
        is_whole.then_some(content)
    }

    /// Saves a generation once more, with another log of changes, and makes it current.
    ///
    /// # Errors
    /// If the disk refuses, or another process holds the lock for too long; what was current stays so.
    pub(crate) fn save_again(
        &self,
        manifest: &Manifest,
        log: &[u8],
        built_at: String,
        inputs: FolderStamp,
    ) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        let before = self.folder.join(manifest.folder_name());
        let mut manifest =
            Manifest { build: self.unused_build(&manifest.generation), built_at, inputs, ..manifest.clone() };
        let folder = self.folder.join(manifest.folder_name());
        manifest.parts.retain(|part| part.name != CHANGES);
        let written = (|| {
            fs::create_dir(&folder).map_err(StoreError::io("creating", &folder))?;
            for part in &manifest.parts {
                copy(&before, &folder, &part.name)?;
            }
            let path = folder.join(CHANGES);
            write_synced(&path, &Bulk::Memory(Bytes::copy_from_slice(log)))
                .map_err(StoreError::io("writing", &path))?;
            manifest.parts.push(PartEntry::new(CHANGES, log.len() as u64, blake3::hash(log)));
            write_manifest(&folder, &manifest)?;
            self.point_to(&manifest)
        })();
        if written.is_err() && self.current_name().as_ref() != Some(&manifest.folder_name()) {
            drop(fs::remove_dir_all(&folder));
        }
        written?;
        self.sweep();
        Ok(manifest)
    }
}

/// Copies a part and syncs the copy.
fn copy(from: &Path, to: &Path, name: &str) -> Result<(), StoreError> {
    let copied = open_in(from, name).and_then(|mut from| {
        let mut to = File::create_new(to.join(name))?;
        io::copy(&mut from, &mut to)?;
        to.sync_all()
    });
    copied.map_err(StoreError::io("writing", &to.join(name)))
}
