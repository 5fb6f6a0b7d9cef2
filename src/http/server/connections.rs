//! Accepts a listener's connections up to a limit, and closes them when the service stops. At the
//! limit, the longest-idle connection is closed to make room for the next one.
//!
//! A connection is idle unless a request is being handled: between requests, while headers are
//! incomplete, and while the peer doesn't read its response. So clients that merely keep
//! connections open can't lock others out, no matter how many they open.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use prometheus::IntGauge;
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;
use tower::Service;

use super::deadline::DeadlineStream;
use super::minimum_rate::Progress;
use super::{Accept, LocalAddress, Server};

/// How long to pause after the system refused a connection for lack of resources.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long to pause before looking again for an idle connection to evict.
const EVICTION_PAUSE: Duration = Duration::from_millis(10);

/// The maximum size of the request line and headers that hyper reads, in bytes. A request over the
/// service's own limits but below this one gets a problem document.
const MAX_HEAD_BYTES: usize = 128 * 1024;

/// Closes the connection that a request came over. It's an extension of every request.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct Disconnect(Arc<Notify>);

impl Disconnect {
    pub(in crate::http) fn now(&self) {
        self.0.notify_one();
    }

    pub(in crate::http) async fn closed(&self) {
        self.0.notified().await;
    }
}

/// A listener's connections; each runs as a task.
pub(super) struct Connections<S> {
    server: Arc<Server<S>>,
    room: Room,
    /// Whether the system refused the last connection for lack of resources.
    is_starved: bool,
    /// Counts writes across all connections.
    writes: Arc<AtomicU64>,
    /// Whether responses get `Connection: close`.
    is_closing: Arc<AtomicBool>,
    graceful: GracefulShutdown,
    tasks: JoinSet<()>,
}

impl<S> Connections<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static,
{
    pub(super) fn new(server: Server<S>) -> Self {
        let permits = Arc::new(Semaphore::new(server.limits.max_connections));
        let grace = server.limits.header_timeout / 5;
        Self {
            server: Arc::new(server),
            room: Room { permits, open: HashMap::new(), accepted: None, grace },
            is_starved: false,
            writes: Arc::default(),
            is_closing: Arc::default(),
            graceful: GracefulShutdown::new(),
            tasks: JoinSet::new(),
        }
    }

