//! What operations return: pages of resources whose JSON is ready to send.

use bytes::Bytes;

use crate::catalogue::resource::{CategoryResource, FacetValue, Pagination, QueryReport, ReviewSummary};

use super::{Facet, ServiceError};
use crate::search::collect::Tier;

/// A JSON object, and whether any of its text is in the request's language.
pub type LocalisedObject = (Bytes, bool);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub data: Vec<Bytes>,
    pub pagination: Pagination,
    /// Whether any text is in the request's language.
    pub is_in_language: bool,
}

impl Page {
    /// A page of objects.
    pub(crate) fn localised(
        objects: impl Iterator<Item = Result<LocalisedObject, ServiceError>>,
        pagination: Pagination,
    ) -> Result<Self, ServiceError> {
        let mut page = Self { data: Vec::new(), pagination, is_in_language: false };
        for object in objects {
            let (json, is_in_language) = object?;
            page.data.push(json);
            page.is_in_language |= is_in_language;
        }
        Ok(page)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReviewsPage {
    pub page: Page,
    /// A summary of all the product's reviews, not only those on this page.
    pub summary: ReviewSummary,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The product as a list item.
    pub item: Bytes,
    /// How well the product matches; meaningless without a query.
    pub tier: Tier,
    /// The score, which is only comparable within a response. 0 without a query.
    pub score: f32,
    /// The fields that matched, if requested: a JSON array of
    /// [`Highlight`](crate::catalogue::resource::Highlight)s.
    pub highlights: Option<Bytes>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage<'s> {
    pub data: Vec<SearchHit>,
    pub is_in_language: bool,
    pub pagination: Pagination,
    pub query: QueryReport,
    pub facets: Vec<(Facet, Vec<FacetValue<'s>>)>,
}

impl SearchPage<'_> {
    /// How many products the query's words match.
    pub const fn total_by_words(&self) -> u64 {
        self.pagination.total - self.query.related
    }

    pub fn into_owned(self) -> SearchPage<'static> {
        let owned = |value: FacetValue<'_>| FacetValue {
            value: value.value.into_owned().into(),
            label: value.label.into_owned().into(),
            count: value.count,
        };
        let facets = self.facets.into_iter().map(|(facet, values)| (facet, values.into_iter().map(owned).collect()));
        SearchPage {
            data: self.data,
            is_in_language: self.is_in_language,
            pagination: self.pagination,
            query: self.query,
            facets: facets.collect(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SimilarHit<'s> {
    pub item: Bytes,
    /// The score, from 0 to 1. Only comparable within a response.
    pub score: f32,
    pub categories: Vec<&'s CategoryResource>,
    /// The words that both products contain, rarest first.
    pub words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SimilarPage<'s> {
    pub is_in_language: bool,
    /// Most similar first.
    pub data: Vec<SimilarHit<'s>>,
    pub pagination: Pagination,
}

/// Scales a score within a tier to 0 to 1.
pub(super) fn scaled_score(score: f32) -> f32 {
    score / (score + 10.0)
}
