//! The state of a connection's requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// The state of a connection's requests, for its stream and for the listener, which closes the connection that is idle the longest when
/// it needs room.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// A count of the writes on all connections, the clock of [`Self::active_at`].
    writes: Arc<AtomicU64>,
    /// The count at the last write, or at the connection's start.
    active_at: AtomicU64,
    is_responding: AtomicBool,
    requests: AtomicU32,
}

impl Progress {
    /// The state of a new connection, with the count of the writes on all connections.
    pub(super) fn new(writes: Arc<AtomicU64>) -> Self {
        let progress = Self { writes, ..Self::default() };
        progress.touch();
        progress
    }

    /// Marks the connection as the last active one.
    pub(super) fn touch(&self) {
        self.active_at.store(self.writes.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The number of requests so far.
    pub(super) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether a request is in progress; then the peer has no deadline.
    pub(super) fn is_responding(&self) -> bool {
        self.is_responding.load(Ordering::Relaxed)
    }

    /// The place of the connection in the order of activity; `None` while its request is handled.
    pub(super) fn idle_since(&self) -> Option<u64> {
        (!self.is_responding()).then(|| self.active_at.load(Ordering::Relaxed))
    }

    /// The headers of a request are complete.
    pub(super) fn request_begins(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.is_responding.store(true, Ordering::Relaxed);
    }

    /// Its response is ready to be written.
    pub(super) fn response_is_ready(&self) {
        self.is_responding.store(false, Ordering::Relaxed);
    }
}
