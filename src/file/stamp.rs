//! Metadata that shows whether a file has changed, without reading the file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A file's name, size, times and identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileStamp {
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// The modification time, in nanoseconds since 1970.
    pub modified_ns: u128,
    /// The inode, and the time of the last status change in seconds and nanoseconds. No program can
    /// set that time back, so it reveals a file that was replaced by another of the same size and
    /// time.
    pub identity: (u64, i64, i64),
}

impl FileStamp {
    pub(crate) fn of(name: String, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            name,
            size: metadata.len(),
            modified_ns: modified.map_or(0, |since| since.as_nanos()),
            identity: (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file was, or may have been, changed after a given time.
    pub(crate) fn has_changed_since(&self, moment: SystemTime) -> bool {
        let moment_ns = moment.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let (_, seconds, nanoseconds) = self.identity;
        let inode_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        self.modified_ns > moment_ns || u128::try_from(inode_ns).is_ok_and(|changed_ns| changed_ns > moment_ns)
    }
}
