//! Pings nodes to find out which of them are answering and what their ids are.
//!
//! A cluster takes seconds to notice that a node has gone silent, and meanwhile keeps sending it
//! parts of searches. Pings detect a silent node within a second.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::node::Node;
use super::{Cluster, ClusterRequest, NodeError, Reason};

/// The interval between pings to a node.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long a node has to answer a ping.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Asks a node only about itself. A node can answer this on its own, even when there's no cluster
/// manager.
const PATH: &str = "/_nodes/_local/http";

/// Pings a cluster's nodes until it's dropped.
#[derive(Debug)]
pub struct Pings(JoinSet<()>);

impl Pings {
    /// Starts a task for each node.
    pub(super) fn start(cluster: &Arc<Cluster>) -> Self {
        let mut tasks = JoinSet::new();
        for node in cluster.nodes.all() {
            tasks.spawn(ping_regularly(Arc::clone(cluster), Arc::clone(node)));
        }
        Self(tasks)
    }

    /// The number of nodes being pinged.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no nodes are being pinged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Cluster {
    /// Pings all nodes concurrently and records the results.
    pub async fn ping(&self) {
        futures_util::future::join_all(self.nodes.all().iter().map(|node| self.ping_node(node))).await;
    }

    /// Pings a node, and logs when it stops or resumes answering.
    async fn ping_node(&self, node: &Arc<Node>) {
        match self.id_of(node).await {
            Ok(id) => {
                if node.answered(&id) {
                    tracing::info!(node = node.origin(), "the node is answering again");
                }
            }
            Err(error) => {
                let text = crate::error::chain(&error);
                if self.nodes.missed(node, error) {
                    tracing::warn!(
                        node = node.origin(),
                        error = text,
                        "the node isn't answering; sending requests to the other nodes"
                    );
                }
            }
        }
    }

    /// Asks a node for its id.
    async fn id_of(&self, node: &Node) -> Result<String, NodeError> {
        let request = ClusterRequest::get(PATH).query("filter_path", "nodes.*.name");
        let response = self.transport.send(node, &request, None, TIMEOUT).await?;
        let unusable =
            |reason| Err(NodeError::Status { node: node.origin().to_owned(), status: response.status, reason });
        if response.status != StatusCode::OK {
            return unusable(Reason::from_body(&response.body));
        }
        match serde_json::from_slice::<LocalNode>(&response.body).map(|local| local.nodes.into_iter().next()) {
            Ok(Some((id, _))) => Ok(id),
            _ => unusable(Reason::new(None, "it isn't an OpenSearch node")),
        }
    }
}

async fn ping_regularly(cluster: Arc<Cluster>, node: Arc<Node>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        cluster.ping_node(&node).await;
    }
}

#[derive(Deserialize)]
struct LocalNode {
    nodes: Map<String, Value>,
}
