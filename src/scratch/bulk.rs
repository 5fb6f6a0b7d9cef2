//! Large byte sequences, in memory or on disk.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::ops::{Range, RangeInclusive};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{BUFFER_BYTES, Scratch, Share};

/// A range of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: u64,
    pub length: u64,
}

impl Span {
    /// The offset after the span's last byte. It saturates, so a damaged span is at worst too long.
    pub const fn end(self) -> u64 {
        self.start.saturating_add(self.length)
    }

    pub fn range(self) -> Range<usize> {
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        index(self.start)..index(self.end())
    }
}

/// Decodes a whole byte sequence written by [`BulkWriter::push_encoded`]. It may come from a file
/// or another server, so a length beyond the remaining bytes is an error before anything is
/// allocated for it. Bytes after the value are also an error.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> postcard::Result<T> {
    match postcard::take_from_bytes(bytes)? {
        (value, []) => Ok(value),
        _ => Err(postcard::Error::DeserializeBadEncoding),
    }
}

/// Bytes in memory or in an immutable file. Ranges are read on demand.
#[derive(Debug, Clone)]
pub enum Bulk {
    Memory(Bytes),
    /// In a file, which can still be read after its name has been removed.
    File(Arc<File>),
}

impl Bulk {
    pub fn read_all(&self) -> io::Result<Bytes> {
        self.read(Span { start: 0, length: self.len()? })
    }

    pub fn len(&self) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => Ok(bytes.len() as u64),
            Self::File(file) => Ok(file.metadata()?.len()),
        }
    }

    /// Reads a whole range.
    pub fn read(&self, span: Span) -> io::Result<Bytes> {
        // Otherwise a range past the end of a file would still be allocated in full.
        if span.end() > self.len()? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match self {
            Self::Memory(bytes) => Ok(bytes.slice(span.range())),
            Self::File(file) => {
                let mut bytes = vec![0; span.range().len()];
                file.read_exact_at(&mut bytes, span.start)?;
                Ok(bytes.into())
            }
        }
    }

    pub fn reader(&self, span: Span) -> io::Result<BulkReader> {
        if span.end() > self.len()? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(BulkReader { bulk: self.clone(), at: span.start, end: span.end() })
    }
}

/// Bytes that are being written: in memory, or in a scratch file once the budget is exceeded.
#[derive(Debug)]
pub struct BulkWriter {
    scratch: Scratch,
    content: Content,
    length: u64,
    share: Share,
}

#[derive(Debug)]
enum Content {
    Memory(Vec<u8>),
    File(BufWriter<File>),
}

/// The minimum number of bytes that's worth writing to a file.
const WORTH_A_FILE: usize = 4096;

/// Bytes in memory, with their share of the budget.
struct Held(Bytes, #[expect(dead_code, reason = "returned when dropped")] Share);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl BulkWriter {
    pub(super) fn new(scratch: &Scratch) -> Self {
        let share = scratch.share();
        Self { scratch: scratch.clone(), content: Content::Memory(Vec::new()), length: 0, share }
    }

    pub(super) fn keep(scratch: &Scratch, bytes: Bytes) -> io::Result<Bulk> {
        let mut share = scratch.share();
        if bytes.len() < WORTH_A_FILE || !share.take_rare(bytes.len()) {
            return Ok(Bulk::Memory(Bytes::from_owner(Held(bytes, share))));
        }
        let mut file = scratch.file()?;
        file.write_all(&bytes)?;
        Ok(Bulk::File(Arc::new(file)))
    }

    /// Reserves room for this many bytes. Reserved memory isn't used until it's written to, whereas
    /// a large vector that grows is briefly in memory twice.
    pub fn reserve(&mut self, bytes: usize) {
        if let Content::Memory(content) = &mut self.content {
            content.reserve(bytes);
        }
    }

    pub const fn len(&self) -> u64 {
        self.length
    }

    /// Appends bytes and returns their range.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<Span> {
        let start = self.length;
        self.write_all(bytes)?;
        Ok(Span { start, length: bytes.len() as u64 })
    }

    pub fn push_json<T: Serialize + ?Sized>(&mut self, value: &T) -> io::Result<Span> {
        self.push(&serde_json::to_vec(value)?)
    }

    /// Appends a value as postcard.
    pub fn push_encoded<T: Serialize + ?Sized>(&mut self, value: &T) -> io::Result<()> {
        self.write_all(&postcard::to_stdvec(value).map_err(io::Error::other)?)
    }

    pub fn copy(&mut self, bulk: &Bulk) -> io::Result<()> {
        io::copy(&mut bulk.reader(Span { start: 0, length: bulk.len()? })?, self).map(drop)
    }

    pub fn finish(self) -> io::Result<Bulk> {
        Ok(match self.content {
            Content::Memory(bytes) => Bulk::Memory(Bytes::from_owner(Held(bytes.into(), self.share))),
            Content::File(file) => Bulk::File(Arc::new(file.into_inner().map_err(io::IntoInnerError::into_error)?)),
        })
    }
}

