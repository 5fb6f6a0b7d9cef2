//! Engines execute search plans: a request goes in, a page of hits comes out.
//!
//! An engine stores documents by ordinal, terms by name, and the records' JSON. It never sees the
//! query's text. Filters, sort orders and ranking are part of the request, so all engines agree by
//! construction.
//!
//! Operations that may cross a network are asynchronous. An embedded engine's futures are always
//! ready.

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

/// The names and contents of an engine's files.
pub type EngineFiles = Vec<(String, Bytes)>;

/// An index that can execute search plans.
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// Whether operations wait for another process. If so, their futures need an async runtime and
    /// use hardly any CPU time.
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether a product is so large that reading it takes a while.
    fn is_large(&self, _id: &str) -> bool {
        false
    }

    /// Returns the number of documents that contain a term, from memory.
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError>;

    /// Returns the categories of the best few documents that contain a term, from memory, as sorted
    /// indices into the category list.
    fn categories(&self, term: &Term) -> Result<Vec<u32>, EngineError>;

    /// Returns, for each value key, whether any product has the value.
    fn has_values<'a>(
        &'a self,
        attribute: AttributeNumber,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<bool>, EngineError>>;

    /// Returns only the hash of a product's detail; `None` for an unknown id.
    fn detail_hash<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<u64>, EngineError>>;

    /// Runs a search. Once the request's budget is spent, the search stops and returns what it has
    /// found so far, which is the same for every page.
    fn search<'a>(&'a self, request: &'a SearchRequest<'_>) -> BoxFuture<'a, Result<SearchHits, EngineError>>;

    /// Returns a product; `None` for an unknown id.
    fn record<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Record>, EngineError>>;

    /// Returns a page of a product's reviews; `None` for an unknown id.
    fn reviews<'a>(
        &'a self,
        id: &'a str,
        request: &'a ReviewsRequest,
    ) -> BoxFuture<'a, Result<Option<ReviewHits>, EngineError>>;

    /// The engine's explainer; `None` if the engine can't explain its scores.
    fn explainer(&self) -> Option<&dyn Explain> {
        None
    }
}

/// How many documents [`Engine::categories`] looks at.
const CATEGORY_EXAMPLES: usize = 10;

/// The maximum size in bytes of the text that comes with a page of hits. A single hit may exceed
/// it, since a record can contain megabytes of text.
const MAX_TEXT_BYTES: usize = 16 << 20;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why an engine operation failed.
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
    /// The process that serves the index is unavailable; the same request may succeed later.
    #[error(transparent)]
    Unavailable(Source),
    /// The process that serves the index is getting too many requests at once.
    #[error(transparent)]
    Overloaded(Source),
    /// The process that serves the index rejected a request or sent an unusable response.
    #[error(transparent)]
    Refused(Source),
    #[error("the search index has {} instead of {expected}", counted(*found, "document"))]
    Misfit { found: usize, expected: usize },
}

/// Why an index couldn't be built.
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
