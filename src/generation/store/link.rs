//! Links parts that already exist in generations on disk into a new generation. A linked part
//! belongs to several generations, so a part's file is never written to again, only replaced by a
//! different file.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::file::{link_in, open_in};
use crate::generation::failpoint::{Step, reach};
use crate::generation::store::piece::Piece;
use crate::generation::store::read::check;
use crate::generation::store::{PartEntry, Store};
use crate::scratch::{Bulk, Span};

/// The parts on disk, and the pieces of large ones, by hash. The files are checked against their
/// hashes when used.
#[derive(Debug)]
pub(crate) struct StoredParts {
    parts: HashMap<String, PartFile>,
    pieces: HashMap<String, (PartFile, Span)>,
}

/// A file in a generation's folder.
#[derive(Debug, Clone)]
struct PartFile {
    folder: Arc<Path>,
    name: Arc<str>,
}

impl Store {
    /// The parts of the generations that will be kept.
    pub(crate) fn stored_parts(&self) -> StoredParts {
        let mut stored = StoredParts { parts: HashMap::new(), pieces: HashMap::new() };
        for manifest in self.candidates().into_iter().filter(|manifest| manifest.check_parts().is_ok()) {
            let folder: Arc<Path> = self.folder.join(manifest.folder_name()).into();
            for PartEntry { name, blake3, pieces, .. } in manifest.parts {
                let file = PartFile { folder: Arc::clone(&folder), name: name.into() };
                let mut start = 0;
                for Piece { size, blake3 } in pieces {
                    let span = Span { start, length: size };
                    stored.pieces.entry(blake3).or_insert_with(|| (file.clone(), span));
                    start = span.end();
                }
                stored.parts.entry(blake3).or_insert(file);
            }
        }
        stored
    }
}

impl StoredParts {
    /// Links a part into a folder, if it's on disk and intact. Otherwise it has to be written.
    pub(crate) fn link(&self, part: &PartEntry, to: &Path) -> bool {
        self.parts.get(&part.blake3).is_some_and(|from| link(&from.folder, &from.name, part, to))
    }

    pub(crate) fn has(&self, piece: &Piece) -> bool {
        self.pieces.get(&piece.blake3).is_some_and(|(_, span)| span.length == piece.size)
    }

    /// Reads a piece, and forgets it if it turns out to be damaged.
    pub(crate) fn read(&mut self, piece: &Piece) -> Option<Bytes> {
        let (PartFile { folder, name }, span) = self.pieces.get(&piece.blake3)?;
        let bytes = open_in(folder, name).and_then(|file| Bulk::File(Arc::new(file)).read(*span)).ok();
        let whole = bytes.filter(|bytes| blake3::hash(bytes).to_hex().as_str() == piece.blake3);
        if whole.is_none() {
            self.pieces.remove(&piece.blake3);
        }
        whole
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

/// Removes the files in a folder that other generations may share, so the rest can be written to.
pub(super) fn remove_linked(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.metadata().is_ok_and(|metadata| metadata.nlink() > 1) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use crate::export::{IdPrefixes, Skipped};
    use crate::generation::stamp::FolderStamp;
    use crate::generation::store::{Manifest, NewGeneration};
    use crate::generation::{Generation, MeaningOption};

    const PART: &str = "search";

    fn save(store: &Store, name: &str, content: &[u8]) -> (Manifest, PathBuf) {
        let about = NewGeneration {
            generation: Generation::named(name),
            built_at: format!("2026-01-01T00:00:00.{name}Z"),
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
    fn a_piece_can_be_read_from_any_position_but_only_if_intact() {
        let (store, _folder) = store();
        let mut content = vec![0; 3_000_000];
        blake3::Hasher::new().finalize_xof().fill(&mut content);
        let (manifest, path) = save(&store, "0000000000000001", &content);
        let pieces = manifest.parts[0].pieces.clone();
        let mut stored = store.stored_parts();
        let read: Vec<_> = pieces.iter().map(|piece| stored.read(piece).expect("intact")).collect();
        assert!(pieces.len() > 2 && read.concat() == content);
        content[0] ^= 1;
        fs::write(&path, &content).expect("written");
        assert!(stored.read(&pieces[1]).is_some() && stored.read(&pieces[0]).is_none());
        assert!(stored.has(&pieces[1]) && !stored.has(&pieces[0]), "it's forgotten");
        let longer = Piece { size: pieces[1].size + 1, ..pieces[1].clone() };
        assert!(!stored.has(&longer), "a different size");
    }

    #[test]
    fn a_part_that_is_a_symbolic_link_is_not_used() {
        let (store, folder) = store();
        let mut content = vec![0; 3_000_000];
        blake3::Hasher::new().finalize_xof().fill(&mut content);
        let (before, first) = save(&store, "0000000000000001", &content);
        let outside = folder.path().join("outside");
        fs::rename(&first, &outside).expect("moved");
        symlink(&outside, &first).expect("linked");
        assert!(before.parts[0].pieces.iter().all(|piece| store.stored_parts().read(piece).is_none()));
        let (after, second) = save(&store, "0000000000000002", &content);
        assert!(fs::symlink_metadata(&second).expect("a file").is_file() && inode(&second) != inode(&outside));
        store.verify(&after).expect("intact");
    }

    #[test]
    fn resuming_a_pull_first_removes_linked_files_but_keeps_the_rest() {
        let folder = tempfile::tempdir().expect("a folder");
        let pull = folder.path().join("pull");
        fs::create_dir(&pull).expect("a folder");
        for path in [folder.path().join("part"), pull.join("own")] {
            fs::write(path, "x").expect("written");
        }
        fs::hard_link(folder.path().join("part"), pull.join("linked")).expect("linked");
        remove_linked(&pull);
        assert!(!pull.join("linked").exists() && pull.join("own").exists());
        assert_eq!(fs::read(folder.path().join("part")).expect("read"), b"x");
    }
}
