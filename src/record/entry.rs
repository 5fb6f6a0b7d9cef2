//! The envelope's other entries: categories, glossary terms, reviews, synonym groups and pins.

use serde::{Deserialize, Serialize};

use super::{AdditionalProperty, Translations, raw};
use crate::text::analyse::{key_without_conjunctions, words};

/// A category (an envelope's `categories`).
#[derive(Debug, Clone)]
pub struct Category {
    /// Has at least one letter or digit.
    pub name: Box<str>,
    pub description: Option<Box<str>>,
    /// Translations of name and description.
    pub translations: Translations,
}

/// A term and what it means (an envelope's `glossary`).
#[derive(Debug, Clone)]
pub struct GlossaryTerm {
    /// Has at least one letter or digit.
    pub term: Box<str>,
    /// Never empty.
    pub definition: Box<str>,
    pub abbreviations: Vec<Box<str>>,
    pub synonyms: Vec<Box<str>>,
    /// Terms to read next, by name.
    pub related: Vec<Box<str>>,
    pub source: Option<GlossarySource>,
    /// Translations of term and definition.
    pub translations: Translations,
}

/// Where a definition can be checked. An export writes `{title?, url?}` or a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlossarySource {
    pub title: Option<Box<str>>,
    pub url: Option<Box<str>>,
}

/// An entry in an envelope's `reviews`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// Unique among the directory's reviews, never empty.
    pub id: Box<str>,
    /// The id of the product that the review is about, which exists in the directory.
    pub software_id: Box<str>,
    /// Stars, from 1 to 5.
    pub rating: u8,
    pub title: Option<Box<str>>,
    pub body: Option<Box<str>>,
    pub author: Option<Box<str>>,
    /// RFC 3339, in UTC.
    pub created_at: Option<Box<str>>,
    /// `created_at` as seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
    /// Whether the reviewer is known to use the product.
    pub verified: Option<bool>,
    /// All other properties, in their original order.
    #[serde(with = "raw::properties")]
    pub additional_properties: Vec<AdditionalProperty>,
}

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
