//! The connection to an OpenSearch cluster: nodes, pings, deadlines, retries and credentials.
//!
//! [`Cluster::send`] sends a request to a node that's answering. If that node fails, a repeatable
//! request goes to another node, within the same deadline. [`Cluster::start_pings`] detects which
//! nodes are answering, sooner than the cluster itself does.

mod backoff;
mod credentials;
mod error;
mod health;
mod node;
mod nodes;
mod ping;
mod reason;
mod request;
mod send;
mod settings;
#[cfg(test)]
pub(in crate::engine::opensearch) mod stub;
#[cfg(test)]
mod tests;
mod transport;

pub use backoff::Backoff;
pub use credentials::Credentials;
pub use error::{ClusterError, NodeError, Unavailability};
pub use health::{ClusterHealth, NodeHealth};
pub use ping::Pings;
pub use reason::Reason;
pub use request::{ClusterRequest, ClusterResponse};
pub use settings::{ClusterSettings, ClusterSettingsError};

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use nodes::Nodes;
use transport::Transport;

/// A cluster: its nodes and the connections to them.
#[derive(Debug)]
pub struct Cluster {
    nodes: Nodes,
    transport: Transport,
    permits: Semaphore,
    request_timeout: Duration,
}

impl Cluster {
    /// Sets up a cluster. Doesn't send anything yet.
    pub fn new(settings: ClusterSettings) -> Result<Self, ClusterSettingsError> {
        let nodes = Nodes::new(&settings.urls)?;
        if settings.credentials.is_some() {
            nodes.warn_of_open_credentials();
        }
        Ok(Self {
            transport: Transport::new(settings.ca_file.as_deref(), settings.credentials, nodes.any_tls())?,
            nodes,
            permits: Semaphore::new(settings.max_concurrent_requests.clamp(1, Semaphore::MAX_PERMITS)),
            request_timeout: settings.request_timeout,
        })
    }

    /// Pings each node until the guard is dropped. Needs a tokio runtime.
    #[must_use = "the pings stop when the guard is dropped"]
    pub fn start_pings(self: &Arc<Self>) -> Pings {
        Pings::start(self)
    }

    /// Returns which nodes are answering, without sending anything.
    pub fn health(&self) -> ClusterHealth {
        self.nodes.health()
    }
}
