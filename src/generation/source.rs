//! Where the exports come from, and the stamp of their folder: metadata that reveals changes
//! without reading files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use bytes::Bytes;

use crate::export::{self, ExportSet, FindError, Finding, IdPrefixes, Limits, SourceFile};
pub use crate::file::FileStamp;
use crate::generation::Generation;
use crate::scratch::{Scratch, ScratchError};

/// The exports bundled with the binary, by file name. They're served if there's no data folder.
const EMBEDDED: [(&str, &[u8]); 3] = [
    ("demo.json", include_bytes!("../../demo/demo.json")),
    ("qhse.json", include_bytes!("../../data/qhse.json")),
    ("software-terms.json", include_bytes!("../../data/software-terms.json")),
];

/// Where the exports come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Folder(PathBuf),
    /// A folder of export files, and the file with demo records beside it.
    WithDemo(PathBuf, PathBuf),
    Embedded,
}

/// A set of exports that has been read.
#[derive(Debug)]
pub struct ReadSet {
    pub set: ExportSet,
    /// The files' stamp, taken before reading them.
    pub stamp: FolderStamp,
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

impl Source {
    /// The files' stamp; empty for the embedded ones, which never change.
    pub fn stamp(&self) -> io::Result<FolderStamp> {
        let mut stamps = self.folder().map(stamp).transpose()?.unwrap_or_default();
        if let Self::WithDemo(_, demo) = self {
            stamps.push(stamp_of(demo, demo.display().to_string()));
        }
        Ok(stamps)
    }

    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) | Self::WithDemo(folder, _) => Some(folder),
            Self::Embedded => None,
        }
    }

    /// The export files, by name.
    fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, FindError> {
        let mut files = export::find_files(folder)?;
        if let Self::WithDemo(_, demo) = self {
            files.push(demo.clone());
            files.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
        }
        Ok(files)
    }

    /// Reads and checks all exports, with the operator's id prefixes. `progress` receives the
    /// number of bytes read and the total.
    pub fn read(
        &self,
        limits: &Limits,
        prefixes: &IdPrefixes,
        scratch: &Scratch,
        progress: &dyn Fn(u64, u64),
    ) -> Result<ReadSet, ReadError> {
        let today = export::latest_day(jiff::Timestamp::now());
        let unusable = |error| ReadError::Scratch(scratch.error(error));
        if let Some(folder) = self.folder() {
            let (stamp, mut set) = read_settled(self, folder, || {
                let files = self.files(folder)?;
                let sizes = files.iter().map(|file| std::fs::metadata(file).map_or(0, |of| of.len()));
                let total = sizes.sum();
                let files = files.iter().map(|path| Ok(SourceFile::open(path, limits)?.prefixed(prefixes)));
                ExportSet::read(files, limits, today, scratch, &|done| progress(done, total)).map_err(unusable)
            })?;
            export::mention_ignored_files(&mut set.report, folder);
            Ok(ReadSet { set, stamp })
        } else {
            let files = embedded_files(prefixes);
            let set = ExportSet::read(files, limits, today, scratch, &|done| progress(done, done));
            Ok(ReadSet { set: set.map_err(unusable)?, stamp: FolderStamp::new() })
        }
    }

    /// The generation that the files produce if nothing is left out, and their stamp. The files are
    /// read, but not checked or kept in memory. `None` if they can't be read.
    pub fn generation(&self, limits: &Limits) -> Option<(Generation, FolderStamp)> {
        let folder = self.folder()?;
        let hash = || {
            let unreadable = |error| FindError::Unreadable { folder: folder.to_owned(), error };
            Generation::from_files(&self.files(folder)?, limits).map_err(unreadable)
        };
        let (stamp, generation) = read_settled(self, folder, hash).ok()?;
        Some((generation?, stamp))
    }
}

fn embedded_files(prefixes: &IdPrefixes) -> impl Iterator<Item = Result<SourceFile, Box<Finding>>> {
    let files = EMBEDDED.iter();
    let files = files.map(|(name, bytes)| SourceFile::from_bytes(Path::new(name), Bytes::from_static(bytes)));
    files.map(|file| Ok(file?.prefixed(prefixes)))
}

