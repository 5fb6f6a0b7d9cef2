//! The transports: one request of HTTP, or a pair of byte streams.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};

use super::server::{Host, ToolServer};

/// The largest message that is read over HTTP, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// The connection over two byte streams failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client didn't open the Model Context Protocol")]
    Open(#[source] Box<rmcp::service::ServerInitializeError>),
    #[error("the connection failed")]
    Task(#[source] tokio::task::JoinError),
}

/// Answers one request of the streamable HTTP transport: with one JSON document, and without a session, so that nothing outlives
/// the request.
pub async fn answer<H: Host, B>(tools: ToolServer<H>, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
where
    B: hyper::body::Body<Error: Display> + Send + 'static,
{
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.max_request_body_bytes = MAX_MESSAGE_BYTES;
    // The HTTP service checks Host and Origin by its own settings.
    let config = config.disable_allowed_hosts();
    let service =
        StreamableHttpService::new(move || Ok(tools.clone()), Arc::new(NeverSessionManager::default()), config);
    service.handle(request).await
}

/// Answers over a pair of byte streams until the first one ends.
pub async fn serve<H: Host>(
    tools: ToolServer<H>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let running = match tools.serve((input, output)).await {
        Ok(running) => running,
        // Standard input was closed before the first message.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Open(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(ServeError::Task)
}
