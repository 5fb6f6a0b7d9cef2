//! How much of the processor a build may take from the requests being answered beside it.

use std::time::{Duration, Instant};

/// How nice the keeper's thread is, from 0 to 19: where a request wants the processor too, it gets it, and a build still
/// gets its tenth.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;
/// The share of the processor that a thread must get that yields to all others, as a divisor: as much as it would get by
/// [`NICENESS`].
const TENTH: u32 = 10;
/// For how long it may get less.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lowers the priority of the calling thread, and with it of the threads that it starts from now on. Where the system
/// has no priorities of single threads, nothing changes.
pub fn lower_own() {
    // On Linux the caller's thread alone; elsewhere the whole process, which must stay as it is.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "builds have the priority of requests");
    }
}

/// Has the calling thread run only where nothing else wants the processor, for good: what wakes up beside it never waits
/// for it, as it does for a thread that is merely nice. `None` where the system has no such thing, or not for us.
#[must_use]
pub fn yield_to_all() -> Option<Share> {
    #[cfg(target_os = "linux")]
    {
        use thread_priority::unix::{
            NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
        };
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        match set_thread_priority_and_policy(thread_native_id(), thread_priority::ThreadPriority::Min, idle) {
            Ok(()) => return Some(Share { since: Instant::now(), used: used() }),
            Err(error) => tracing::debug!(?error, "a build is nice, but waits for no one"),
        }
    }
    None
}

/// What a thread that yields to all others gets of the processor.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    since: Instant,
    used: Duration,
}

impl Share {
    /// Whether the calling thread, which is the one that yields, has had less than its tenth for so long that its work
    /// had better be done by one that doesn't.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        is_too_small(self.since.elapsed(), used().saturating_sub(self.used))
    }
}

fn is_too_small(passed: Duration, used: Duration) -> bool {
    passed >= PATIENCE && used * TENTH < passed
}

/// How long the calling thread has had a processor.
fn used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{is_too_small, yield_to_all};

    #[test]
    fn a_tenth_is_enough_and_a_moment_is_too_soon_to_tell() {
        let ms = Duration::from_millis;
        assert!(!is_too_small(ms(999), ms(0)));
        assert!(is_too_small(ms(1000), ms(99)));
        assert!(!is_too_small(ms(1000), ms(100)));
        assert!(is_too_small(ms(60_000), ms(5_999)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_yields_is_scheduled_as_idle_and_nobody_else() {
        use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, thread_schedule_policy};
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        let yielding = std::thread::spawn(|| (yield_to_all().is_some(), thread_schedule_policy()));
        assert_eq!(yielding.join().expect("no panic"), (true, Ok(idle)));
        assert_ne!(thread_schedule_policy(), Ok(idle));
    }
}
