//! The memory for rows and bytes before they move to scratch files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory shared by a build's sorters, spools and buffers.
#[derive(Debug)]
pub(super) struct Memory {
    /// How many bytes may be used in total. Beyond that, a sorter keeps at most `own_bytes`.
    shared_bytes: usize,
    own_bytes: usize,
    taken: AtomicUsize,
}

/// A share of the memory, returned when it's dropped.
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

    /// Takes more bytes. Returns whether that's too many, in which case the caller should move its
    /// data to disk. Each caller may keep `least` bytes regardless.
    pub fn take(&mut self, bytes: usize, least: usize) -> bool {
        self.bytes += bytes;
        let taken = self.memory.taken.fetch_add(bytes, Ordering::Relaxed) + bytes;
        taken > self.memory.shared_bytes && self.bytes > least.min(self.memory.own_bytes)
    }

    /// Takes more bytes, for data that's rarely read. Returns whether more than a quarter of the
    /// memory has now been taken.
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
