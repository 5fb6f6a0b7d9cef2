//! Data beyond memory: rows in scratch files, in the order written ([`Spool`]) or sorted ([`ExternalSorter`]).

mod sort;
mod spool;

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use sort::{ExternalSorter, Keyed, SortedRows};
pub use spool::{Spool, SpoolRows, SpoolWriter};

/// The encoded rows that a sorter holds in memory, in bytes: some three times as much with their allocations.
const SORT_BYTES: usize = 16 * 1024 * 1024;

/// A scratch file that can't be written or read.
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
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self::with_sort_bytes(folder, SORT_BYTES)
    }

    /// The same with another budget for each sorter, in encoded bytes.
    #[must_use]
    pub fn with_sort_bytes(folder: impl Into<PathBuf>, sort_bytes: usize) -> Self {
        Self { folder: folder.into(), sort_bytes }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The error of a scratch file, with the folder.
    #[must_use]
    pub fn error(&self, error: io::Error) -> ScratchError {
        ScratchError { folder: self.folder.clone(), error }
    }

    /// An empty sorter.
    #[must_use]
    pub fn sorter<T: Ord + Serialize + DeserializeOwned>(&self) -> ExternalSorter<T> {
        ExternalSorter::new(&self.folder, self.sort_bytes)
    }

    /// An empty spool.
    ///
    /// # Errors
    /// Where its file can't be made.
    pub fn spool<T: Serialize>(&self) -> io::Result<SpoolWriter<T>> {
        SpoolWriter::new(&self.folder)
    }

    /// An empty file without a name.
    ///
    /// # Errors
    /// Where it can't be made.
    pub fn file(&self) -> io::Result<std::fs::File> {
        tempfile::tempfile_in(&self.folder)
    }
}
