//! A node and its ping results.

use std::sync::Arc;

use arc_swap::ArcSwap;
use http::Uri;

use super::NodeError;
use super::health::NodeHealth;
use crate::client;

/// After this many failed pings in a row, a node gets no more requests, even if no other node is
/// answering. Fewer failures may just mean that it's busy.
const MAX_MISSED_PINGS: u32 = 3;

/// A node, identified by its address.
#[derive(Debug)]
pub(super) struct Node {
    /// Scheme, host and port.
    origin: String,
    /// The address's path, without a trailing slash.
    prefix: String,
    is_local: bool,
    state: ArcSwap<State>,
}

/// The results of the last pings.
#[derive(Debug, Default, Clone)]
struct State {
    /// The node's id in the cluster, once a ping has been answered.
    id: Option<Arc<str>>,
    /// How many pings in a row have failed.
    missed: u32,
    error: Option<Arc<NodeError>>,
}

/// Whether a node can take requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// The node answered its last ping, or hasn't been pinged yet.
    Answers,
    /// The last one or two pings timed out. The node is only used as a last resort.
    Late,
    /// The node can't be reached.
    Gone,
}

impl Node {
    /// Creates a node from a valid address.
    pub(super) fn new(url: &Uri) -> Self {
        let scheme = url.scheme_str().unwrap_or("http");
        let authority = url.authority().map_or("", http::uri::Authority::as_str);
        Self {
            origin: format!("{scheme}://{authority}"),
            prefix: url.path().trim_end_matches('/').to_owned(),
            is_local: client::is_loopback(url),
            state: ArcSwap::default(),
        }
    }

    /// Scheme, host and port, for messages and requests.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The address's path.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether the node is reached over TLS.
    pub(super) fn is_tls(&self) -> bool {
        self.origin.starts_with("https:")
    }

    /// Whether the node is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.is_local
    }

    /// Records an answered ping. Returns whether the previous ping had failed.
    pub(super) fn answered(&self, id: &str) -> bool {
        let last = self.state.load();
        if last.missed == 0 && last.id.as_deref() == Some(id) {
            return false;
        }
        self.state.store(Arc::new(State { id: Some(id.into()), missed: 0, error: None }));
        last.missed > 0
    }

    /// Records a failed ping. Returns whether the previous ping had been answered.
    pub(super) fn missed(&self, error: NodeError) -> bool {
        let last = self.state.load();
        let missed = last.missed.saturating_add(1);
        self.state.store(Arc::new(State { id: last.id.clone(), missed, error: Some(Arc::new(error)) }));
        last.missed == 0
    }

    /// Whether the node can take requests.
    pub(super) fn standing(&self) -> Standing {
        let state = self.state.load();
        match (state.missed, state.error.as_deref()) {
            (0, _) => Standing::Answers,
            (missed, Some(NodeError::TimedOut { .. })) if missed < MAX_MISSED_PINGS => Standing::Late,
            _ => Standing::Gone,
        }
    }

    /// The node's id in the cluster, if the node is answering.
    pub(super) fn answering_id(&self) -> Option<Arc<str>> {
        let state = self.state.load();
        if state.missed == 0 { state.id.clone() } else { None }
    }

    /// The error from the last ping, if it failed.
    pub(super) fn error(&self) -> Option<Arc<NodeError>> {
        self.state.load().error.clone()
    }

    pub(super) fn health(&self) -> NodeHealth {
        let state = self.state.load();
        NodeHealth {
            url: format!("{}{}", self.origin, self.prefix),
            answers: (state.missed > 0 || state.id.is_some()).then_some(state.missed == 0),
            error: state.error.as_deref().map(|error| crate::error::chain(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::StatusCode;

    use super::super::Reason;
    use super::*;

    fn late() -> NodeError {
        NodeError::TimedOut { node: "a".to_owned(), after: Duration::from_millis(500) }
    }

    #[test]
    fn a_node_is_considered_gone_after_three_timeouts_or_as_soon_as_it_is_unreachable() {
        let node = Node::new(&Uri::from_static("http://127.0.0.1:9200/"));
        assert_eq!((node.standing(), node.health().answers), (Standing::Answers, None));
        assert!(!node.answered("n1"));
        assert_eq!(node.answering_id().as_deref(), Some("n1"));
        assert!(node.missed(late()) && !node.missed(late()));
        assert_eq!((node.standing(), node.answering_id()), (Standing::Late, None));
        node.missed(late());
        assert_eq!((node.standing(), node.health().answers), (Standing::Gone, Some(false)));
        assert!(node.answered("n2"));
        assert_eq!((node.standing(), node.health().error), (Standing::Answers, None));
        let status = StatusCode::SERVICE_UNAVAILABLE;
        node.missed(NodeError::Status { node: "a".to_owned(), status, reason: Reason::new(None, "") });
        assert_eq!(node.standing(), Standing::Gone);
    }
}
