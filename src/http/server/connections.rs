//! The connections of a listener: accepted while the limit allows, and told to close when the service stops.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use prometheus::IntGauge;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tower::{Service, ServiceExt as _};

use super::deadline::{DeadlineStream, Progress, Timeouts};
use super::limiter::ConnectionLimiter;
use super::{Accept, Server};

/// The pause after the system refused a connection for want of resources.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The most that hyper reads of a request's line and headers, in bytes. Between the limits of the service and this one a
/// request gets a problem document.
const MAX_HEAD_BYTES: usize = 128 * 1024;

/// The connections of a listener, each a task.
pub(super) struct Connections<S> {
    server: Arc<Server<S>>,
    limiter: Arc<ConnectionLimiter>,
    /// Whether responses ask clients to close their connections.
    is_closing: Arc<AtomicBool>,
    graceful: GracefulShutdown,
    tasks: JoinSet<()>,
}

impl<S> Connections<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static,
{
    pub(super) fn new(server: Server<S>) -> Self {
        let limiter = Arc::new(ConnectionLimiter::new(server.limits.max_connections));
        Self {
            server: Arc::new(server),
            limiter,
            is_closing: Arc::default(),
            graceful: GracefulShutdown::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Accepts connections until `end`.
    pub(super) async fn accept_until(&mut self, source: &mut impl Accept, end: impl Future<Output = ()>) {
        let mut end = pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => return,
                accepted = next(source, &self.limiter) => {
                    if self.spawn(accepted).is_err() {
                        tokio::select! {
                            biased;
                            () = &mut end => return,
                            () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                        }
                    }
                }
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    /// Accepts connections until `end` or until none is open. Returns the output of `end`, else `false`.
    pub(super) async fn accept_until_idle(
        &mut self,
        source: &mut impl Accept,
        end: impl Future<Output = bool>,
    ) -> bool {
        let mut end = pin!(end);
        while !self.tasks.is_empty() {
            tokio::select! {
                biased;
                outcome = &mut end => return outcome,
                _ = self.tasks.join_next() => {}
                accepted = next(source, &self.limiter) => {
                    if self.spawn(accepted).is_err() {
                        return false;
                    }
                }
            }
        }
        false
    }

    /// Accepts the connections that wait in the backlog, within the limit, and then no more.
    pub(super) fn accept_backlog(&mut self, source: impl Accept) {
        for accepted in source.close() {
            let Some(permit) = self.limiter.try_acquire() else { return };
            if self.spawn(accepted.map(|(stream, peer)| (stream, peer, permit))).is_err() {
                return;
            }
        }
    }

    /// Has responses ask clients from now on to close their connections.
    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Closes idle connections; returns a future that completes when the others are done, and their tasks.
    pub(super) fn finish(self) -> (impl Future<Output = ()>, JoinSet<()>) {
        (self.graceful.shutdown(), self.tasks)
    }

    /// Serves a connection.
    ///
    /// # Errors
    /// Where the system has no resources for more of them.
    fn spawn(&mut self, accepted: io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)>) -> Result<(), ()> {
        match accepted {
            Ok((stream, peer, permit)) => {
                self.limiter.set_starved(false);
                let connection = self.graceful.watch(self.connection(stream, peer));
                let open = (permit, OpenConnection::new(self.server.open_connections.clone()));
                self.tasks.spawn(async move {
                    // A broken connection is the client's affair; failures of the service are logged where they happen.
                    let _ = connection.await;
                    drop(open);
                });
                Ok(())
            }
            Err(error) if is_of_one_connection(&error) => Ok(()),
            Err(error) => {
                if !self.limiter.set_starved(true) {
                    tracing::error!(%error, "can't accept connections for now; raise the limit of open files if it lasts");
                }
                Err(())
            }
        }
    }

    /// Speaks HTTP/1.1 on a connection.
    ///
    /// hyper itself answers bytes that aren't a request: 400, 414 for a URI of more than 64 KiB, 431 for more than 100
    /// headers or more than [`MAX_HEAD_BYTES`].
    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> impl GracefulConnection<Error = hyper::Error> + Send + use<S> {
        let limits = &self.server.limits;
        let timeouts =
            Timeouts { header: limits.header_timeout, idle: limits.idle_timeout, write: limits.write_timeout };
        let progress = Arc::<Progress>::default();
        let stream = DeadlineStream::new(stream, timeouts, Arc::clone(&progress), Arc::clone(&self.limiter));
        let (service, is_closing) = (self.server.service.clone(), Arc::clone(&self.is_closing));
        let service = service_fn(move |request: axum::http::Request<Incoming>| {
            progress.request_begins();
            // No operation takes a body; hyper skips an unread one.
            let mut request = request.map(|_| Body::empty());
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = service.clone().oneshot(request);
            let (progress, is_closing) = (Arc::clone(&progress), Arc::clone(&is_closing));
            async move {
                let Ok(mut response) = response.await;
                progress.response_is_ready();
                if is_closing.load(Ordering::Relaxed) {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response)
            }
        });
        http1::Builder::new()
            // The stream has deadlines of its own.
            .header_read_timeout(None)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    }
}

/// Counts a connection in the gauge until it is dropped, also by a panic or an abort of its task.
struct OpenConnection(Option<IntGauge>);

impl OpenConnection {
    fn new(gauge: Option<IntGauge>) -> Self {
        gauge.iter().for_each(IntGauge::inc);
        Self(gauge)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.iter().for_each(IntGauge::dec);
    }
}

/// The next connection, once the limit allows one.
async fn next(
    source: &mut impl Accept,
    limiter: &ConnectionLimiter,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = limiter.acquire().await;
    let (stream, peer) = source.accept().await?;
    // A response is written whole; waiting for more to send would only delay it. Without the option it is slower.
    let _ = stream.set_nodelay(true);
    Ok((stream, peer, permit))
}

/// Whether accepting failed because of the one connection, which was gone before.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
