//! Writes files so that a reader, or a restart at any moment, finds either the complete old state
//! or the complete new one.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::file::{Access, Draft, folder_of, link_in, open_in, sync_folder};
use crate::generation::artifact::{CHANGES, Parts, TEXTS, VERSIONS};
use crate::generation::failpoint::{Step, pass, reach};
use crate::generation::log::{ChangeLog, Former, VersionReader, Versions};
use crate::generation::source::FolderStamp;
use crate::generation::store::read::{check, read};
use crate::generation::store::{CURRENT, MANIFEST, Manifest, NEXT, PartEntry, Store, StoreError};
use crate::scratch::{Bulk, Span};

impl Store {
    /// Creates the folder if it doesn't exist.
    pub fn create(&self) -> Result<(), StoreError> {
        let created = reach(Step::StoreFolder).and_then(|()| fs::create_dir_all(&self.folder));
        created.map_err(StoreError::io("creating", &self.folder))
    }

    /// Writes a generation and makes it current, if the one before it still is. Older ones are
    /// removed, except the previous one. Returns its manifest with the parts.
    ///
    /// # Errors
    ///
    /// If the disk fails, or another process holds the lock for too long. The current generation
    /// then stays current.
    pub fn save(&self, parts: &Parts, mut manifest: Manifest, before: Option<&str>) -> Result<Manifest, StoreError> {
        self.create()?;
        let _lock = self.lock()?;
        self.check_current(before)?;
        let stored = self.stored_parts();
        let entries = parts.iter().map(|(name, content)| PartEntry::of(name, content)).collect::<io::Result<_>>();
        manifest.parts = entries.map_err(StoreError::io("reading scratch files in", &self.folder))?;
        let folder = self.folder.join(manifest.folder_name());
        let written = write_generation(&folder, parts, &manifest, &stored).and_then(|()| self.point_to(&manifest));
        self.tidy_after(written, &manifest)?;
        Ok(manifest)
    }

    /// Sweeps once a generation is current, or removes its folder if writing it failed.
    fn tidy_after(&self, written: Result<(), StoreError>, manifest: &Manifest) -> Result<(), StoreError> {
        let name = manifest.folder_name();
        match &written {
            Ok(()) => self.sweep(),
            // If only the last sync failed, the new generation is current, and must not be removed.
            Err(_) if self.current_name().as_ref() == Some(&name) => {}
            // Folders that can't be removed now are swept with the next generation.
            Err(_) => drop(fs::remove_dir_all(self.folder.join(name))),
        }
        written
    }

    /// Makes an existing generation current, and records which files produce it, so the next start
    /// needn't read them.
    pub fn make_current(&self, manifest: &Manifest, inputs: FolderStamp) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        self.manifest(&manifest.folder_name()).ok_or(StoreError::Overtaken)?;
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
pub fn build_name(built_at: &str) -> String {
    built_at.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Writes a generation's folder, manifest last. Parts that are already stored are linked.
fn write_generation(folder: &Path, parts: &Parts, manifest: &Manifest, stored: &StoredParts) -> Result<(), StoreError> {
    let created = fs::create_dir(folder).and_then(|()| reach(Step::StoreBegun));
    created.map_err(StoreError::io("creating", folder))?;
    for ((name, content), part) in parts.iter().zip(&manifest.parts) {
        // Parts that can't be linked or aren't intact have to be written.
        let is_linked = stored.get(&part.blake3).is_some_and(|(from, name)| link(from, name, part, folder));
        if !is_linked {
            let path = folder.join(name);
            write_synced(&path, content).map_err(StoreError::io("writing", &path))?;
        }
    }
    write_manifest(folder, manifest)?;
    reach(Step::StoreWhole).map_err(StoreError::io("syncing", folder))?;
    let parent = folder_of(folder);
    sync_folder(parent).map_err(StoreError::io("syncing", parent))
}

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

/// What came of forgetting products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgotten {
    Erased,
    /// The change log has nothing about any of them.
    Unknown,
    /// This one hasn't been removed.
    StillListed(String),
}

impl Store {
    /// The predecessor of the next generation: the current generation or, failing that, the newest.
    pub(crate) fn former(&self) -> Option<Former> {
        self.candidates().into_iter().find_map(|manifest| {
            let versions = self.versions(&manifest)?;
            let log = ChangeLog::decode(&self.part(&manifest, CHANGES)?).ok()?;
            Some(Former { generation: manifest.generation, versions, log })
        })
    }

