//! A single HTTP attempt at a single node.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::node::Node;
use super::{ClusterRequest, ClusterSettingsError, Credentials, NodeError};
use crate::client::{self, Client, Proxies, RequestError, Roots};

/// How long connecting may take, which counts towards the attempt's time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum size of a response. The largest page of hits is a few megabytes.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// The connections to the nodes.
pub(super) struct Transport {
    client: Client,
    credentials: Option<Credentials>,
    max_response_bytes: usize,
}

/// A response with any status.
#[derive(Debug)]
pub(super) struct RawResponse {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Transport {
    /// An empty connection pool.
    pub(super) fn new(
        ca_file: Option<&Path>,
        credentials: Option<Credentials>,
        is_tls: bool,
    ) -> Result<Self, ClusterSettingsError> {
        let client = Client::new(roots(ca_file, is_tls)?, CONNECT_TIMEOUT, Proxies::NONE);
        let client = client.map_err(ClusterSettingsError::Tls)?;
        Ok(Self { client, credentials, max_response_bytes: MAX_RESPONSE_BYTES })
    }

    /// Sets the size limit for responses.
    #[cfg(test)]
    pub(super) fn set_max_response_bytes(&mut self, bytes: usize) {
        self.max_response_bytes = bytes;
    }

    /// The name of the user, or the kind of key, that requests are sent with.
    pub(super) fn credentials(&self) -> Option<&str> {
        self.credentials.as_ref().map(Credentials::name)
    }

    /// Sends a request to a node and reads the whole response. When time runs out, closes the
    /// connection, which makes the cluster cancel a search.
    pub(super) async fn send(
        &self,
        node: &Node,
        request: &ClusterRequest,
        preferred: Option<&str>,
        timeout: Duration,
    ) -> Result<RawResponse, NodeError> {
        let attempt = self.attempt(node, request, preferred);
        tokio::time::timeout(timeout, attempt)
            .await
            .unwrap_or_else(|_| Err(NodeError::TimedOut { node: node.origin().to_owned(), after: timeout }))
    }

    async fn attempt(
        &self,
        node: &Node,
        request: &ClusterRequest,
        preferred: Option<&str>,
    ) -> Result<RawResponse, NodeError> {
        let name = || node.origin().to_owned();
        let mut message = Request::builder()
            .method(request.method.clone())
            .uri(format!("{}{}", node.origin(), request.target(node.prefix(), preferred)))
            .header(ACCEPT, "application/json");
        if !request.body.is_empty() {
            message = message.header(CONTENT_TYPE, HeaderValue::from_static(request.content_type));
        }
        if let Some(credentials) = &self.credentials {
            message = message.header(AUTHORIZATION, credentials.authorization());
        }
        let message = message
            .body(request.body.clone())
            .map_err(|source| NodeError::Broken { node: name(), source: Box::new(source) })?;
        let response = self.client.send(message).await.map_err(|error| node_error(name(), error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), self.max_response_bytes).collect().await;
        let body = body.map_err(|source| {
            if source.is::<LengthLimitError>() {
                NodeError::TooLarge { node: name(), max_bytes: self.max_response_bytes }
            } else {
                NodeError::Broken { node: name(), source }
            }
        })?;
        Ok(RawResponse { status, body: body.to_bytes() })
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transport").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}

fn node_error(node: String, error: RequestError) -> NodeError {
    match error {
        RequestError::Connect(source) => NodeError::Connect { node, source: Box::new(source) },
        RequestError::Tls(source) => NodeError::Tls { node, source },
        RequestError::Broken(source) => NodeError::Broken { node, source: Box::new(source) },
    }
}

/// The root certificates to trust: those in the CA file or, if there's no file, the machine's. They
/// aren't needed unless an address uses https.
fn roots(ca_file: Option<&Path>, is_tls: bool) -> Result<Roots, ClusterSettingsError> {
    let Some(path) = ca_file else {
        return if is_tls {
            client::machine_roots().ok_or(ClusterSettingsError::Certificates)
        } else {
            Ok(Roots::empty())
        };
    };
    let roots =
        client::roots_of(path).map_err(|source| ClusterSettingsError::CaFile { path: path.to_path_buf(), source })?;
    if roots.is_empty() { Err(ClusterSettingsError::NoCertificate(path.to_path_buf())) } else { Ok(roots) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_ca_file_must_contain_a_certificate() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ca.pem");
        assert!(matches!(roots(Some(&path), true), Err(ClusterSettingsError::CaFile { .. })), "a missing file");
        fs::write(&path, "no certificate\n").expect("written");
        assert!(matches!(roots(Some(&path), true), Err(ClusterSettingsError::NoCertificate(_))));
        fs::write(&path, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").expect("written");
        assert!(matches!(roots(Some(&path), true), Err(ClusterSettingsError::CaFile { .. })), "a damaged file");
        assert!(roots(None, false).is_ok());
    }
}
