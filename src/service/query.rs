//! The parameters of operations.

use std::ops::Range;

use serde::Serialize;

use crate::catalogue::{Attribute, Catalogue, Filter, Order, ReviewFilter, ReviewSort};
use crate::record::{CalendarDate, EvidenceStatus, OfferingType};
use crate::resource::Pagination;
use crate::search::expand::Prefix;

/// The most characters (Unicode code points) of a query.
pub const MAX_QUERY_CHARACTERS: usize = 256;

/// The largest page of a list.
pub const MAX_LIMIT: u32 = 100;

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
    /// With an evidence date after this day.
    pub evidence_checked_after: Option<CalendarDate>,
    /// With any of these values of each attribute, in the order of [`Attribute::ALL`]; case, accents, spaces and hyphens don't
    /// matter. An unknown one matches nothing. Empty: no restriction.
    pub attributes: [Vec<String>; Attribute::COUNT],
}

impl SoftwareFilter {
    /// Resolves names to what the columns hold.
    pub(super) fn resolve(&self, catalogue: &Catalogue) -> Filter {
        let numbers = |values: &[String], find: &dyn Fn(&str) -> Option<u32>| {
            let mut numbers: Vec<_> = values.iter().filter_map(|value| find(value)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            (!values.is_empty()).then_some(numbers)
        };
        let columns = &catalogue.tables.columns;
        Filter {
            categories: numbers(&self.categories, &|category| catalogue.category(category)),
            offering_type: self.offering_type,
            evidence_status: self.evidence_status,
            min_rating: self.min_rating,
            evidence_checked_before: self.evidence_checked_before,
            evidence_checked_after: self.evidence_checked_after,
            attributes: Attribute::ALL.map(|attribute| {
                let column = columns.attribute(attribute);
                numbers(&self.attributes[attribute as usize], &|value| column.find(value))
            }),
            ordinals: None,
        }
    }

    /// The parameter and value of a filter that is a list of known values with commas in between, which isn't how several values
    /// are given.
    #[must_use]
    pub fn comma_separated(&self, catalogue: &Catalogue) -> Option<(&'static str, &str)> {
        let find = |values: &'_ [String], is_known: &dyn Fn(&str) -> bool| {
            let is_list = |value: &&String| {
                value.contains(',') && !is_known(value) && value.split(',').all(|part| is_known(part.trim()))
            };
            values.iter().position(|value| is_list(&value))
        };
        let category = find(&self.categories, &|category| catalogue.category(category).is_some());
        let mut attributes = Attribute::ALL.into_iter().filter_map(|attribute| {
            let (column, values) =
                (catalogue.tables.columns.attribute(attribute), &self.attributes[attribute as usize]);
            let at = find(values, &|value| column.find(value).is_some())?;
            Some((attribute.as_str(), &*values[at]))
        });
        category.map(|at| ("category", &*self.categories[at])).or_else(|| attributes.next())
    }
}

/// Lists products; by default the first of all, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListSoftware {
    /// Words that each start a word of the name or of an alias; `None` or blank: all products.
    pub q: Option<String>,
    /// Only products with these ids; empty: no restriction.
    pub ids: Vec<String>,
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
    /// By the day of the evidence check, newest first, unknown last.
    EvidenceCheckedOn,
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
    /// By an attribute, its 100 most frequent values.
    Attribute(Attribute),
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

/// Lists reviews of a product.
#[derive(Debug, Clone, PartialEq)]
pub struct ListReviews {
    /// The filter.
    pub filter: ReviewFilter,
    /// The order.
    pub sort: ReviewSort,
    /// The page.
    pub page: PageRequest,
}

impl ListReviews {
    /// All reviews, newest first.
    #[must_use]
    pub fn all(page: PageRequest) -> Self {
        Self { filter: ReviewFilter::default(), sort: ReviewSort::default(), page }
    }
}
