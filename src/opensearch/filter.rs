//! Filters as queries.

use serde_json::{Value, json};

use super::document::{SEPARATOR, key, values_field};
use crate::catalogue::{Catalogue, SoftwareFilter, admitted};
use crate::record::KeyRange;

/// A part of a filter. A facet ignores its own part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Category,
    OfferingType,
    EvidenceStatus,
    Rating,
    Attribute(String),
    /// A part without a facet.
    Other,
}

/// A filter as queries, one for each part.
#[derive(Debug, Default)]
pub(super) struct FilterQuery(Vec<(Part, Value)>);

impl FilterQuery {
    pub(super) fn new(filter: &SoftwareFilter, catalogue: &Catalogue) -> Self {
        let mut parts = Vec::new();
        let mut add = |part, query| parts.push((part, query));
        if !filter.categories.is_empty() {
            let categories = &catalogue.tables.categories;
            let named = filter.categories.iter().flat_map(|name| catalogue.categories_named(name));
            let ids: Vec<_> = named.filter_map(|&at| Some(&categories.get(at as usize)?.id)).collect();
            add(Part::Category, json!({"terms": {"categories.id": ids}}));
        }
        if let Some(wanted) = filter.offering_type {
            add(Part::OfferingType, json!({"term": {"offering_type": wanted.as_str()}}));
        }
        if let Some(wanted) = filter.evidence_status {
            add(Part::EvidenceStatus, json!({"term": {"evidence_status": wanted.as_str()}}));
        }
        if let Some(least) = filter.min_rating {
            add(Part::Rating, json!({"range": {"rating": {"gte": least}}}));
        }
        let days = [("lt", filter.evidence_checked_before), ("gt", filter.evidence_checked_after)];
        for (bound, day) in days.into_iter().filter_map(|(bound, day)| Some((bound, day?))) {
            add(Part::Other, json!({"range": {"directory.checked_on": {bound: day.to_string()}}}));
        }
        if !filter.ids.is_empty() {
            add(Part::Other, ids(filter.ids.iter().map(String::as_str)));
        }
        if let Some(id) = &filter.except_id {
            add(Part::Other, json!({"bool": {"must_not": ids(std::iter::once(&**id))}}));
        }
        let attributes = &catalogue.tables.attributes;
        match admitted(&filter.attributes, attributes) {
            Some(admitted) => {
                for (number, ranges) in admitted {
                    let property = &attributes.get(number).property;
                    add(Part::Attribute(property.to_string()), any_of(property, &ranges));
                }
            }
            None => add(Part::Other, json!({"match_none": {}})),
        }
        Self(parts)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A query for the documents that pass the whole filter, or all of it except a part.
    pub(super) fn but_for(&self, part: Option<&Part>) -> Value {
        let parts: Vec<_> = self.0.iter().filter(|(of, _)| Some(of) != part).map(|(_, query)| query).collect();
        if parts.is_empty() { json!({"match_all": {}}) } else { json!({"bool": {"filter": parts}}) }
    }
}

pub(super) fn ids<'i>(ids: impl Iterator<Item = &'i str>) -> Value {
    json!({"ids": {"values": ids.map(key).collect::<Vec<_>>()}})
}

/// A query for products with a value in any of these ranges.
pub(super) fn any_of(property: &str, ranges: &[KeyRange]) -> Value {
    let field = values_field(property);
    let query = |range: &KeyRange| {
        if let Some(key) = range.single() {
            return json!({"prefix": {&field: format!("{key}{SEPARATOR}")}});
        }
        // Every key is followed by a separator, and by something else in longer keys.
        let end = |key: &String| format!("{key}\u{1}");
        json!({"range": {&field: {"gte": range.from, "lt": range.to.as_ref().map(end)}}})
    };
    json!({"bool": {"should": ranges.iter().map(query).collect::<Vec<_>>(), "minimum_should_match": 1}})
}
