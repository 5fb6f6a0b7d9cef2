//! Tracks the state of a connection's requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

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
