//! File locks.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

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
