//! Requests to operations.

use std::ops::Range;

use serde::Serialize;

use crate::catalogue::resource::Pagination;
use crate::catalogue::{AttributeCondition, Order, ReviewFilter, ReviewSort, SoftwareFilter, SortedBy};
use crate::generation::Snapshot;
use crate::record::{Attributes, KeyRange, Language};
use crate::search::expand::Prefix;

/// The maximum length of a query, in Unicode code points.
pub const MAX_QUERY_CHARACTERS: usize = 256;

pub const MAX_LIMIT: u32 = 100;

/// The largest offset that's allowed with a query. Programs that need more can download an export.
pub const MAX_QUERY_OFFSET: u64 = 10_000;

/// Which part of a list to return; by default the first 20 items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PageRequest {
    /// From 1 to 100.
    pub limit: u32,
    pub offset: u64,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: 20, offset: 0 }
    }
}

impl PageRequest {
    /// The indices of the page's items.
    pub(crate) fn range(self) -> Range<usize> {
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        start..start.saturating_add(self.limit as usize)
    }

    /// The items on the page; empty past the list's end.
    pub(super) fn slice<T>(self, items: &[T]) -> &[T] {
        let Range { start, end } = self.range();
        let end = end.min(items.len());
        &items[start.min(end)..end]
    }

    pub(crate) const fn pagination(self, total: u64) -> Pagination {
        Pagination { limit: self.limit, offset: self.offset, total }
    }
}

/// How many of a parameter's values to check in case they're lists.
const MAX_LISTS: usize = 4;

/// How many parts of a value to check: enough to tell a list from a value that contains commas.
const MAX_LISTED: usize = 15;

/// Finds a filter value that's a comma-separated list of known values, which isn't how several
/// values are passed. Returns the parameter and the value.
pub fn comma_separated<'f>(snapshot: &Snapshot, filter: &'f SoftwareFilter) -> Option<(&'f str, &'f str)> {
    for value in filter.categories.iter().filter(|value| value.contains(',')).take(MAX_LISTS) {
        let known: Vec<_> = names(value).map(|name| !snapshot.catalogue.categories_named(name).is_empty()).collect();
        if is_list(&known) {
            return Some(("category", value));
        }
    }
    for (number, attribute) in snapshot.catalogue.tables.attributes.iter() {
        let of_attribute = filter.attributes.iter().filter(|of| of.property == *attribute.property);
        for AttributeCondition { property, value } in of_attribute.filter(|of| of.value.contains(',')).take(MAX_LISTS) {
            let keys: Vec<_> = names(value).filter_map(|name| attribute.kind.key(name)).collect();
            let column = snapshot.records.columns.attribute(number);
            let known: Vec<_> = keys.iter().map(|key| !column.find(&KeyRange::one(key)).is_empty()).collect();
            if is_list(&known) {
                return Some((property, value));
            }
        }
    }
    None
}

/// The value itself, followed by its parts if it's taken for a list.
fn names(value: &str) -> impl Iterator<Item = &str> {
    std::iter::once(value).chain(value.split(',').map(str::trim).take(MAX_LISTED))
}

/// Whether a value is unknown but all its parts are known.
fn is_list(known: &[bool]) -> bool {
    matches!(known, [false, parts @ ..] if parts.iter().all(|is_known| *is_known))
}

/// Lists products; by default, the first page of all products, sorted by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListSoftware {
    /// Words, each of which must begin a word in the name or an alias. If `None` or blank, lists
    /// all products.
    pub q: Option<String>,
    pub filter: SoftwareFilter,
    /// The sort order. If `None`, the best match comes first if `q` is given; otherwise, products
    /// are sorted by name.
    pub sort: Option<ListSort>,
    /// The members of the full record to include with each product.
    pub include: Vec<&'static str>,
    pub page: PageRequest,
    /// The language to return text in; `None` leaves all text in its own language.
    pub language: Option<Language>,
}

impl ListSoftware {
    /// What limits the offset, if anything.
    pub fn bounded_by(&self) -> Option<&'static str> {
        bounded_by(self.q.is_some(), self.sort.as_ref().and_then(ListSort::attribute))
    }
}

/// The offset is limited if there's a query or an order that isn't stored. Programs that need more
/// can download an export.
fn bounded_by(has_query: bool, sort: Option<&AttributeSort>) -> Option<&'static str> {
    if has_query { Some("q") } else { sort.map(|_| "this sort") }
}

/// Sorts by an attribute with one value per product; products without a value come last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttributeSort {
    pub property: String,
    /// Whether the highest value comes first.
    pub descending: bool,
}

/// The prefix that marks a name as an attribute's if other names are also allowed.
pub const ATTRIBUTE_PREFIX: &str = "attribute.";