    pub(crate) fn versions(&self, manifest: &Manifest) -> Option<Versions> {
        let versions = Bulk::Memory(self.part(manifest, VERSIONS)?.into());
        let texts = open_in(&self.folder.join(manifest.folder_name()), TEXTS);
        Some(Versions { versions, texts: texts.ok().map(|file| Bulk::File(Arc::new(file))) })
    }

    /// Erases the past of products that have been removed from the current generation, and all other
    /// generations, which may contain them.
    pub fn forget(&self, manifest: &Manifest, ids: &[String], built_at: String) -> Result<Forgotten, StoreError> {
        let folder = self.folder.join(manifest.folder_name());
        // No other process may build a generation meanwhile, because it would continue the old log.
        let _lock = self.lock()?;
        self.check_current(Some(&manifest.folder_name()))?;
        let damaged = |what: &str| StoreError::Damaged { folder: folder.clone(), what: what.to_owned() };
        let lost = || damaged("its products or its change log can't be read");
        let versions = VersionReader::new(&self.versions(manifest).ok_or_else(lost)?.versions);
        for version in versions.map_err(|_| lost())? {
            let version = version.map_err(|_| lost())?;
            if let Some(id) = ids.iter().find(|id| **id == *version.id) {
                return Ok(Forgotten::StillListed(id.clone()));
            }
        }
        let log = self.part(manifest, CHANGES).ok_or_else(lost)?;
        let mut log = ChangeLog::decode(&log).map_err(|_| lost())?;
        let is_known = log.forget(ids, &manifest.generation, &built_at);
        let mut folder_name = manifest.folder_name();
        if is_known {
            let log = log.encode().map_err(|_| damaged("the change log can't be encoded"))?;
            folder_name = self.write_again(manifest, &log, built_at, manifest.inputs.clone())?.folder_name();
        }
        self.remove_others(&[folder_name]);
        Ok(if is_known { Forgotten::Erased } else { Forgotten::Unknown })
    }

    /// A part of a generation, if it's intact.
    fn part(&self, manifest: &Manifest, name: &str) -> Option<Vec<u8>> {
        let part = manifest.parts.iter().find(|part| part.name == name)?;
        let file = open_in(&self.folder.join(manifest.folder_name()), name).ok()?;
        let (content, is_whole) = read(&file, part).ok()?;
        is_whole.then_some(content)
    }

