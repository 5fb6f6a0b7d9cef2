//! The limit on open connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A permit for each open connection.
#[derive(Debug)]
pub(super) struct ConnectionLimiter {
    permits: Arc<Semaphore>,
    max_connections: usize,
    /// Whether the system refused a connection for want of resources.
    is_starved: AtomicBool,
}

impl ConnectionLimiter {
    pub(super) fn new(max_connections: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(max_connections)), max_connections, is_starved: AtomicBool::new(false) }
    }

    /// A permit, once one is free.
    pub(super) async fn acquire(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.unwrap_or_else(|_| unreachable!("the semaphore is never closed"))
    }

    /// A permit, if one is free.
    pub(super) fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Notes whether the system has resources for connections, and returns what was noted before.
    pub(super) fn set_starved(&self, is_starved: bool) -> bool {
        self.is_starved.swap(is_starved, Ordering::Relaxed)
    }

    /// Whether connections run short, so that idle ones have to close: three quarters of the permits are taken, or the system
    /// has no more resources.
    pub(super) fn is_under_pressure(&self) -> bool {
        self.permits.available_permits() < self.max_connections.div_ceil(4) || self.is_starved.load(Ordering::Relaxed)
    }
}
