//! Products that curators put first for a query.

use serde::{Deserialize, Serialize};

use crate::text::analyse::{key_without_conjunctions, words};

/// How many products may be pinned to one query.
pub const MAX_PINNED: usize = 20;

/// An entry in an envelope's `pins`: `{"queries": [...], "software": [...]}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Whole queries, as written. Each has a [key](Self::key).
    pub queries: Vec<Box<str>>,
    /// Product ids, best first.
    pub software: Vec<Box<str>>,
}

impl Pin {
    /// The key by which pinned queries are compared; empty if the query has no words.
    pub fn key(query: &str) -> String {
        let words = words(query);
        key_without_conjunctions(words.iter().map(|word| word.folded.as_str()))
    }
}