    /// Saves a generation again with a different change log, and makes it current if the one before it
    /// still is.
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
        before: Option<&str>,
    ) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        self.check_current(before)?;
        self.write_again(manifest, log, built_at, inputs)
    }

    /// The lock must be held.
    fn write_again(
        &self,
        manifest: &Manifest,
        log: &[u8],
        built_at: String,
        inputs: FolderStamp,
    ) -> Result<Manifest, StoreError> {
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
        self.tidy_after(written, &manifest)?;
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

/// The folder and name of each part on disk, by hash. The files are checked against their hashes
/// when used.
type StoredParts = HashMap<String, (PathBuf, String)>;

impl Store {
    /// The parts of the generations that will be kept.
    fn stored_parts(&self) -> StoredParts {
        let mut stored = StoredParts::new();
        for manifest in self.candidates().into_iter().filter(|manifest| manifest.check_parts().is_ok()) {
            let folder = self.folder.join(manifest.folder_name());
            for part in manifest.parts {
                stored.entry(part.blake3).or_insert_with(|| (folder.clone(), part.name));
            }
        }
        stored
    }
}

/// Links a part into the folder `to`, from the file `name` in the folder `from`, and returns
/// whether it's intact there. It's checked after linking, to be sure that the linked file is the
/// one that was checked. Some file systems don't support links, or support too few.
pub(super) fn link(from: &Path, name: &str, part: &PartEntry, to: &Path) -> bool {
    if let Err(error) = reach(Step::PartLink).and_then(|()| link_in((from, name), (to, &part.name))) {
        tracing::debug!(part = part.name, %error, "a part can't be linked");
        return false;
    }
    let is_whole = open_in(to, &part.name).and_then(|file| check(&file, part)).unwrap_or(false);
    if !is_whole {
        drop(fs::remove_file(to.join(&part.name)));
    }
    is_whole
}

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
        self.remove_others(&self.kept());
    }

    /// Removes all generations except these.
    fn remove_others(&self, kept: &[String]) {
        pass(Step::SweepBegun);
        remove_unfinished_files(&self.folder);
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use bytes::Bytes;
    use tempfile::TempDir;

    use super::*;
    use crate::export::{IdPrefixes, Skipped, TrustedKeys};
    use crate::generation::source::FolderStamp;
    use crate::generation::{Generation, INDEX_FORMAT, MeaningOption};
    use crate::scratch::Bulk;

    const PART: &str = "search";

    fn save(store: &Store, name: &str, content: &[u8]) -> (Manifest, PathBuf) {
        let built_at = jiff::Timestamp::now().to_string();
        let manifest = Manifest {
            format: INDEX_FORMAT,
            generation: Generation::named(name),
            build: build_name(&built_at),
            built_at,
            software_count: 1,
            inputs: FolderStamp::default(),
            id_prefixes: IdPrefixes::default(),
            meaning: MeaningOption::On,
            trusted_keys: TrustedKeys::default(),
            skipped: Skipped::default(),
            parts: Vec::new(),
        };
        let parts = vec![(PART.to_owned(), Bulk::Memory(Bytes::copy_from_slice(content)))];
        let manifest = store.save(&parts, manifest, store.current_name().as_deref()).expect("saved");
        let path = store.folder().join(manifest.folder_name()).join(PART);
        (manifest, path)
    }

    fn store() -> (Store, TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        (Store::new(&folder.path().join("index")), folder)
    }

    fn inode(path: &Path) -> u64 {
        fs::metadata(path).expect("a file").ino()
    }

    #[test]
    fn nothing_is_written_after_a_generation_that_is_no_longer_current() {
        let (store, _folder) = store();
        let (first, _) = save(&store, "0000000000000001", b"same");
        save(&store, "0000000000000002", b"same");
        let (third, path) = save(&store, "0000000000000003", b"same");
        let before = first.folder_name();
        let again =
            store.save_again(&third, b"log", "2026-01-01T00:00:00Z".to_owned(), FolderStamp::default(), Some(&before));
        assert!(matches!(again, Err(StoreError::Overtaken)), "{again:?}");
        assert!(matches!(store.make_current(&first, FolderStamp::default()), Err(StoreError::Overtaken)), "swept");
        let forgotten = store.forget(&first, &[], String::new());
        assert!(matches!(forgotten, Err(StoreError::Overtaken)), "{forgotten:?}");
        assert!(path.exists() && store.current_name() == Some(third.folder_name()));
    }

    #[test]
    fn a_part_shared_with_another_generation_is_linked_and_outlives_it() {
        let (store, _folder) = store();
        let (_, first) = save(&store, "0000000000000001", b"same");
        let (second, path) = save(&store, "0000000000000002", b"same");
        assert_eq!(inode(&path), inode(&first), "linked");
        let (_, third) = save(&store, "0000000000000003", b"other");
        assert_ne!(inode(&third), inode(&path));
        assert!(!first.exists(), "swept");
        store.verify(&second).expect("intact");
    }

    #[test]
    fn a_damaged_part_is_rewritten_and_the_old_file_is_left_alone() {
        let (store, _folder) = store();
        let (before, first) = save(&store, "0000000000000001", b"same");
        for damage in [&b"sane"[..], b"sam", b"same and more", b""] {
            fs::write(&first, damage).expect("written");
            let (after, second) = save(&store, "0000000000000002", b"same");
            assert_ne!(inode(&first), inode(&second), "{damage:?}");
            assert_eq!(fs::read(&first).expect("read"), damage, "nothing writes to it");
            store.verify(&before).expect_err("still damaged");
            store.verify(&after).expect("intact");
            fs::remove_dir_all(second.parent().expect("a folder")).expect("removed");
        }
    }

    #[test]
    fn damage_to_a_linked_part_affects_both_generations() {
        let (store, _folder) = store();
        let (before, first) = save(&store, "0000000000000001", b"same");
        let (after, second) = save(&store, "0000000000000002", b"same");
        fs::write(&second, b"sane").expect("written");
        for manifest in [&before, &after] {
            store.verify(manifest).expect_err("damaged");
        }
        let (again, third) = save(&store, "0000000000000002", b"same");
        store.verify(&again).expect("intact");
        assert_ne!(inode(&third), inode(&first));
    }

    #[test]
    fn a_part_that_is_a_symbolic_link_is_not_used() {
        let (store, folder) = store();
        let (_, first) = save(&store, "0000000000000001", b"same");
        let outside = folder.path().join("outside");
        fs::rename(&first, &outside).expect("moved");
        symlink(&outside, &first).expect("linked");
        let (after, second) = save(&store, "0000000000000002", b"same");
        assert!(fs::symlink_metadata(&second).expect("a file").is_file() && inode(&second) != inode(&outside));
        store.verify(&after).expect("intact");
    }
}
