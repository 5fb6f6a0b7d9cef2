//! Words that mean the same thing in a search.

use serde::{Deserialize, Serialize};

/// An entry in an envelope's `synonyms`. Terms may have several words; they're kept as written and
/// are never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SynonymGroup {
    /// `{"terms": [...]}`: terms that all mean the same thing.
    Equivalent(Vec<Box<str>>),
    /// `{"from": [...], "to": "..."}`: a query for one of `from` also finds `to`, but not vice
    /// versa.
    OneWay {
        /// The terms in queries.
        from: Vec<Box<str>>,
        /// The term that also matches.
        to: Box<str>,
    },
    /// `{"ambiguous": [...]}`: abbreviations that are also ordinary words. They're expanded only if
    /// they are the whole query or in capitals.
    Ambiguous(Vec<Box<str>>),
}
