//! Engines, which carry out search plans: one request, one window of hits back.
//!
//! An engine has documents by ordinal, terms by name, and the stored JSON of the records. It gets no query text;
//! filters, orders and the ranking are in the request, so two engines agree by construction.
//!
//! Operations that may cross a network are asynchronous. The future of an embedded engine is ready at once.

mod embedded;
mod explanation;
pub mod opensearch;
mod request;
mod tantivy;
#[cfg(test)]
mod tests;

pub use explanation::{Explain, Explanation, Satisfied};
pub use request::{Hit, HitTexts, Record, ReviewHits, ReviewsRequest, SearchHits, SearchRequest};
pub use tantivy::{Documents, TantivyBuilder, TantivyEngine, TantivyIndex};

use std::io;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::catalogue::DamagedText;
use crate::record::AttributeNumber;
use crate::search::Term;
use crate::text::count::counted;

/// The files an engine keeps: name and content.
pub type EngineFiles = Vec<(String, Bytes)>;

/// An index that search plans can be carried out on.
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// Whether its operations wait for another process: their futures need a runtime, and take hardly any processor time.
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether it takes a while to read a product, because it's large.
    fn is_large(&self, _id: &str) -> bool {
        false
    }

    /// Returns the number of documents in which a term occurs; from memory.
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError>;

    /// Returns the categories of a term's few best documents, as sorted indices into the list of categories; from memory.
    fn categories(&self, term: &Term) -> Result<Vec<u32>, EngineError>;

    /// For each key of a value, returns whether any product has that value.
    fn has_values<'a>(
        &'a self,
        attribute: AttributeNumber,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<bool>, EngineError>>;

    /// Returns the hash of a product's detail alone; `None` for an unknown id.
    fn detail_hash<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<u64>, EngineError>>;

    /// Searches. Once the request's budget is spent the search stops and returns what it found so far, which doesn't depend on
    /// the page.
    fn search<'a>(&'a self, request: &'a SearchRequest<'_>) -> BoxFuture<'a, Result<SearchHits, EngineError>>;

    /// Returns a product; `None` for an unknown id.
    fn record<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Record>, EngineError>>;

    /// Returns a window of a product's reviews; `None` for an unknown id.
    fn reviews<'a>(
        &'a self,
        id: &'a str,
        request: &'a ReviewsRequest,
    ) -> BoxFuture<'a, Result<Option<ReviewHits>, EngineError>>;

    /// Reads all that it has in memory, and compares what can be compared. Opening it compares only what is quick.
    fn verify(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// What explains its scores; `None` if nothing can.
    fn explainer(&self) -> Option<&dyn Explain> {
        None
    }
}

/// The number of documents that [`Engine::categories`] returns the categories of.
const CATEGORY_EXAMPLES: usize = 10;

/// The most bytes of texts that come with a page of hits, but for those of one hit; a single record may have megabytes.
const MAX_TEXT_BYTES: usize = 16 << 20;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why an engine can't do its work.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the search index can't be {doing}")]
    Index {
        doing: &'static str,
        #[source]
        source: Source,
    },
    /// A product's stored text is damaged.
    #[error(transparent)]
    Text(#[from] DamagedText),
    /// The process that holds the index can't be used at present; the same request may succeed later.
    #[error(transparent)]
    Unavailable(Source),
    /// It gets too many requests at once.
    #[error(transparent)]
    Overloaded(Source),
    /// It refuses a request, or sends a response that can't be used.
    #[error(transparent)]
    Refused(Source),
    #[error("the search index holds {} in place of {expected}", counted(*found, "document"))]
    Misfit { found: usize, expected: usize },
}

/// Why an index can't be filled.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("a scratch file can't be used")]
    Scratch(#[source] io::Error),
}

impl EngineError {
    fn index<E: Into<Source>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Index { doing, source: source.into() }
    }
}
