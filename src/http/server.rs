//! Sockets: accepts connections, speaks HTTP/1.1 on them, and stops in an orderly way. What is answered is [`App`]'s, or
//! whoever else is [`Answering`].
//!
//! A connection that sends no request, or sends one slowly, is closed; when there are as many connections as allowed,
//! further ones wait in the listener's backlog; when the process runs out of file descriptors, it waits for some to
//! come free and goes on.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use prometheus::IntGauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::{App, ClientAddress};

/// How long to wait after the system refused a connection for want of resources.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers requests that come over connections.
pub trait Answering: Clone + Send + Sync + 'static {
    /// Answers a request. It always has an answer; failures are answers too.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response> + Send;

    /// How its connections are treated.
    fn limits(&self) -> &ConnectionLimits;

    /// Counts the connections that are open.
    fn connections(&self) -> Option<&IntGauge> {
        None
    }
}

impl Answering for App {
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response> + Send {
        self.handle(request)
    }

    fn limits(&self) -> &ConnectionLimits {
        &self.config().connections
    }

    fn connections(&self) -> Option<&IntGauge> {
        Some(&self.state().metrics.connections)
    }
}

/// How connections are treated.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// The most connections at once; further ones wait in the listener's backlog.
    pub max_connections: usize,
    /// How long a client may take for the headers of a request, and how long an idle connection is kept.
    pub header_read_timeout: Duration,
    /// How long requests under way may go on once the service is asked to stop.
    pub drain_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            header_read_timeout: Duration::from_secs(5),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// Serves until `shutdown` completes; then takes no more connections, lets requests under way finish for at most
/// [`ConnectionLimits::drain_timeout`], or until `abort` completes, and drops the rest.
pub async fn serve(
    listener: TcpListener,
    app: impl Answering,
    shutdown: impl Future<Output = ()>,
    abort: impl Future<Output = ()>,
) {
    serve_from(listener, app, shutdown, abort).await;
}

/// Where connections come from.
trait Accept {
    fn accept(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send;
}

impl Accept for TcpListener {
    fn accept(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        TcpListener::accept(self)
    }
}

async fn serve_from(
    mut source: impl Accept,
    app: impl Answering,
    shutdown: impl Future<Output = ()>,
    abort: impl Future<Output = ()>,
) {
    let permits = Arc::new(Semaphore::new(app.limits().max_connections));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    let mut refused = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = next(&mut source, &permits) => accepted,
        };
        match accepted {
            Ok((stream, address, permit)) => {
                refused = false;
                let connection = connection(stream, address, app.clone());
                let watched = graceful.watch(connection);
                let open = Open::new(app.connections());
                connections.spawn(async move {
                    // A connection that breaks is the caller's affair; failures of the service are logged where they
                    // happen.
                    let _ = watched.await;
                    drop((permit, open));
                });
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                if !refused {
                    tracing::error!(%error, "can't accept connections for now; raise the limit of open files if it lasts");
                }
                refused = true;
                tokio::select! {
                    biased;
                    () = &mut shutdown => break,
                    () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                }
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(source);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = abort => {}
        () = tokio::time::sleep(app.limits().drain_timeout) => {
            tracing::warn!("requests were still under way at the end of the time for them; dropping them");
        }
    }
    connections.shutdown().await;
}

/// The next connection, once there is room for it.
async fn next(
    source: &mut impl Accept,
    permits: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, address) = source.accept().await?;
    // An answer is written whole; waiting for more to send would only delay it. Where it can't be set, it is slower.
    let _ = stream.set_nodelay(true);
    Ok((stream, address, permit))
}

/// Counts a connection as long as it is open.
struct Open(Option<IntGauge>);

impl Open {
    fn new(gauge: Option<&IntGauge>) -> Self {
        gauge.inspect(|gauge| gauge.inc());
        Self(gauge.cloned())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(gauge) = &self.0 {
            gauge.dec();
        }
    }
}

/// Speaks HTTP/1.1 on a connection.
///
/// hyper itself answers what doesn't parse as a request: 400, 414 for an address of more than 64 KiB, 431 for more than
/// 100 headers or more than its buffer holds (about 400 KiB).
fn connection(
    stream: TcpStream,
    address: SocketAddr,
    app: impl Answering,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    let timeout = app.limits().header_read_timeout;
    let service = service_fn(move |mut request: Request<Incoming>| {
        let app = app.clone();
        async move {
            request.extensions_mut().insert(ClientAddress(address));
            Ok::<_, Infallible>(app.answer(request).await)
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .serve_connection(TokioIo::new(stream), service)
}

/// Whether accepting failed because of the one connection, which was gone before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::path::Path;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::http::{AppState, HttpConfig, Metrics};
    use crate::key::{ApiKey, KeyKind, KeyStore};

    /// A listener that fails as told before it works.
    struct Failing {
        failures: VecDeque<io::Error>,
        listener: TcpListener,
    }

    impl Accept for Failing {
        async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
            match self.failures.pop_front() {
                Some(failure) => Err(failure),
                None => TcpListener::accept(&self.listener).await,
            }
        }
    }

    fn app(connections: ConnectionLimits) -> App {
        let config = HttpConfig { connections, ..HttpConfig::default() };
        let metrics = Arc::new(Metrics::new().expect("metrics"));
        let key = ApiKey::generate(KeyKind::Development).expect("a key");
        let keys = Arc::new(KeyStore::development(&key, Path::new("no-key-file.json")));
        App::new(AppState { directory: Arc::default(), keys, metrics, config: Arc::new(config) })
    }

    async fn healthy(address: SocketAddr) -> bool {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer.starts_with("HTTP/1.1 200 ")
    }

    #[tokio::test]
    async fn running_out_of_file_descriptors_is_survived() {
        const EMFILE: i32 = 24;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let failures = [
            io::Error::from_raw_os_error(EMFILE),
            io::Error::from(io::ErrorKind::ConnectionAborted),
            io::Error::from_raw_os_error(EMFILE),
        ];
        let source = Failing { failures: failures.into(), listener };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
        };
        let server =
            tokio::spawn(serve_from(source, app(ConnectionLimits::default()), shutdown, std::future::pending()));
        assert!(healthy(address).await);
        stop.send(()).expect("the server runs");
        server.await.expect("the server ends");
    }

    #[tokio::test]
    async fn a_connection_that_ends_makes_room_for_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let config = ConnectionLimits { max_connections: 1, ..ConnectionLimits::default() };
        tokio::spawn(serve(listener, app(config), std::future::pending(), std::future::pending()));
        let mut first = TcpStream::connect(address).await.expect("a connection");
        first.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        assert!(first.read_u8().await.is_ok(), "the first is served");
        let (second, ()) = tokio::join!(healthy(address), async {
            // It keeps its place until it goes.
            drop(first);
        });
        assert!(second);
    }

    #[tokio::test]
    async fn a_connection_that_sends_no_request_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let config = ConnectionLimits { header_read_timeout: Duration::from_millis(1), ..ConnectionLimits::default() };
        tokio::spawn(serve(listener, app(config), std::future::pending(), std::future::pending()));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost").await.expect("sent");
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap_or(0), 0, "closed without an answer");
    }
}
