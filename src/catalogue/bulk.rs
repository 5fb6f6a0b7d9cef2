//! What is large and rarely asked for, and so isn't held in memory where it is on disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;

use super::arena::Span;

/// Bytes in memory, or in a file that nobody changes, of which parts are read as they are asked for.
#[derive(Debug, Clone)]
pub enum Bulk {
    /// In memory.
    Memory(Bytes),
    /// In a file. It stays readable when its name is removed.
    File(Arc<File>),
}

impl Bulk {
    /// How many bytes there are.
    ///
    /// # Errors
    /// Where the file can't be looked at.
    pub fn len(&self) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => Ok(bytes.len() as u64),
            Self::File(file) => Ok(file.metadata()?.len()),
        }
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// Where the file can't be looked at.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads a part.
    ///
    /// # Errors
    /// Where it can't be read whole.
    pub fn read(&self, span: Span) -> io::Result<Bytes> {
        match self {
            Self::Memory(bytes) if span.end() <= bytes.len() as u64 => Ok(bytes.slice(span.range())),
            Self::Memory(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Self::File(file) => {
                // So that a file that was cut off doesn't decide how much memory is taken.
                if span.end() > file.metadata()?.len() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let mut bytes = vec![0; span.range().len()];
                file.read_exact_at(&mut bytes, span.start)?;
                Ok(bytes.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn memory_and_file_read_alike() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        for bulk in [Bulk::Memory(Bytes::from_static(b"0123456789")), Bulk::File(Arc::new(file))] {
            assert_eq!(bulk.len().expect("a length"), 10);
            assert_eq!(&bulk.read(Span { start: 3, length: 4 }).expect("read")[..], b"3456");
            assert!(bulk.read(Span { start: 10, length: 0 }).expect("read").is_empty());
            for (start, length) in [(3, 8), (11, 0), (u64::MAX, 5)] {
                assert!(bulk.read(Span { start, length }).is_err(), "{start} {length}");
            }
        }
    }
}
