//! Facets as OpenSearch aggregations.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::attributes::{any_of, label, label_field};
use super::filter::FilterQuery;
use crate::catalogue::{Admission, Tables};
use crate::engine::EngineError;
use crate::record::AttributeNumber;
use crate::search::facet_counts::{AttributeCounts, FacetCounts, MAX_ATTRIBUTE_VALUES};

/// How many values each shard returns when there are several shards, since a value that's rare in
/// one shard may be frequent overall.
const SHARD_SIZE: usize = 10_000;

/// The maximum number of categories to count; OpenSearch doesn't allow many more buckets.
const MAX_CATEGORIES: usize = 60_000;

/// Facets other than attributes: field name, part of the filter, and maximum number of values.
const FACETS: [(&str, Admission, usize); 4] = [
    ("categories", Admission::CATEGORY, MAX_CATEGORIES),
    ("offering_type", Admission::OFFERING_TYPE, 2),
    ("evidence_status", Admission::EVIDENCE_STATUS, 2),
    ("stars", Admission::RATING, 6),
];

/// The aggregations for all facets. Each facet ignores its own part of the filter.
pub(super) fn aggregations(
    filter: &FilterQuery,
    attributes: &[AttributeNumber],
    tables: &Tables,
    shards: usize,
) -> Map<String, Value> {
    let facet = |field: &str, part: Admission, values: Value| {
        (field.to_owned(), json!({"filter": filter.but_for(part), "aggs": {"values": values}}))
    };
    let terms = |field: &str, size: usize, shard_size: usize| json!({"terms": {"field": field, "size": size, "shard_size": shard_size}});
    let fixed = FACETS.iter().map(|(field, part, size)| facet(field, *part, terms(field, *size, *size)));
    let shard_size = if shards == 1 { MAX_ATTRIBUTE_VALUES } else { SHARD_SIZE };
    let attributes = attributes.iter().map(|attribute| {
        let field = label_field(*attribute);
        let (kind, ranges) = (tables.attributes.get(*attribute).kind, &tables.attribute_summaries[*attribute].ranges);
        let queries = ranges.iter().filter_map(|range| Some(any_of(*attribute, &[kind.range(range)?])));
        let values = if ranges.is_empty() {
            terms(&field, MAX_ATTRIBUTE_VALUES, shard_size)
        } else {
            json!({"filters": {"filters": queries.collect::<Vec<_>>()}})
        };
        facet(&field, Admission::attribute(*attribute), values)
    });
    fixed.chain(attributes).collect()
}

#[derive(Debug, Deserialize)]
#[serde(bound = "K: DeserializeOwned + Default")]
struct Values<K> {
    buckets: Vec<Bucket<K>>,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "K: DeserializeOwned + Default")]
struct Bucket<K> {
    /// Buckets of filter queries don't have a key.
    #[serde(default)]
    key: K,
    doc_count: u64,
}

/// Reads the counts from aggregations. `values` returns an aggregation by name.
pub(super) fn counts(
    tables: &Tables,
    attributes: &[AttributeNumber],
    mut values: impl FnMut(&str) -> Option<Value>,
) -> Result<FacetCounts, EngineError> {
    let mut counts = FacetCounts::default();
    counts.categories.resize(tables.categories.len(), 0);
    add(&mut counts.categories, buckets(values("categories"))?);
    add(&mut counts.offering_types, buckets(values("offering_type"))?);
    add(&mut counts.evidence_statuses, buckets(values("evidence_status"))?);
    for bucket in buckets::<usize>(values("stars"))? {
        // A product counts towards its own rating and all lower ones.
        counts.ratings.iter_mut().take(bucket.key).for_each(|count| *count += bucket.doc_count);
    }
    for attribute in attributes {
        let buckets = buckets::<String>(values(&label_field(*attribute)))?.into_iter();
        let ranges = &tables.attribute_summaries[*attribute].ranges;
        let values = if ranges.is_empty() {
            buckets.map(|bucket| (label(&bucket.key).into(), bucket.doc_count)).collect()
        } else {
            ranges.iter().cloned().zip(buckets.map(|bucket| bucket.doc_count)).collect()
        };
        counts.attributes.push(AttributeCounts { attribute: *attribute, values });
    }
    Ok(counts)
}

/// An aggregation's buckets; empty if the aggregation is missing.
fn buckets<K: DeserializeOwned + Default>(values: Option<Value>) -> Result<Vec<Bucket<K>>, EngineError> {
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
