//! Links parts that already exist in generations on disk into a new generation. A linked part
//! belongs to several generations, so a part's file is never written to again, only replaced by a
//! different file.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::file::{link_in, open_in};
use crate::generation::failpoint::{Step, reach};
use crate::generation::store::read::check;
use crate::generation::store::{PartEntry, Store};

/// The folder and name of each part on disk, by hash. The files are checked against their hashes
/// when used.
#[derive(Debug)]
pub(super) struct StoredParts(HashMap<String, (PathBuf, String)>);

impl Store {
    /// The parts of the generations that will be kept.
    pub(super) fn stored_parts(&self) -> StoredParts {
        let mut stored = HashMap::new();
        for manifest in self.candidates().into_iter().filter(|manifest| manifest.check_parts().is_ok()) {
            let folder = self.folder.join(manifest.folder_name());
            for part in manifest.parts {
                stored.entry(part.blake3).or_insert_with(|| (folder.clone(), part.name));
            }
        }
        StoredParts(stored)
    }
}

impl StoredParts {
    /// Links a part into a folder, if it's on disk and intact. Otherwise it has to be written.
    pub(super) fn link(&self, part: &PartEntry, to: &Path) -> bool {
        self.0.get(&part.blake3).is_some_and(|(folder, name)| link(folder, name, part, to))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use bytes::Bytes;
    use tempfile::TempDir;

    use super::*;
    use crate::export::{IdPrefixes, Skipped};
    use crate::generation::stamp::FolderStamp;
    use crate::generation::store::{Manifest, NewGeneration};
    use crate::generation::{Generation, MeaningOption};
    use crate::scratch::Bulk;

    const PART: &str = "search";

    fn save(store: &Store, name: &str, content: &[u8]) -> (Manifest, PathBuf) {
        let about = NewGeneration {
            generation: Generation::named(name),
            built_at: jiff::Timestamp::now().to_string(),
            software_count: 1,
            inputs: FolderStamp::default(),
            id_prefixes: IdPrefixes::default(),
            meaning: MeaningOption::On,
            skipped: Skipped::default(),
        };
        let parts = vec![(PART.to_owned(), Bulk::Memory(Bytes::copy_from_slice(content)))];
        let manifest = store.save(&parts, about).expect("saved");
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
