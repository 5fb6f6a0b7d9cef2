//! Attribute values are indexed in two fields: one to filter products by, one to count facets by.
//!
//! The filter field has normalised keys. The facet field has each key with its label, which is the
//! same in all documents of a generation. So each bucket is one value, and buckets of equal count
//! are sorted by key.

use serde::Deserialize;
use serde_json::json;

use super::OpenSearchEngine;
use super::cluster::ClusterRequest;
use crate::catalogue::Attribute;
use crate::engine::EngineError;

/// In bytes. Longer keys are replaced by their hash.
const LONGEST_KEY: usize = 256;

/// Of a key with its label, in bytes: OpenSearch's limit for a column value.
const LONGEST_LABELLED: usize = 32_766;

const SEPARATOR: char = '\0';

pub(super) const fn key_field(attribute: Attribute) -> &'static str {
    attribute.as_str()
}

pub(super) const fn label_field(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Standards => "standards_labels",
        Attribute::Deployment => "deployment_labels",
        Attribute::Languages => "languages_labels",
        Attribute::Vendor => "vendor_labels",
        Attribute::Tags => "tags_labels",
    }
}

/// The key as stored in the index.
pub(super) fn indexed_key(key: &str) -> String {
    if key.len() > LONGEST_KEY { blake3::hash(key.as_bytes()).to_hex().to_string() } else { key.to_owned() }
}

/// Joins a key and its label; `None` if they are too long for a column.
pub(super) fn labelled(key: &str, label: &str) -> Option<String> {
    Some(format!("{key}{SEPARATOR}{label}")).filter(|value| value.len() <= LONGEST_LABELLED)
}

pub(super) fn label(labelled: &str) -> &str {
    // A label contains as many separators as its key.
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
    /// For each value, returns whether any product has it, ignoring differences in spelling.
    pub(super) async fn find_values(&self, attribute: Attribute, values: &[&str]) -> Result<Vec<bool>, EngineError> {
        let field = key_field(attribute);
        let keys: Vec<_> = values.iter().map(|value| indexed_key(&Attribute::key(value))).collect();
        let filters: Vec<_> = keys.iter().map(|key| json!({"term": {field: key}})).collect();
        let body = json!({
            "query": {"terms": {field: keys}},
            "size": 0,
            "track_total_hits": false,
            "aggs": {"values": {"filters": {"filters": filters}}},
        });
        let request = ClusterRequest::search(&format!("/{}/_search", self.index), body.to_string());
        let found: Counted = self.cluster.send(request.query("filter_path", "aggregations")).await?.json()?;
        let buckets = found.aggregations.values.buckets;
        if buckets.len() != values.len() {
            return Err(EngineError::index("read")("the cluster counted other values than those of the request"));
        }
        Ok(buckets.into_iter().map(|bucket| bucket.doc_count > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_comes_back_and_keys_of_any_length_are_kept_apart() {
        for value in ["ISO 9001", "-", "a\0b", "\0", ""] {
            let labelled = labelled(&Attribute::key(value), value).expect("short");
            assert_eq!(label(&labelled), value);
        }
        let long = |end: &str| indexed_key(&format!("{}{end}", "a".repeat(LONGEST_KEY)));
        assert_ne!(long("b"), long("c"));
        assert!(long("b").len() <= LONGEST_KEY);
        assert_eq!(labelled(&"a".repeat(LONGEST_LABELLED), ""), None);
    }

    #[test]
    fn columns_are_in_the_order_of_keys() {
        let mut values = ["ab", "A", "a\u{301}c", "a b c"].map(|value| labelled(&Attribute::key(value), value));
        values.sort();
        let labels: Vec<_> = values.iter().flatten().map(|value| label(value)).collect();
        assert_eq!(labels, ["A", "ab", "a b c", "a\u{301}c"]);
    }
}
