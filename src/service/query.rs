//! The parameters of operations.

use serde::Serialize;

use crate::catalogue::Order;
use crate::record::{CalendarDate, EvidenceStatus, OfferingType};
use crate::search::expand::Prefix;

/// The part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PageRequest {
    /// Page size, 1 to 100.
    pub limit: u32,
    /// Items to skip.
    pub offset: u64,
}

/// A filter of products. The empty one passes all.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SoftwareFilter {
    /// In any of these categories: names or ids, any case. An unknown one matches nothing. Empty: no restriction.
    pub categories: Vec<String>,
    /// With this offering type.
    pub offering_type: Option<OfferingType>,
    /// With this evidence status.
    pub evidence_status: Option<EvidenceStatus>,
    /// With a shown rating of at least this.
    pub min_rating: Option<f64>,
    /// With an evidence date before this day.
    pub evidence_checked_before: Option<CalendarDate>,
}

/// Lists products.
#[derive(Debug, Clone, PartialEq)]
pub struct ListSoftware {
    /// Words that each start a word of the name or of an alias; `None` or blank: all products.
    pub q: Option<String>,
    /// The filter.
    pub filter: SoftwareFilter,
    /// `None`: by name, or best match first where `q` is given.
    pub sort: Option<Order>,
    /// The page.
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
}

/// Facets of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Facet {
    /// By category.
    Category,
    /// By offering type.
    OfferingType,
    /// By evidence status.
    EvidenceStatus,
    /// By whole stars: at least 4, at least 3, …
    Rating,
}

/// Searches products.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchSoftware {
    /// Free text; `None` or blank: all products, by quality.
    pub q: Option<String>,
    /// The filter.
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
    /// The page.
    pub page: PageRequest,
}

impl SearchSoftware {
    /// A search for a text with the default parameters.
    #[must_use]
    pub fn new(q: &str) -> Self {
        Self {
            q: Some(q.to_owned()),
            filter: SoftwareFilter::default(),
            sort: SearchSort::Relevance,
            facets: Vec::new(),
            highlight: false,
            typo: true,
            prefix: Prefix::Auto,
            page: PageRequest { limit: 20, offset: 0 },
        }
    }
}

/// Lists glossary terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListGlossary {
    /// Free text; `None` or blank: all terms.
    pub q: Option<String>,
    /// The page.
    pub page: PageRequest,
}
