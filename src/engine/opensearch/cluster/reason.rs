//! The reason a cluster gives for an error.

use std::borrow::Cow;

use serde::Deserialize;

use crate::text::printable::printable;

/// The maximum length in characters. There's a limit because a cluster may echo the request in its
/// reason.
const MAX_CHARS: usize = 400;

/// The reason a cluster gives for an error, shortened and printable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The kind of error, such as `index_not_found_exception`.
    pub kind: Option<String>,
    /// The explanation.
    pub text: String,
}

impl Reason {
    /// Builds a reason from its parts, such as those in a bulk response's item.
    pub fn new(kind: Option<&str>, text: &str) -> Self {
        Self { kind: kind.map(|kind| cut(kind).into_owned()), text: cut(text.trim()).into_owned() }
    }

    /// Extracts the reason from a response body, which may contain anything.
    pub(super) fn from_body(body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(Document { error: Some(Error::Explained(error)) }) => {
                // The outer reason only says that a phase or all shards failed.
                let is_outer = matches!(error.kind.as_str(), "search_phase_execution_exception" | "exception");
                let inner = if is_outer { error.root_cause.into_iter().next() } else { None };
                inner.map_or_else(
                    || Self::new(Some(&error.kind), &error.reason.unwrap_or_default()),
                    |inner| Self::new(Some(&inner.kind), &inner.reason.unwrap_or_default()),
                )
            }
            Ok(Document { error: Some(Error::Text(text)) }) => Self::new(None, &text),
            _ => Self::new(None, &String::from_utf8_lossy(&body[..body.len().min(4 * MAX_CHARS)])),
        }
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Whether a shard has no readable copy.
    pub(super) fn is_missing_shards(&self) -> bool {
        let is_shard_failure = self.is("no_shard_available_action_exception")
            || self.is("unavailable_shards_exception")
            || self.is("search_phase_execution_exception");
        is_shard_failure || self.text.contains("missing shards")
    }

    /// Whether part of the request, such as a search's second phase, was running on a node that's
    /// gone. This failure is temporary, even though its status is 500.
    pub(super) fn is_lost_node(&self) -> bool {
        let kind = self.kind.as_deref().unwrap_or_default();
        matches!(kind, "node_disconnected_exception" | "node_not_connected_exception" | "node_closed_exception")
            || kind.ends_with("_transport_exception")
    }

    /// Whether a node's disk is too full for more documents, or all nodes' disks are too full for a
    /// new index.
    pub(super) fn is_full_disk(&self) -> bool {
        let is_of_documents = self.is("cluster_block_exception")
            && (self.text.contains("read-only-allow-delete") || self.text.contains("watermark"));
        is_of_documents || self.is("index_create_block_exception")
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.kind, self.text.as_str()) {
            (Some(kind), "") => f.write_str(kind),
            (Some(kind), text) => write!(f, "{kind}: {text}"),
            (None, "") => f.write_str("no reason given"),
            (None, text) => f.write_str(text),
        }
    }
}

fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", printable(&text[..end])).into(),
        None => printable(text),
    }
}

#[derive(Deserialize)]
struct Document {
    error: Option<Error>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Error {
    Explained(Explained),
    Text(String),
}

#[derive(Deserialize)]
struct Explained {
    #[serde(rename = "type", default)]
    kind: String,
    reason: Option<String>,
    #[serde(default)]
    root_cause: Vec<Explained>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_comes_from_the_root_cause() {
        let body = br#"{"error":{"root_cause":[{"type":"parsing_exception","reason":"no [x]"}],
            "type":"search_phase_execution_exception","reason":"all shards failed"},"status":400}"#;
        assert_eq!(Reason::from_body(body).to_string(), "parsing_exception: no [x]");
        let body =
            br#"{"error":{"root_cause":[],"type":"search_phase_execution_exception","reason":"all shards failed"}}"#;
        assert_eq!(Reason::from_body(body).to_string(), "search_phase_execution_exception: all shards failed");
        assert_eq!(Reason::from_body(br#"{"error":"wrong"}"#).to_string(), "wrong");
        assert_eq!(Reason::from_body(br#"{"found":false}"#).to_string(), r#"{"found":false}"#);
        assert_eq!(Reason::from_body(b"").to_string(), "no reason given");
    }

    #[test]
    fn the_reason_is_shortened_and_printable() {
        let reason = Reason::from_body(format!("\u{1b}[31m{}", "é".repeat(10_000)).as_bytes());
        assert!(reason.text.starts_with(r"\u{1b}[31m"), "{reason}");
        assert!(reason.text.chars().count() < MAX_CHARS + 20, "{}", reason.text.len());
    }
}
