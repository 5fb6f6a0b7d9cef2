//! Admission control by queue delay.
//!
//! This is the server variant of controlled delay (Maurer, "Fail at Scale", ACM Queue 13(8), 2015).
//! If the queue was empty recently, the searches in it are a burst, and they get served. If it
//! hasn't been empty for a while, it's a standing queue, and waiting times are cut short.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxQueueDelay {
    /// The limit during a burst, and how long a queue can be non-empty before it's a standing one.
    pub burst: Duration,
    /// The limit in a standing queue, where waiting longer delays callers without serving more of
    /// them.
    pub standing: Duration,
}

impl Default for MaxQueueDelay {
    fn default() -> Self {
        Self { burst: Duration::from_millis(250), standing: Duration::from_millis(100) }
    }
}

/// Decides how long a search may wait when it enters the queue.
#[derive(Debug)]
pub(super) struct Admission {
    max_delay: MaxQueueDelay,
    /// When a search last entered an empty queue.
    last_empty: Mutex<Instant>,
}

impl Admission {
    pub(super) fn new(max_delay: MaxQueueDelay) -> Self {
        Self { max_delay, last_empty: Mutex::new(Instant::now()) }
    }

    pub(super) fn max_delay(&self, queue_is_empty: bool, now: Instant) -> Duration {
        let mut last_empty = self.last_empty.lock().unwrap_or_else(PoisonError::into_inner);
        if queue_is_empty {
            *last_empty = now;
        }
        if now.saturating_duration_since(*last_empty) > self.max_delay.burst {
            self.max_delay.standing
        } else {
            self.max_delay.burst
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_queue_gets_the_shorter_delay_until_it_empties() {
        let (max_delay, start) = (MaxQueueDelay::default(), Instant::now());
        let admission = Admission::new(max_delay);
        let at = |milliseconds, is_empty| admission.max_delay(is_empty, start + Duration::from_millis(milliseconds));
        // Idle time before a burst doesn't count.
        assert_eq!(at(10_000, true), max_delay.burst);
        assert_eq!(at(10_001, false), max_delay.burst);
        assert_eq!(at(10_250, false), max_delay.burst);
        assert_eq!(at(10_251, false), max_delay.standing);
        assert_eq!(at(20_000, false), max_delay.standing);
        assert_eq!(at(20_001, true), max_delay.burst);
        assert_eq!(at(20_002, false), max_delay.burst);
    }
}
