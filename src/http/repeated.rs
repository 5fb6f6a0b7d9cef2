//! Answers that are asked for again and again, in the very same words: ready to send.

use std::sync::Arc;

use super::paging::Ready;
use crate::service::memory::{Memory, Remembered};

/// The most memory that is spent on them, in bytes: some thousand pages of twenty hits.
const MOST_BYTES: u64 = 8 << 20;

/// About what a page of twenty hits takes, in bytes.
const USUAL_BYTES: u64 = 8000;

/// An answer to a search.
#[derive(Debug)]
pub(super) struct Found {
    /// What is sent.
    pub(super) ready: Ready,
    /// How many products were found, where it was searched for words.
    pub(super) searched: Option<u64>,
}

impl Remembered for Found {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.ready.bytes()
    }
}

/// Answers by generation and address.
#[derive(Debug)]
pub(super) struct Repeated(Memory<Found>);

impl Default for Repeated {
    fn default() -> Self {
        Self(Memory::new(MOST_BYTES, USUAL_BYTES))
    }
}

impl Repeated {
    /// The answer to this address in this generation.
    pub(super) fn get(&self, generation: &str, address: &str) -> Option<Arc<Found>> {
        self.0.get(&key(generation, address))
    }

    /// Remembers an answer once it is asked for again.
    pub(super) fn keep(&self, generation: &str, address: &str, found: &Arc<Found>) {
        self.0.keep_if_again(&key(generation, address), || Arc::clone(found));
    }

    /// Forgets all if nothing was asked since this was last called. To be called now and then.
    pub(super) fn rest(&self) {
        self.0.rest();
    }
}

/// All generations' names are of one length.
fn key(generation: &str, address: &str) -> Vec<u8> {
    [generation.as_bytes(), address.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_once_it_is_asked_for_again_for_its_generation_and_address() {
        let repeated = Repeated::default();
        let ready = Ready { body: "{}".into(), links: None };
        let found = Arc::new(Found { ready, searched: Some(7) });
        for _ in 0..2 {
            assert!(repeated.get("one", "/a").is_none());
            repeated.keep("one", "/a", &found);
        }
        assert_eq!(repeated.get("one", "/a").and_then(|found| found.searched), Some(7));
        assert!(repeated.get("two", "/a").is_none() && repeated.get("one", "/b").is_none());
        repeated.rest();
        assert!(repeated.get("one", "/a").is_some(), "it was asked for a while ago");
        repeated.rest();
        repeated.rest();
        assert!(repeated.get("one", "/a").is_none());
    }
}
