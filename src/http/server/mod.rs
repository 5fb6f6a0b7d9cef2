//! Sockets: accepts connections, speaks HTTP/1.1 on them, and stops in an orderly way. What is answered is [`App`]'s, or
//! whoever else is [`Answering`].
//!
//! Nobody is waited for without end ([`ConnectionLimits`]). When there are as many connections as allowed, further ones
//! wait in the listener's backlog and idle ones make room; when the process runs out of file descriptors, it waits for
//! some to come free and goes on.

mod connections;
mod deadline;
mod queue;
mod threads;
mod waited;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use prometheus::IntGauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use self::connections::Connections;
pub use self::queue::LongestWait;
pub(super) use self::queue::{FEW, Queue};
pub use self::threads::IoThreads;
use super::App;

/// How a request arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// The other end of the connection.
    pub peer: SocketAddr,
    /// Whether it comes to its turn after so long that it isn't taken on ([`ConnectionLimits::longest_wait`]).
    pub is_late: bool,
}

/// Answers requests that come over connections.
pub trait Answering: Clone + Send + Sync + 'static {
    /// Answers a request. It always has an answer; failures are answers too.
    fn answer(&self, request: Request<Incoming>, arrival: Arrival) -> impl Future<Output = Response> + Send;

    /// How its connections are treated.
    fn limits(&self) -> &ConnectionLimits;

    /// Counts the connections that are open.
    fn connections(&self) -> Option<&IntGauge> {
        None
    }
}

impl Answering for App {
    fn answer(&self, request: Request<Incoming>, arrival: Arrival) -> impl Future<Output = Response> + Send {
        self.handle(request, Some(arrival))
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
    /// How long a client may take for the headers of a request from their first byte on, and until its first request.
    pub header_timeout: Duration,
    /// How long a connection may idle between requests: longer than proxies keep theirs (60 s with most), so that none
    /// sends a request on a connection that is being closed. While three quarters of the connections are taken, it is
    /// no longer than the time for headers.
    pub idle_timeout: Duration,
    /// How long a connection may have been ready before its request is taken on, and a search before it is computed, where
    /// there are many; one that waited longer is answered 503. So under overload the queue is never longer than this, whoever is let in is answered soon,
    /// and whoever isn't learns it soon.
    pub longest_wait: LongestWait,
    /// How long a client may take no byte of an answer.
    pub write_timeout: Duration,
    /// How long clients may still connect and send requests once the service is asked to stop, and how long they may
    /// send requests from then on; each is answered, and told that the connection closes. Over at once where no
    /// connection is open.
    pub grace: Duration,
    /// How long requests under way may go on once the service is asked to stop, the grace included.
    pub drain_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            header_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(75),
            longest_wait: LongestWait::default(),
            write_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(1),
            drain_timeout: Duration::from_secs(9),
        }
    }
}

/// Serves until `shutdown` completes; then tells clients to go elsewhere for the time of grace, takes no more
/// connections, lets requests under way finish until [`ConnectionLimits::drain_timeout`] or until `abort` completes, and
/// drops the rest.
pub async fn serve(
    listener: TcpListener,
    app: impl Answering,
    shutdown: impl Future<Output = ()>,
    abort: impl Future<Output = ()>,
) {
    serve_on(&IoThreads::here(), listener, app, shutdown, abort).await;
}

/// The same, on other threads than this one.
pub async fn serve_on(
    threads: &IoThreads,
    listener: TcpListener,
    app: impl Answering,
    shutdown: impl Future<Output = ()>,
    abort: impl Future<Output = ()>,
) {
    serve_from(threads, listener, app, shutdown, abort).await;
}

/// Where connections come from.
trait Accept {
    fn accept(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send;

    /// Those connections that wait already; then no more are taken.
    fn close(self) -> impl Iterator<Item = io::Result<(TcpStream, SocketAddr)>>;
}

impl Accept for TcpListener {
    fn accept(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        TcpListener::accept(self)
    }

    /// Asks the system itself: what the runtime knows of the listener may be a moment old.
    fn close(self) -> impl Iterator<Item = io::Result<(TcpStream, SocketAddr)>> {
        let listener = self.into_std().ok();
        std::iter::from_fn(move || match listener.as_ref()?.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            accepted => Some(accepted.and_then(|(stream, address)| {
                stream.set_nonblocking(true)?;
                Ok((TcpStream::from_std(stream)?, address))
            })),
        })
    }
}

async fn serve_from(
    threads: &IoThreads,
    mut source: impl Accept,
    app: impl Answering,
    shutdown: impl Future<Output = ()>,
    abort: impl Future<Output = ()>,
) {
    let limits = app.limits().clone();
    let mut connections = Connections::new(app, threads);
    let mut abort = pin!(abort);
    connections.accept_until(&mut source, shutdown).await;

    let asked = Instant::now();
    connections.close();
    let grace = async {
        tokio::select! {
            () = tokio::time::sleep(limits.grace) => false,
            () = &mut abort => true,
        }
    };
    let is_aborted = connections.accept_until_over(&mut source, grace).await;
    if is_aborted {
        drop(source);
    } else {
        // Closing the listener drops who is in its backlog.
        connections.accept_waiting(source);
    }

    let (finished, mut tasks) = connections.finish();
    if !is_aborted {
        let answered = async {
            // Who was let in last may be about to send their first request.
            let all = async { while tasks.join_next().await.is_some() {} };
            drop(tokio::time::timeout(limits.grace, all).await);
            finished.await;
        };
        tokio::select! {
            biased;
            () = answered => {}
            () = abort => {}
            () = tokio::time::sleep_until(asked + limits.drain_timeout) => {
                tracing::warn!("requests were still under way at the end of the time for them; dropping them");
            }
        }
    }
    tasks.shutdown().await;
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::path::Path;
    use std::sync::Arc;

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

        fn close(self) -> impl Iterator<Item = io::Result<(TcpStream, SocketAddr)>> {
            self.listener.close()
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
        let app = app(ConnectionLimits::default());
        let server = tokio::spawn(async move {
            serve_from(&IoThreads::here(), source, app, shutdown, std::future::pending()).await;
        });
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
        let config = ConnectionLimits { header_timeout: Duration::from_millis(1), ..ConnectionLimits::default() };
        tokio::spawn(serve(listener, app(config), std::future::pending(), std::future::pending()));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost").await.expect("sent");
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap_or(0), 0, "closed without an answer");
    }
}
