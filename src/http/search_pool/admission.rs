//! Admission control by queue delay.
//!
//! Controlled delay (`CoDel`, RFC 8289) in the form that servers use (Maurer, "Fail at Scale", ACM Queue 13(8), 2015): a queue
//! that a burst filled is served, a standing queue is cut short.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// A queue is a standing one once its delay has exceeded the target for this long.
const INTERVAL: Duration = Duration::from_millis(100);

/// The longest time that a search may wait in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxQueueDelay {
    /// In a burst.
    pub burst: Duration,
    /// In a standing queue: a longer one serves no more callers, only later.
    pub standing: Duration,
}

impl Default for MaxQueueDelay {
    fn default() -> Self {
        Self { burst: Duration::from_millis(200), standing: Duration::from_millis(50) }
    }
}

/// Decides about each search as it leaves the queue.
#[derive(Debug)]
pub(super) struct Admission {
    max_delay: MaxQueueDelay,
    /// The first and the latest moment of the current run of delays above [`MaxQueueDelay::standing`].
    exceeded: Mutex<Option<(Instant, Instant)>>,
}

impl Admission {
    pub(super) fn new(max_delay: MaxQueueDelay) -> Self {
        Self { max_delay, exceeded: Mutex::new(None) }
    }

    /// Whether to reject a search that waited this long and leaves the queue now.
    pub(super) fn rejects(&self, delay: Duration) -> bool {
        self.rejects_at(delay, Instant::now())
    }

    fn rejects_at(&self, delay: Duration, now: Instant) -> bool {
        if delay <= self.max_delay.standing {
            return false;
        }
        let mut exceeded = self.exceeded.lock().unwrap_or_else(PoisonError::into_inner);
        let first = match *exceeded {
            Some((first, latest)) if now.saturating_duration_since(latest) <= INTERVAL => first,
            _ => now,
        };
        *exceeded = Some((first, now));
        delay > self.max_delay.burst || now.saturating_duration_since(first) >= INTERVAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts on searches, each given as milliseconds since the start and milliseconds in the queue.
    fn rejected(searches: &[(u64, u64)]) -> Vec<bool> {
        let (admission, start) = (Admission::new(MaxQueueDelay::default()), Instant::now());
        let milliseconds = Duration::from_millis;
        searches
            .iter()
            .map(|(at, waited)| admission.rejects_at(milliseconds(*waited), start + milliseconds(*at)))
            .collect()
    }

    #[test]
    fn burst_is_served() {
        let burst = [(1000, 0), (1030, 30), (1060, 60), (1120, 120), (1150, 150), (1155, 10), (1200, 10)];
        assert_eq!(rejected(&burst), [false; 7]);
        let repeated = [(1000, 60), (1200, 60), (1400, 60), (1600, 60)];
        assert_eq!(rejected(&repeated), [false; 4]);
    }

    #[test]
    fn delay_above_the_burst_limit_is_rejected() {
        assert_eq!(rejected(&[(1000, 200), (1001, 201)]), [false, true]);
    }

    #[test]
    fn standing_queue_is_cut_to_the_standing_limit() {
        let standing = [(1000, 51), (1050, 51), (1100, 51), (1101, 51), (1102, 50), (1103, 50), (1104, 51)];
        assert_eq!(rejected(&standing), [false, false, true, true, false, false, true]);
        let over = [(1000, 60), (1060, 60), (1120, 60), (1130, 20), (1131, 20), (1300, 60)];
        assert_eq!(rejected(&over), [false, false, true, false, false, false]);
    }
}
