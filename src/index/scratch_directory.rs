//! The files that tantivy writes. The postings and their dictionary become [`Bulk`]; the other
//! files are small and stay in memory.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, FileHandle, RamDirectory, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::scratch::{Bulk, BulkWriter, Scratch};

/// A directory that stores new files as scratch bytes, which can then be [taken](Self::take). Files
/// that were already in memory can be read.
#[derive(Debug, Clone)]
pub(super) struct ScratchDirectory {
    memory: RamDirectory,
    scratch: Scratch,
    written: Arc<Mutex<BTreeMap<PathBuf, Bulk>>>,
}

impl ScratchDirectory {
    pub(super) fn new(memory: RamDirectory, scratch: &Scratch) -> Self {
        Self { memory, scratch: scratch.clone(), written: Arc::default() }
    }

    /// Removes a file that was written here, and returns it.
    pub(super) fn take(&self, path: &Path) -> Option<Bulk> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(path)
    }
}

impl Directory for ScratchDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.memory.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.memory.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.memory.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = ScratchFile { directory: self.clone(), path: path.to_owned(), content: Some(self.scratch.bulk()) };
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.memory.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.memory.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.memory.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.memory.watch(callback)
    }
}

struct ScratchFile {
    directory: ScratchDirectory,
    path: PathBuf,
    /// `None` once it's closed.
    content: Option<BulkWriter>,
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for ScratchFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let content = self.content.take().ok_or(io::ErrorKind::BrokenPipe)?.finish()?;
        let mut written = self.directory.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(std::mem::take(&mut self.path), content);
        Ok(())
    }
}
