//! The [`VERSIONS`](crate::generation::artifact::VERSIONS) part, written and read one version at a
//! time.

use std::io::{self, BufReader, Read as _};

use crate::catalogue::ProductVersion;
use crate::scratch::{Bulk, BulkReader, Scratch, ScratchSorter, Span};

/// The maximum size of a version in bytes. The longest id has a million characters.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Collects versions in any order.
#[derive(Debug)]
pub(crate) struct VersionWriter {
    scratch: Scratch,
    /// Sorted by id.
    versions: ScratchSorter<ProductVersion>,
    count: u64,
}

impl VersionWriter {
    pub(crate) fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), versions: scratch.sorter(), count: 0 }
    }

    pub(crate) fn push(&mut self, version: ProductVersion) -> io::Result<()> {
        self.count += 1;
        self.versions.push(version)
    }

    /// Writes the part the way postcard would encode a list.
    pub(crate) fn finish(self) -> io::Result<Bulk> {
        let mut part = self.scratch.bulk();
        part.push_encoded(&self.count)?;
        self.versions.finish()?.try_for_each(|version| part.push_encoded(&version?))?;
        part.finish()
    }
}

/// Reads the part.
#[derive(Debug)]
pub(crate) struct VersionReader {
    part: BufReader<BulkReader>,
    /// The number of versions that haven't been read yet.
    left: u64,
    buffer: Vec<u8>,
}

impl VersionReader {
    /// A reader for the part.
    pub(crate) fn new(part: &Bulk) -> io::Result<Self> {
        let part = part.reader(Span { start: 0, length: part.len()? })?;
        let mut reader = Self { part: BufReader::new(part), left: 0, buffer: vec![0; MAX_BYTES] };
        reader.left = reader.read()?;
        Ok(reader)
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<T> {
        let (value, _) = postcard::from_io((self.part.by_ref(), &mut self.buffer)).map_err(io::Error::other)?;
        Ok(value)
    }
}

impl Iterator for VersionReader {
    type Item = io::Result<ProductVersion>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CalendarDate;

    #[test]
    fn versions_are_written_as_postcard_would_encode_a_list() {
        let version = |id: &str, hash| ProductVersion {
            id: id.into(),
            hash,
            evidence_checked_on: CalendarDate::parse("2026-11-24").filter(|_| hash % 2 == 0),
        };
        let versions: Vec<_> = (0..300).map(|n| version(&format!("{n:03}"), n)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = VersionWriter::new(&Scratch::with_own_bytes(folder.path(), 100));
        versions.iter().rev().for_each(|version| writer.push(version.clone()).expect("written"));
        let part = writer.finish().expect("written");
        assert_eq!(part.read_all().expect("read"), postcard::to_stdvec(&versions).expect("encoded"));
        let read: io::Result<Vec<_>> = VersionReader::new(&part).expect("a part").collect();
        assert_eq!(read.expect("read"), versions);
    }
}
