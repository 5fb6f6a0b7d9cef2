//! The transports: one request of HTTP, or a pair of byte streams.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use rmcp::model::{GetExtensions as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

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
    let transport = Window::new(AsyncRwTransport::new_server(input, output));
    let running = match tools.serve(transport).await {
        Ok(running) => running,
        // Standard input was closed before the first message.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Open(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(ServeError::Task)
}

/// Most requests in progress on a connection over byte streams; further ones aren't read before.
const WINDOW: usize = 32;

/// A transport that reads a request only while fewer than [`WINDOW`] are in progress, and as few
/// answers are waiting to be written: a client that doesn't read isn't read from.
struct Window<T> {
    transport: T,
    requests: Arc<Semaphore>,
    answers: Arc<Semaphore>,
}

impl<T> Window<T> {
    fn new(transport: T) -> Self {
        let room = || Arc::new(Semaphore::new(WINDOW));
        Self { transport, requests: room(), answers: room() }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Window<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (send, answers) = (self.transport.send(message), Arc::clone(&self.answers));
        async move {
            // The semaphores are never closed.
            let _place = answers.acquire().await;
            send.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let place = Arc::clone(&self.requests).acquire_owned().await.ok()?;
        drop(self.answers.acquire().await);
        let mut message = self.transport.receive().await?;
        if let JsonRpcMessage::Request(request) = &mut message {
            // Dropped with the request's context.
            request.request.extensions_mut().insert(Arc::new(place));
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

    use super::super::server::Refused;
    use super::*;
    use crate::generation::Snapshot;
    use crate::service::{SearchSoftware, ServiceError};

    /// Counts the searches that have begun, which wait for permission to go on.
    #[derive(Clone)]
    struct Gate {
        begun: Arc<AtomicUsize>,
        open: Arc<Semaphore>,
    }

    impl Host for Gate {
        async fn run<F>(&self, search: F) -> Result<F::Output, Refused>
        where
            F: Future<Output: Send + 'static> + Send + 'static,
        {
            self.begun.fetch_add(1, Ordering::Relaxed);
            self.open.acquire().await.expect("never closed").forget();
            Ok(search.await)
        }

        fn searched(&self, _: &SearchSoftware, _: u64) {}

        fn failed(&self, _: ServiceError) {}
    }

    #[tokio::test]
    async fn requests_beyond_the_window_wait_until_others_are_answered() {
        const REQUESTS: usize = 100;
        let host = Gate { begun: Arc::default(), open: Arc::new(Semaphore::new(0)) };
        let tools = ToolServer::new(Snapshot::build(Vec::new()).expect("a generation"), 0, "", host.clone());
        // Room for all messages, so that nothing but the window holds them back.
        let (client, server) = duplex(1 << 20);
        let (input, output) = split(server);
        tokio::spawn(serve(tools, input, output));
        let (answers, mut requests) = split(client);
        let mut answers = BufReader::new(answers).lines();
        let call = |id: usize, method: &str, params: serde_json::Value| {
            format!("{}\n", serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        };
        let client = serde_json::json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        requests.write_all(call(REQUESTS, "initialize", client).as_bytes()).await.expect("sent");
        answers.next_line().await.expect("readable").expect("an answer");
        requests.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await.expect("sent");
        for id in 0..REQUESTS {
            let search = serde_json::json!({"name": "search_software", "arguments": {"q": "a"}});
            requests.write_all(call(id, "tools/call", search).as_bytes()).await.expect("sent");
        }
        for answered in 0..REQUESTS {
            let expected = (answered + WINDOW).min(REQUESTS);
            while host.begun.load(Ordering::Relaxed) < expected {
                tokio::task::yield_now().await;
            }
            // Whatever else could run has had its turns.
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            assert_eq!(host.begun.load(Ordering::Relaxed), expected);
            host.open.add_permits(1);
            answers.next_line().await.expect("readable").expect("an answer");
        }
    }
}
