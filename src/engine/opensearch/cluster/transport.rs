//! One attempt at one node over HTTP.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::node::Node;
use super::{ClusterRequest, ClusterSettingsError, Credentials, NodeError, tls};

/// The time until a connection is made; within the time of the attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The time that an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest response that is read: the largest page of hits has some megabytes.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// The connections to the nodes.
pub(super) struct Transport {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    credentials: Option<Credentials>,
    max_response_bytes: usize,
}

/// A response of any status.
#[derive(Debug)]
pub(super) struct RawResponse {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Transport {
    /// A pool of connections, with none yet.
    pub(super) fn new(
        ca_file: Option<&Path>,
        credentials: Option<Credentials>,
        is_tls: bool,
    ) -> Result<Self, ClusterSettingsError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls::config(ca_file, is_tls)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        Ok(Self { client, credentials, max_response_bytes: MAX_RESPONSE_BYTES })
    }

    /// Sets the limit of responses.
    #[cfg(test)]
    pub(super) fn set_max_response_bytes(&mut self, bytes: usize) {
        self.max_response_bytes = bytes;
    }

    /// The user, or the kind of key.
    pub(super) fn credentials(&self) -> Option<&str> {
        self.credentials.as_ref().map(Credentials::name)
    }

    /// Sends a request to a node and reads the whole response. The connection is closed where the time is over, and the cluster
    /// then cancels a search.
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
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, concat!("software-directory/", env!("CARGO_PKG_VERSION")));
        if !request.body.is_empty() {
            message = message.header(CONTENT_TYPE, HeaderValue::from_static(request.content_type));
        }
        if let Some(credentials) = &self.credentials {
            message = message.header(AUTHORIZATION, credentials.authorization());
        }
        let message = message
            .body(Full::new(request.body.clone()))
            .map_err(|source| NodeError::Broken { node: name(), source: Box::new(source) })?;
        let response = self.client.request(message).await.map_err(|error| client_error(name(), error))?;
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

/// The error of the HTTP client. One of TLS is somewhere among its causes.
fn client_error(node: String, error: hyper_util::client::legacy::Error) -> NodeError {
    if let Some(source) = tls_error(&error) {
        return NodeError::Tls { node, source };
    }
    let is_connect = error.is_connect();
    let source = Box::new(error);
    if is_connect { NodeError::Connect { node, source } } else { NodeError::Broken { node, source } }
}

fn tls_error(error: &(dyn Error + 'static)) -> Option<rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(tls.clone());
        }
        // The causes of an I/O error don't begin with the error that it holds.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
