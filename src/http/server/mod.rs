//! Sockets: accepts connections, speaks HTTP/1.1, and shuts down gracefully. Depends only on a
//! tower [`Service`].
//!
//! Every wait for a client is limited ([`ConnectionLimits`]). At the connection limit, or when the
//! process runs out of file descriptors, the longest-idle connection is closed to make room for the
//! next one.

mod connections;
mod deadline;
mod minimum_rate;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use prometheus::IntGauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tower::Service;

use self::connections::Connections;

pub(super) use self::connections::Disconnect;

#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// The maximum number of connections. Beyond it, a new connection replaces the longest-idle one,
    /// or waits in the listener's backlog while all of them have a request in progress.
    pub max_connections: usize,
    /// The time limit for a request's headers, counted from their first byte, and for a
    /// connection's first request.
    pub header_timeout: Duration,
    /// The time limit between requests. It's longer than proxies keep connections open (usually
    /// 60 s), so that they don't send a request on a connection that is being closed.
    pub idle_timeout: Duration,
    /// How far a client may fall behind the minimum rate at which it must read responses, 16 KiB/s.
    pub write_timeout: Duration,
    /// How long new connections are accepted after the signal to stop, and how long new requests
    /// are accepted after that. Every response closes its connection. Ends early once no
    /// connection is open.
    pub grace: Duration,
    /// How long requests in progress may take to finish after the signal to stop, including the
    /// grace period.
    pub drain_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            header_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(1),
            drain_timeout: Duration::from_secs(9),
        }
    }
}

/// A connection's address on this side, as an extension of its requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalAddress(pub(super) SocketAddr);

/// An HTTP/1.1 server for a tower service that is always ready, as axum's are. Each request carries
/// the peer's address as the extension `ConnectInfo<SocketAddr>`.
#[derive(Debug)]
pub struct Server<S> {
    pub service: S,
    pub limits: ConnectionLimits,
    pub open_connections: Option<IntGauge>,
}

impl<S> Server<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static,
{
    pub fn new(service: S) -> Self {
        Self { service, limits: ConnectionLimits::default(), open_connections: None }
    }

    /// Serves until `shutdown` completes. During the grace period that follows, responses get
    /// `Connection: close`. After that, no more connections are accepted. Requests in progress may
    /// finish until [`ConnectionLimits::drain_timeout`] passes or `abort` completes; the rest are
    /// dropped.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
        abort: impl Future<Output = ()>,
    ) {
        self.serve_from(listener, shutdown, abort).await;
    }

    async fn serve_from(
        self,
        mut source: impl Accept,
        shutdown: impl Future<Output = ()>,
        abort: impl Future<Output = ()>,
    ) {
        let limits = self.limits;
        let mut connections = Connections::new(self);
        let mut abort = pin!(abort);
        connections.accept_until(&mut source, shutdown).await;

        let stopping_since = Instant::now();
        connections.close();
        let grace = async {
            tokio::select! {
                () = tokio::time::sleep(limits.grace) => false,
                () = &mut abort => true,
            }
        };
        let is_aborted = connections.accept_until_idle(&mut source, grace).await;
        if is_aborted {
            drop(source);
        } else {
            // Closing the listener would drop its backlog.
            connections.accept_backlog(source);
        }

        let (finished, mut tasks) = connections.finish();
        if !is_aborted {
            let drained = async {
                // The most recently connected clients may be about to send their first request.
                let all = async { while tasks.join_next().await.is_some() {} };
                drop(tokio::time::timeout(limits.grace, all).await);
                finished.await;
            };
            tokio::select! {
                biased;
                () = drained => {}
                () = abort => {}
                () = tokio::time::sleep_until(stopping_since + limits.drain_timeout) => {
                    tracing::warn!("requests were still in progress at the end of the drain timeout; dropping them");
                }
            }
        }
        tasks.shutdown().await;
    }
}

trait Accept {
    fn accept(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send;

    /// Returns the connections in the backlog; further ones are refused.
    fn close(self) -> impl Iterator<Item = io::Result<(TcpStream, SocketAddr)>>;
}

impl Accept for TcpListener {
    fn accept(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        TcpListener::accept(self)
    }

    /// Asks the operating system directly, because the runtime's view of the listener may be
    /// slightly stale.
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

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

    fn server(limits: ConnectionLimits) -> Server<Router> {
        Server { limits, ..Server::new(Router::new().route("/healthz", get(async || "ok"))) }
    }

    async fn listen() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        (listener, address)
    }

    async fn is_healthy(address: SocketAddr) -> bool {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("a response");
        response.starts_with("HTTP/1.1 200 ")
    }

