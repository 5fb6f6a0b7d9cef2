//! Bulk requests: streams documents to an index with limits on bytes and concurrent requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use tokio::task::JoinSet;

use super::cluster::{Backoff, Cluster, ClusterError, ClusterRequest, ClusterResponse, Reason};
use super::document::{Document, Totals};
use crate::engine::EngineError;

/// A request is sent once it reaches this many bytes, so it exceeds the limit by at most one
/// document.
const REQUEST_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of concurrent requests: the next one is prepared while the cluster works on
/// the current one.
const IN_PROGRESS: usize = 2;

/// The time limit for a request, including retries.
const TIME: Duration = Duration::from_mins(5);

/// The time limit for one attempt.
const ATTEMPT: Duration = Duration::from_mins(1);

/// Streams documents to an index. Each document has its own id, so sending it twice does no harm.
#[derive(Debug)]
pub(super) struct BulkLoader {
    cluster: Arc<Cluster>,
    path: String,
    batch: Batch,
    requests: JoinSet<Result<(), ClusterError>>,
    /// The totals for the documents added so far.
    pub(super) totals: Totals,
}

#[derive(Debug, Default)]
struct Batch {
    lines: Vec<u8>,
    /// The offset at which each document's lines end.
    ends: Vec<usize>,
}

impl Batch {
    fn push(&mut self, id: &str, source: &[u8]) {
        self.lines.extend_from_slice(br#"{"index":{"_id":""#);
        // Ids consist of hexadecimal digits, hyphens and our own names, so nothing needs escaping.
        self.lines.extend_from_slice(id.as_bytes());
        self.lines.extend_from_slice(b"\"}}\n");
        self.lines.extend_from_slice(source);
        self.lines.push(b'\n');
        self.ends.push(self.lines.len());
    }

    fn only(&self, places: &[usize]) -> Self {
        let mut batch = Self::default();
        for place in places {
            let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
            batch.lines.extend_from_slice(&self.lines[start..self.ends[*place]]);
            batch.ends.push(batch.lines.len());
        }
        batch
    }
}

impl BulkLoader {
    pub(super) fn new(cluster: Arc<Cluster>, index: &str) -> Self {
        Self {
            cluster,
            path: format!("/{index}/_bulk"),
            batch: Batch::default(),
            requests: JoinSet::new(),
            totals: Totals::default(),
        }
    }

    /// Adds a document. Waits if the cluster can't keep up.
    pub(super) async fn push(&mut self, document: &Document) -> Result<(), EngineError> {
        self.batch.push(&document.id, &document.source);
        self.totals.count += 1;
        self.totals.checksum.add(document.checksum);
        if self.batch.lines.len() >= REQUEST_BYTES { self.send().await } else { Ok(()) }
    }

    /// Sends the remaining documents and waits until all documents have been stored.
    pub(super) async fn finish(&mut self) -> Result<(), EngineError> {
        self.send().await?;
        while let Some(done) = self.requests.join_next().await {
            done.map_err(EngineError::index("written"))??;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), EngineError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.ends.is_empty() {
            return Ok(());
        }
        while self.requests.len() >= IN_PROGRESS {
            if let Some(done) = self.requests.join_next().await {
                done.map_err(EngineError::index("written"))??;
            }
        }
        let (cluster, path) = (Arc::clone(&self.cluster), self.path.clone());
        self.requests.spawn(async move { store(&cluster, &path, batch).await });
        Ok(())
    }
}

/// Stores a batch. Only documents that the cluster rejected because of its load are resent.
async fn store(cluster: &Cluster, path: &str, mut batch: Batch) -> Result<(), ClusterError> {
    let mut backoff = Backoff::within(TIME);
    loop {
        let lines = Bytes::from(std::mem::take(&mut batch.lines));
        let request = ClusterRequest::bulk(path, lines.clone()).timeout(ATTEMPT);
        let request = request.query("filter_path", "errors,items.*.status,items.*.error.type,items.*.error.reason");
        let outcome = cluster.send(request).await.and_then(|response| rejected(&response, batch.ends.len()));
        batch.lines = lines.into();
        let error = match outcome {
            Ok((places, _)) if places.is_empty() => return Ok(()),
            Ok((places, error)) => {
                if places.len() < batch.ends.len() {
                    backoff.reset();
                }
                batch = batch.only(&places);
                error
            }
            Err(error) if error.is_temporary() => Some(error),
            Err(error) => return Err(error),
        };
        if !backoff.wait().await {
            return error.map_or(Ok(()), Err);
        }
    }
}

/// The indices in the batch of the documents to resend, and the last rejection.
fn rejected(response: &ClusterResponse, sent: usize) -> Result<(Vec<usize>, Option<ClusterError>), ClusterError> {
    let outcome: BulkResponse = response.json()?;
    if !outcome.errors {
        return Ok((Vec::new(), None));
    }
    let (mut places, mut last) = (Vec::new(), None);
    for (place, item) in outcome.items.into_iter().map(|item| item.index).enumerate().take(sent) {
        let Some(error) = item.error else { continue };
        let status = StatusCode::from_u16(item.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let reason = Reason::new(error.kind.as_deref(), error.reason.as_deref().unwrap_or_default());
        let error = ClusterError::from_status(&response.node, status, reason);
        if !error.is_temporary() {
            return Err(error);
        }
        places.push(place);
        last = Some(error);
    }
    Ok((places, last))
}

#[derive(Deserialize)]
struct BulkResponse {
    errors: bool,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Outcome,
}

#[derive(Deserialize)]
struct Outcome {
    status: u16,
    error: Option<OutcomeError>,
}

#[derive(Deserialize)]
struct OutcomeError {
    #[serde(rename = "type")]
    kind: Option<String>,
    reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(body: &str) -> ClusterResponse {
        ClusterResponse { status: StatusCode::OK, body: body.to_owned().into(), node: "a".to_owned() }
    }

    #[test]
    fn only_documents_rejected_because_of_load_are_resent() {
        let busy = r#"{"errors":true,"items":[{"index":{"status":201}},
            {"index":{"status":429,"error":{"type":"rejected_execution_exception","reason":"busy"}}}]}"#;
        let (places, error) = rejected(&response(busy), 2).expect("a response");
        assert_eq!(places, [1]);
        assert!(error.is_some_and(|error| error.is_temporary()));
        let wrong = r#"{"errors":true,"items":[{"index":{"status":400,"error":{"type":"mapper_parsing_exception"}}}]}"#;
        assert!(matches!(rejected(&response(wrong), 1), Err(ClusterError::Rejected { .. })));
        assert!(rejected(&response(r#"{"errors":false}"#), 2).expect("a response").0.is_empty());
    }

    #[test]
    fn a_batch_keeps_only_the_selected_documents() {
        let mut batch = Batch::default();
        for (id, source) in [("a", "{}"), ("b", r#"{"x":1}"#), ("c", "{}")] {
            batch.push(id, source.as_bytes());
        }
        let only = batch.only(&[1, 2]);
        let text = "{\"index\":{\"_id\":\"b\"}}\n{\"x\":1}\n{\"index\":{\"_id\":\"c\"}}\n{}\n";
        assert_eq!(String::from_utf8(only.lines).expect("text"), text);
        assert_eq!(only.ends.len(), 2);
    }
}
