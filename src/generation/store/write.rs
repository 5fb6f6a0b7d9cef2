//! Writes files so that a reader, or a restart at any moment, finds either the complete old state
//! or the complete new one.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use bytes::Bytes;

use crate::file::{Access, Draft, folder_of, sync_folder};
use crate::generation::INDEX_FORMAT;
use crate::generation::artifact::Parts;
use crate::generation::failpoint::{Step, reach};
use crate::generation::stamp::FolderStamp;
use crate::generation::store::link::StoredParts;
use crate::generation::store::{CURRENT, MANIFEST, Manifest, NEXT, NewGeneration, PartEntry, Store, StoreError};
use crate::scratch::{Bulk, Span};

impl Store {
    /// Creates the folder if it doesn't exist.
    pub fn create(&self) -> Result<(), StoreError> {
        let created = reach(Step::StoreFolder).and_then(|()| fs::create_dir_all(&self.folder));
        created.map_err(StoreError::io("creating", &self.folder))
    }

    /// Writes a generation and makes it current. Older ones are removed, except the previous one.
    /// Returns its manifest.
    ///
    /// # Errors
    ///
    /// If the disk fails, or another process holds the lock for too long. The current generation
    /// then stays current.
    pub fn save(&self, parts: &Parts, about: NewGeneration) -> Result<Manifest, StoreError> {
        self.create()?;
        let _lock = self.lock()?;
        let stored = self.stored_parts();
        let entries = parts.iter().map(|(name, content)| PartEntry::of(name, content)).collect::<io::Result<_>>();
        let manifest = Manifest {
            format: INDEX_FORMAT,
            build: build_name(&about.built_at),
            generation: about.generation,
            built_at: about.built_at,
            software_count: about.software_count,
            inputs: about.inputs,
            id_prefixes: about.id_prefixes,
            meaning: about.meaning,
            skipped: about.skipped,
            parts: entries.map_err(StoreError::io("reading scratch files in", &self.folder))?,
        };
        let folder = self.folder.join(manifest.folder_name());
        let written = write_generation(&folder, parts, &manifest, &stored).and_then(|()| self.point_to(&manifest));
        // If only the last sync failed, the new generation is current, and must not be removed.
        // Folders that can't be removed now are swept with the next generation.
        if written.is_err() && self.current_name().as_ref() != Some(&manifest.folder_name()) {
            drop(fs::remove_dir_all(&folder));
        }
        written?;
        self.sweep();
        Ok(manifest)
    }

    /// Makes an existing generation current, and records which files produce it, so the next start
    /// needn't read them.
    pub fn make_current(&self, manifest: &Manifest, inputs: FolderStamp) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        let is_noted = manifest.inputs == inputs;
        let manifest = Manifest { inputs, ..manifest.clone() };
        if !is_noted {
            write_manifest(&self.folder.join(manifest.folder_name()), &manifest)?;
        }
        if self.current_name().as_deref() != Some(&manifest.folder_name()) {
            self.point_to(&manifest)?;
        }
        Ok(manifest)
    }

    pub(super) fn point_to(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let path = self.folder.join(CURRENT);
        replace(&path, format!("{}\n", manifest.folder_name()).as_bytes(), CURRENT_STEPS)
    }
}

/// The name of a build from this time, such as `20260131T093000123456789Z`. Even a deleted index that's
/// built again never repeats a name, so its generations can't be mistaken for those with another
/// change log.
pub(super) fn build_name(built_at: &str) -> String {
    built_at.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Writes a generation's folder, manifest last. Parts that are already stored are linked.
fn write_generation(folder: &Path, parts: &Parts, manifest: &Manifest, stored: &StoredParts) -> Result<(), StoreError> {
    let created = fs::create_dir(folder).and_then(|()| reach(Step::StoreBegun));
    created.map_err(StoreError::io("creating", folder))?;
    for ((name, content), part) in parts.iter().zip(&manifest.parts) {
        if !stored.link(part, folder) {
            let path = folder.join(name);
            write_synced(&path, content).map_err(StoreError::io("writing", &path))?;
        }
    }
    write_manifest(folder, manifest)?;
    reach(Step::StoreWhole).map_err(StoreError::io("syncing", folder))?;
    let parent = folder_of(folder);
    sync_folder(parent).map_err(StoreError::io("syncing", parent))
}

/// Writes or replaces a generation's manifest.
pub(super) fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    let path = folder.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest).map_err(io::Error::other);
    let text = text.map_err(StoreError::io("writing", &path))?;
    replace(&path, &text, MANIFEST_STEPS)
}

/// The steps where replacing a file can fail: created, half written, synced, renamed.
type ReplaceSteps = [Step; 4];
const MANIFEST_STEPS: ReplaceSteps =
    [Step::ManifestCreated, Step::ManifestHalf, Step::ManifestSynced, Step::ManifestRenamed];
/// The steps where making a generation current can fail.
const CURRENT_STEPS: ReplaceSteps =
    [Step::CurrentCreated, Step::CurrentHalf, Step::CurrentSynced, Step::CurrentRenamed];

/// Replaces a file so that a reader, or a restart at any moment, sees either the complete old
/// file or the complete new one.
fn replace(path: &Path, content: &[u8], steps: ReplaceSteps) -> Result<(), StoreError> {
    let [created, half, synced, renamed] = steps;
    let folder = folder_of(path);
    // The index contains no secrets, so its files get the usual permissions.
    let draft = Draft::new(path, NEXT, Access::Mode(0o644));
    let mut draft = draft.map_err(StoreError::io("writing in", folder))?;
    let written = draft.write(|file| {
        reach(created)?;
        write_in_halves(file, &Bulk::Memory(Bytes::copy_from_slice(content)), half)
    });
    written.and_then(|()| reach(synced)).map_err(StoreError::io("writing", path))?;
    let draft = draft.rename(true).map_err(StoreError::io("replacing", path))?;
    reach(renamed).map_err(StoreError::io("replacing", path))?;
    draft.sync().map_err(StoreError::io("syncing", folder))
}

pub(super) fn write_synced(path: &Path, content: &Bulk) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    reach(Step::PartCreated)?;
    write_in_halves(&mut file, content, Step::PartHalf)?;
    reach(Step::PartWritten)?;
    file.sync_all()?;
    reach(Step::PartSynced)
}

/// Writes a file in two halves, so tests can inject a fault in between.
fn write_in_halves(file: &mut File, content: &Bulk, between: Step) -> io::Result<()> {
    let length = content.len()?;
    let half = length / 2;
    let mut write = |start, length| match content {
        Bulk::Memory(bytes) => file.write_all(&bytes[Span { start, length }.range()]),
        Bulk::File(_) => io::copy(&mut content.reader(Span { start, length })?, file).map(drop),
    };
    write(0, half)?;
    reach(between)?;
    write(half, length - half)
}
