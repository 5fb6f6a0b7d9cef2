//! Data that may be larger than memory: rows in their original order ([`Spool`]) or sorted
//! ([`ScratchSorter`]), and bytes ([`Bulk`]). They stay in memory up to a budget and move to
//! scratch files beyond it.

mod bulk;
mod sort;
mod spool;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use bulk::{Bulk, BulkReader, BulkWriter, Span, decode};
pub use sort::{Keyed, Peeked, ScratchSorter, SortedRows};
pub use spool::{Spool, SpoolRows, SpoolWriter};

/// How many bytes all of a build's sorters, spools and buffers normally keep in memory before they
/// go to disk.
pub const SHARED_BYTES: usize = 192 * 1024 * 1024;
/// How many bytes each of them keeps once their total exceeds that. Including allocation overhead,
/// it's about three times as much.
pub const OWN_BYTES: usize = 16 * 1024 * 1024;

/// The buffer size for reading or writing a file. Anything smaller isn't worth writing to a file.
const BUFFER_BYTES: usize = 64 * 1024;

#[derive(Debug, thiserror::Error)]
#[error("can't read or write the scratch files in {}: free up disk space there, or choose another folder with --index", .folder.display())]
pub struct ScratchError {
    folder: PathBuf,
    #[source]
    error: io::Error,
}

/// A folder for scratch files. The files have no names, so none is ever left behind.
#[derive(Debug, Clone)]
pub struct Scratch {
    /// `None` keeps everything in memory.
    folder: Option<Arc<Path>>,
    memory: Arc<Memory>,
}

impl Scratch {
    /// Scratch files in a folder, which is created when it's needed. `shared_bytes` stay in memory.
    pub fn new(folder: &Path, shared_bytes: usize) -> Self {
        Self { folder: Some(folder.into()), memory: Arc::new(Memory::new(shared_bytes, OWN_BYTES)) }
    }

    /// No files: everything stays in memory.
    pub fn in_memory() -> Self {
        Self { folder: None, memory: Arc::new(Memory::new(usize::MAX, usize::MAX)) }
    }

    /// Puts nearly everything into scratch files: each sorter, spool or buffer gets this many bytes
    /// of memory.
    pub fn with_own_bytes(folder: &Path, own_bytes: usize) -> Self {
        Self { folder: Some(folder.into()), memory: Arc::new(Memory::new(0, own_bytes)) }
    }

    /// Adds the folder to an error about a scratch file.
    pub fn error(&self, error: io::Error) -> ScratchError {
        ScratchError { folder: self.folder.as_deref().unwrap_or(Path::new("memory")).to_owned(), error }
    }

    pub fn sorter<T: Clone + Ord + Serialize + DeserializeOwned>(&self) -> ScratchSorter<T> {
        ScratchSorter::new(self)
    }

    pub fn spool<T: Serialize>(&self) -> SpoolWriter<T> {
        SpoolWriter::new(self)
    }

    pub fn bulk(&self) -> BulkWriter {
        BulkWriter::new(self)
    }

    /// Stores bytes that are rarely read.
    pub fn keep(&self, bytes: Bytes) -> io::Result<Bulk> {
        BulkWriter::keep(self, bytes)
    }

    /// An empty, unnamed file.
    fn file(&self) -> io::Result<File> {
        match &self.folder {
            Some(folder) => match tempfile::tempfile_in(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    std::fs::create_dir_all(folder)?;
                    tempfile::tempfile_in(folder)
                }
                file => file,
            },
            None => Err(io::Error::new(io::ErrorKind::Unsupported, "there is no folder for scratch files")),
        }
    }

    /// A share of the memory, for data that's stored some other way.
    pub fn share(&self) -> Share {
        Share::of(&self.memory)
    }
}

/// Memory shared by a build's sorters, spools and buffers.
#[derive(Debug)]
struct Memory {
    /// How many bytes may be used in total. Beyond that, a sorter keeps at most `own_bytes`.
    shared_bytes: usize,
    own_bytes: usize,
    taken: AtomicUsize,
}

/// A share of the memory, returned when it's dropped.
#[derive(Debug)]
pub struct Share {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Memory {
    const fn new(shared_bytes: usize, own_bytes: usize) -> Self {
        Self { shared_bytes, own_bytes, taken: AtomicUsize::new(0) }
    }
}

impl Share {
    fn of(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Takes more bytes. Returns whether that's too many, in which case the caller should move its
    /// data to disk. Each caller may keep `least` bytes regardless.
    pub fn take(&mut self, bytes: usize, least: usize) -> bool {
        self.bytes += bytes;
        let taken = self.memory.taken.fetch_add(bytes, Ordering::Relaxed) + bytes;
        taken > self.memory.shared_bytes && self.bytes > least.min(self.memory.own_bytes)
    }

    /// Takes more bytes, for data that's rarely read. Returns whether more than a quarter of the
    /// memory has now been taken.
    fn take_rare(&mut self, bytes: usize) -> bool {
        self.take(bytes, 0);
        self.memory.taken.load(Ordering::Relaxed) > self.memory.shared_bytes / 4
    }

    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn give_back(&mut self) {
        self.memory.taken.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back();
    }
}
