//! The transports: a single HTTP request, or a pair of byte streams.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::model::JsonRpcError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServiceExt as _};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite};

use super::server::{Host, ToolServer};
use super::window::Window;

/// The maximum size of a message over HTTP, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// The maximum number of requests in progress over two byte streams. No more are read until one of
/// them is done.
const MAX_IN_PROGRESS: usize = 32;

/// The connection over two byte streams failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client didn't start a Model Context Protocol session")]
    Open(#[source] Box<rmcp::service::ServerInitializeError>),
    #[error("the connection failed")]
    Task(#[source] tokio::task::JoinError),
}

/// Why an HTTP request isn't accepted as a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("the message is larger than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    #[error("the body couldn't be read")]
    Unreadable,
    #[error("the protocol version is unknown")]
    UnknownVersion,
    #[error("the protocol library failed")]
    Failed,
}

/// Answers one request of the streamable HTTP transport with one JSON document. There's no session,
/// so nothing outlives the request. A body that isn't a message is answered with a JSON-RPC error.
/// The caller must already have checked that the request carries and accepts JSON.
///
/// # Errors
/// [`Rejected`] if the request isn't accepted as a message.
pub async fn answer<H: Host, B>(
    tools: ToolServer<H>,
    request: Request<B>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Rejected>
where
    B: hyper::body::Body<Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let (mut head, body) = request.into_parts();
    let message = Limited::new(body, MAX_MESSAGE_BYTES)
        .collect()
        .await
        .map_err(|error| if error.is::<LengthLimitError>() { Rejected::TooLarge } else { Rejected::Unreadable })?;
    let message = message.to_bytes();
    // The library requires both media types from the specification, though it never sends the
    // second one here.
    head.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    // The HTTP service checks `Host` and `Origin` according to its own settings.
    let config = config.disable_allowed_hosts();
    let service =
        StreamableHttpService::new(move || Ok(tools.clone()), Arc::new(NeverSessionManager::default()), config);
    let response = service.handle(Request::from_parts(head, Full::new(message.clone()))).await;
    match response.status() {
        // The media type is right, so the message must be wrong.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Ok(not_a_message(&message)),
        _ if response.headers().contains_key(CONTENT_TYPE) => Ok(response),
        StatusCode::BAD_REQUEST => Err(Rejected::UnknownVersion),
        status if status.is_success() => Ok(response),
        _ => Err(Rejected::Failed),
    }
}

/// The JSON-RPC error for a body that isn't a message.
fn not_a_message(body: &[u8]) -> Response<BoxBody<Bytes, Infallible>> {
    let error = if serde_json::from_slice::<IgnoredAny>(body).is_err() {
        ErrorData::parse_error("the body isn't JSON", None)
    } else if body.trim_ascii_start().starts_with(b"[") {
        ErrorData::invalid_request("send one message per request: batches aren't supported", None)
    } else {
        ErrorData::invalid_request("the body isn't a JSON-RPC 2.0 message", None)
    };
    // Strings and numbers can always be serialised.
    let body = serde_json::to_vec(&JsonRpcError::new(None, error)).unwrap_or_default();
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Answers over a pair of byte streams until the input ends.
pub async fn serve<H: Host>(
    tools: ToolServer<H>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let transport = Window::new(AsyncRwTransport::new_server(input, output), MAX_IN_PROGRESS);
    let running = match tools.serve(transport).await {
        Ok(running) => running,
        // Standard input was closed before the first message.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Open(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(ServeError::Task)
}