    #[tokio::test]
    async fn server_survives_running_out_of_file_descriptors() {
        const EMFILE: i32 = 24;
        let (listener, address) = listen().await;
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
        let server = server(ConnectionLimits::default());
        let server = tokio::spawn(async move { server.serve_from(source, shutdown, std::future::pending()).await });
        assert!(is_healthy(address).await);
        stop.send(()).expect("the server runs");
        server.await.expect("the server ends");
    }

    #[tokio::test]
    async fn closed_connection_makes_room_for_the_next() {
        let (listener, address) = listen().await;
        let server = server(ConnectionLimits { max_connections: 1, ..ConnectionLimits::default() });
        tokio::spawn(server.serve(listener, std::future::pending(), std::future::pending()));
        let mut first = TcpStream::connect(address).await.expect("a connection");
        first.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        assert!(first.read_u8().await.is_ok(), "the first is served");
        let (second, ()) = tokio::join!(is_healthy(address), async {
            // The first connection holds its permit until it closes.
            drop(first);
        });
        assert!(second);
    }

    /// A connection that is kept open after its request was answered.
    async fn kept_open(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        answered(&mut stream).await.expect("an answer");
        stream
    }

    async fn answered(stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await?;
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\nok") {
            if stream.read_buf(&mut response).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    #[tokio::test]
    async fn at_the_limit_the_longest_idle_connection_makes_room() {
        let (listener, address) = listen().await;
        let server = server(ConnectionLimits { max_connections: 3, ..ConnectionLimits::default() });
        tokio::spawn(server.serve(listener, std::future::pending(), std::future::pending()));
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(kept_open(address).await);
        }
        answered(&mut open[0]).await.expect("still open");
        assert!(is_healthy(address).await);
        answered(&mut open[1]).await.expect_err("it had been idle the longest");
        for at in [0, 2] {
            answered(&mut open[at]).await.expect("still open");
        }
    }

    #[tokio::test]
    async fn busy_connections_do_not_keep_others_waiting() {
        let (listener, address) = listen().await;
        let header_timeout = Duration::from_millis(500);
        let server = server(ConnectionLimits { max_connections: 8, header_timeout, ..ConnectionLimits::default() });
        tokio::spawn(server.serve(listener, std::future::pending(), std::future::pending()));
        let mut silent = Vec::new();
        for _ in 0..5 {
            let mut fresh = Vec::new();
            for _ in 0..8 {
                fresh.push(kept_open(address).await);
                // Headers that never end.
                let mut stream = TcpStream::connect(address).await.expect("a connection");
                stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.expect("sent");
                silent.push(stream);
            }
            assert!(is_healthy(address).await);
        }
    }

    #[tokio::test]
    async fn request_in_progress_is_not_evicted() {
        let (listener, address) = listen().await;
        let (release, released) = tokio::sync::watch::channel(false);
        let (entered, mut entry) = tokio::sync::mpsc::unbounded_channel();
        let slow = async move || {
            entered.send(()).expect("the test listens");
            released.clone().wait_for(|is_released| *is_released).await.map(|_| "done").expect("released")
        };
        let service = Router::new().route("/slow", get(slow)).route("/healthz", get(async || "ok"));
        let limits = ConnectionLimits { max_connections: 1, ..ConnectionLimits::default() };
        let server = Server { limits, ..Server::new(service) };
        tokio::spawn(server.serve(listener, std::future::pending(), std::future::pending()));
        let mut first = TcpStream::connect(address).await.expect("a connection");
        first.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        entry.recv().await.expect("the request should be handled");
        let mut response = String::new();
        let (is_second_healthy, read) = tokio::join!(is_healthy(address), async {
            release.send_replace(true);
            first.read_to_string(&mut response).await
        });
        assert!(is_second_healthy, "the first one is idle again and makes room");
        read.expect("closed in order");
        assert!(response.ends_with("done"), "{response}");
    }

    #[tokio::test]
    async fn aborted_connection_is_no_longer_counted() {
        let (listener, address) = listen().await;
        let (entered, entry) = tokio::sync::oneshot::channel();
        let entered = Arc::new(Mutex::new(Some(entered)));
        let stuck = async move || -> &'static str {
            let entered = entered.lock().expect("the lock").take().expect("one request");
            entered.send(()).expect("the test listens");
            std::future::pending().await
        };
        let open = IntGauge::new("open", "Open connections.").expect("a gauge");
        let service = Router::new().route("/stuck", get(stuck));
        let server = Server { open_connections: Some(open.clone()), ..Server::new(service) };
        let shutdown = async {
            let _ = entry.await;
        };
        let server = tokio::spawn(server.serve(listener, shutdown, std::future::ready(())));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        server.await.expect("the server ends");
        assert_eq!(open.get(), 0);
    }
}