impl Write for BulkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len() as u64;
        match &mut self.content {
            Content::File(file) => file.write_all(bytes)?,
            Content::Memory(content) => {
                content.extend_from_slice(bytes);
                if self.share.take(bytes.len(), BUFFER_BYTES) {
                    let mut file = BufWriter::with_capacity(BUFFER_BYTES, self.scratch.file()?);
                    file.write_all(content)?;
                    self.content = Content::File(file);
                    self.share.give_back();
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader for a range of a [`Bulk`]. It needs no more memory than the bulk itself.
#[derive(Debug, Clone)]
pub struct BulkReader {
    bulk: Bulk,
    at: u64,
    end: u64,
}

impl BulkReader {
    /// A reader for a range of the bytes that haven't been read yet.
    #[must_use]
    pub fn range(self, range: RangeInclusive<u64>) -> Self {
        let place = |offset: u64| self.at.saturating_add(offset).min(self.end);
        let (at, end) = (place(*range.start()), place(range.end().saturating_add(1)));
        Self { bulk: self.bulk, at, end }
    }
}

impl Read for BulkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = &mut buffer[..left];
        let read = match &self.bulk {
            Bulk::Memory(bytes) => {
                let rest = usize::try_from(self.at).ok().and_then(|at| bytes.get(at..));
                let rest = rest.ok_or(io::ErrorKind::UnexpectedEof)?;
                { rest }.read(buffer)?
            }
            Bulk::File(file) => file.read_at(buffer, self.at)?,
        };
        if read == 0 && !buffer.is_empty() {
            // The file has been truncated in the meantime.
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_bytes_and_lengths_past_the_end_are_errors() {
        assert_eq!(decode(&[2, 7, 8]), Ok(vec![7_u32, 8]));
        for damaged in [&[2, 7][..], &[2, 7, 8, 9], &[255, 255, 255, 255, 255, 255, 255, 255, 127, 7]] {
            decode::<Vec<u32>>(damaged).expect_err("damaged");
            decode::<Vec<Box<str>>>(damaged).expect_err("damaged");
        }
    }

    #[test]
    fn a_file_truncated_while_being_read_is_an_error() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        let mut reader = Bulk::File(Arc::new(file.try_clone().expect("a file")))
            .reader(Span { start: 0, length: 10 })
            .expect("intact");
        file.set_len(4).expect("cut off");
        let error = reader.read_to_end(&mut Vec::new()).expect_err("truncated");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn bytes_in_memory_and_files_are_read_the_same_way() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        for bulk in [Bulk::Memory(Bytes::from_static(b"0123456789")), Bulk::File(Arc::new(file))] {
            assert_eq!(bulk.len().expect("a length"), 10);
            let read = |start, length| bulk.reader(Span { start, length }).and_then(io::read_to_string);
            assert_eq!(read(3, 4).expect("read"), "3456");
            assert_eq!(read(10, 0).expect("read"), "");
            let range = |range| bulk.reader(Span { start: 2, length: 5 }).map(|reader| reader.range(range));
            let range = |of| range(of).and_then(io::read_to_string).expect("read");
            assert_eq!((range(1..=2), range(3..=u64::MAX), range(7..=9)), ("34".into(), "56".into(), String::new()));
            for (start, length) in [(3, 8), (11, 0), (u64::MAX, 5)] {
                assert!(read(start, length).is_err(), "{start} {length}");
            }
        }
    }
}
