//! What was answered before, remembered for as long as anybody asks.

use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use foldhash::quality::FixedState;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Of so many keys it is known that they were asked for once.
const ASKED_ONCE: usize = 8192;

/// What the cache itself takes for an answer, in bytes.
const PLACE_BYTES: usize = 96;

/// What can be remembered.
pub(crate) trait Remembered: Send + Sync {
    /// The memory it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// Answers by their keys, as many as fit into some memory. Which ones stay is decided by how often they are asked for (S3-FIFO,
/// Yang et al. 2023), so that many that are asked for once don't push out those that aren't.
pub(crate) struct Memory<T> {
    /// Another one once nothing was asked for a while: emptied, it would keep the memory of its tables.
    answers: ArcSwap<Answers<T>>,
    /// The most memory that is spent on them, in bytes, and about what one takes.
    room: u64,
    usual: u64,
    /// Whether anything was asked since [`Self::rest`] was last called.
    asked: AtomicBool,
    /// What was asked for once.
    once: Once,
}

type Answers<T> = Cache<Box<[u8]>, Arc<T>, Weight>;

impl<T: Remembered> Memory<T> {
    /// Remembers as many as fit into so many bytes, of which one usually takes `usual`.
    pub(crate) fn new(room: u64, usual: u64) -> Self {
        let (asked, once) = (AtomicBool::new(false), Once::default());
        Self { answers: ArcSwap::from_pointee(none(room, usual)), room, usual, asked, once }
    }

    /// What is remembered under this key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Arc<T>> {
        // Not written where it is so already: all threads read it.
        if !self.asked.load(Ordering::Relaxed) {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.answers.load().get(key)
    }

    /// Remembers an answer.
    pub(crate) fn keep(&self, key: &[u8], answer: Arc<T>) {
        self.answers.load().insert(key.into(), answer);
    }

    /// Remembers an answer if it has been asked for before, not long ago as far as is known.
    pub(crate) fn keep_if_again(&self, key: &[u8], answer: impl FnOnce() -> Arc<T>) {
        if self.once.is_again(key) {
            self.keep(key, answer());
        }
    }

    /// Forgets all answers if nothing was asked since this was last called: a directory that nobody asks gives their memory
    /// back. To be called now and then.
    pub(crate) fn rest(&self) {
        if !self.asked.swap(false, Ordering::Relaxed) && !self.answers.load().is_empty() {
            self.answers.store(Arc::new(none(self.room, self.usual)));
        }
    }

    /// How many are remembered, and the memory they take, in bytes.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, u64) {
        let answers = self.answers.load();
        (answers.len(), answers.weight())
    }
}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("room", &self.room).finish_non_exhaustive()
    }
}

/// No answers yet, and room for as many as fit into so many bytes.
fn none<T: Remembered>(room: u64, usual: u64) -> Answers<T> {
    let answers = usize::try_from(room / usual).unwrap_or(usize::MAX);
    Cache::with_weighter(answers, room, Weight)
}

/// Weighs answers by the memory they take.
#[derive(Debug, Clone)]
struct Weight;

impl<T: Remembered> Weighter<Box<[u8]>, Arc<T>> for Weight {
    fn weight(&self, key: &Box<[u8]>, answer: &Arc<T>) -> u64 {
        (PLACE_BYTES + key.len() + answer.bytes()) as u64
    }
}

/// Who was here before: the hashes of what came last, of each slot one. Two that share a slot push each other out; two of one
/// hash, a hash of 64 bits, pass for the same.
struct Once(Box<[AtomicU64]>);

impl Default for Once {
    fn default() -> Self {
        Self((0..ASKED_ONCE).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Once {
    /// Whether it has come before, as far as is known.
    fn is_again(&self, key: &[u8]) -> bool {
        let hash = FixedState::default().hash_one(key);
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is the number of a slot")]
        let slot = (hash % self.0.len() as u64) as usize;
        self.0[slot].swap(hash, Ordering::Relaxed) == hash
    }
}
