//! Engines, which carry out search plans: one request, one window of hits back.
//!
//! An engine knows documents by ordinal and terms by name. It knows no record and no query; filters, orders and the ranking
//! are in the request, so two engines agree by construction.

mod explanation;
mod request;
#[cfg(test)]
mod scan;
mod tantivy;
#[cfg(test)]
mod tests;

pub use explanation::{Explanation, Satisfied};
pub use request::{SearchHits, SearchRequest};
pub use tantivy::{Documents, TantivyBuilder, TantivyEngine};

use bytes::Bytes;

use crate::catalogue::Ordinal;
use crate::search::{Plan, Term};

/// The files an engine keeps: name and content.
pub type EngineFiles = Vec<(String, Bytes)>;

/// An index that search plans can be carried out on.
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// In how many documents a term occurs.
    ///
    /// # Errors
    /// Where the index can't be read.
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError>;

    /// Searches. Where the budget of the request is spent the search stops, and the hits are those found so far; which these
    /// are doesn't depend on the page.
    ///
    /// # Errors
    /// Where the index can't be read.
    fn search(&self, request: &SearchRequest<'_>) -> Result<SearchHits, EngineError>;

    /// Explains how a document stands to a plan, found or not. The scores are those of a search before the rerank.
    ///
    /// # Errors
    /// Where the index can't be read.
    fn explain(&self, plan: &Plan, ordinal: Ordinal) -> Result<Explanation, EngineError>;
}

/// Why an engine can't do its work.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The index can't be built, opened or read.
    #[error("the search index can't be {doing}")]
    Index {
        /// The operation.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The index isn't one segment with the expected number of documents.
    #[error("the search index holds {found} documents in place of {expected}")]
    Misfit {
        /// Documents found.
        found: usize,
        /// Documents expected.
        expected: usize,
    },
}

impl EngineError {
    fn index<E: Into<Box<dyn std::error::Error + Send + Sync>>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Index { doing, source: source.into() }
    }
}
