//! The connections of a listener: accepted while there is room, and told to close when the service stops.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use prometheus::IntGauge;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::deadline::{Crowd, Deadlined, Patience, Progress};
use super::queue::{FEW, Queue};
use super::waited::{Wait, Waited};
use super::{Accept, Answering, Arrival, IoThreads};

/// How long to wait after the system refused a connection for want of resources.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The most that is read of a request's line and headers before it is refused, in bytes; what is above the limits of the
/// application and below this is refused with a problem document.
const MAX_HEAD_BYTES: usize = 128 * 1024;

/// What the connections of a listener have in common.
#[derive(Debug)]
struct Door {
    permits: Arc<Semaphore>,
    max_connections: usize,
    /// Whether the system refused a connection for want of resources.
    is_starved: AtomicBool,
    /// Whether clients are told to close their connections.
    is_closing: AtomicBool,
    queue: Queue,
}

impl Door {
    /// Whether a request that comes to its turn now comes too late.
    fn is_too_late(&self, wait: &Wait) -> bool {
        // One more is taken for the next connection.
        let connections = self.max_connections.saturating_sub(self.permits.available_permits() + 1);
        connections > FEW && self.queue.is_too_late(wait.last())
    }
}

impl Crowd for Door {
    fn is_dense(&self) -> bool {
        self.permits.available_permits() < self.max_connections.div_ceil(4) || self.is_starved.load(Ordering::Relaxed)
    }
}

/// A thread that connections are given to.
struct Thread {
    runtime: Handle,
    /// How many it has, and one.
    open: Arc<()>,
}

/// The connections of a listener, each a task.
pub(super) struct Connections<A> {
    app: A,
    door: Arc<Door>,
    threads: Vec<Thread>,
    graceful: GracefulShutdown,
    tasks: JoinSet<()>,
}

