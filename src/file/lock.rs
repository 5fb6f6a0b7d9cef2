//! Locks on files.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The interval at which a held lock is tried again.
const INTERVAL: Duration = Duration::from_millis(20);

/// Locks a file, waiting for another process that holds the lock.
///
/// # Errors
/// [`TryLockError::WouldBlock`] if another process holds it for the whole time, else the failure of the system.
pub(crate) fn lock_within(file: &File, time: Duration) -> Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < time => thread::sleep(INTERVAL),
            outcome => return outcome,
        }
    }
}
