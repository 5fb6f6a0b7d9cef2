//! Data beyond memory: rows in scratch files, in the order written ([`Spool`]) or sorted ([`ScratchSorter`]).

mod sort;
mod spool;

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use sort::{Keyed, ScratchSorter, SortedRows};
pub use spool::{Spool, SpoolRows, SpoolWriter};

/// The encoded rows that a sorter holds in memory, in bytes: some three times as much with their allocations.
const SORT_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
#[error("the scratch files in {} can't be written or read: free disk space there, or name another folder with --index", .folder.display())]
pub struct ScratchError {
    folder: PathBuf,
    #[source]
    error: io::Error,
}

/// A folder for scratch files. They have no names there, so none is left behind.
#[derive(Debug, Clone)]
pub struct Scratch {
    folder: PathBuf,
    sort_bytes: usize,
}

impl Scratch {
    /// Scratch files in a folder that exists.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self::with_sort_bytes(folder, SORT_BYTES)
    }

    /// The same with another budget for each sorter, in encoded bytes.
    pub fn with_sort_bytes(folder: impl Into<PathBuf>, sort_bytes: usize) -> Self {
        Self { folder: folder.into(), sort_bytes }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The error of a scratch file, with the folder.
    pub fn error(&self, error: io::Error) -> ScratchError {
        ScratchError { folder: self.folder.clone(), error }
    }

    /// An empty sorter.
    pub fn sorter<T: Ord + Serialize + DeserializeOwned>(&self) -> ScratchSorter<T> {
        ScratchSorter::new(&self.folder, self.sort_bytes)
    }

    /// An empty spool.
    pub fn spool<T: Serialize>(&self) -> io::Result<SpoolWriter<T>> {
        SpoolWriter::new(&self.folder)
    }

    /// An empty file without a name.
    pub fn file(&self) -> io::Result<std::fs::File> {
        tempfile::tempfile_in(&self.folder)
    }
}
