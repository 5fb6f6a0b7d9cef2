//! The requests of operations.

use std::ops::Range;

use serde::Serialize;

use super::ServiceError;
use crate::catalogue::resource::Pagination;
use crate::catalogue::{Attribute, Order, ReviewFilter, ReviewSort, SoftwareFilter};
use crate::engine::EngineError;
use crate::generation::Snapshot;
use crate::search::expand::Prefix;

/// The most characters (Unicode code points) of a query.
pub const MAX_QUERY_CHARACTERS: usize = 256;

/// The largest page of a list.
pub const MAX_LIMIT: u32 = 100;

/// The largest offset of a page with a query: programs that need more download an export.
pub const MAX_QUERY_OFFSET: u64 = 10_000;

/// The part of a list; by default the first 20 items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PageRequest {
    /// Page size, 1 to 100.
    pub limit: u32,
    /// Items to skip.
    pub offset: u64,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: 20, offset: 0 }
    }
}

impl PageRequest {
    /// The places of the page's items.
    pub(super) fn range(self) -> Range<usize> {
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        start..start.saturating_add(self.limit as usize)
    }

    /// The part of a list that the page shows; empty past its end.
    pub(super) fn slice<T>(self, items: &[T]) -> &[T] {
        let Range { start, end } = self.range();
        let end = end.min(items.len());
        &items[start.min(end)..end]
    }

    /// The place of the page in a list of that many items.
    pub(super) const fn pagination(self, total: u64) -> Pagination {
        Pagination { limit: self.limit, offset: self.offset, total }
    }
}

/// The values of a parameter that are looked at for being lists.
const MAX_LISTS: usize = 4;

/// The first parts of a list, which distinguish it from a value with commas.
const MAX_LISTED: usize = 15;

/// The parameter and value of a filter that is a list of known values with commas in between, which isn't how several values
/// are given.
pub async fn comma_separated<'f>(
    snapshot: &Snapshot,
    filter: &'f SoftwareFilter,
) -> Result<Option<(&'static str, &'f str)>, ServiceError> {
    let filters = Attribute::ALL.map(|of| (Some(of), &filter.attributes[of as usize]));
    for (attribute, values) in std::iter::once((None, &filter.categories)).chain(filters) {
        for value in values.iter().filter(|value| value.contains(',')).take(MAX_LISTS) {
            let parts = value.split(',').map(str::trim).take(MAX_LISTED);
            let names: Vec<_> = std::iter::once(&**value).chain(parts).collect();
            if let [false, parts @ ..] = &*are_known(snapshot, attribute, &names).await?
                && parts.iter().all(|is_known| *is_known)
            {
                return Ok(Some((attribute.map_or(Facet::Category, Facet::Attribute).as_str(), value)));
            }
        }
    }
    Ok(None)
}

/// Returns of each name whether it is a value of the attribute, or without one a category.
async fn are_known(
    snapshot: &Snapshot,
    attribute: Option<Attribute>,
    names: &[&str],
) -> Result<Vec<bool>, EngineError> {
    match attribute {
        Some(attribute) => snapshot.engine.has_values(attribute, names).await,
        None => Ok(names.iter().map(|name| snapshot.catalogue.category(name).is_some()).collect()),
    }
}

/// Lists products; by default the first of all, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListSoftware {
    /// Words that each start a word of the name or of an alias; `None` or blank: all products.
    pub q: Option<String>,
    pub filter: SoftwareFilter,
    /// `None`: by name, or best match first where `q` is given.
    pub sort: Option<Order>,
    pub page: PageRequest,
}

/// The orders of `/v1/search`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum SearchSort {
    /// Best match first; without a query by quality.
    #[default]
    Relevance,
    /// By shown rating, highest first, unrated last.
    Rating,
    /// By review count, highest first, unknown last.
    ReviewCount,
    /// By name, natural collation.
    Name,
    /// By the day of the evidence check, newest first, unknown last.
    EvidenceCheckedOn,
}

impl SearchSort {
    pub const ALL: [Self; 5] = [Self::Relevance, Self::Rating, Self::ReviewCount, Self::EvidenceCheckedOn, Self::Name];

    /// The stored order; `None` for relevance.
    pub(super) const fn order(self) -> Option<Order> {
        match self {
            Self::Relevance => None,
            Self::Name => Some(Order::Name),
            Self::Rating => Some(Order::Rating),
            Self::ReviewCount => Some(Order::ReviewCount),
            Self::EvidenceCheckedOn => Some(Order::EvidenceCheckedOn),
        }
    }

    /// The name in requests.
    pub fn as_str(self) -> &'static str {
        self.order().map_or("relevance", Order::as_str)
    }
}

/// Facets of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Facet {
    Category,
    OfferingType,
    EvidenceStatus,
    /// By whole stars: at least 4, at least 3, …
    Rating,
    /// By an attribute, its 100 most frequent values.
    Attribute(Attribute),
}

/// Searches products.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchSoftware {
    /// Free text; `None` or blank: all products, by quality.
    pub q: Option<String>,
    pub filter: SoftwareFilter,
    /// The order.
    pub sort: SearchSort,
    /// The facets to count, in this order.
    pub facets: Vec<Facet>,
    /// Whether to highlight matches.
    pub highlight: bool,
    /// Whether a misspelled word may match.
    pub typo: bool,
    /// Whether the last word may be the beginning of one.
    pub prefix: Prefix,
    pub page: PageRequest,
}

impl SearchSoftware {
    /// A search for a text with the default parameters.
    pub fn new(q: &str) -> Self {
        Self {
            q: Some(q.to_owned()),
            filter: SoftwareFilter::default(),
            sort: SearchSort::Relevance,
            facets: Vec::new(),
            highlight: false,
            typo: true,
            prefix: Prefix::Auto,
            page: PageRequest::default(),
        }
    }
}

/// Lists glossary terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListGlossary {
    /// Free text; `None` or blank: all terms.
    pub q: Option<String>,
    pub page: PageRequest,
}

/// Lists reviews of a product.
#[derive(Debug, Clone, PartialEq)]
pub struct ListReviews {
    pub filter: ReviewFilter,
    /// The order.
    pub sort: ReviewSort,
    pub page: PageRequest,
}

impl ListReviews {
    /// All reviews, newest first.
    pub fn all(page: PageRequest) -> Self {
        Self { filter: ReviewFilter::default(), sort: ReviewSort::default(), page }
    }
}
