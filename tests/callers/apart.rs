//! Runs the server and its callers on separate processors, so that neither slows down the other
//! during a measurement.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// While this value is alive, anything this thread starts runs on different processors from the
/// server, which was started first.
pub(crate) struct Apart {
    #[cfg(target_os = "linux")]
    before: CpuSet,
}

impl Apart {
    /// Starts a server on the first processor, and leaves the others to this thread's callers.
    /// `None` if the system has only one processor or doesn't let processes choose theirs. In that
    /// case, the server and its callers share processors.
    #[cfg(target_os = "linux")]
    pub(crate) fn start<T>(start: impl FnOnce() -> T) -> (T, Option<Self>) {
        let before = sched_getaffinity(None).expect("its processors");
        let (mut first, mut others) = (CpuSet::new(), before);
        let Some(cpu) = (0..CpuSet::MAX_CPU).find(|cpu| before.is_set(*cpu)) else { return (start(), None) };
        first.set(cpu);
        others.unset(cpu);
        if others.count() == 0 {
            return (start(), None);
        }
        // Processes and threads inherit their parent's processors.
        let apart = Self { before };
        sched_setaffinity(None, &first).expect("one of its processors");
        let started = start();
        sched_setaffinity(None, &others).expect("its other processors");
        (started, Some(apart))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn start<T>(start: impl FnOnce() -> T) -> (T, Option<Self>) {
        (start(), None)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Apart {
    fn drop(&mut self) {
        sched_setaffinity(None, &self.before).expect("the processors it had");
    }
}
