//! Attribute values are indexed in two kinds of fields: one for filtering, and one per attribute
//! for facet counts.
//!
//! The filter field contains the keys of all attributes, prefixed with the attribute's number. A
//! facet field contains each key together with its label, which is the same throughout a
//! generation. So each bucket is one value, and buckets with equal counts are sorted by key.

use serde::Deserialize;
use serde_json::{Value, json};

use super::OpenSearchEngine;
use super::cluster::ClusterRequest;
use crate::engine::EngineError;
use crate::record::{AttributeNumber, KeyRange};

/// The maximum length of a key, in bytes. Longer keys are replaced with their hash.
const LONGEST_KEY: usize = 256;

/// The maximum length of a key and its label, in bytes: OpenSearch's limit on a column value.
const LONGEST_LABELLED: usize = 32_766;

const SEPARATOR: char = '\0';

/// The field that contains all keys.
pub(super) const KEYS: &str = "attributes";

pub(super) fn label_field(attribute: AttributeNumber) -> String {
    format!("a{attribute}")
}

/// The key of an attribute's value as stored in the index.
pub(super) fn indexed_key(attribute: AttributeNumber, key: &str) -> String {
    let key = if key.len() > LONGEST_KEY { &*blake3::hash(key.as_bytes()).to_hex() } else { key };
    format!("{attribute}{SEPARATOR}{key}")
}

/// A query for products that have any of these values for an attribute.
pub(super) fn any_of(attribute: AttributeNumber, ranges: &[KeyRange]) -> Value {
    let keys: Vec<_> = ranges.iter().filter_map(KeyRange::single).map(|key| indexed_key(attribute, key)).collect();
    let one_by_one = json!({"terms": {KEYS: keys}});
    let ranges = ranges.iter().filter(|range| range.single().is_none());
    let mut any: Vec<_> = ranges.map(|range| between(attribute, range)).collect();
    if any.is_empty() {
        return one_by_one;
    }
    any.push(one_by_one);
    json!({"bool": {"should": any}})
}

/// A query for products with an attribute value in this range. Only attributes with fixed-length
/// keys have ranges, so these keys are never hashed.
fn between(attribute: AttributeNumber, KeyRange { from, to }: &KeyRange) -> Value {
    let from = format!("{attribute}{SEPARATOR}{}", from.as_deref().unwrap_or_default());
    match to {
        Some(to) => json!({"range": {KEYS: {"gte": from, "lte": format!("{attribute}{SEPARATOR}{to}")}}}),
        None => json!({"range": {KEYS: {"gte": from, "lt": format!("{attribute}\u{1}")}}}),
    }
}

/// Joins a key and its label; `None` if the result is too long for a column.
pub(super) fn labelled(key: &str, label: &str) -> Option<String> {
    Some(format!("{key}{SEPARATOR}{label}")).filter(|value| value.len() <= LONGEST_LABELLED)
}

pub(super) fn label(labelled: &str) -> &str {
    // The label contains as many separators as the key, so the middle separator is the one between
    // them.
    let separators: Vec<_> = labelled.match_indices(SEPARATOR).collect();
    separators.get(separators.len() / 2).map_or(labelled, |(at, _)| &labelled[at + SEPARATOR.len_utf8()..])
}

#[derive(Deserialize)]
struct Counted {
    aggregations: Aggregations,
}

#[derive(Deserialize)]
struct Aggregations {
    values: Values,
}

#[derive(Deserialize)]
struct Values {
    buckets: Vec<Bucket>,
}

#[derive(Deserialize)]
struct Bucket {
    doc_count: u64,
}

impl OpenSearchEngine {
    /// Returns, for each value key, whether any product has the value.
    pub(super) async fn find_values(
        &self,
        attribute: AttributeNumber,
        keys: &[String],
    ) -> Result<Vec<bool>, EngineError> {
        let keys: Vec<_> = keys.iter().map(|key| indexed_key(attribute, key)).collect();
        let filters: Vec<_> = keys.iter().map(|key| json!({"term": {KEYS: key}})).collect();
        let body = json!({
            "query": {"terms": {KEYS: keys}},
            "size": 0,
            "track_total_hits": false,
            "aggs": {"values": {"filters": {"filters": filters}}},
        });
        let request = ClusterRequest::search(&format!("/{}/_search", self.index), body.to_string());
        let found: Counted = self.cluster.send(request.query("filter_path", "aggregations")).await?.json()?;
        let buckets = found.aggregations.values.buckets;
        if buckets.len() != keys.len() {
            return Err(EngineError::index("read")("the cluster didn't count the values that were requested"));
        }
        Ok(buckets.into_iter().map(|bucket| bucket.doc_count > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::AttributeType;

    fn key(value: &str) -> String {
        AttributeType::Text.key(value).expect("text")
    }

    #[test]
    fn labels_are_decoded_and_keys_of_any_length_are_distinct() {
        for value in ["ISO 9001", "-", "a\0b", "\0", ""] {
            let labelled = labelled(&key(value), value).expect("short");
            assert_eq!(label(&labelled), value);
        }
        let long = |end: &str| indexed_key(7, &format!("{}{end}", "a".repeat(LONGEST_KEY)));
        assert_ne!(long("b"), long("c"));
        assert!(long("b").len() <= LONGEST_KEY);
        assert_ne!(indexed_key(1, "1"), indexed_key(11, ""));
        assert_eq!(labelled(&"a".repeat(LONGEST_LABELLED), ""), None);
    }

    #[test]
    fn columns_sort_in_key_order() {
        let mut values = ["ab", "A", "a\u{301}c", "a b c"].map(|value| labelled(&key(value), value));
        values.sort();
        let labels: Vec<_> = values.iter().flatten().map(|value| label(value)).collect();
        assert_eq!(labels, ["A", "ab", "a b c", "a\u{301}c"]);
    }
}
