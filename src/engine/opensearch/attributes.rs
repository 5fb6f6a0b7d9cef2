//! Values of attributes: a field by which products are filtered, and one by which facets are counted.
//!
//! The first one has keys, in which spellings don't differ. The second one has each key with its label, which is the same in all
//! documents of a generation: so a bucket is a value, and buckets of equal counts are in the order of keys.

use serde::Deserialize;
use serde_json::json;

use super::OpenSearchEngine;
use super::cluster::ClusterRequest;
use crate::catalogue::Attribute;
use crate::engine::EngineError;

/// The longest key in bytes; a longer one is replaced by its hash.
const LONGEST_KEY: usize = 256;

/// The longest key with its label, in bytes: OpenSearch takes no longer value of a column.
const LONGEST_LABELLED: usize = 32_766;

/// Stands between key and label.
const SEPARATOR: char = '\0';

/// The field of an attribute's keys.
pub(super) const fn key_field(attribute: Attribute) -> &'static str {
    attribute.as_str()
}

/// The field of an attribute's keys with labels.
pub(super) const fn label_field(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Standards => "standards_labels",
        Attribute::Deployment => "deployment_labels",
        Attribute::Languages => "languages_labels",
        Attribute::Vendor => "vendor_labels",
        Attribute::Tags => "tags_labels",
    }
}

/// A key as its field has it.
pub(super) fn indexed_key(key: &str) -> String {
    if key.len() > LONGEST_KEY { blake3::hash(key.as_bytes()).to_hex().to_string() } else { key.to_owned() }
}

/// A key with its label; `None` where they are too long for a column.
pub(super) fn labelled(key: &str, label: &str) -> Option<String> {
    Some(format!("{key}{SEPARATOR}{label}")).filter(|value| value.len() <= LONGEST_LABELLED)
}

/// The label of a key with its label.
pub(super) fn label(labelled: &str) -> &str {
    // A label has as many separators of its own as its key.
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