impl<A: Answering> Connections<A> {
    pub(super) fn new(app: A, threads: &IoThreads) -> Self {
        let max_connections = app.limits().max_connections;
        let door = Door {
            permits: Arc::new(Semaphore::new(max_connections)),
            max_connections,
            is_starved: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            queue: Queue::new(app.limits().longest_wait),
        };
        let threads =
            threads.runtimes().iter().map(|runtime| Thread { runtime: runtime.clone(), open: Arc::default() });
        Self {
            app,
            door: Arc::new(door),
            threads: threads.collect(),
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
                accepted = next(source, &self.door.permits) => {
                    if self.take(accepted).is_err() {
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

    /// Accepts connections until `end`, whose outcome it tells, or until none is open.
    pub(super) async fn accept_until_over(
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
                accepted = next(source, &self.door.permits) => {
                    if self.take(accepted).is_err() {
                        return false;
                    }
                }
            }
        }
        false
    }

    /// Accepts those connections that wait already, as far as there is room, and then no more.
    pub(super) fn accept_waiting(&mut self, source: impl Accept) {
        for accepted in source.close() {
            let Ok(permit) = Arc::clone(&self.door.permits).try_acquire_owned() else { return };
            if self.take(accepted.map(|(stream, address)| (stream, address, permit))).is_err() {
                return;
            }
        }
    }

    /// Tells clients from now on to close their connections.
    pub(super) fn close(&self) {
        self.door.is_closing.store(true, Ordering::Relaxed);
    }

    /// Closes idle connections and waits until the others have been answered; and their tasks.
    pub(super) fn finish(self) -> (impl Future<Output = ()>, JoinSet<()>) {
        (self.graceful.shutdown(), self.tasks)
    }

    /// Serves a connection.
    ///
    /// # Errors
    /// Where the system has no more of them for now.
    fn take(&mut self, accepted: io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)>) -> Result<(), ()> {
        let was_starved = self.door.is_starved.load(Ordering::Relaxed);
        match accepted.and_then(|(stream, address, permit)| self.spawn(stream, address, permit)) {
            Ok(()) => {
                self.door.is_starved.store(false, Ordering::Relaxed);
                Ok(())
            }
            Err(error) if is_of_one_connection(&error) => Ok(()),
            Err(error) => {
                if !was_starved {
                    tracing::error!(%error, "can't accept connections for now; raise the limit of open files if it lasts");
                }
                self.door.is_starved.store(true, Ordering::Relaxed);
                Err(())
            }
        }
    }

    /// Has the thread with the fewest connections serve one more.
    fn spawn(&mut self, stream: TcpStream, address: SocketAddr, permit: OwnedSemaphorePermit) -> io::Result<()> {
        let fewest = self.threads.iter().min_by_key(|thread| Arc::strong_count(&thread.open));
        let Some(thread) = fewest else { return Ok(()) };
        // From here on its events and timers are those of that thread's runtime.
        let entered = thread.runtime.enter();
        let stream = TcpStream::from_std(stream.into_std()?)?;
        let wait = Wait::new();
        let connection = connection(stream, address, &self.app, &self.door, &wait);
        let watched = Waited::new(self.graceful.watch(connection), wait);
        drop(entered);
        let counted = (permit, Open::new(self.app.connections()), Arc::clone(&thread.open));
        let served = async move {
            // A connection that breaks is the caller's affair; failures of the service are logged where they happen.
            let _ = watched.await;
            drop(counted);
        };
        self.tasks.spawn_on(served, &thread.runtime);
        Ok(())
    }
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
/// 100 headers or more than [`MAX_HEAD_BYTES`].
fn connection<A: Answering>(
    stream: TcpStream,
    peer: SocketAddr,
    app: &A,
    door: &Arc<Door>,
    wait: &Arc<Wait>,
) -> impl GracefulConnection<Error = hyper::Error> + Send + use<A> {
    let limits = app.limits();
    let patience = Patience { header: limits.header_timeout, idle: limits.idle_timeout, write: limits.write_timeout };
    let progress = Arc::<Progress>::default();
    let stream = Deadlined::new(stream, patience, Arc::clone(&progress), Arc::clone(door) as Arc<dyn Crowd>);
    // Of its own: a counter of references that connections of other processors count up too costs more.
    let shared = Arc::new((app.clone(), Arc::clone(door), progress));
    let wait = Arc::clone(wait);
    let service = service_fn(move |request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        let is_late = shared.1.is_too_late(&wait);
        async move {
            let (app, door, progress) = &*shared;
            progress.request_begins();
            let mut response = app.answer(request, Arrival { peer, is_late }).await;
            progress.answer_is_ready();
            if door.is_closing.load(Ordering::Relaxed) {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    http1::Builder::new()
        // Bytes have deadlines of their own.
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
}

/// Whether accepting failed because of the one connection, which was gone before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use axum::response::Response;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::http::server::{ConnectionLimits, LongestWait, serve};

    /// How long a request keeps the only thread.
    const BUSY: Duration = Duration::from_millis(2);

    /// Keeps the thread, and notes which requests come late.
    #[derive(Debug, Clone)]
    struct Slow {
        limits: ConnectionLimits,
        late: Arc<Mutex<Vec<bool>>>,
    }

    impl Answering for Slow {
        async fn answer(&self, _: Request<Incoming>, arrival: Arrival) -> Response {
            self.late.lock().unwrap_or_else(PoisonError::into_inner).push(arrival.is_late);
            std::thread::sleep(BUSY);
            Response::default()
        }

        fn limits(&self) -> &ConnectionLimits {
            &self.limits
        }
    }

    /// Which requests come late where all are sent at the same moment, over so many connections, and none may wait for
    /// another.
    async fn late(connections: usize) -> Vec<bool> {
        let longest_wait = LongestWait { burst: BUSY, standing: BUSY };
        let limits = ConnectionLimits { longest_wait, ..ConnectionLimits::default() };
        let app = Slow { limits, late: Arc::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = tokio::spawn(serve(listener, app.clone(), std::future::pending(), std::future::pending()));
        let mut callers = Vec::new();
        for _ in 0..connections {
            callers.push(TcpStream::connect(address).await.expect("a connection"));
        }
        let mut late = Vec::new();
        // The first time they may not be connected yet, the second time all of them are.
        for _ in 0..2 {
            app.late.lock().unwrap_or_else(PoisonError::into_inner).clear();
            for caller in &mut callers {
                caller.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
            }
            for caller in &mut callers {
                let mut answer = [0; 4096];
                assert!(caller.read(&mut answer).await.is_ok_and(|read| read > 0), "an answer");
            }
            late.clone_from(&app.late.lock().unwrap_or_else(PoisonError::into_inner));
        }
        server.abort();
        assert_eq!(late.len(), connections);
        late
    }

    #[tokio::test]
    async fn waiting_counts_where_connections_are_many_and_not_where_they_are_few() {
        let few = late(FEW).await;
        assert!(!few.contains(&true), "{few:?}");
        let many = late(FEW + 1).await;
        assert!(many.contains(&true), "{many:?}");
    }
}
