//! Errors from requests to a cluster.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::Reason;
use crate::client::TlsError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a request to a cluster failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("the cluster isn't available")]
    Unavailable(#[source] Unavailability),
    #[error("{}; send fewer requests at once, or add nodes", overload(node.as_deref(), reason.as_ref()))]
    Overloaded {
        /// The node that rejected the request; `None` if it timed out waiting for its turn.
        node: Option<String>,
        reason: Option<Reason>,
    },
    #[error(
        "the cluster accepts no more documents or indices because a disk is too full ({reason}); delete old indices or add disk \
         space: it recovers on its own once the disk is below the high watermark"
    )]
    DiskFull { reason: Reason },
    #[error("node {node} rejected the request with {status}: {reason}")]
    Rejected {
        node: String,
        /// A non-2xx status that no other variant covers; 409 for a failed compare-and-set.
        status: StatusCode,
        reason: Reason,
    },
    #[error("node {node} can't find what was requested: {reason}{}", if reason.is(NO_INDEX) { REMEDY } else { "" })]
    NotFound {
        node: String,
        /// The reason's kind tells a missing index from a missing document: see
        /// [`ClusterError::is_missing_index`].
        reason: Reason,
    },
    #[error("{}", authentication(node, *status, credentials.as_deref()))]
    Authentication {
        node: String,
        /// 401, or 403 if the user lacks a permission.
        status: StatusCode,
        /// The name of the user, or the kind of key, that was sent.
        credentials: Option<String>,
    },
    #[error("node {node} sent a response that can't be used: {what}")]
    InvalidResponse {
        node: String,
        what: String,
        #[source]
        source: Option<Source>,
    },
}

/// Why a cluster isn't available.
#[derive(Debug, thiserror::Error)]
pub enum Unavailability {
    #[error("none of the nodes ({nodes}) are answering; check that they're running and that the addresses are right")]
    NoNode {
        nodes: String,
        /// The error from the last ping.
        #[source]
        source: Option<Arc<NodeError>>,
    },
    #[error("the request failed (attempts: {attempts})")]
    Attempts {
        /// The number of attempts.
        attempts: u32,
        /// The error from the last attempt.
        #[source]
        source: Arc<NodeError>,
    },
    #[error(
        "an index is red because part of its data is missing ({reason}); start the nodes that have it, or \
         rebuild the index"
    )]
    MissingShards { reason: Reason },
}

/// Why a single attempt at a request failed.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    #[error("node {node} can't be reached")]
    Connect {
        node: String,
        #[source]
        source: Source,
    },
    #[error(
        "the TLS connection to node {node} failed; give the CA certificate that signed the node's with --engine-ca-file, \
         and use a name in the node's certificate as its address"
    )]
    Tls {
        node: String,
        #[source]
        source: TlsError,
    },
    #[error("the connection to node {node} was lost")]
    Broken {
        node: String,
        #[source]
        source: Source,
    },
    #[error("node {node} didn't respond within {} ms", after.as_millis())]
    TimedOut {
        node: String,
        /// The attempt's time limit.
        after: Duration,
    },
    #[error("node {node} stopped answering while the request was in progress")]
    Lost { node: String },
    #[error("node {node} responded with {status}: {reason}")]
    Status {
        node: String,
        /// 502, 503 or 504, or 500 if the node has lost another node; for a ping, any status.
        status: StatusCode,
        reason: Reason,
    },
    #[error("the response from node {node} exceeds {max_bytes} bytes")]
    TooLarge { node: String, max_bytes: usize },
}

/// The kind of reason that a cluster gives for a missing index.
const NO_INDEX: &str = "index_not_found_exception";
const REMEDY: &str = "; if the index was deleted, run --reindex to build a new one";

impl ClusterError {
    /// Whether the request failed because an index it names doesn't exist.
    pub fn is_missing_index(&self) -> bool {
        matches!(self, Self::NotFound { reason, .. } if reason.is(NO_INDEX))
    }

    /// Whether the cluster is unavailable right now, so the same request may succeed later.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }

    /// Whether the response exceeds the size limit.
    pub fn is_too_large(&self) -> bool {
        let Self::InvalidResponse { source: Some(source), .. } = self else { return false };
        matches!(source.downcast_ref(), Some(NodeError::TooLarge { .. }))
    }