/// How many times to read files that keep changing before giving up.
const READS: usize = 10;
/// File systems store times at a limited resolution, so a change within one step of the last poll
/// goes unnoticed.
const TIME_STEP: Duration = Duration::from_millis(10);

/// Reads all files as of one moment: no file was written between the first check and the last byte,
/// so none is half old and half new. Also returns their stamp.
fn read_settled<T, E: From<FindError>>(
    source: &Source,
    folder: &Path,
    mut read: impl FnMut() -> Result<T, E>,
) -> Result<(FolderStamp, T), E> {
    let look = || source.stamp().map_err(|error| FindError::Unreadable { folder: folder.to_owned(), error });
    let mut stamp = look()?;
    for _ in 0..READS {
        if has_changed_since(&stamp, SystemTime::now() - TIME_STEP) {
            std::thread::sleep(TIME_STEP);
        }
        let files = read()?;
        let after = look()?;
        if after == stamp {
            return Ok((stamp, files));
        }
        stamp = after;
    }
    Err(FindError::Changing { folder: folder.to_owned() }.into())
}

/// The stamps of all export files and signatures in a folder, by name.
pub type FolderStamp = Vec<FileStamp>;

/// Takes a folder's stamp. Symbolic links are followed, since what matters is the file they point
/// to. A file that can't be accessed gets a special stamp, so that it's noticed once it can be.
pub fn stamp(folder: &Path) -> io::Result<FolderStamp> {
    let mut stamps = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_read = [".json", ".json.minisig"].iter().any(|end| name.as_encoded_bytes().ends_with(end.as_bytes()));
        if !is_read || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let name = name.to_string_lossy().into_owned();
        stamps.push(stamp_of(&entry.path(), name));
    }
    stamps.sort_unstable();
    Ok(stamps)
}

fn stamp_of(path: &Path, name: String) -> FileStamp {
    match fs::metadata(path) {
        Ok(metadata) => FileStamp::of(name, &metadata),
        Err(_) => FileStamp { name, size: u64::MAX, modified_ns: 0, identity: (0, 0, 0) },
    }
}

/// Whether a file was, or may have been, changed after a point in time.
pub(crate) fn has_changed_since(stamp: &FolderStamp, moment: SystemTime) -> bool {
    stamp.iter().any(|file| file.has_changed_since(moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_exports_have_neither_errors_nor_warnings() {
        let scratch = Scratch::in_memory();
        let read = Source::Embedded.read(&Limits::default(), &IdPrefixes::default(), &scratch, &|_, _| {});
        let set = read.expect("exports").set;
        assert_eq!(set.report.findings, []);
        assert_eq!(set.exports.len(), EMBEDDED.len());
    }

    /// Reads a file, overwriting it in place with another revision after each of the first `writes`
    /// reads.
    fn read_beside_a_writer(writes: usize) -> (Result<String, FindError>, usize) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        std::fs::write(&path, "0").expect("written");
        let mut reads = 0;
        let source = Source::Folder(folder.path().to_owned());
        let read = read_settled(&source, folder.path(), || {
            let text = std::fs::read_to_string(&path).expect("read");
            reads += 1;
            if reads <= writes {
                std::fs::write(&path, reads.to_string()).expect("written");
            }
            Ok::<_, FindError>(text)
        });
        (read.map(|(_, text)| text), reads)
    }

    #[test]
    fn files_that_change_while_being_read_are_read_again() {
        assert!(matches!(read_beside_a_writer(0), (Ok(text), 1) if text == "0"));
        assert!(matches!(read_beside_a_writer(3), (Ok(text), 4) if text == "3"));
    }

    #[test]
    fn files_that_keep_changing_are_rejected() {
        let (read, reads) = read_beside_a_writer(usize::MAX);
        assert!(matches!(read, Err(FindError::Changing { .. })), "{read:?}");
        assert_eq!(reads, READS);
    }

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
