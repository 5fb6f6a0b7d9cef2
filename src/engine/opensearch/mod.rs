//! The OpenSearch engine: searches, lists, records and reviews come from a cluster's indices.
//!
//! A generation has three indices: products, reviews, and other parts. Each request names its
//! index, so generations never mix. A product is a document whose terms are features with weighted
//! frequencies as values; the query supplies the rest of the score (`query`). What's needed to
//! understand a query is kept in memory (`dictionary`).

mod attributes;
mod bulk;
mod clauses;
pub mod cluster;
mod dictionary;
mod document;
mod facets;
mod fill;
mod filter;
mod index_prefix;
mod lease;
mod mapping;
mod parts;
mod publish;
mod query;
mod records;
mod related;
mod response;
mod search;
mod signals;
mod statistics;
mod term;
#[cfg(test)]
mod tests;
mod texts;
mod verify;

use std::sync::Arc;

use futures_util::future::BoxFuture;

pub use document::{AnalysedProduct, Document, DocumentWriter};
pub use fill::{DICTIONARY, Fill};
pub use index_prefix::{IndexPrefix, IndexPrefixError};
pub use lease::Lease;
pub use parts::{BlockingPart, Part, Parts, PartsError};
pub use publish::{PublishError, Published, Publisher};
pub use verify::{FilledGeneration, find_whole, is_missing};

use self::cluster::{Cluster, ClusterError};
use self::dictionary::Dictionary;
use self::search::Search;
use self::statistics::Statistics;
use super::{Engine, EngineError, Record, ReviewHits, ReviewsRequest, SearchHits, SearchRequest};
use crate::catalogue::{Catalogue, Ordinal};
use crate::record::AttributeNumber;
use crate::search::score::group_weight;
use crate::search::{Group, StemId, Term};

#[derive(Debug)]
pub struct OpenSearchEngine {
    cluster: Arc<Cluster>,
    /// The name of the product index. The other indices have this name plus a suffix.
    index: String,
    documents: usize,
    /// Number of shards in the product index.
    shards: usize,
    dictionary: Dictionary,
    /// Each word's stem, by word number.
    stems: Arc<[StemId]>,
    catalogue: Arc<Catalogue>,
    /// How many products are real rather than demo records. Real products have the lowest ordinals.
    real: Ordinal,
}

impl OpenSearchEngine {
    /// Opens a generation's indices, given the numbers of documents and shards and the parts that
    /// are kept in memory.
    pub fn open(
        cluster: Arc<Cluster>,
        index: String,
        (documents, shards): (usize, usize),
        dictionary: &[u8],
        stems: Arc<[StemId]>,
        (catalogue, real): (Arc<Catalogue>, Ordinal),
    ) -> Result<Self, EngineError> {
        let dictionary = Dictionary::open(dictionary)?;
        Ok(Self { cluster, index, documents, shards, dictionary, stems, catalogue, real })
    }

    fn has_demos(&self) -> bool {
        (self.real as usize) < self.documents
    }
}

impl From<ClusterError> for EngineError {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Unavailable(_) => Self::Unavailable(error.into()),
            // The index was deleted, but the next fill will create a new one.
            error if error.is_missing_index() => Self::Unavailable(error.into()),
            ClusterError::Overloaded { .. } => Self::Overloaded(error.into()),
            _ => Self::Refused(error.into()),
        }
    }
}

impl Statistics for OpenSearchEngine {
    fn scale(&self, group: &Group) -> f32 {
        let frequencies = group.alternatives.iter().map(|of| self.dictionary.frequency(&of.term));
        group_weight(frequencies.max().unwrap_or(0), self.documents)
    }

    fn frequency(&self, term: &Term) -> u32 {
        self.dictionary.frequency(term)
    }

    fn stem_of(&self, word: u32) -> StemId {
        self.stems.get(word as usize).copied().unwrap_or(StemId::MAX)
    }
}

impl Engine for OpenSearchEngine {
    fn is_remote(&self) -> bool {
        true
    }

    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError> {
        Ok(self.dictionary.frequency(term))
    }

    fn categories(&self, term: &Term) -> Result<Vec<u32>, EngineError> {
        Ok(self.dictionary.categories(term).to_vec())
    }

    fn has_values<'a>(
        &'a self,
        attribute: AttributeNumber,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<bool>, EngineError>> {
        Box::pin(self.find_values(attribute, keys))
    }

    fn detail_hash<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<u64>, EngineError>> {
        Box::pin(self.read_detail_hash(id))
    }

    fn search<'a>(&'a self, request: &'a SearchRequest<'_>) -> BoxFuture<'a, Result<SearchHits, EngineError>> {
        Box::pin(async move { Search::new(self, request).run().await })
    }

    fn record<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Record>, EngineError>> {
        Box::pin(self.read_record(id))
    }

    fn reviews<'a>(
        &'a self,
        id: &'a str,
        request: &'a ReviewsRequest,
    ) -> BoxFuture<'a, Result<Option<ReviewHits>, EngineError>> {
        Box::pin(self.read_reviews(id, request))
    }
}
