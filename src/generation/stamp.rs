//! The stamp of a data folder: metadata that detects changes without reading a file.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A file's name, size and times.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileStamp {
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last modified, in nanoseconds since 1970.
    pub modified_ns: u128,
    /// The identity of the file and the time when its metadata last changed, where the system has them: a file that was replaced by one of
    /// the same size and time differs here.
    pub identity: (u64, i64, i64),
}

/// The stamps of all export files of a folder, by name.
pub type FolderStamp = Vec<FileStamp>;

/// Looks at a folder. A link is followed: what counts is the file it leads to. A file that can't be looked at has a
/// stamp of its own kind, so that its coming back is noticed.
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
            Ok(metadata) => FileStamp {
                name,
                size: metadata.len(),
                modified_ns: metadata
                    .modified()
                    .ok()
                    .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
                    .map_or(0, |since| since.as_nanos()),
                identity: identity(&metadata),
            },
            Err(_) => FileStamp { name, size: u64::MAX, modified_ns: 0, identity: (0, 0, 0) },
        });
    }
    stamps.sort_unstable();
    Ok(stamps)
}

/// Whether a file was changed after a moment, or may have been.
pub(crate) fn has_changed_since(stamp: &FolderStamp, moment: SystemTime) -> bool {
    let moment_ns = moment.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    stamp.iter().any(|file| {
        let (_, seconds, nanoseconds) = file.identity;
        let metadata_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        file.modified_ns > moment_ns || u128::try_from(metadata_ns).is_ok_and(|changed_ns| changed_ns > moment_ns)
    })
}

fn identity(metadata: &fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
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
        assert_eq!(stamp(folder.path()).expect("a stamp"), before, "looking changes nothing");
        let next = folder.path().join("next");
        fs::write(&next, "2").expect("written");
        fs::rename(&next, &path).expect("renamed");
        assert_ne!(stamp(folder.path()).expect("a stamp"), before);
    }
}
