//! Rows in a file without a name, read in the order in which they were written.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::marker::PhantomData;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The buffer of a spool that is written or read, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// A spool being written: each row behind its encoded length.
#[derive(Debug)]
pub struct SpoolWriter<T> {
    file: BufWriter<File>,
    rows: u64,
    of: PhantomData<fn(T)>,
}

impl<T: Serialize> SpoolWriter<T> {
    /// An empty spool in a folder.
    pub fn new(scratch: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(scratch)?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), rows: 0, of: PhantomData })
    }

    /// Appends a row.
    pub fn push(&mut self, row: &T) -> io::Result<()> {
        let row = postcard::to_stdvec(row).map_err(io::Error::other)?;
        self.rows += 1;
        self.file.write_all(&u32::try_from(row.len()).map_err(io::Error::other)?.to_le_bytes())?;
        self.file.write_all(&row)
    }

    /// Ends the spool.
    pub fn finish(self) -> io::Result<Spool<T>> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Spool { file: Arc::new(file), rows: self.rows, of: PhantomData })
    }
}

/// A spool, to be read any number of times.
#[derive(Debug)]
pub struct Spool<T> {
    file: Arc<File>,
    rows: u64,
    of: PhantomData<fn() -> T>,
}

impl<T> Spool<T> {
    /// The number of rows.
    pub const fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows from the first one on.
    pub fn rows(&self) -> SpoolRows<T> {
        let reader = ReaderAt { file: Arc::clone(&self.file), at: 0 };
        SpoolRows { file: BufReader::with_capacity(BUFFER_BYTES, reader), left: self.rows, of: PhantomData }
    }
}

#[derive(Debug)]
pub struct SpoolRows<T> {
    file: BufReader<ReaderAt>,
    /// The rows that aren't read yet.
    left: u64,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Iterator for SpoolRows<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let mut read = || {
            let mut length = [0; 4];
            self.file.read_exact(&mut length)?;
            let mut row = vec![0; u32::from_le_bytes(length) as usize];
            self.file.read_exact(&mut row)?;
            postcard::from_bytes(&row).map_err(io::Error::other)
        };
        Some(read())
    }
}

/// A reader with a place of its own, so that several read one file.
#[derive(Debug)]
struct ReaderAt {
    file: Arc<File>,
    at: u64,
}

impl Read for ReaderAt {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order_as_often_as_they_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = SpoolWriter::new(folder.path()).expect("a file");
        for number in 0..30_000_u32 {
            spool.push(&(number, "x".repeat(number as usize % 7))).expect("written");
        }
        let spool = spool.finish().expect("written");
        let (mut one, mut other) = (spool.rows(), spool.rows());
        assert_eq!(other.next().expect("a row").expect("read"), (0, String::new()));
        assert!(one.by_ref().zip(0..).all(|(row, number)| row.is_ok_and(|row: (u32, String)| row.0 == number)));
        assert_eq!(other.count(), 29_999);
    }
}
