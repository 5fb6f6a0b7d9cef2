//! How a changed file is noticed without reading it.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::KeyFileError;

/// Within this time of a change a file may change again without another time stamp, on the coarsest file systems.
const COARSEST_TIME: Duration = Duration::from_secs(2);

/// Size, times and identity of a file: two different contents don't have the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    size: u64,
    modified: SystemTime,
    identity: (u64, u64, i64, i64),
}

impl FileStamp {
    /// The stamp of a file; `None` where it changed so recently that a next change could have the same times.
    pub fn of(path: &Path) -> Result<Option<Self>, KeyFileError> {
        let fail = |source| KeyFileError::from_io(path, source);
        let metadata = std::fs::metadata(path).map_err(fail)?;
        let modified = metadata.modified().map_err(fail)?;
        // A copy may bring an old time of its own along, so the inode's counts too.
        let changed = modified.max(inode_changed(&metadata));
        let settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > COARSEST_TIME);
        Ok(settled.then(|| Self { size: metadata.len(), modified, identity: identity(&metadata) }))
    }
}

/// Device, inode and time of the last change of the inode, which no program can set back.
fn identity(metadata: &Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

fn inode_changed(metadata: &Metadata) -> SystemTime {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}
