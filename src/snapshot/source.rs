//! Where the exports come from.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::stamp::{self, FolderStamp};
use crate::export::{self, FindError, Limits, Report, SourceFile};
use crate::record::CalendarDate;

/// The exports that the binary carries, by file name: what is served where there is no data folder.
const EMBEDDED: [(&str, &[u8]); 2] =
    [("demo.json", include_bytes!("../../data/demo.json")), ("qhse.json", include_bytes!("../../data/qhse.json"))];

/// Where the exports come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A folder of export files.
    Folder(PathBuf),
    /// The demo that the binary carries.
    Embedded,
}

/// A set of exports as it was read.
#[derive(Debug)]
pub struct ReadSet {
    /// What was found in it.
    pub report: Report,
    /// What the files looked like before they were read.
    pub stamp: FolderStamp,
}

impl Source {
    /// What the files look like; nothing for the embedded ones, which never change.
    ///
    /// # Errors
    /// Where the folder can't be listed.
    pub fn stamp(&self) -> io::Result<FolderStamp> {
        match self {
            Self::Folder(folder) => stamp::stamp(folder),
            Self::Embedded => Ok(FolderStamp::new()),
        }
    }

    /// The folder, if it is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Embedded => None,
        }
    }

    /// Reads and checks all exports. `progress` is told bytes done and bytes in all.
    ///
    /// # Errors
    /// Where the folder can't be listed or holds no export.
    pub fn read(&self, limits: &Limits, progress: &dyn Fn(u64, u64)) -> Result<ReadSet, FindError> {
        let today = CalendarDate::from(jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date());
        match self {
            Self::Folder(folder) => {
                // Looked at before reading: what changes meanwhile differs from this and is read again.
                let stamp =
                    stamp::stamp(folder).map_err(|error| FindError::Unreadable { folder: folder.clone(), error })?;
                let files = export::find_files(folder)?;
                Ok(ReadSet { report: export::read(&files, limits, today, progress), stamp })
            }
            Self::Embedded => {
                let files = EMBEDDED
                    .iter()
                    .map(|(name, bytes)| SourceFile::from_bytes(Path::new(name), Bytes::from_static(bytes)))
                    .collect();
                let report = export::examine(files, limits, today, &|done| progress(done, done));
                Ok(ReadSet { report, stamp: FolderStamp::new() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_exports_have_neither_errors_nor_warnings() {
        let set = Source::Embedded.read(&Limits::default(), &|_, _| {}).expect("they are there");
        assert_eq!(set.report.findings, []);
        assert_eq!(set.report.exports.len(), EMBEDDED.len());
    }
}
