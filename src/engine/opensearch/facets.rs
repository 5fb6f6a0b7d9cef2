//! Facets as aggregations of a cluster.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::filter::FilterQuery;
use super::mapping::attribute_field;
use crate::catalogue::{Admission, Attribute, Columns};
use crate::search::facet_counts::{FacetCounts, MAX_ATTRIBUTE_VALUES};

/// The values that a shard counts for the most frequent ones: where there are several shards, a value that is rare in one may be
/// frequent in all.
const SHARD_SIZE: usize = 10_000;

/// The most categories that are counted; OpenSearch makes no more buckets.
const MAX_CATEGORIES: usize = 60_000;

/// The facets besides the attributes: their names, fields and parts of a filter, and their values at most.
const FACETS: [(&str, Admission, usize); 4] = [
    ("categories", Admission::CATEGORY, MAX_CATEGORIES),
    ("offering_type", Admission::OFFERING_TYPE, 2),
    ("evidence_status", Admission::EVIDENCE_STATUS, 2),
    ("stars", Admission::RATING, 6),
];

/// The aggregations of all facets, each without its own part of the filter.
pub(super) fn aggregations(filter: &FilterQuery, attributes: &[Attribute]) -> Map<String, Value> {
    let facet = |field: &str, part: Admission, size: usize, shard_size: usize| {
        let terms = json!({"terms": {"field": field, "size": size, "shard_size": shard_size}});
        (field.to_owned(), json!({"filter": filter.but_for(part), "aggs": {"values": terms}}))
    };
    let fixed = FACETS.iter().map(|(field, part, size)| facet(field, *part, *size, *size));
    let attributes = attributes.iter().map(|attribute| {
        facet(attribute_field(*attribute), Admission::attribute(*attribute), MAX_ATTRIBUTE_VALUES, SHARD_SIZE)
    });
    fixed.chain(attributes).collect()
}

/// The counts of a facet.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Facet {
    buckets: Vec<Bucket>,
}

impl Facet {
    /// Reads an aggregation; `None` where it has another form.
    pub(super) fn read(values: Value) -> Option<Self> {
        serde_json::from_value(values).ok()
    }
}

#[derive(Debug, Deserialize)]
struct Bucket {
    key: u32,
    doc_count: u64,
}

/// The counts that aggregations have, by the number of categories and the values of attributes; `of` returns those of a name.
pub(super) fn counts(
    (categories, columns): (usize, &Columns),
    attributes: &[Attribute],
    mut of: impl FnMut(&str) -> Option<Facet>,
) -> FacetCounts {
    let mut counts = FacetCounts::default();
    let mut buckets = |name: &str| of(name).unwrap_or_default().buckets;
    counts.categories.resize(categories, 0);
    add(&mut counts.categories, buckets("categories"));
    add(&mut counts.offering_types, buckets("offering_type"));
    add(&mut counts.evidence_statuses, buckets("evidence_status"));
    for bucket in buckets("stars") {
        // Rated at least that.
        counts.ratings.iter_mut().take(bucket.key as usize).for_each(|count| *count += bucket.doc_count);
    }
    for attribute in attributes {
        let column = columns.attribute(*attribute);
        let known =
            buckets(attribute_field(*attribute)).into_iter().filter(|bucket| (bucket.key as usize) < column.len());
        let value = |bucket: Bucket| (column.label(bucket.key).into(), bucket.doc_count);
        counts.attributes[*attribute as usize] = known.map(value).collect();
    }
    counts
}

fn add(counts: &mut [u64], buckets: Vec<Bucket>) {
    for bucket in buckets {
        if let Some(count) = counts.get_mut(bucket.key as usize) {
            *count += bucket.doc_count;
        }
    }
}
