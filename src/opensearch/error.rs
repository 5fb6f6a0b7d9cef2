//! Errors from requests to a cluster.

use http::StatusCode;
use serde::Deserialize;

use crate::text::printable::printable;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// The maximum length of a cluster's reason in characters, because it may echo the request.
const MAX_CHARS: usize = 400;

/// Why the settings for a connection can't be used: what's wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub(super) String);

/// Why a request to a cluster failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ClusterError {
    pub kind: ErrorKind,
    /// What happened, at which node, and what to do about it.
    message: String,
    #[source]
    source: Option<Source>,
}

/// The kinds of failures that are handled differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// No node can be reached, the last one that was tried failed, or a shard is missing. The same
    /// request may succeed later.
    Unavailable,
    /// Too many requests are in progress.
    Overloaded,
    NoIndex,
    NotFound,
    /// The user was rejected, or lacks a permission.
    Authentication,
    /// The request or the response can't be used.
    Other,
}

impl ClusterError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(super) fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(super) fn unavailable(message: String) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Whether a bulk request is worth retrying after a while.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self.kind, ErrorKind::Unavailable | ErrorKind::Overloaded)
    }

    /// The error for a status and a reason, from a response or from an item in a bulk response.
    /// `credentials` names what was sent.
    pub(super) fn of_status(node: &str, status: StatusCode, reason: &Reason, credentials: Option<&str>) -> Self {
        let kind = reason.kind.as_deref().unwrap_or_default();
        let is_lost_node = kind.starts_with("node_") || kind.ends_with("_transport_exception");
        let is_missing_shard = matches!(
            kind,
            "no_shard_available_action_exception" | "unavailable_shards_exception" | "search_phase_execution_exception"
        ) || reason.text.contains("missing shards");
        let is_full = kind == "index_create_block_exception"
            || (kind == "cluster_block_exception"
                && (reason.text.contains("read-only-allow-delete") || reason.text.contains("watermark")));
        let (kind, message) = match status.as_u16() {
            _ if is_full => (
                ErrorKind::Other,
                format!("a disk of the cluster is too full ({reason}): delete old indices or add disk space"),
            ),
            401 | 403 if kind.is_empty() || kind == "security_exception" => {
                let name = credentials.unwrap_or("a request without credentials");
                let remedy = if status == StatusCode::FORBIDDEN {
                    "give it a role with that permission"
                } else {
                    "check --engine-user and --engine-password-file, or --engine-key-file"
                };
                (ErrorKind::Authentication, format!("node {node} refuses {name} with {status}: {remedy}"))
            }
            404 if kind == "index_not_found_exception" => (
                ErrorKind::NoIndex,
                format!("node {node} has no such index ({reason}); run --reindex to fill a new one"),
            ),
            404 => (ErrorKind::NotFound, format!("node {node} can't find what was requested: {reason}")),
            429 => (ErrorKind::Overloaded, format!("node {node} is overloaded ({reason}): add nodes")),
            503 if is_missing_shard => (
                ErrorKind::Unavailable,
                format!("part of an index is missing ({reason}): start the nodes that have it, or fill it again"),
            ),
            500 if !is_lost_node => (ErrorKind::Other, format!("node {node} failed with {status}: {reason}")),
            500 | 502..=504 => (ErrorKind::Unavailable, format!("node {node} responded with {status}: {reason}")),
            300..=399 => (ErrorKind::Other, format!("node {node} redirects; use the address that it redirects to")),
            _ => (ErrorKind::Other, format!("node {node} rejected the request with {status}: {reason}")),
        };
        Self::new(kind, message)
    }
}

/// The reason a cluster gives for an error.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Reason {
    /// The kind of error, such as `index_not_found_exception`.
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "reason", default)]
    text: String,
    #[serde(default)]
    root_cause: Vec<Reason>,
}

impl Reason {
    /// The reason in a response body, which may contain anything.
    pub(super) fn of(body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Failed {
            error: Reason,
        }
        match serde_json::from_slice(body) {
            Ok(Failed { mut error }) => {
                // The outer reason only says that all shards failed.
                if error.root_cause.is_empty() { error } else { error.root_cause.swap_remove(0) }
            }
            Err(_) => {
                Self { text: String::from_utf8_lossy(&body[..body.len().min(MAX_CHARS)]).into(), ..Self::default() }
            }
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind.as_deref().map(|kind| format!("{kind}: ")).unwrap_or_default();
        let text: String = format!("{kind}{}", self.text.trim()).chars().take(MAX_CHARS).collect();
        f.write_str(&printable(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &str) -> ClusterError {
        let status = StatusCode::from_u16(status).expect("a status");
        ClusterError::of_status("a", status, &Reason::of(body.as_bytes()), Some("user u"))
    }

    #[test]
    fn each_status_and_reason_becomes_the_right_kind_of_error() {
        let explained = |kind: &str, reason: &str| {
            format!(
                r#"{{"error":{{"type":"all shards failed","root_cause":[{{"type":"{kind}","reason":"{reason}"}}]}}}}"#
            )
        };
        let full = explained("cluster_block_exception", "disk usage exceeded flood-stage watermark");
        for (status, body, kind) in [
            (401, "Unauthorized", ErrorKind::Authentication),
            (403, &*explained("security_exception", ""), ErrorKind::Authentication),
            (403, &*explained("cluster_block_exception", "FORBIDDEN/8"), ErrorKind::Other),
            (404, &*explained("index_not_found_exception", "no such index [a]"), ErrorKind::NoIndex),
            (404, r#"{"found":false}"#, ErrorKind::NotFound),
            (429, &*explained("rejected_execution_exception", ""), ErrorKind::Overloaded),
            (429, &*full, ErrorKind::Other),
            (500, &*explained("null_pointer_exception", ""), ErrorKind::Other),
            (500, &*explained("node_disconnected_exception", ""), ErrorKind::Unavailable),
            (503, &*explained("search_phase_execution_exception", "missing shards"), ErrorKind::Unavailable),
            (503, "", ErrorKind::Unavailable),
            (307, "", ErrorKind::Other),
            (400, &*explained("parsing_exception", "no [x]"), ErrorKind::Other),
        ] {
            assert_eq!(of(status, body).kind, kind, "{status} {body}");
        }
        assert!(of(400, &explained("parsing_exception", "no [x]")).to_string().ends_with("parsing_exception: no [x]"));
        assert!(of(401, "").to_string().contains("refuses user u"));
        let long = of(400, &"\u{1b}[31mé".repeat(10_000)).to_string();
        assert!(long.contains(r"\u{1b}[31m") && long.chars().count() < 20 * MAX_CHARS, "{long}");
    }
}
