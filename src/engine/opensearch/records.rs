//! Reads records and reviews from a cluster.

use bytes::Bytes;
use foldhash::HashMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpenSearchEngine;
use super::cluster::{ClusterError, ClusterRequest};
use super::filter::all;
use super::response::{SearchResponse, StoredFields, damaged, decoded, one};
use super::term::document_id;
use crate::catalogue::resource::ReviewSummary;
use crate::catalogue::{Ordinal, ReviewFilter, ReviewSort, joined};
use crate::engine::{EngineError, Record, ReviewHits, ReviewsRequest};

/// The suffix of the reviews index's name.
pub(super) const REVIEWS: &str = "-reviews";

#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    fields: StoredFields,
}

#[derive(Deserialize)]
struct FoundReviews {
    hits: ReviewsFound,
}

#[derive(Deserialize)]
struct ReviewsFound {
    total: Total,
    #[serde(default)]
    hits: Vec<Stored>,
}

#[derive(Deserialize)]
struct Total {
    value: u64,
}

impl OpenSearchEngine {
    pub(super) async fn read_record(&self, id: &str) -> Result<Option<Record>, EngineError> {
        // This is a search because a read by id doesn't return columns. Routing limits the search
        // to the product's shard.
        let id = document_id(id);
        let request = json!({
            "query": {"ids": {"values": [id]}},
            "size": 1,
            "stored_fields": ["content_hash", "detail"],
            "docvalue_fields": ["ordinal", "item"],
            "_source": false,
            "track_total_hits": true,
        });
        let found = self.search_request(&request).query("routing", id);
        let Some((ordinal, fields)) = self.searched(found).await?.by_ordinal()?.into_iter().next() else {
            return Ok(None);
        };
        let detail_hash = hash(&fields.content_hash)?;
        let (item, detail) = (decoded(fields.item, "item")?, one(fields.detail, "detail")?);
        Ok(Some(Record { ordinal, detail_hash, body: body(&item, &detail) }))
    }

    pub(super) async fn read_detail_hash(&self, id: &str) -> Result<Option<u64>, EngineError> {
        let fields = self.stored(id, "content_hash").await?;
        fields.map(|fields| hash(&fields.content_hash)).transpose()
    }

    pub(super) async fn read_reviews(
        &self,
        id: &str,
        request: &ReviewsRequest,
    ) -> Result<Option<ReviewHits>, EngineError> {
        let Some(fields) = self.stored(id, "reviews").await? else { return Ok(None) };
        let summary = one(fields.reviews, "reviews")?;
        let summary: ReviewSummary = serde_json::from_slice(&summary).map_err(EngineError::index("read"))?;
        if summary.count == 0 {
            return Ok(Some(ReviewHits { reviews: Vec::new(), total: 0, summary }));
        }
        let body = json!({
            "query": all(&clauses(id, &request.filter)),
            "sort": order(request.sort),
            "from": request.page.start,
            "size": request.page.len(),
            "stored_fields": ["object"],
            "_source": false,
            "track_total_hits": true,
        });
        let path = format!("/{}{REVIEWS}/_search", self.index);
        let search = ClusterRequest::search(&path, body.to_string());
        let search = search.query("filter_path", "hits.total.value,hits.hits.fields");
        let found: FoundReviews = self.cluster.send(search).await?.json()?;
        let reviews = found.hits.hits.into_iter().map(|hit| one(hit.fields.object, "object"));
        Ok(Some(ReviewHits { reviews: reviews.collect::<Result<_, _>>()?, total: found.hits.total.value, summary }))
    }

    pub(super) async fn search_index(&self, body: &Value) -> Result<SearchResponse, EngineError> {
        self.searched(self.search_request(body)).await
    }

    fn search_request(&self, body: &Value) -> ClusterRequest {
        let request = ClusterRequest::search(&format!("/{}/_search", self.index), body.to_string());
        request.query("filter_path", "timed_out,hits.total.value,hits.hits._score,hits.hits.fields,aggregations")
    }

    async fn searched(&self, request: ClusterRequest) -> Result<SearchResponse, EngineError> {
        let response: SearchResponse = self.cluster.send(request).await?.json()?;
        if response.is_incomplete() {
            return Err(EngineError::index("read")("the cluster gave up before finding everything"));
        }
        Ok(response)
    }

    /// Reads products' fields by ordinal. `fields` is the part of a search body that selects the
    /// fields.
    pub(super) async fn documents(
        &self,
        ordinals: &[Ordinal],
        fields: &Value,
    ) -> Result<HashMap<Ordinal, StoredFields>, EngineError> {
        if ordinals.is_empty() {
            return Ok(HashMap::default());
        }
        let mut body = json!({
            "query": {"constant_score": {"filter": {"terms": {"ordinal": ordinals}}}},
            "size": ordinals.len(),
            "_source": false,
            "track_total_hits": true,
        });
        if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
            body.extend(fields.clone());
        }
        self.search_index(&body).await?.by_ordinal()
    }

    /// Reads a product's stored fields; `None` if the id is unknown.
    async fn stored(&self, id: &str, fields: &str) -> Result<Option<StoredFields>, EngineError> {
        let request = ClusterRequest::document(&format!("/{}/_doc/{}", self.index, document_id(id)));
        let request = request.query("stored_fields", fields).query("_source", "false").query("realtime", "false");
        match self.cluster.send(request).await {
            Ok(response) => Ok(Some(response.json::<Stored>()?.fields)),
            Err(error @ ClusterError::NotFound { .. }) if !error.is_missing_index() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn hash(stored: &[String]) -> Result<u64, EngineError> {
    let digits = stored.first().and_then(|digits| u64::from_str_radix(digits, 16).ok());
    digits.ok_or_else(|| damaged("content_hash"))
}

/// Combines the item and the other fields into one object, as a response body.
fn body(item: &[u8], detail: &[u8]) -> Bytes {
    [br#"{"data":"#, &joined(item, detail)[..], b"}"].concat().into()
}

fn clauses(id: &str, filter: &ReviewFilter) -> Vec<Value> {
    let mut clauses = vec![json!({"term": {"product": document_id(id)}})];
    if let Some(least) = filter.min_rating {
        clauses.push(json!({"range": {"rating": {"gte": least.ceil()}}}));
    }
    if let Some(most) = filter.max_rating {
        clauses.push(json!({"range": {"rating": {"lte": most.floor()}}}));
    }
    if let Some(verified) = filter.verified {
        clauses.push(json!({"term": {"verified": verified}}));
    }
    clauses
}

/// The clauses for a sort order. Ties are broken by the stored order, newest first.
fn order(sort: ReviewSort) -> Value {
    let then = json!({"place": "asc"});
    match sort {
        ReviewSort::Newest => json!([then]),
        ReviewSort::Oldest => json!([{"created_at": {"order": "asc", "missing": "_last"}}, then]),
        ReviewSort::Best => json!([{"rating": "desc"}, then]),
        ReviewSort::Worst => json!([{"rating": "asc"}, then]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_and_its_detail_become_one_object() {
        assert_eq!(&body(br#"{"id":"a"}"#, br#"{"tags":[]}"#)[..], br#"{"data":{"id":"a","tags":[]}}"#);
    }
}