    pub(super) async fn accept_until(&mut self, source: &mut impl Accept, end: impl Future<Output = ()>) {
        let mut end = pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => return,
                accepted = self.room.next(source) => {
                    if self.spawn(accepted).is_err() {
                        self.room.evict();
                        tokio::select! {
                            biased;
                            () = &mut end => return,
                            () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                        }
                    }
                }
            }
            while let Some(ended) = self.tasks.try_join_next_with_id() {
                self.room.ended(ended);
            }
        }
    }

    /// Accepts connections until `end` completes or no connection is open. Returns `end`'s output,
    /// or `false`.
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
                Some(ended) = self.tasks.join_next_with_id() => self.room.ended(ended),
                accepted = self.room.next(source) => {
                    if self.spawn(accepted).is_err() {
                        return false;
                    }
                }
            }
        }
        false
    }

    /// Accepts the connections already in the backlog, within the limit, and then stops accepting.
    pub(super) fn accept_backlog(&mut self, source: impl Accept) {
        let accepted = self.room.accepted.take().map(Ok);
        for accepted in accepted.into_iter().chain(source.close()) {
            let Ok(permit) = Arc::clone(&self.room.permits).try_acquire_owned() else { return };
            if self.spawn(accepted.map(|(stream, peer)| (stream, peer, permit))).is_err() {
                return;
            }
        }
    }

    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Closes idle connections. Returns a future that completes when the others are done, along with
    /// their tasks.
    pub(super) fn finish(self) -> (impl Future<Output = ()>, JoinSet<()>) {
        (self.graceful.shutdown(), self.tasks)
    }

    fn spawn(&mut self, accepted: io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)>) -> Result<(), ()> {
        match accepted {
            Ok((stream, peer, permit)) => {
                self.is_starved = false;
                // Responses are written in one go, so waiting for more data would only delay them.
                // If the option can't be set, they're just slower.
                let _ = stream.set_nodelay(true);
                let progress = Arc::new(Progress::new(Arc::clone(&self.writes)));
                let disconnect = Disconnect::default();
                let connection = self.connection(stream, peer, Arc::clone(&progress), disconnect.clone());
                let connection = self.graceful.watch(connection);
                let open = (permit, OpenConnection::new(self.server.open_connections.clone()));
                let task = self.tasks.spawn(async move {
                    // A broken connection is the client's problem. The service's own failures are
                    // logged where they happen.
                    tokio::select! {
                        _ = connection => {}
                        () = disconnect.closed() => {}
                    }
                    drop(open);
                });
                self.room.open.insert(task.id(), Open { task, progress, since: Instant::now() });
                Ok(())
            }
            Err(error) if is_of_one_connection(&error) => Ok(()),
            Err(error) => {
                if !std::mem::replace(&mut self.is_starved, true) {
                    tracing::error!(
                        %error,
                        "can't accept connections for now; if this persists, raise the open-file limit"
                    );
                }
                Err(())
            }
        }
    }

    /// Speaks HTTP/1.1 on a connection.
    ///
    /// hyper itself answers input that isn't a valid request: with 400, with 414 for a URI of more
    /// than 64 KiB, and with 431 for more than 100 headers or more than [`MAX_HEAD_BYTES`].
    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        progress: Arc<Progress>,
        disconnect: Disconnect,
    ) -> impl GracefulConnection<Error = hyper::Error> + Send + use<S> {
        let local = stream.local_addr().ok();
        let stream = DeadlineStream::new(stream, self.server.limits, Arc::clone(&progress));
        let (service, is_closing) = (self.server.service.clone(), Arc::clone(&self.is_closing));
        let service = service_fn(move |request: axum::http::Request<Incoming>| {
            progress.request_begins();
            let mut request = request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
            request.extensions_mut().insert(ConnectInfo(peer));
            if let Some(local) = local {
                request.extensions_mut().insert(LocalAddress(local));
            }
            request.extensions_mut().insert(disconnect.clone());
            // Called right away, so that a body the service drops is skipped before hyper writes
            // the response.
            let response = service.clone().call(request);
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
            // The stream enforces its own deadlines.
            .header_read_timeout(None)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    }
}

/// Counts a connection in the gauge until it's dropped, even if its task panics or is aborted.
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

struct Room {
    permits: Arc<Semaphore>,
    open: HashMap<Id, Open>,
    /// An accepted connection that is waiting for its permit.
    accepted: Option<(TcpStream, SocketAddr)>,
    /// How long a new connection has to send its first request before it may be evicted, so that a
    /// burst of connections doesn't evict itself.
    grace: Duration,
}

struct Open {
    task: AbortHandle,
    progress: Arc<Progress>,
    since: Instant,
}

impl Room {
    /// Returns the next connection. At the limit, it closes an idle one to make room, or waits if
    /// none is idle. Dropping the future doesn't lose a connection.
    async fn next(&mut self, source: &mut impl Accept) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        if self.accepted.is_none() {
            self.accepted = Some(source.accept().await?);
        }
        let permit = loop {
            if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
                break permit;
            }
            self.evict();
            let permit = Arc::clone(&self.permits).acquire_owned();
            if let Ok(Ok(permit)) = tokio::time::timeout(EVICTION_PAUSE, permit).await {
                break permit;
            }
        };
        let (stream, peer) = self.accepted.take().ok_or(io::ErrorKind::ConnectionAborted)?;
        Ok((stream, peer, permit))
    }

    /// Closes the longest-idle connection, if there is one.
    fn evict(&mut self) {
        let now = Instant::now();
        let is_evictable = |open: &Open| open.progress.requests() > 0 || now.duration_since(open.since) >= self.grace;
        let open = self.open.iter().filter(|(_, open)| is_evictable(open));
        let idle = open.filter_map(|(id, open)| Some((open.progress.idle_since()?, *id)));
        if let Some(open) = idle.min().and_then(|(_, id)| self.open.remove(&id)) {
            open.task.abort();
        }
    }

    /// Removes a connection whose task has ended.
    fn ended(&mut self, task: Result<(Id, ()), JoinError>) {
        let id = match task {
            Ok((id, ())) => id,
            Err(error) => {
                if error.is_panic() {
                    tracing::error!(%error, "a bug broke a connection; please report it");
                }
                error.id()
            }
        };
        self.open.remove(&id);
    }
}

/// Whether accepting failed only because this particular connection was already gone.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
