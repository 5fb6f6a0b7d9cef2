//! Many small texts in one piece of memory.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Bytes before it.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
}

impl Span {
    /// The first byte behind it. Saturates, so that a damaged span is only ever too long.
    pub const fn end(self) -> u64 {
        self.start.saturating_add(self.length)
    }

    /// As a range of indices.
    pub fn range(self) -> Range<usize> {
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        index(self.start)..index(self.end())
    }
}

/// Brings texts that are about to be read into the processor's cache. They lie far apart, and waiting for all of them at once
/// takes hardly longer than waiting for one.
pub fn fetch<'t>(texts: impl Iterator<Item = &'t [u8]>) {
    /// The size of a cache line, in bytes.
    const LINE: usize = 64;
    let read = texts.fold(0, |read, text| text.iter().step_by(LINE).fold(read, |read, byte| read ^ byte));
    std::hint::black_box(read);
}

/// An arena being filled.
#[derive(Debug, Default)]
pub struct Arena {
    bytes: Vec<u8>,
}

impl Arena {
    /// An arena with a capacity in bytes. A large one that grows is copied, and in memory twice meanwhile.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    /// Bytes written so far.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether nothing is written yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Span {
        let start = self.len();
        self.bytes.extend_from_slice(bytes);
        Span { start, length: bytes.len() as u64 }
    }

    /// Appends a value as JSON.
    pub fn push_json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<Span, serde_json::Error> {
        let start = self.len();
        serde_json::to_writer(&mut self.bytes, value)?;
        Ok(Span { start, length: self.len() - start })
    }

    /// The filled arena.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
