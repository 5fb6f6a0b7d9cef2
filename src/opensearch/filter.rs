//! Filters as queries, and facets as aggregations.

use serde_json::{Map, Value, json};

use super::document::{SEPARATOR, key, values_field, written};
use super::response::{Bucket, Found};
use crate::catalogue::{Catalogue, STARS, SoftwareFilter, admitted};
use crate::record::{EvidenceStatus, KeyRange, OfferingType};
use crate::search::facet_counts::{AttributeCounts, FacetCounts, MAX_ATTRIBUTE_VALUES, MAX_CATEGORIES};
use crate::service::{ATTRIBUTE_PREFIX, Facet};

/// A filter as queries, one for each part, with the facet that ignores it.
#[derive(Debug, Default)]
pub(super) struct FilterQuery(Vec<(Option<Facet>, Value)>);

impl FilterQuery {
    pub(super) fn new(filter: &SoftwareFilter, catalogue: &Catalogue) -> Self {
        let mut parts = Vec::new();
        let mut add = |facet, query| parts.push((facet, query));
        if !filter.categories.is_empty() {
            let categories = &catalogue.tables.categories;
            let named = filter.categories.iter().flat_map(|name| catalogue.categories_named(name));
            let ids: Vec<_> = named.filter_map(|&at| Some(&categories.get(at as usize)?.id)).collect();
            add(Some(Facet::Category), json!({"terms": {"categories.id": ids}}));
        }
        if !filter.exports.is_empty() {
            add(Some(Facet::Export), json!({"terms": {"export.id": filter.exports}}));
        }
        if let Some(wanted) = filter.offering_type {
            add(Some(Facet::OfferingType), json!({"term": {"offering_type": wanted.as_str()}}));
        }
        if let Some(wanted) = filter.evidence_status {
            add(Some(Facet::EvidenceStatus), json!({"term": {"evidence_status": wanted.as_str()}}));
        }
        if let Some(least) = filter.min_rating {
            add(Some(Facet::Rating), json!({"range": {"rating": {"gte": least}}}));
        }
        let days = [("lt", filter.evidence_checked_before), ("gt", filter.evidence_checked_after)];
        for (bound, day) in days.into_iter().filter_map(|(bound, day)| Some((bound, day?))) {
            add(None, json!({"range": {"directory.checked_on": {bound: day.to_string()}}}));
        }
        if let Some(day) = filter.any_evidence_before {
            let before = |field: &str| json!({"range": {field: {"lt": day.to_string()}}});
            let any = [before("directory.checked_on"), before("directory.older_evidence")];
            add(None, json!({"bool": {"should": any, "minimum_should_match": 1}}));
        }
        if !filter.ids.is_empty() {
            add(None, ids(filter.ids.iter().map(String::as_str)));
        }
        if let Some(id) = &filter.except_id {
            add(None, json!({"bool": {"must_not": ids(std::iter::once(&**id))}}));
        }
        let attributes = &catalogue.tables.attributes;
        match admitted(&filter.attributes, attributes) {
            Some(admitted) => {
                for (number, ranges) in admitted {
                    let property = &attributes.get(number).property;
                    let facet = Facet::Attribute(format!("{ATTRIBUTE_PREFIX}{property}"));
                    add(Some(facet), any_of(property, &ranges));
                }
            }
            None => add(None, json!({"match_none": {}})),
        }
        Self(parts)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A query for the documents that pass the whole filter, or all of it except a facet's own part.
    pub(super) fn but_for(&self, facet: Option<&Facet>) -> Value {
        let is_own = |of: &Facet| facet.is_some_and(|facet| facet == of || is_same_attribute(facet, of));
        let parts = self.0.iter().filter(|(of, _)| !of.as_ref().is_some_and(is_own));
        let parts: Vec<_> = parts.map(|(_, query)| query).collect();
        if parts.is_empty() { json!({"match_all": {}}) } else { json!({"bool": {"filter": parts}}) }
    }
}

/// A built-in attribute has two names in requests.
fn is_same_attribute(one: &Facet, other: &Facet) -> bool {
    one.property().is_some() && one.property() == other.property()
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

/// How many values of an attribute are read: some are spellings of the same value.
const SPELLINGS: usize = 3 * MAX_ATTRIBUTE_VALUES;
/// How many values each shard returns, since a value that's rare in one shard may be frequent
/// overall.
const SHARD_SIZE: usize = 5_000;

/// An aggregation for each facet. A facet ignores its own part of the filter.
pub(super) fn aggregations(facets: &[Facet], filter: &FilterQuery, catalogue: &Catalogue) -> Map<String, Value> {
    let tables = &catalogue.tables;
    let terms = |field: &str, size: usize| json!({"terms": {"field": field, "size": size, "shard_size": SHARD_SIZE}});
    let of_facet = |facet: &Facet| {
        let values = match facet {
            Facet::Category => terms("categories.id", MAX_CATEGORIES),
            Facet::OfferingType => terms("offering_type", OfferingType::ALL.len()),
            Facet::EvidenceStatus => terms("evidence_status", EvidenceStatus::ALL.len()),
            Facet::Export => terms("export.id", tables.exports.len().max(1)),
            Facet::Rating => {
                let ranges: Vec<_> = (1..=STARS).map(|stars| json!({"from": stars})).collect();
                json!({"range": {"field": "rating", "ranges": ranges}})
            }
            Facet::Attribute(_) => {
                let property = facet.property()?;
                let number = tables.attributes.number(property)?;
                let (kind, ranges) = (tables.attributes.get(number).kind, &tables.attribute_summaries[number].ranges);
                let queries = ranges.iter().map(|range| any_of(property, kind.range(range).as_slice()));
                if ranges.is_empty() {
                    terms(&values_field(property), SPELLINGS)
                } else {
                    json!({"filters": {"filters": queries.collect::<Vec<_>>()}})
                }
            }
        };
        let but_for = filter.but_for(Some(facet));
        Some((facet.as_str().to_owned(), json!({"filter": but_for, "aggs": {"values": values}})))
    };
    facets.iter().filter_map(of_facet).collect()
}

pub(super) fn counts<T>(found: &Found<T>, facets: &[Facet], catalogue: &Catalogue) -> FacetCounts {
    let tables = &catalogue.tables;
    let mut counts = FacetCounts::default();
    counts.categories.resize(tables.categories.len(), 0);
    for facet in facets {
        let buckets = found.buckets(facet.as_str());
        let count = |value: &str| buckets.iter().find(|of| of.key == value).map_or(0, |of| of.doc_count);
        match facet {
            Facet::Category => {
                for Bucket { key, doc_count } in &buckets {
                    let at = key.as_str().and_then(|id| catalogue.find_category(id));
                    if let Some(of) = at.and_then(|at| counts.categories.get_mut(at as usize)) {
                        *of = *doc_count;
                    }
                }
            }
            Facet::OfferingType => counts.offering_types = OfferingType::ALL.map(|of| count(of.as_str())),
            Facet::EvidenceStatus => counts.evidence_statuses = EvidenceStatus::ALL.map(|of| count(of.as_str())),
            Facet::Export => {
                let ids = tables.exports.iter().map(|export| &export.resource.id);
                counts.exports = ids.map(|id| count(id)).collect();
            }
            Facet::Rating => counts.ratings = std::array::from_fn(|at| buckets.get(at).map_or(0, |of| of.doc_count)),
            Facet::Attribute(_) => {
                let Some(attribute) = facet.property().and_then(|property| tables.attributes.number(property)) else {
                    continue;
                };
                let (kind, ranges) =
                    (tables.attributes.get(attribute).kind, &tables.attribute_summaries[attribute].ranges);
                let values = if ranges.is_empty() {
                    spellings(&buckets, |value| kind.key(value))
                } else {
                    ranges.iter().cloned().zip(buckets.iter().map(|bucket| bucket.doc_count)).collect()
                };
                counts.attributes.push(AttributeCounts { attribute, values });
            }
        }
    }
    counts
}

/// Adds up the spellings of each value, under the most frequent one.
fn spellings(buckets: &[Bucket], key: impl Fn(&str) -> Option<String>) -> Vec<(Box<str>, u64)> {
    let mut values: Vec<(String, Box<str>, u64)> = Vec::new();
    for Bucket { key: value, doc_count } in buckets {
        let value = written(value.as_str().unwrap_or_default());
        let Some(key) = key(value) else { continue };
        match values.iter_mut().find(|(of, ..)| *of == key) {
            Some((.., count)) => *count += doc_count,
            None => values.push((key, value.into(), *doc_count)),
        }
    }
    values.sort_by(|(a, _, more), (b, _, less)| less.cmp(more).then_with(|| a.cmp(b)));
    values.truncate(MAX_ATTRIBUTE_VALUES);
    values.into_iter().map(|(_, value, count)| (value, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::AttributeType;

    #[test]
    fn spellings_of_a_value_are_counted_together() {
        let bucket = |value: &str, doc_count| {
            let key = AttributeType::Text.key(value).expect("text");
            Bucket { key: format!("{key}\0{value}").into(), doc_count }
        };
        let buckets = [bucket("Cloud", 5), bucket("on-premises", 4), bucket("cloud", 3), bucket("On Premises", 3)];
        let counted = spellings(&buckets, |value| AttributeType::Text.key(value));
        assert_eq!(counted, [("Cloud".into(), 8), ("on-premises".into(), 7)]);
    }
}
