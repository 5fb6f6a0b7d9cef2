//! File locks.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::{folder_of, open};

/// How often to retry a lock that's held.
const INTERVAL: Duration = Duration::from_millis(20);

/// Locks a file. If another process holds the lock, waits at most this long.
///
/// # Errors
///
/// [`TryLockError::WouldBlock`] if another process held it the whole time, otherwise the system's
/// error.
pub(crate) fn lock_within(file: &File, time: Duration) -> Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < time => thread::sleep(INTERVAL),
            outcome => return outcome,
        }
    }
}

/// The lock for a file that each change replaces: the hidden file `.NAME.lock` next to it.
pub(crate) fn lock_path(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or(file.as_os_str()));
    name.push(".lock");
    folder_of(file).join(name)
}

/// Holds [`lock_path`] until the returned file is dropped. The lock file is created with this mode,
/// minus the umask. It's never removed, since that would let two processes hold the lock at once.
///
/// # Errors
///
/// The same as for [`lock_within`].
pub(crate) fn lock_beside(file: &Path, mode: u32, time: Duration) -> Result<File, TryLockError> {
    let path = lock_path(file);
    let lock = match open(&path, File::options().write(true).create(true).truncate(false).mode(mode)) {
        // Another account created the file, but it can still be locked.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open(&path, File::options().read(true)).map_err(|_| error)
        }
        opened => opened,
    };
    let lock = lock.map_err(TryLockError::Error)?;
    lock_within(&lock, time).map(|()| lock)
}