impl AttributeSort {
    /// Reads `attribute.` and a property. A leading `-` means that the highest value comes first.
    fn parse(name: &str) -> Option<Self> {
        let (descending, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name));
        let property = name.strip_prefix(ATTRIBUTE_PREFIX).filter(|property| !property.is_empty())?;
        Some(Self { property: property.to_owned(), descending })
    }

    /// The order; `None` if the directory doesn't have the attribute.
    fn sorted_by(&self, attributes: &Attributes) -> Option<SortedBy> {
        let attribute = attributes.number(&self.property)?;
        Some(SortedBy::Attribute { attribute, descending: self.descending })
    }
}

/// Sort orders of `/v1/software`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListSort {
    Stored(Order),
    Attribute(AttributeSort),
}

impl ListSort {
    pub fn parse(name: &str) -> Option<Self> {
        let stored = Order::ALL.into_iter().find(|order| order.as_str() == name).map(Self::Stored);
        stored.or_else(|| AttributeSort::parse(name).map(Self::Attribute))
    }

    pub(super) fn sorted_by(&self, attributes: &Attributes) -> Option<SortedBy> {
        match self {
            Self::Stored(order) => Some(SortedBy::Stored(*order)),
            Self::Attribute(sort) => sort.sorted_by(attributes),
        }
    }

    pub const fn attribute(&self) -> Option<&AttributeSort> {
        if let Self::Attribute(sort) = self { Some(sort) } else { None }
    }
}

/// Sort orders of `/v1/search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub enum SearchSort {
    /// Best match first; without a query, by quality.
    #[default]
    Relevance,
    Stored(Order),
    Attribute(AttributeSort),
}

impl SearchSort {
    /// All orders except those by attribute.
    pub fn fixed() -> impl Iterator<Item = Self> {
        let [name, others @ ..] = Order::ALL.map(Self::Stored);
        std::iter::once(Self::Relevance).chain(others).chain([name])
    }

    pub fn parse(name: &str) -> Option<Self> {
        let fixed = Self::fixed().find(|sort| sort.as_str() == name);
        fixed.or_else(|| AttributeSort::parse(name).map(Self::Attribute))
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::fixed().map(|sort| sort.as_str())
    }

    /// The order to sort by; `None` for relevance.
    pub(super) fn sorted_by(&self, attributes: &Attributes) -> Option<SortedBy> {
        match self {
            Self::Relevance => None,
            Self::Stored(order) => Some(SortedBy::Stored(*order)),
            Self::Attribute(sort) => sort.sorted_by(attributes),
        }
    }

    pub const fn attribute(&self) -> Option<&AttributeSort> {
        if let Self::Attribute(sort) = self { Some(sort) } else { None }
    }

    /// The order's name, unless it's by attribute.
    pub const fn as_str(&self) -> &'static str {
        if let Self::Stored(order) = self { order.as_str() } else { "relevance" }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum Facet {
    Category,
    OfferingType,
    EvidenceStatus,
    Export,
    /// By number of stars: 4 or more, 3 or more, …
    Rating,
    /// By an attribute, given by its name in the request: its property, with `attribute.` in front
    /// unless it's built in. Counts its 100 most frequent values, or ranges of numbers and dates.
    Attribute(String),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchSoftware {
    /// Free text. If `None` or blank, lists all products by quality.
    pub q: Option<String>,
    pub filter: SoftwareFilter,
    pub sort: SearchSort,
    /// The facets to count, in the order to return them in.
    pub facets: Vec<Facet>,
    pub highlight: bool,
    pub typo: bool,
    pub prefix: Prefix,
    pub include: Vec<&'static str>,
    pub page: PageRequest,
    pub language: Option<Language>,
}

impl SearchSoftware {
    pub fn bounded_by(&self) -> Option<&'static str> {
        bounded_by(self.q.is_some(), self.sort.attribute())
    }

    pub fn new(q: &str) -> Self {
        Self {
            q: Some(q.to_owned()),
            filter: SoftwareFilter::default(),
            sort: SearchSort::Relevance,
            facets: Vec::new(),
            highlight: false,
            typo: true,
            prefix: Prefix::Auto,
            include: Vec::new(),
            page: PageRequest::default(),
            language: None,
        }
    }
}

/// Lists products that are similar to a given product and pass a filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListSimilar {
    pub filter: SoftwareFilter,
    pub page: PageRequest,
    pub language: Option<Language>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListGlossary {
    /// Free text. If `None` or blank, lists all terms.
    pub q: Option<String>,
    pub page: PageRequest,
}

impl ListGlossary {
    pub fn bounded_by(&self) -> Option<&'static str> {
        bounded_by(self.q.is_some(), None)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ListReviews {
    pub filter: ReviewFilter,
    pub sort: ReviewSort,
    pub page: PageRequest,
}

impl ListReviews {
    pub fn all(page: PageRequest) -> Self {
        Self { filter: ReviewFilter::default(), sort: ReviewSort::default(), page }
    }
}
