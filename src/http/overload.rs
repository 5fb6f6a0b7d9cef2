//! Sheds requests while there are more than can be answered: refusing some at once keeps the others quick, where
//! queueing all would make all of them late.
//!
//! What counts is how long requests had to wait before they were taken on. A burst makes a queue that drains again: its
//! requests may wait a while. A queue that doesn't drain is overload: then only who hasn't waited long is let in. That is
//! controlled delay (Nichols and Jacobson, 2012) in the form for servers by Maurer ("Fail at Scale", 2015).
//!
//! Time is handed in, never read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When requests are shed.
#[derive(Debug, Clone)]
pub struct OverloadLimits {
    /// A request that waited less shows that there is no queue.
    pub quick: Duration,
    /// A queue that has been there for this long is overload.
    pub standing: Duration,
    /// The longest wait of a request that is let in during overload.
    pub overloaded_wait: Duration,
    /// The longest wait of a request that is let in at all.
    pub longest_wait: Duration,
}

impl Default for OverloadLimits {
    fn default() -> Self {
        Self {
            quick: Duration::from_millis(25),
            standing: Duration::from_millis(500),
            overloaded_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(1),
        }
    }
}

/// Decides who is let in.
#[derive(Debug)]
pub(super) struct Overload {
    limits: OverloadLimits,
    start: Instant,
    /// Since when every request has had to wait, in milliseconds since the start, and 1 more; 0 where the last one hadn't.
    queue_since: AtomicU64,
    /// When one last had to wait.
    queue_seen: AtomicU64,
}

impl Overload {
    pub(super) fn new(limits: OverloadLimits, start: Instant) -> Self {
        Self { limits, start, queue_since: AtomicU64::new(0), queue_seen: AtomicU64::new(0) }
    }

    /// Whether a request that has waited this long is let in.
    pub(super) fn admits(&self, waited: Duration, now: Instant) -> bool {
        let limits = &self.limits;
        if waited < limits.quick {
            if self.queue_since.load(Ordering::Relaxed) != 0 {
                self.queue_since.store(0, Ordering::Relaxed);
            }
            return true;
        }
        let now_ms = u64::try_from(now.saturating_duration_since(self.start).as_millis()).unwrap_or(u64::MAX - 1) + 1;
        let standing_ms = u64::try_from(limits.standing.as_millis()).unwrap_or(u64::MAX);
        let seen_ms = self.queue_seen.swap(now_ms, Ordering::Relaxed);
        let mut since_ms = self.queue_since.load(Ordering::Relaxed);
        // While nobody came, nobody waited.
        if since_ms == 0 || now_ms.saturating_sub(seen_ms) >= standing_ms {
            since_ms = now_ms;
            self.queue_since.store(now_ms, Ordering::Relaxed);
        }
        let is_overload = now_ms.saturating_sub(since_ms) >= standing_ms;
        waited < if is_overload { limits.overloaded_wait } else { limits.longest_wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn overload() -> (Overload, Instant) {
        let start = Instant::now();
        (Overload::new(OverloadLimits::default(), start), start)
    }

    #[test]
    fn without_a_queue_everybody_is_let_in() {
        let (overload, start) = overload();
        assert!((0..1000).all(|at| overload.admits(ms(at % 25), start + ms(at))));
    }

    #[test]
    fn a_burst_may_wait_and_not_for_ever() {
        let (overload, start) = overload();
        assert!((0..490).all(|at| overload.admits(ms(2 * at), start + ms(at))), "it drains within its time");
        assert!(!overload.admits(ms(1000), start + ms(495)), "too late to be of use");
    }

    #[test]
    fn a_queue_that_does_not_drain_lets_in_only_who_has_not_waited_long() {
        let (overload, start) = overload();
        for at in 0..500 {
            assert!(overload.admits(ms(100), start + ms(at)), "at {at} ms it may be a burst");
        }
        for at in 500..1000 {
            assert!(!overload.admits(ms(100), start + ms(at)), "at {at} ms it is none");
            assert!(overload.admits(ms(99), start + ms(at)), "short waits are let in");
        }
    }

    #[test]
    fn a_queue_that_has_drained_is_over() {
        let (overload, start) = overload();
        assert!((0..=500).step_by(10).map(|at| overload.admits(ms(100), start + ms(at))).any(|admitted| !admitted));
        assert!(overload.admits(ms(24), start + ms(510)));
        assert!(overload.admits(ms(100), start + ms(520)), "a burst again");
    }

    #[test]
    fn a_pause_is_no_queue() {
        let (overload, start) = overload();
        assert!(overload.admits(ms(100), start));
        assert!(overload.admits(ms(100), start + ms(100_000)), "nobody waited in between");
    }
}
