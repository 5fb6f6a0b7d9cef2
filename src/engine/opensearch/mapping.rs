//! The settings and fields of a generation's indices.

use serde_json::{Value, json};

use super::attributes::{KEYS, label_field};
use crate::catalogue::Order;
use crate::record::MAX_ATTRIBUTES;

/// Increment this whenever the documents or their fields change.
pub(super) const MAPPING_VERSION: u32 = 5;

/// How deep a ranked page can reach: slightly more than a search's largest offset plus its page
/// size.
pub(super) const MAX_WINDOW: usize = 20_000;

/// Keeps a shard at roughly ten gigabytes.
const PRODUCTS_PER_SHARD: usize = 4_000_000;

pub(super) const fn rank_field(order: Order) -> &'static str {
    match order {
        Order::Name => "name_rank",
        Order::Rating => "rating_rank",
        Order::ReviewCount => "review_rank",
        Order::EvidenceCheckedOn => "checked_rank",
    }
}

pub(super) fn shards(products: usize) -> usize {
    products.div_ceil(PRODUCTS_PER_SHARD).max(1)
}

pub(super) fn products(shards: usize) -> Value {
    let number = json!({"type": "integer"});
    // Only used for sorting or multiplying, never searched.
    let column = |kind: &str| json!({"type": kind, "index": false});
    let sequence = |store: bool| json!({"type": "text", "analyzer": "whitespace", "norms": false, "store": store});
    // Only returned with hits, never searched.
    let stored = json!({"type": "keyword", "index": false, "doc_values": false, "store": true});
    let set = json!({"type": "keyword", "doc_values": false});
    // Only used for counting.
    let counted = json!({"type": "keyword", "index": false});
    let mut properties = json!({
        "terms": {"type": "rank_features"},
        "stems": set,
        "names": set,
        "short": set,
        "near": sequence(false),
        "words": sequence(true),
        "name_score": column("float"),
        "name_words": column("integer"),
        "demo": {"type": "byte"},
        "categories": number,
        "offering_type": {"type": "byte"},
        "evidence_status": {"type": "byte"},
        "stars": {"type": "byte"},
        "rating": {"type": "double"},
        "checked_on": number,
        "ordinal": number,
        "check_a": column("integer"),
        "check_b": column("integer"),
        "content_hash": stored,
        // A page is read only from columns, because decompressing stored fields would take up two
        // thirds of a search's time.
        "item": {"type": "binary", "doc_values": true},
        "vector": {"type": "binary", "doc_values": true},
        "detail": stored,
        "reviews": stored,
        "text_bytes": column("integer"),
    });
    for order in Order::ALL {
        properties[rank_field(order)] = number.clone();
    }
    properties[KEYS] = set;
    // Named by number, so the mapping doesn't depend on what exports declare.
    for attribute in 0..MAX_ATTRIBUTES {
        properties[label_field(attribute)] = counted.clone();
    }
    let mut index = settings(shards);
    // Puts documents with equal scores in quality order.
    index["sort.field"] = json!("ordinal");
    index["max_result_window"] = json!(MAX_WINDOW);
    index["mapping.total_fields.limit"] = json!(100);
    with_id(json!({
        "settings": {"index": index},
        "mappings": {"dynamic": "strict", "_source": {"enabled": false}, "properties": properties},
    }))
}

pub(super) fn reviews() -> Value {
    let mut index = settings(1);
    index["max_result_window"] = json!(1_000_000);
    with_id(json!({
        "settings": {"index": index},
        "mappings": {"dynamic": "strict", "_source": {"enabled": false}, "properties": {
            "product": {"type": "keyword", "doc_values": false},
            "rating": {"type": "byte"},
            "verified": {"type": "boolean"},
            "created_at": {"type": "long"},
            "place": {"type": "integer"},
            "object": {"type": "keyword", "index": false, "doc_values": false, "store": true},
            "check_a": {"type": "integer", "index": false},
            "check_b": {"type": "integer", "index": false},
        }},
    }))
}

pub(super) fn parts() -> Value {
    with_id(json!({"settings": {"index": settings(1)}, "mappings": {"enabled": false}}))
}

/// Stores the mapping's hash in the mapping itself, so an index with a different mapping is
/// recognised.
fn with_id(mut index: Value) -> Value {
    let hash = blake3::hash(index["mappings"].to_string().as_bytes()).to_hex();
    index["mappings"]["_meta"] = json!({"mapping": &hash[..16]});
    index
}

/// The index for the two publication documents.
pub(super) fn state() -> Value {
    json!({
        "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-all"}},
        "mappings": {"enabled": false},
    })
}

fn settings(shards: usize) -> Value {
    json!({
        "number_of_shards": shards,
        // If there's another node, keep a replica from the first document onwards, because a node
        // may fail during a fill.
        "auto_expand_replicas": "0-1",
        // A fill refreshes the index only once, at the end.
        "refresh_interval": "-1",
        "codec": "best_compression",
    })
}
