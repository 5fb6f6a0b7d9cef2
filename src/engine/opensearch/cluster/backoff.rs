//! Back-off between attempts while a busy cluster rejects requests.

use std::time::Duration;

use tokio::time::Instant;

/// The first pause, before jitter.
const FIRST: Duration = Duration::from_millis(200);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(10);

/// Exponential back-off with jitter, until a deadline. Used for bulk requests that fail with 429 or
/// 503, entirely or in part.
#[derive(Debug)]
pub struct Backoff {
    deadline: Instant,
    next: Duration,
}

impl Backoff {
    /// Back-off until a deadline.
    pub fn new(deadline: Instant) -> Self {
        Self { deadline, next: FIRST }
    }

    /// Back-off for a request that may take this long in total.
    pub fn within(time: Duration) -> Self {
        Self::new(Instant::now() + time)
    }

    /// Waits before the next attempt. Returns false immediately if the pause would exceed the
    /// deadline; the last error is then final.
    pub async fn wait(&mut self) -> bool {
        let random = getrandom::u32().unwrap_or(u32::MAX / 2);
        let Some(pause) = self.pause(Instant::now(), random) else { return false };
        tokio::time::sleep(pause).await;
        true
    }

    /// Goes back to short pauses after an attempt that succeeded, at least in part.
    pub fn reset(&mut self) {
        self.next = FIRST;
    }

    /// The next pause. Half of it is fixed and half random, so that clients don't all retry at the
    /// same time.
    fn pause(&mut self, now: Instant, random: u32) -> Option<Duration> {
        let half = self.next / 2;
        let pause = half + half.mul_f64(f64::from(random) / f64::from(u32::MAX));
        self.next = (self.next * 2).min(LONGEST);
        (now + pause < self.deadline).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_end_at_the_deadline() {
        let now = Instant::now();
        let mut backoff = Backoff::new(now + Duration::from_mins(1));
        let pauses: Vec<_> = (0..8).filter_map(|_| backoff.pause(now, u32::MAX)).map(|p| p.as_millis()).collect();
        assert_eq!(pauses, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(backoff.pause(now, 0), Some(LONGEST / 2));
        backoff.reset();
        assert_eq!(backoff.pause(now, 0), Some(FIRST / 2));
        assert_eq!(backoff.pause(now + Duration::from_mins(1), 0), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_before_the_deadline() {
        let start = Instant::now();
        let mut backoff = Backoff::within(Duration::from_secs(5));
        let mut pauses = 0;
        while backoff.wait().await {
            pauses += 1;
        }
        assert!((4..=6).contains(&pauses), "{pauses}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
