//! Who is turned away under overload, by how long requests waited for their turn.
//!
//! As controlled delay does it (RFC 8289) in the form that servers use (Maurer, "Fail at Scale", ACM Queue 13(8),
//! 2015): a queue that a burst has filled is worked off, one that stands is cut short.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A queue stands once for so long nobody has seen it short.
const INTERVAL: Duration = Duration::from_millis(100);

/// So many who wait are no queue: what makes them wait is the machine, and who is turned away would only ask again.
pub(in crate::http) const FEW: usize = 48;

/// How long requests may wait for their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestWait {
    /// In a burst: one that is worked off in this time loses nobody.
    pub burst: Duration,
    /// In a queue that stands: waiting longer would bring nobody an answer who doesn't get one now.
    pub standing: Duration,
}

impl Default for LongestWait {
    fn default() -> Self {
        Self { burst: Duration::from_millis(200), standing: Duration::from_millis(50) }
    }
}

/// What requests tell of the queue they were in.
#[derive(Debug)]
pub(in crate::http) struct Queue {
    longest: LongestWait,
    start: Instant,
    /// How long the request before waited, in nanoseconds.
    previous: AtomicU64,
    /// Since when, and when last, somebody had waited longer than in a queue that stands; in nanoseconds since the start,
    /// 0 where nobody had.
    long_since: AtomicU64,
    long_at: AtomicU64,
}

impl Queue {
    pub(in crate::http) fn new(longest: LongestWait) -> Self {
        let (previous, long_since, long_at) = Default::default();
        Self { longest, start: Instant::now(), previous, long_since, long_at }
    }

    /// Whether a request that comes to its turn now, after so long, comes too late.
    pub(in crate::http) fn is_too_late(&self, waited: Duration) -> bool {
        self.is_too_late_at(waited, || self.start.elapsed())
    }

    /// Threads that ask at the same moment may see each other's numbers half changed, which makes a request more or less.
    fn is_too_late_at(&self, waited: Duration, now: impl FnOnce() -> Duration) -> bool {
        // The runtime takes on first who became ready last, one in a few. While others wait, that is no shorter queue, and
        // who comes late is told so no sooner than the work for such a one is done.
        let waited = waited.max(Duration::from_nanos(self.previous.swap(nanoseconds(waited), Ordering::Relaxed)));
        if waited <= self.longest.standing {
            return false;
        }
        let now = nanoseconds(now()).max(1);
        let last = self.long_at.swap(now, Ordering::Relaxed);
        if last == 0 || now.saturating_sub(last) > nanoseconds(INTERVAL) {
            self.long_since.store(now, Ordering::Relaxed);
        }
        let lasting = now.saturating_sub(self.long_since.load(Ordering::Relaxed));
        waited > self.longest.burst || lasting >= nanoseconds(INTERVAL)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of requests of which each came to its turn so many milliseconds after the start, and had waited so many.
    fn too_late(requests: &[(u64, u64)]) -> Vec<bool> {
        let queue = Queue::new(LongestWait::default());
        let milliseconds = Duration::from_millis;
        requests.iter().map(|(at, waited)| queue.is_too_late_at(milliseconds(*waited), || milliseconds(*at))).collect()
    }

    #[test]
    fn a_burst_that_is_worked_off_loses_nobody() {
        let burst = [(1000, 0), (1030, 30), (1060, 60), (1120, 120), (1150, 150), (1155, 10), (1200, 10)];
        assert_eq!(too_late(&burst), [false; 7]);
        let often = [(1000, 60), (1200, 60), (1400, 60), (1600, 60)];
        assert_eq!(too_late(&often), [false; 4]);
    }

    #[test]
    fn nobody_is_taken_on_after_the_longest_wait() {
        assert_eq!(too_late(&[(1000, 200), (1001, 201)]), [false, true]);
    }

    #[test]
    fn a_queue_that_stands_is_cut_short_until_it_is_short() {
        let standing = [(1000, 51), (1050, 51), (1100, 51), (1101, 51), (1102, 50), (1103, 50), (1104, 51)];
        assert_eq!(too_late(&standing), [false, false, true, true, true, false, true]);
        let over = [(1000, 60), (1060, 60), (1120, 60), (1130, 20), (1131, 20), (1300, 60)];
        assert_eq!(too_late(&over), [false, false, true, true, false, false]);
    }

    #[test]
    fn who_is_taken_on_before_others_gets_no_answer_before_them() {
        assert_eq!(too_late(&[(1000, 201), (1001, 0), (1002, 0)]), [true, true, false]);
    }
}
