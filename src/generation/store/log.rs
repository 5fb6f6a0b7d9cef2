//! The change log, which a new generation inherits from its predecessors.

use std::fs::{self, File};
use std::io::{self, Seek as _};
use std::path::Path;

use bytes::Bytes;

use crate::file::open_in;
use crate::generation::artifact::{CHANGES, VERSIONS};
use crate::generation::log::Former;
use crate::generation::stamp::FolderStamp;
use crate::generation::store::link::link;
use crate::generation::store::read::{check, read};
use crate::generation::store::write::{build_name, write_manifest, write_synced};
use crate::generation::store::{Manifest, PartEntry, Store, StoreError};
use crate::scratch::Bulk;

impl Store {
    /// The predecessor of the next generation: the current generation or, failing that, the newest.
    pub(crate) fn former(&self) -> Option<Former> {
        self.candidates().into_iter().find_map(|manifest| {
            let (versions, log) = (self.part(&manifest, VERSIONS)?, self.part(&manifest, CHANGES)?);
            Former::from_parts(manifest.generation, Bulk::Memory(versions.into()), &log)
        })
    }

    /// A generation's product versions.
    pub(crate) fn versions(&self, manifest: &Manifest) -> Option<Bulk> {
        Some(Bulk::Memory(self.part(manifest, VERSIONS)?.into()))
    }

    /// A part of a generation, if it's intact.
    fn part(&self, manifest: &Manifest, name: &str) -> Option<Vec<u8>> {
        let part = manifest.parts.iter().find(|part| part.name == name)?;
        let file = open_in(&self.folder.join(manifest.folder_name()), name).ok()?;
        let (content, is_whole) = read(&file, part).ok()?;
        is_whole.then_some(content)
    }

    /// Saves a generation again with a different change log, and makes it current.
    ///
    /// # Errors
    ///
    /// If the disk fails, or another process holds the lock for too long. The current generation
    /// then stays current.
    pub(crate) fn save_again(
        &self,
        manifest: &Manifest,
        log: &[u8],
        built_at: String,
        inputs: FolderStamp,
    ) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        let before = self.folder.join(manifest.folder_name());
        let mut manifest = Manifest { build: build_name(&built_at), built_at, inputs, ..manifest.clone() };
        let folder = self.folder.join(manifest.folder_name());
        manifest.parts.retain(|part| part.name != CHANGES);
        let written = (|| {
            fs::create_dir(&folder).map_err(StoreError::io("creating", &folder))?;
            for part in &manifest.parts {
                link_or_copy(&before, part, &folder)?;
            }
            let (path, log) = (folder.join(CHANGES), Bulk::Memory(Bytes::copy_from_slice(log)));
            let written = write_synced(&path, &log).and_then(|()| PartEntry::of(CHANGES, &log));
            manifest.parts.push(written.map_err(StoreError::io("writing", &path))?);
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

/// Links a part from one folder into another, or copies it and syncs the copy.
fn link_or_copy(from: &Path, part: &PartEntry, to: &Path) -> Result<(), StoreError> {
    if link(from, &part.name, part, to) {
        return Ok(());
    }
    let path = to.join(&part.name);
    let copied = open_in(from, &part.name).and_then(|mut from| {
        let mut copy = File::create_new(&path)?;
        io::copy(&mut from, &mut copy)?;
        copy.sync_all()?;
        copy.rewind()?;
        check(&copy, part)
    });
    if copied.map_err(StoreError::io("writing", &path))? {
        return Ok(());
    }
    let what = format!("the part {} doesn't match its manifest", part.name);
    Err(StoreError::Damaged { folder: from.to_owned(), what })
}
