//! Locks on files.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a held lock is tried again.
const INTERVAL: Duration = Duration::from_millis(20);

/// Locks a file, waiting while another process holds the lock.
///
/// # Errors
///
/// [`TryLockError::WouldBlock`] if another process holds it the whole time, otherwise the system's
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
