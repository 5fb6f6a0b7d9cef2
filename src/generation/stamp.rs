//! The stamp of a data folder: metadata that reveals changes without reading files.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

pub use crate::file::FileStamp;

/// The stamps of all export files in a folder, by name.
pub type FolderStamp = Vec<FileStamp>;

/// Takes a folder's stamp. Symbolic links are followed, since what matters is the file they point
/// to. A file that can't be accessed gets a special stamp, so that it's noticed once it can be.
pub fn stamp(folder: &Path) -> io::Result<FolderStamp> {
    let mut stamps = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.as_encoded_bytes().ends_with(b".json") || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let name = name.to_string_lossy().into_owned();
        stamps.push(match fs::metadata(entry.path()) {
            Ok(metadata) => FileStamp::of(name, &metadata),
            Err(_) => FileStamp { name, size: u64::MAX, modified_ns: 0, identity: (0, 0, 0) },
        });
    }
    stamps.sort_unstable();
    Ok(stamps)
}

/// Whether a file was, or may have been, changed after a point in time.
pub(crate) fn has_changed_since(stamp: &FolderStamp, moment: SystemTime) -> bool {
    stamp.iter().any(|file| file.has_changed_since(moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaced_by_one_of_the_same_size_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        fs::write(&path, "1").expect("written");
        fs::write(folder.path().join("notes.txt"), "no export").expect("written");
        let before = stamp(folder.path()).expect("a stamp");
        assert_eq!(before.len(), 1);
        assert_eq!(stamp(folder.path()).expect("a stamp"), before, "taking a stamp changes nothing");
        let next = folder.path().join("next");
        fs::write(&next, "2").expect("written");
        fs::rename(&next, &path).expect("renamed");
        assert_ne!(stamp(folder.path()).expect("a stamp"), before);
    }
}
