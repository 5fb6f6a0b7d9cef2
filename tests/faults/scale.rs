//! How much to run: a little by default, everything with `FAULTS=full`.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether this is a full run.
pub(crate) fn is_full() -> bool {
    std::env::var_os("FAULTS").is_some_and(|scale| scale == "full")
}

/// A count: the first one by default, the second one in full runs.
pub(crate) fn times(quick: usize, full: usize) -> usize {
    if is_full() { full } else { quick }
}

/// A number from the environment.
pub(crate) fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} isn't a number")))
}

/// The large export named in the environment.
pub(crate) fn large_export() -> Option<PathBuf> {
    std::env::var_os("FAULTS_EXPORT").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Failpoints are global to the process, so tests that set them or drive an updater hold this lock.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random numbers that are the same in every run (`splitmix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).expect("below a usize")
    }
}
