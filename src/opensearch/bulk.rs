//! Bulk requests: streams documents and deletions to an index with limits on bytes and concurrent
//! requests, and backs off while the cluster is busy.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection::{Answer, Call, Connection};
use super::document::Document;
use super::error::{ClusterError, ErrorKind, Reason};

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
/// The first pause before a retry, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];

/// Streams documents to an index. Each document has its own id, so sending it twice does no harm.
#[derive(Debug)]
pub(super) struct BulkLoader {
    connection: Arc<Connection>,
    target: String,
    batch: Vec<u8>,
    requests: JoinSet<Result<(), ClusterError>>,
    /// The number of documents sent and deleted so far.
    pub(super) sent: u64,
}

impl BulkLoader {
    pub(super) fn new(connection: Arc<Connection>, index: &str) -> Self {
        let target = format!("/{index}/_bulk?filter_path=items.*.status,items.*.error.type,items.*.error.reason");
        Self { connection, target, batch: Vec::new(), requests: JoinSet::new(), sent: 0 }
    }

    /// Adds a document. Returns whether the batch is large enough to be sent.
    pub(super) fn push(&mut self, document: &Document) -> Result<bool, serde_json::Error> {
        self.add("index", &document.key)?;
        self.batch.extend_from_slice(&document.source);
        self.batch.push(b'\n');
        Ok(self.batch.len() >= REQUEST_BYTES)
    }

    /// Deletes a document. Returns whether the batch is large enough to be sent.
    pub(super) fn delete(&mut self, key: &str) -> Result<bool, serde_json::Error> {
        self.add("delete", key)?;
        Ok(self.batch.len() >= REQUEST_BYTES)
    }

    fn add(&mut self, action: &str, key: &str) -> Result<(), serde_json::Error> {
        self.sent += 1;
        self.batch.extend_from_slice(format!("{{\"{action}\":{{\"_id\":").as_bytes());
        serde_json::to_writer(&mut self.batch, key)?;
        self.batch.extend_from_slice(b"}}\n");
        Ok(())
    }

    /// Sends the batch. Waits if the cluster can't keep up.
    pub(super) async fn send(&mut self) -> Result<(), ClusterError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        self.wait(IN_PROGRESS).await?;
        let (connection, target) = (Arc::clone(&self.connection), self.target.clone());
        self.requests.spawn(async move { store(&connection, &target, batch.into()).await });
        Ok(())
    }

    /// Sends the rest and waits until everything is stored.
    pub(super) async fn finish(&mut self) -> Result<(), ClusterError> {
        self.send().await?;
        self.wait(1).await
    }

    /// Waits until fewer requests are in progress.
    async fn wait(&mut self, than: usize) -> Result<(), ClusterError> {
        while self.requests.len() >= than {
            match self.requests.join_next().await {
                Some(Ok(done)) => done?,
                Some(Err(error)) => {
                    return Err(ClusterError::new(ErrorKind::Other, "a bulk request failed").caused_by(error));
                }
                None => break,
            }
        }
        Ok(())
    }
}

/// Stores a batch. If the cluster is too busy for any of it, all of it is sent again after a while,
/// which does no harm.
async fn store(connection: &Connection, target: &str, batch: Bytes) -> Result<(), ClusterError> {
    let [mut pause, longest] = PAUSES;
    let deadline = Instant::now() + TIME;
    loop {
        let outcome = connection.send(Call::post(target, batch.clone()).within(ATTEMPT)).await;
        let checked = match outcome {
            Ok(answer) => check(answer).await,
            Err(error) => Err(error),
        };
        let error = match checked {
            Err(error) if error.is_temporary() => error,
            outcome => return outcome,
        };
        // Half of the pause is random, so that clients don't all retry at the same time.
        let random = f64::from(getrandom::u32().unwrap_or(u32::MAX / 2)) / f64::from(u32::MAX);
        let next = pause / 2 + (pause / 2).mul_f64(random);
        if Instant::now() + next >= deadline {
            return Err(error);
        }
        tokio::time::sleep(next).await;
        pause = (pause * 2).min(longest);
    }
}

/// Fails if any document was rejected: permanently, if possible.
async fn check(answer: Answer) -> Result<(), ClusterError> {
    let node = answer.node.clone();
    let BulkResponse { items } = answer.json().await?;
    let items = items.into_iter().filter_map(|item| item.index.or(item.delete));
    let errors = items.filter_map(|item| {
        let status = StatusCode::from_u16(item.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Some(ClusterError::of_status(&node, status, &item.error?, None))
    });
    errors.min_by_key(ClusterError::is_temporary).map_or(Ok(()), Err)
}

#[derive(Deserialize)]
struct BulkResponse {
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<Outcome>,
    delete: Option<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    status: u16,
    error: Option<Reason>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_rejections_because_of_load_are_temporary() {
        let outcome = async |items: &str| {
            let body = format!(r#"{{"errors":true,"items":[{items}]}}"#).into();
            check(Answer { body, node: "a".to_owned() }).await
        };
        let stored = r#"{"index":{"status":201}},{"delete":{"status":404}}"#;
        let busy = r#"{"delete":{"status":429,"error":{"type":"rejected_execution_exception","reason":"busy"}}}"#;
        let wrong = r#"{"index":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"no"}}}"#;
        assert!(outcome(stored).await.is_ok());
        assert!(outcome(&format!("{stored},{busy}")).await.is_err_and(|error| error.is_temporary()));
        assert!(outcome(&format!("{busy},{wrong}")).await.is_err_and(|error| !error.is_temporary()));
    }
}
