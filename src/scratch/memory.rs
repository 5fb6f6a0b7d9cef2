//! The memory that rows and bytes take before they go to scratch files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that the sorters, spools and buffers of a build share.
#[derive(Debug)]
pub(super) struct Memory {
    /// Bytes that may be taken together; beyond them a sorter holds `own_bytes` at most.
    shared_bytes: usize,
    own_bytes: usize,
    taken: AtomicUsize,
}

/// A share of the memory, given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Memory {
    pub(super) const fn new(shared_bytes: usize, own_bytes: usize) -> Self {
        Self { shared_bytes, own_bytes, taken: AtomicUsize::new(0) }
    }
}

impl Share {
    pub(super) fn of(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Takes more bytes. Returns whether they are too many, so that their user goes to disk; each may hold `least` all the same.
    pub fn take(&mut self, bytes: usize, least: usize) -> bool {
        self.bytes += bytes;
        let taken = self.memory.taken.fetch_add(bytes, Ordering::Relaxed) + bytes;
        taken > self.memory.shared_bytes && self.bytes > least.min(self.memory.own_bytes)
    }

    /// Takes bytes that are rarely read, of which a quarter of the memory holds the most. Returns whether they are too many.
    pub(super) fn take_rare(&mut self, bytes: usize) -> bool {
        self.take(bytes, 0);
        self.memory.taken.load(Ordering::Relaxed) > self.memory.shared_bytes / 4
    }

    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn give_back(&mut self) {
        self.memory.taken.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back();
    }
}
