//! Sends requests: limits how many are in progress, enforces deadlines and retries.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use http::StatusCode;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::node::Node;
use super::transport::RawResponse;
use super::{Cluster, ClusterError, ClusterRequest, ClusterResponse, NodeError, Reason};

/// The share of its time limit that a request may spend waiting for its turn, as a divisor. A
/// request that starts later would time out anyway.
const MAX_WAIT_SHARE: u32 = 2;
/// The share of the remaining time that the first of two attempts gets, as a divisor.
const FIRST_ATTEMPT_SHARE: u32 = 2;

impl Cluster {
    /// Sends a request to a node that's answering. An idempotent request is resent to another node
    /// if the first one can't be reached, drops the connection, misses a ping, doesn't respond in
    /// half the time, responds with 502, 503 or 504, or reports that it has lost another node. 429
    /// is never retried. Failing to reach the other node doesn't use up the retry.
    ///
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    ///
    /// If the response isn't successful; see [`ClusterError`].
    pub async fn send(&self, request: ClusterRequest) -> Result<ClusterResponse, ClusterError> {
        let timeout = request.timeout.unwrap_or(self.request_timeout);
        let deadline = Instant::now() + timeout;
        let _permit = self.turn(timeout / MAX_WAIT_SHARE).await?;

        let first = self.node(None)?;
        let has_other = request.is_idempotent && self.nodes.has_other(&first);
        let rest = deadline.saturating_duration_since(Instant::now());
        let outcome = if has_other {
            self.attempt_unless_lost(&first, &request, rest / FIRST_ATTEMPT_SHARE).await
        } else {
            self.attempt(&first, &request, rest).await
        };
        // If there's no other node, only a fast failure is retried on the same one, since its
        // address may be a load balancer's.
        let is_repeated = request.is_idempotent
            && match &outcome {
                Ok(response) => is_failure(response),
                Err(NodeError::TimedOut { .. } | NodeError::Tls { .. }) => has_other,
                Err(NodeError::TooLarge { .. }) => false,
                Err(_) => true,
            };
        let rest = deadline.saturating_duration_since(Instant::now());
        if !is_repeated || rest.is_zero() {
            return self.conclude(&first, outcome, 1);
        }
        let Ok(second) = self.node(Some(&first)) else { return self.conclude(&first, outcome, 1) };
        let outcome = self.attempt(&second, &request, rest).await;
        // A node that refuses the connection never got the request. Besides, the first attempt may
        // have failed because this very node was lost.
        let rest = deadline.saturating_duration_since(Instant::now());
        match self.node(Some(&second)) {
            Ok(third) if is_refused(&outcome) && !Arc::ptr_eq(&third, &second) && !rest.is_zero() => {
                let outcome = self.attempt(&third, &request, rest).await;
                self.conclude(&third, outcome, 3)
            }
            _ => self.conclude(&second, outcome, 2),
        }
    }

    /// Waits until the number of requests in progress is below the limit.
    async fn turn(&self, timeout: Duration) -> Result<SemaphorePermit<'_>, ClusterError> {
        match tokio::time::timeout(timeout, self.permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            // The semaphore is never closed.
            Ok(Err(_)) | Err(_) => Err(ClusterError::Overloaded { node: None, reason: None }),
        }
    }

    fn node(&self, failed: Option<&Arc<Node>>) -> Result<Arc<Node>, ClusterError> {
        self.nodes.next(failed).ok_or_else(|| ClusterError::Unavailable(self.nodes.unavailable()))
    }

    async fn attempt(
        &self,
        node: &Node,
        request: &ClusterRequest,
        timeout: Duration,
    ) -> Result<RawResponse, NodeError> {
        let preferred = if request.reads_shards { self.nodes.preferred() } else { None };
        self.transport.send(node, request, preferred.as_deref(), timeout).await
    }

    /// Makes an attempt, but gives up as soon as its node misses a ping. For a search, any node's
    /// missed ping counts, since part of the search may be running there. Attempts can have long
    /// timeouts, whereas pings detect a silent node within a second.
    async fn attempt_unless_lost(
        &self,
        node: &Arc<Node>,
        request: &ClusterRequest,
        timeout: Duration,
    ) -> Result<RawResponse, NodeError> {
        let mut losses = self.nodes.losses();
        let attempt = std::pin::pin!(self.attempt(node, request, timeout));
        let silence = std::pin::pin!(async {
            loop {
                let lost = losses.next().await;
                if request.reads_shards || Arc::ptr_eq(&lost, node) {
                    return lost;
                }
            }
        });
        match select(attempt, silence).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right((lost, _)) => Err(NodeError::Lost { node: lost.origin().to_owned() }),
        }
    }

    /// Converts the outcome of the last attempt into the result.
    fn conclude(
        &self,
        node: &Node,
        outcome: Result<RawResponse, NodeError>,
        attempts: u32,
    ) -> Result<ClusterResponse, ClusterError> {
        let RawResponse { status, body } = outcome.map_err(|error| ClusterError::from_attempt(error, attempts))?;
        let origin = node.origin();
        if status.is_success() {
            return Ok(ClusterResponse { status, body, node: origin.to_owned() });
        }
        Err(match ClusterError::from_status(origin, status, Reason::from_body(&body)) {
            ClusterError::Authentication { node, status, .. } => {
                let credentials = self.transport.credentials().map(str::to_owned);
                ClusterError::Authentication { node, status, credentials }
            }
            error => error,
        })
    }
}

/// Whether no connection could be made.
fn is_refused(outcome: &Result<RawResponse, NodeError>) -> bool {
    matches!(outcome, Err(NodeError::Connect { .. }))
}

/// Whether another node might serve a request that got this response.
fn is_failure(response: &RawResponse) -> bool {
    match response.status {
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => true,
        StatusCode::INTERNAL_SERVER_ERROR => Reason::from_body(&response.body).is_lost_node(),
        _ => false,
    }
}
