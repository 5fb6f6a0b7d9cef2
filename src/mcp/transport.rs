//! The transports: a single HTTP request, or a pair of byte streams, on which only a limited number of
//! requests may be in progress.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::model::{ClientNotification, GetExtensions as _, JsonRpcError, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServiceExt as _};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::server::{Host, ToolServer};

/// The maximum size of a message over HTTP, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// The maximum number of requests in progress over two byte streams. No more are read until one of
/// them is done.
const MAX_IN_PROGRESS: usize = 32;

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

/// A transport that reads no messages while its window is full. A request's slot is freed once its
/// handler has ended and its response has been sent. If it's cancelled, there's no response to wait
/// for.
pub(super) struct Window<T> {
    transport: T,
    free: Arc<Semaphore>,
    waiting: Arc<Mutex<HashMap<RequestId, Arc<OwnedSemaphorePermit>>>>,
}

impl<T> Window<T> {
    pub(super) fn new(transport: T, size: usize) -> Self {
        Self { transport, free: Arc::new(Semaphore::new(size)), waiting: Arc::default() }
    }

    fn leave(&self, id: Option<&RequestId>) -> Option<Arc<OwnedSemaphorePermit>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(id?)
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Window<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let place = match &message {
            JsonRpcMessage::Response(response) => self.leave(Some(&response.id)),
            JsonRpcMessage::Error(error) => self.leave(error.id.as_ref()),
            _ => None,
        };
        let sent = self.transport.send(message);
        async move {
            let sent = sent.await;
            drop(place);
            sent
        }
    }

    // Cancel-safe, like the wrapped transport's own method: dropping the future frees its slot.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let place = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let mut message = self.transport.receive().await?;
        match &mut message {
            JsonRpcMessage::Request(request) => {
                let place = Arc::new(place);
                // The handler keeps the extensions, and with them the slot, until it ends.
                request.request.extensions_mut().insert(Arc::clone(&place));
                self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id.clone(), place);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.leave(cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt as _;
    use rmcp::model::ServerResult;
    use serde_json::json;

    use super::*;

    /// Requests with ids counting up from 0, except that instead of request 10, a cancellation of
    /// request 1 arrives.
    struct Endless(u64);

    impl Transport<RoleServer> for Endless {
        type Error = Infallible;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            let id = self.0;
            self.0 += 1;
            let message = match id {
                10 => json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
                _ => json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
            };
            serde_json::from_value(message).ok()
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    #[test]
    fn nothing_more_is_read_until_a_request_in_progress_is_answered() {
        let mut window = Window::new(Endless(0), 10);
        let next = |window: &mut Window<Endless>| window.receive().now_or_never().map(|message| message.is_some());
        for _ in 0..10 {
            assert_eq!(next(&mut window), Some(true));
        }
        assert_eq!(next(&mut window), None, "the window is full");
        let response = TxJsonRpcMessage::<RoleServer>::response(ServerResult::empty(()), RequestId::Number(0));
        let sent = window.send(response);
        assert_eq!(next(&mut window), None, "the response hasn't been sent yet");
        assert!(sent.now_or_never().is_some_and(|sent| sent.is_ok()));
        assert_eq!(next(&mut window), Some(true), "a notification, which cancels a request");
        assert_eq!(next(&mut window), Some(true));
        assert_eq!(next(&mut window), Some(true), "the cancelled request's slot");
        assert_eq!(next(&mut window), None);
    }

    #[test]
    fn a_handler_keeps_its_slot_even_if_it_is_cancelled() {
        let mut window = Window::new(Endless(9), 2);
        let mut next = || window.receive().now_or_never().flatten();
        let first = next().expect("a request");
        assert!(next().is_some_and(|message| matches!(message, JsonRpcMessage::Notification(_))));
        assert!(next().is_some());
        assert!(next().is_none(), "both slots are taken");
        drop(first);
    }
}
