//! The transports: one request of HTTP, or a pair of byte streams.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
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

/// The largest message that is read over HTTP, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// The most requests over two byte streams that are in progress. Further ones aren't read until then.
const MAX_IN_PROGRESS: usize = 32;

/// The connection over two byte streams failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the client didn't open the Model Context Protocol")]
    Open(#[source] Box<rmcp::service::ServerInitializeError>),
    #[error("the connection failed")]
    Task(#[source] tokio::task::JoinError),
}

/// Why a request of HTTP isn't taken for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("the caller doesn't accept JSON")]
    NotAcceptable,
    #[error("the body isn't said to be JSON")]
    UnsupportedMediaType,
    #[error("the message has more than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    #[error("the body can't be read")]
    Unreadable,
    #[error("the protocol's version is unknown")]
    UnknownVersion,
    #[error("the protocol's library failed")]
    Failed,
}

/// Answers one request of the streamable HTTP transport: with one JSON document, and without a session, so that nothing outlives
/// the request. A message that isn't one is answered with an error of JSON-RPC.
///
/// # Errors
/// [`Rejected`] if it isn't read as a message.
pub async fn answer<H: Host, B>(
    tools: ToolServer<H>,
    request: Request<B>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Rejected>
where
    B: hyper::body::Body<Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    if !accepts_json(request.headers()) {
        return Err(Rejected::NotAcceptable);
    }
    if !request.headers().get(CONTENT_TYPE).is_some_and(|of| media_type(of).eq_ignore_ascii_case(JSON)) {
        return Err(Rejected::UnsupportedMediaType);
    }
    let (mut head, body) = request.into_parts();
    let message = Limited::new(body, MAX_MESSAGE_BYTES)
        .collect()
        .await
        .map_err(|error| if error.is::<LengthLimitError>() { Rejected::TooLarge } else { Rejected::Unreadable })?;
    let message = message.to_bytes();
    // The library wants both types of the specification, though it never sends the second one here.
    head.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.max_request_body_bytes = MAX_MESSAGE_BYTES;
    // The HTTP service checks Host and Origin by its own settings.
    let config = config.disable_allowed_hosts();
    let service =
        StreamableHttpService::new(move || Ok(tools.clone()), Arc::new(NeverSessionManager::default()), config);
    let response = service.handle(Request::from_parts(head, Full::new(message.clone()))).await;
    match response.status() {
        // The media type is right, so it's the message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Ok(not_a_message(&message)),
        _ if response.headers().contains_key(CONTENT_TYPE) => Ok(response),
        StatusCode::BAD_REQUEST => Err(Rejected::UnknownVersion),
        status if status.is_success() => Ok(response),
        _ => Err(Rejected::Failed),
    }
}

const JSON: &str = "application/json";

/// The media type of a header's value, without parameters.
fn media_type(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim()
}

/// Whether a caller accepts JSON; one that doesn't say accepts anything (RFC 9110, 12.5.1).
fn accepts_json(headers: &HeaderMap) -> bool {
    let accepts = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default();
        let is_json = [JSON, "application/*", "*/*"].iter().any(|json| essence.eq_ignore_ascii_case(json));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_json && weight.is_none_or(|weight| weight.parse() != Ok(0.0))
    };
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    values.peek().is_none() || values.any(|value| value.to_str().is_ok_and(|value| value.split(',').any(accepts)))
}

/// The error of JSON-RPC for a body that is no message.
fn not_a_message(body: &[u8]) -> Response<BoxBody<Bytes, Infallible>> {
    let error = if serde_json::from_slice::<IgnoredAny>(body).is_err() {
        ErrorData::parse_error("the body isn't JSON", None)
    } else if body.trim_ascii_start().starts_with(b"[") {
        ErrorData::invalid_request("send one message in a request: batches aren't supported", None)
    } else {
        ErrorData::invalid_request("the body isn't a message of JSON-RPC 2.0", None)
    };
    // Strings and numbers always serialize.
    let body = serde_json::to_vec(&JsonRpcError::new(None, error)).unwrap_or_default();
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Answers over a pair of byte streams until the first one ends.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_accepted_in_all_its_ranges() {
        let accepts = |values: &[&'static str]| {
            accepts_json(&values.iter().map(|value| (ACCEPT, HeaderValue::from_static(value))).collect())
        };
        for values in [
            &[][..],
            &["*/*"],
            &["application/json"],
            &["application/*;q=0.5"],
            &["text/html, Application/JSON; charset=utf-8"],
            &["text/event-stream", "application/json"],
            &["application/json, text/event-stream"],
        ] {
            assert!(accepts(values), "{values:?}");
        }
        for values in [&["text/event-stream"][..], &["text/html"], &["application/json;q=0"], &["*/*; q=0.0"], &[""]] {
            assert!(!accepts(values), "{values:?}");
        }
    }
}
