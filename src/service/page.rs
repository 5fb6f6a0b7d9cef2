//! What is answered: pages of resources held as bytes ready to send.

use std::sync::Arc;

use crate::catalogue::{OpenObject, Ordinal};
use crate::resource::{FacetValue, Pagination, QueryReport, ReviewSummary};

use super::Facet;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'s> {
    /// The resources, in order.
    pub data: Vec<OpenObject<'s>>,
    /// Where the page lies.
    pub pagination: Pagination,
}

/// One page of the glossary.
pub type GlossaryPage<'s> = Page<'s>;

/// One page of a product's reviews.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewsPage<'s> {
    /// The reviews, newest first.
    pub page: Page<'s>,
    /// All reviews of the product, summed up.
    pub summary: &'s ReviewSummary,
}

/// A product that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit<'s> {
    /// The product, a list's item.
    pub item: OpenObject<'s>,
    /// Which product it is, in its generation.
    pub ordinal: Ordinal,
    /// How well it matches; comparable within one answer only. 0 without a query.
    pub score: f32,
    /// The fields that matched, where asked for: a JSON array of [`Highlight`](crate::resource::Highlight).
    pub highlights: Option<Arc<[u8]>>,
}

/// One page of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage<'s> {
    /// The hits, in order.
    pub data: Vec<SearchHit<'s>>,
    /// Where the page lies.
    pub pagination: Pagination,
    /// How the query was understood.
    pub query: QueryReport,
    /// The facets asked for, in the order asked.
    pub facets: Vec<(Facet, Vec<FacetValue<'s>>)>,
}
