//! The state of a connection's requests, and a minimum rate at which peers read their responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The minimum rate in bytes per second, measured while a response is waiting to be written. A
/// slower peer falls behind, and is cut off once it's behind by the write timeout: after 30 s if it
/// reads nothing, after 40 s at 4 KiB/s. A peer that's faster on average is never cut off, even if
/// it reads intermittently, as with Kestrel's `MinResponseDataRate`. At this rate 1 MiB takes a
/// minute; even a poor mobile connection is faster.
const MIN_RATE: u32 = 16 * 1024;

/// How far a peer is behind [`MIN_RATE`], across all responses on its connection.
#[derive(Debug)]
pub(super) struct MinimumRate {
    /// How far the peer may fall behind.
    timeout: Duration,
    /// When a response started waiting to be written.
    stalled_since: Option<Instant>,
    pub(super) behind: Duration,
}

impl MinimumRate {
    pub(super) const fn new(timeout: Duration) -> Self {
        Self { timeout, stalled_since: None, behind: Duration::ZERO }
    }

    /// Whether a response is waiting to be written.
    pub(super) const fn is_stalled(&self) -> bool {
        self.stalled_since.is_some()
    }

    /// Records that a response is waiting to be written. Returns when to cut off the peer.
    pub(super) fn stalled(&mut self, now: Instant) -> Instant {
        *self.stalled_since.get_or_insert(now) + self.timeout.saturating_sub(self.behind)
    }

    /// Records that the peer read some bytes.
    pub(super) fn taken(&mut self, bytes: usize) {
        if let Some(since) = self.stalled_since.take() {
            self.behind += since.elapsed();
        }
        if !self.behind.is_zero() {
            self.behind = self.behind.saturating_sub(time_for(bytes));
        }
    }
}

/// How long this many bytes take at [`MIN_RATE`].
fn time_for(bytes: usize) -> Duration {
    Duration::from_secs(bytes as u64) / MIN_RATE
}

/// The state of a connection's requests. It's used by the connection's stream, and by the listener,
/// which closes the longest-idle connection when it needs room.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Counts writes across all connections; the clock for [`Self::active_at`].
    writes: Arc<AtomicU64>,
    /// The count at the last write, or when the connection started.
    active_at: AtomicU64,
    is_responding: AtomicBool,
    requests: AtomicU32,
}

impl Progress {
    /// Creates the state of a new connection. `writes` is shared by all connections.
    pub(super) fn new(writes: Arc<AtomicU64>) -> Self {
        let progress = Self { writes, ..Self::default() };
        progress.touch();
        progress
    }

    /// Marks the connection as the most recently active.
    pub(super) fn touch(&self) {
        self.active_at.store(self.writes.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(super) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether a request is in progress. If so, the peer has no deadline.
    pub(super) fn is_responding(&self) -> bool {
        self.is_responding.load(Ordering::Relaxed)
    }

    /// The connection's position in order of activity; `None` while a request is being handled.
    pub(super) fn idle_since(&self) -> Option<u64> {
        (!self.is_responding()).then(|| self.active_at.load(Ordering::Relaxed))
    }

    /// Called when a request's headers are complete.
    pub(super) fn request_begins(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.is_responding.store(true, Ordering::Relaxed);
    }

    /// Called when the response is ready to be written.
    pub(super) fn response_is_ready(&self) {
        self.is_responding.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::super::ConnectionLimits;
    use super::super::deadline::DeadlineStream;
    use super::*;

    /// Writes endlessly to a peer that reads at intervals. Returns how many seconds pass before the
    /// peer is cut off, up to an hour.
    async fn seconds_until_cut_off(bytes: usize, every: Duration) -> u64 {
        let (ours, mut theirs) = duplex(1024);
        let mut ours = DeadlineStream::new(ours, ConnectionLimits::default(), Arc::<Progress>::default());
        let started = Instant::now();
        let writer = async { while let Ok(()) = ours.write_all(&[0; 4096]).await {} };
        let reader = async {
            let mut buffer = vec![0; bytes];
            loop {
                tokio::time::sleep(every).await;
                theirs.read_exact(&mut buffer).await.expect("there");
            }
        };
        tokio::select! {
            () = writer => {}
            () = reader => unreachable!("the reader never ends"),
            () = tokio::time::sleep(Duration::from_hours(1)) => {}
        }
        started.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn peers_are_cut_off_once_they_fall_behind_the_minimum_rate() {
        for (bytes, every, seconds) in [
            // Reading nothing, or hardly anything.
            (1, 7200, 30..=30),
            (1, 20, 30..=30),
            // At a quarter of the rate, peers fall behind by three quarters of a second every second.
            (4 * 1024, 1, 39..=40),
            // Above the minimum rate on average.
            (17 * 1024, 1, 3600..=3600),
            (25 * 17 * 1024, 25, 3600..=3600),
        ] {
            let cut_off = seconds_until_cut_off(bytes, Duration::from_secs(every)).await;
            assert!(seconds.contains(&cut_off), "{bytes} bytes every {every} s: {cut_off}");
        }
    }
}
