//! Facets as aggregations of a cluster.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::attributes::{label, label_field};
use super::filter::FilterQuery;
use crate::catalogue::{Admission, Attribute};
use crate::engine::EngineError;
use crate::search::facet_counts::{FacetCounts, MAX_ATTRIBUTE_VALUES};

/// The values that each of several shards counts for the most frequent ones: a value that is rare in one may be frequent in all.
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

/// The aggregations of all facets on an index of that many shards, each without its own part of the filter.
pub(super) fn aggregations(filter: &FilterQuery, attributes: &[Attribute], shards: usize) -> Map<String, Value> {
    let facet = |field: &str, part: Admission, size: usize, shard_size: usize| {
        let terms = json!({"terms": {"field": field, "size": size, "shard_size": shard_size}});
        (field.to_owned(), json!({"filter": filter.but_for(part), "aggs": {"values": terms}}))
    };
    let fixed = FACETS.iter().map(|(field, part, size)| facet(field, *part, *size, *size));
    let shard_size = if shards == 1 { MAX_ATTRIBUTE_VALUES } else { SHARD_SIZE };
    let attributes = attributes.iter().map(|attribute| {
        facet(label_field(*attribute), Admission::attribute(*attribute), MAX_ATTRIBUTE_VALUES, shard_size)
    });
    fixed.chain(attributes).collect()
}

/// The values of an aggregation.
#[derive(Debug, Deserialize)]
struct Values<K> {
    buckets: Vec<Bucket<K>>,
}

#[derive(Debug, Deserialize)]
struct Bucket<K> {
    key: K,
    doc_count: u64,
}

/// The counts that aggregations have, by the number of categories; `values` returns the aggregation of a name.
pub(super) fn counts(
    categories: usize,
    attributes: &[Attribute],
    mut values: impl FnMut(&str) -> Option<Value>,
) -> Result<FacetCounts, EngineError> {
    let mut counts = FacetCounts::default();
    counts.categories.resize(categories, 0);
    add(&mut counts.categories, buckets(values("categories"))?);
    add(&mut counts.offering_types, buckets(values("offering_type"))?);
    add(&mut counts.evidence_statuses, buckets(values("evidence_status"))?);
    for bucket in buckets::<usize>(values("stars"))? {
        // Rated at least that.
        counts.ratings.iter_mut().take(bucket.key).for_each(|count| *count += bucket.doc_count);
    }
    for attribute in attributes {
        let buckets = buckets::<String>(values(label_field(*attribute)))?.into_iter();
        let value = |bucket: Bucket<String>| (label(&bucket.key).into(), bucket.doc_count);
        counts.attributes[*attribute as usize] = buckets.map(value).collect();
    }
    Ok(counts)
}

/// The buckets of an aggregation; none where it isn't there.
fn buckets<K: DeserializeOwned>(values: Option<Value>) -> Result<Vec<Bucket<K>>, EngineError> {
    let Some(values) = values else { return Ok(Vec::new()) };
    let values: Values<K> = serde_json::from_value(values).map_err(EngineError::index("read"))?;
    Ok(values.buckets)
}

fn add(counts: &mut [u64], buckets: Vec<Bucket<usize>>) {
    for bucket in buckets {
        if let Some(count) = counts.get_mut(bucket.key) {
            *count += bucket.doc_count;
        }
    }
}