    /// Whether a bulk request is worth retrying after a while: see [`super::Backoff`].
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Overloaded { .. })
    }

    /// Whether a compare-and-set failed, or a document couldn't be created because it already
    /// exists.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Rejected { status, .. } if *status == StatusCode::CONFLICT)
    }

    /// Whether the cluster rejected the user. If it rejects all pings, requests aren't even sent.
    pub fn is_rejected_user(&self) -> bool {
        match self {
            Self::Authentication { .. } => true,
            Self::Unavailable(Unavailability::NoNode { source: Some(error), .. }) => {
                matches!(&**error, NodeError::Status { status, .. } if matches!(status.as_u16(), 401 | 403))
            }
            _ => false,
        }
    }

    /// Converts a status and the cluster's reason, from a response or from an item in a bulk
    /// response.
    pub fn from_status(node: &str, status: StatusCode, reason: Reason) -> Self {
        let node = node.to_owned();
        match status.as_u16() {
            _ if reason.is_full_disk() => Self::DiskFull { reason },
            401 => Self::Authentication { node, status, credentials: None },
            403 if reason.kind.is_none() || reason.is("security_exception") => {
                Self::Authentication { node, status, credentials: None }
            }
            404 => Self::NotFound { node, reason },
            429 => Self::Overloaded { node: Some(node), reason: Some(reason) },
            503 if reason.is_missing_shards() => Self::Unavailable(Unavailability::MissingShards { reason }),
            500 if !reason.is_lost_node() => Self::Rejected { node, status, reason },
            500 | 502..=504 => Self::Unavailable(Unavailability::Attempts {
                attempts: 1,
                source: Arc::new(NodeError::Status { node, status, reason }),
            }),
            300..=399 => Self::InvalidResponse {
                node,
                what: format!("it redirects with {status}; use the address it redirects to"),
                source: None,
            },
            _ => Self::Rejected { node, status, reason },
        }
    }

    /// Converts the error from the last attempt.
    pub(super) fn from_attempt(error: NodeError, attempts: u32) -> Self {
        match error {
            NodeError::TooLarge { ref node, .. } => Self::InvalidResponse {
                node: node.clone(),
                what: "it is too large".to_owned(),
                source: Some(Box::new(error)),
            },
            error => Self::Unavailable(Unavailability::Attempts { attempts, source: Arc::new(error) }),
        }
    }
}

fn overload(node: Option<&str>, reason: Option<&Reason>) -> String {
    match (node, reason) {
        (Some(node), Some(reason)) => format!("node {node} is overloaded ({reason})"),
        _ => "too many requests to the cluster are in progress".to_owned(),
    }
}

fn authentication(node: &str, status: StatusCode, credentials: Option<&str>) -> String {
    match (credentials, status.as_u16()) {
        (Some(name), 403) => {
            format!("node {node} doesn't allow {name} to do this; give it a role with that permission")
        }
        (Some(name), _) => {
            format!("node {node} rejects {name}; check the user and the password or key file")
        }
        (None, _) => {
            format!("node {node} requires credentials; give --engine-user and --engine-password-file, or a key file")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, kind: Option<&str>, text: &str) -> ClusterError {
        ClusterError::from_status("a", StatusCode::from_u16(status).expect("a status"), Reason::new(kind, text))
    }

    #[test]
    fn each_status_and_reason_becomes_the_right_kind_of_error() {
        assert!(matches!(of(401, None, "Unauthorized"), ClusterError::Authentication { .. }));
        assert!(matches!(of(403, Some("security_exception"), ""), ClusterError::Authentication { .. }));
        assert!(matches!(of(403, Some("cluster_block_exception"), "FORBIDDEN/8"), ClusterError::Rejected { .. }));
        assert!(matches!(of(404, Some("index_not_found_exception"), ""), ClusterError::NotFound { .. }));
        assert!(of(404, Some("index_not_found_exception"), "").is_missing_index());
        assert!(!of(404, None, r#"{"found":false}"#).is_missing_index());
        assert!(matches!(of(429, Some("rejected_execution_exception"), ""), ClusterError::Overloaded { .. }));
        let full = "index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]";
        assert!(matches!(of(429, Some("cluster_block_exception"), full), ClusterError::DiskFull { .. }));
        let full =
            of(403, Some("index_create_block_exception"), "blocked by: [FORBIDDEN/10/cluster create-index blocked]");
        assert!(matches!(full, ClusterError::DiskFull { .. }));
        assert!(of(409, Some("version_conflict_engine_exception"), "").is_conflict());
        assert!(!of(400, Some("parsing_exception"), "").is_conflict());
        assert!(matches!(of(500, Some("null_pointer_exception"), ""), ClusterError::Rejected { .. }));
        assert!(of(500, Some("node_disconnected_exception"), "phase/fetch").is_unavailable());
        assert!(matches!(of(307, None, ""), ClusterError::InvalidResponse { .. }));
        let red = "Search rejected due to missing shards [[a][0]]";
        assert!(matches!(
            of(503, Some("search_phase_execution_exception"), red),
            ClusterError::Unavailable(Unavailability::MissingShards { .. })
        ));
        assert!(matches!(
            of(503, Some("cluster_block_exception"), "state not recovered"),
            ClusterError::Unavailable(Unavailability::Attempts { .. })
        ));
    }

    #[test]
    fn only_errors_that_go_away_on_their_own_are_temporary() {
        assert!(of(429, None, "").is_temporary() && of(503, None, "").is_temporary());
        let full = of(429, Some("cluster_block_exception"), "disk usage exceeded flood-stage watermark");
        assert!(!full.is_temporary() && !of(400, None, "").is_temporary() && !of(401, None, "").is_temporary());
        assert!(of(503, None, "").is_unavailable() && !of(429, None, "").is_unavailable());
    }
}
