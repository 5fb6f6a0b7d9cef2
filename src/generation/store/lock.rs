//! The lock on the index folder, which writers hold.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::time::Duration;

use crate::file::{lock_within, open};
use crate::generation::failpoint::{Step, reach};
use crate::generation::store::{Store, StoreError};

/// The file that's locked while writing.
const LOCK: &str = "LOCK";
/// How long a writer waits for another writer. It's longer than writing takes, not counting builds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

impl Store {
    /// Checks that the folder can be locked, if it exists.
    pub fn check_lock(&self) -> Result<(), StoreError> {
        if self.folder.exists() { self.lock().map(drop) } else { Ok(()) }
    }

    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let path = self.folder.join(LOCK);
        let file = self.open_lock().map_err(StoreError::io("opening", &path))?;
        match lock_within(&file, LOCK_TIMEOUT) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path }),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("locking", &path)(error)),
        }
        reach(Step::StoreLocked).map_err(StoreError::io("locking", &path))?;
        Ok(file)
    }

    /// Opens the lock file. Only its owner may open it, because any process that can open it can
    /// hold the lock.
    pub(super) fn open_lock(&self) -> io::Result<File> {
        let mut options = File::options();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = open(&self.folder.join(LOCK), &mut options)?;
        // An earlier version created the file with read access for others. If someone else owns it,
        // its permissions don't change.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
        Ok(file)
    }
}
