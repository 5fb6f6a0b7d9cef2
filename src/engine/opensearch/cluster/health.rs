//! The health of a cluster's nodes.

/// The health of a cluster's nodes according to the last pings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterHealth {
    /// The nodes, in the same order as in the settings.
    pub nodes: Vec<NodeHealth>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeHealth {
    /// The node's address.
    pub url: String,
    /// Whether the last ping was answered; `None` before the first one.
    pub answers: Option<bool>,
    /// Why the last ping failed, including the causes.
    pub error: Option<String>,
}

impl ClusterHealth {
    /// Whether at least one node is answering.
    pub fn is_available(&self) -> bool {
        self.nodes.iter().any(|node| node.answers == Some(true))
    }

    /// The number of nodes that are answering.
    pub fn answering(&self) -> usize {
        self.nodes.iter().filter(|node| node.answers == Some(true)).count()
    }

    /// The first error reported for a node.
    pub fn error(&self) -> Option<&str> {
        self.nodes.iter().find_map(|node| node.error.as_deref())
    }
}
