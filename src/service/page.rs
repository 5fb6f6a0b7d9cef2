//! The results of operations: pages of resources, their JSON ready to send.

use bytes::Bytes;

use crate::catalogue::resource::{CategoryResource, FacetValue, Pagination, QueryReport, ReviewSummary};

use super::{Facet, PageRequest};
use crate::catalogue::{Catalogue, Span};

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The resources, in order.
    pub data: Vec<Bytes>,
    /// The place of the page in the list.
    pub pagination: Pagination,
}

impl Page {
    /// A page of stored objects.
    pub(super) fn from_objects(catalogue: &Catalogue, spans: &[Span], page: PageRequest) -> Self {
        let data = page.slice(spans).iter().map(|span| catalogue.object(*span)).collect();
        Self { data, pagination: page.pagination(spans.len() as u64) }
    }
}

pub type GlossaryPage = Page;

/// One page of a product's reviews.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewsPage {
    /// The reviews.
    pub page: Page,
    /// The summary of all the product's reviews.
    pub summary: ReviewSummary,
}

/// A product that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The product, a list's item.
    pub item: Bytes,
    /// The score, comparable within one response only. 0 without a query.
    pub score: f32,
    /// The fields that matched, if requested: a JSON array of [`Highlight`](crate::catalogue::resource::Highlight).
    pub highlights: Option<Bytes>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage<'s> {
    /// The hits, in order.
    pub data: Vec<SearchHit>,
    /// The place of the page in the list.
    pub pagination: Pagination,
    /// The interpretation of the query.
    pub query: QueryReport,
    /// The requested facets, in order.
    pub facets: Vec<(Facet, Vec<FacetValue<'s>>)>,
}

impl SearchPage<'_> {
    /// The page with texts of its own.
    pub fn into_owned(self) -> SearchPage<'static> {
        let owned = |value: FacetValue<'_>| FacetValue {
            value: value.value.into_owned().into(),
            label: value.label.into_owned().into(),
            count: value.count,
        };
        let facets = self.facets.into_iter().map(|(facet, values)| (facet, values.into_iter().map(owned).collect()));
        SearchPage { data: self.data, pagination: self.pagination, query: self.query, facets: facets.collect() }
    }
}

/// A product that is like another one.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarHit<'s> {
    /// The product, a list's item.
    pub item: Bytes,
    /// The score, 0 to 1, comparable within one response only.
    pub score: f32,
    /// The categories that both are in.
    pub categories: Vec<&'s CategoryResource>,
    /// The words that both have, the rarest first.
    pub words: Vec<String>,
}

/// One page of the products that are like another one.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarPage<'s> {
    /// The hits, the most similar first.
    pub data: Vec<SimilarHit<'s>>,
    /// The place of the page in the list.
    pub pagination: Pagination,
}
