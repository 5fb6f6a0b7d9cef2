//! Responses from a cluster.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ClusterError;
use super::connection::{Call, Connection, PATIENCE};

/// A document read by its id.
#[derive(Debug, Deserialize)]
pub(super) struct Got<T> {
    #[serde(rename = "_index", default)]
    pub(super) index: String,
    #[serde(rename = "_seq_no", default)]
    pub(super) seq_no: u64,
    #[serde(rename = "_primary_term", default)]
    pub(super) primary_term: u64,
    #[serde(rename = "_source")]
    pub(super) source: T,
}

/// What a search found.
#[derive(Debug, Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
pub(super) struct Found<T> {
    pub(super) hits: Hits<T>,
    #[serde(default)]
    aggregations: Value,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
pub(super) struct Hits<T> {
    #[serde(default = "Total::default")]
    total: Total,
    pub(super) hits: Vec<Hit<T>>,
}

#[derive(Debug, Default, Deserialize)]
struct Total {
    value: u64,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
pub(super) struct Hit<T> {
    #[serde(rename = "_id", default)]
    pub(super) id: String,
    #[serde(rename = "_score")]
    pub(super) score: Option<f32>,
    #[serde(rename = "_source")]
    pub(super) source: Option<T>,
    pub(super) sort: Option<Value>,
    #[serde(default)]
    pub(super) matched_queries: Vec<String>,
    #[serde(default)]
    pub(super) fields: HashMap<String, Vec<String>>,
}

/// A value and the number of documents with it.
#[derive(Debug, Deserialize)]
pub(super) struct Bucket {
    /// Absent if buckets are given by queries.
    #[serde(default)]
    pub(super) key: Value,
    pub(super) doc_count: u64,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self { hits: Hits { total: Total::default(), hits: Vec::new() }, aggregations: Value::Null }
    }
}

impl<T> Found<T> {
    pub(super) fn sources(&self) -> impl Iterator<Item = &T> {
        self.hits.hits.iter().filter_map(|hit| hit.source.as_ref())
    }

    pub(super) const fn total(&self) -> u64 {
        self.hits.total.value
    }

    /// The number of documents in an aggregation's filter.
    pub(super) fn count(&self, aggregation: &str) -> u64 {
        self.aggregations[aggregation]["doc_count"].as_u64().unwrap_or_default()
    }

    /// The buckets of an aggregation inside a filter.
    pub(super) fn buckets(&self, aggregation: &str) -> Vec<Bucket> {
        Vec::deserialize(&self.aggregations[aggregation]["values"]["buckets"]).unwrap_or_default()
    }
}

/// Reads everything that a search finds, a page at a time.
#[derive(Debug)]
pub(super) struct Scan<'c> {
    connection: &'c Connection,
    target: String,
    /// The next search; `None` after the last page.
    search: Option<Value>,
}

impl<'c> Scan<'c> {
    /// The search must have a size, and be sorted by a unique field.
    pub(super) fn new(connection: &'c Connection, index: &str, mut search: Value) -> Self {
        search["track_total_hits"] = false.into();
        Self { connection, target: search_target(index), search: Some(search) }
    }

    /// The hits on the next page; empty after the last one.
    pub(super) async fn next<T: DeserializeOwned + Send + 'static>(&mut self) -> Result<Vec<Hit<T>>, ClusterError> {
        let Some(mut search) = self.search.take() else { return Ok(Vec::new()) };
        let call = Call::post(&*self.target, search.to_string()).within(PATIENCE);
        let hits = self.connection.send(call).await?.json::<Found<T>>().await?.hits.hits;
        if search["size"] == hits.len()
            && let Some(after) = hits.last().and_then(|last| last.sort.clone())
        {
            search["search_after"] = after;
            self.search = Some(search);
        }
        Ok(hits)
    }
}

/// Where to send a search. A missing shard is an error, rather than fewer hits. A node uses its own
/// shards if it has them, so that a search doesn't hang if another node doesn't respond.
pub(super) fn search_target(index: &str) -> String {
    format!("/{index}/_search?allow_partial_search_results=false&preference=_local")
}
