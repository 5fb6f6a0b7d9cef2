//! Chooses among a cluster's nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Uri;
use tokio::sync::watch;

use super::error::Unavailability;
use super::node::{Node, Standing};
use super::{ClusterHealth, ClusterSettingsError, NodeError};
use crate::client;

/// A cluster's nodes.
#[derive(Debug)]
pub(super) struct Nodes {
    all: Vec<Arc<Node>>,
    /// Determines which node gets the next request.
    turn: AtomicUsize,
    /// The most recent node to stop answering.
    lost: watch::Sender<Option<Arc<Node>>>,
}

/// Reports nodes as they stop answering.
#[derive(Debug)]
pub(super) struct Losses(watch::Receiver<Option<Arc<Node>>>);

impl Losses {
    /// Waits for the next node to stop answering.
    pub(super) async fn next(&mut self) -> Arc<Node> {
        loop {
            if self.0.changed().await.is_err() {
                // The nodes have been dropped, along with all waiting requests.
                return std::future::pending().await;
            }
            if let Some(node) = self.0.borrow_and_update().clone() {
                return node;
            }
        }
    }
}

impl Nodes {
    /// The nodes at these addresses, without duplicates.
    pub(super) fn new(urls: &[Uri]) -> Result<Self, ClusterSettingsError> {
        let mut nodes: Vec<Arc<Node>> = Vec::new();
        for url in urls {
            if !client::is_server(url) {
                return Err(ClusterSettingsError::Url(client::without_user(&url.to_string())));
            }
            let node = Node::new(url);
            if !nodes.iter().any(|other| other.origin() == node.origin() && other.prefix() == node.prefix()) {
                nodes.push(Arc::new(node));
            }
        }
        if nodes.is_empty() {
            return Err(ClusterSettingsError::NoUrl);
        }
        Ok(Self { all: nodes, turn: AtomicUsize::new(0), lost: watch::Sender::new(None) })
    }

    pub(super) fn all(&self) -> &[Arc<Node>] {
        &self.all
    }

    /// Whether any node is reached over TLS.
    pub(super) fn any_tls(&self) -> bool {
        self.all.iter().any(|node| node.is_tls())
    }

    /// Warns if credentials cross a network unencrypted.
    pub(super) fn warn_of_open_credentials(&self) {
        for node in self.all.iter().filter(|node| !node.is_tls() && !node.is_local()) {
            tracing::warn!(
                node = node.origin(),
                "the credentials are sent without encryption; use https or a private network"
            );
        }
    }

    /// The next node in turn among those that are answering. If none are, the next one among those
    /// that are late. Returns `failed` only if there's no other node.
    pub(super) fn next(&self, failed: Option<&Arc<Node>>) -> Option<Arc<Node>> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let (before, from) = self.all.split_at(turn % self.all.len());
        let in_turn = || from.iter().chain(before).filter(|node| node.standing() < Standing::Gone);
        let others = in_turn().filter(|node| failed.is_none_or(|failed| !Arc::ptr_eq(node, failed)));
        others.min_by_key(|node| node.standing()).or_else(|| in_turn().next()).cloned()
    }

    /// Whether there's another node to send a request to.
    pub(super) fn has_other(&self, than: &Arc<Node>) -> bool {
        self.all.iter().any(|node| !Arc::ptr_eq(node, than) && node.standing() < Standing::Gone)
    }

    /// The ids of the nodes that are answering, so that a search can prefer their shards. `None` if
    /// there's only one address, which may be a load balancer's, so any node is as good as any
    /// other.
    pub(super) fn preferred(&self) -> Option<String> {
        if self.all.len() < 2 {
            return None;
        }
        let ids: Vec<_> = self.all.iter().filter_map(|node| node.answering_id()).collect();
        (!ids.is_empty()).then(|| ids.join(","))
    }

    /// Records a failed ping. Returns whether the previous one had been answered, in which case
    /// requests in progress are notified.
    pub(super) fn missed(&self, node: &Arc<Node>, error: NodeError) -> bool {
        let is_new = node.missed(error);
        if is_new {
            self.lost.send_replace(Some(Arc::clone(node)));
        }
        is_new
    }

    /// Starts reporting nodes that stop answering.
    pub(super) fn losses(&self) -> Losses {
        Losses(self.lost.subscribe())
    }

    /// Why there's no node to send a request to.
    pub(super) fn unavailable(&self) -> Unavailability {
        let nodes: Vec<_> = self.all.iter().map(|node| node.origin()).collect();
        Unavailability::NoNode { nodes: nodes.join(", "), source: self.all.iter().find_map(|node| node.error()) }
    }

    pub(super) fn health(&self) -> ClusterHealth {
        ClusterHealth { nodes: self.all.iter().map(|node| node.health()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn three() -> Nodes {
        let urls = ["http://a:1", "http://b:1", "http://c:1", "http://a:1/"];
        Nodes::new(&urls.map(|url| url.parse().expect("a URL"))).expect("nodes")
    }

    fn late() -> NodeError {
        NodeError::TimedOut { node: "a".to_owned(), after: Duration::from_millis(500) }
    }

    fn miss_all(nodes: &Nodes) {
        for node in nodes.all() {
            node.missed(late());
        }
    }

    fn next(nodes: &Nodes, failed: Option<&Arc<Node>>) -> Option<String> {
        nodes.next(failed).map(|node| node.origin().to_owned())
    }

    #[test]
    fn nodes_take_turns_and_silent_ones_are_skipped() {
        let nodes = three();
        let some: Vec<_> = (0..4).filter_map(|_| next(&nodes, None)).collect();
        assert_eq!(some, ["http://a:1", "http://b:1", "http://c:1", "http://a:1"]);
        nodes.all()[1].missed(late());
        assert!((0..6).all(|_| next(&nodes, None).is_some_and(|node| node != "http://b:1")));
    }

    #[test]
    fn a_late_node_is_used_as_a_last_resort_but_an_unreachable_node_never_is() {
        let nodes = three();
        miss_all(&nodes);
        miss_all(&nodes);
        assert!(next(&nodes, None).is_some());
        miss_all(&nodes);
        assert!(next(&nodes, None).is_none());
        assert!(nodes.unavailable().to_string().contains("http://a:1, http://b:1, http://c:1"));
        nodes.all()[2].answered("c");
        assert_eq!(next(&nodes, None).as_deref(), Some("http://c:1"));
    }

    #[test]
    fn a_retry_goes_to_another_node_if_there_is_one() {
        let nodes = three();
        let failed = Arc::clone(&nodes.all()[0]);
        assert!((0..6).all(|_| next(&nodes, Some(&failed)).is_some_and(|node| node != "http://a:1")));
        let single = Nodes::new(&["http://a:1".parse().expect("a URL")]).expect("nodes");
        let failed = Arc::clone(&single.all()[0]);
        assert!(single.next(Some(&failed)).is_some() && !single.has_other(&failed));
    }

    #[test]
    fn searches_prefer_nodes_that_are_answering() {
        let nodes = three();
        assert_eq!(nodes.preferred(), None);
        for (node, id) in nodes.all().iter().zip(["x", "y", "z"]) {
            node.answered(id);
        }
        nodes.all()[1].missed(late());
        assert_eq!(nodes.preferred().as_deref(), Some("x,z"));
        let single = Nodes::new(&["http://a:1".parse().expect("a URL")]).expect("nodes");
        single.all()[0].answered("x");
        assert_eq!(single.preferred(), None);
    }
}
