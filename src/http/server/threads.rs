//! The threads that connections are served by.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle};

use crate::http::ComputePool;

/// Threads of connections, each with a runtime of its own. A connection stays with the thread that it was given to.
#[derive(Debug, Clone)]
pub struct IoThreads(Vec<Handle>);

impl IoThreads {
    /// The runtime in which this is called.
    ///
    /// # Panics
    /// Outside of one.
    #[must_use]
    pub fn here() -> Self {
        Self(vec![Handle::current()])
    }

    /// This thread's runtime and those of so many threads more, which have computed in the pool what takes long. They are never
    /// joined: they end with the process.
    ///
    /// # Errors
    /// Where the system has no more threads.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn start(more: usize, pool: &Arc<ComputePool>) -> io::Result<Self> {
        let mut threads = Self::here();
        for _ in 0..more {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            threads.0.push(runtime.handle().clone());
            let pool = Arc::clone(pool);
            std::thread::Builder::new().name("connections".to_owned()).spawn(move || {
                pool.enter();
                runtime.block_on(std::future::pending::<()>());
            })?;
        }
        Ok(threads)
    }

    pub(super) fn runtimes(&self) -> &[Handle] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::{self, ThreadId};

    use axum::http::Request;
    use axum::response::Response;
    use hyper::body::Incoming;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::http::server::{Answering, Arrival, ConnectionLimits, LongestWait, serve_on};

    /// Notes which threads answer.
    #[derive(Debug, Clone, Default)]
    struct Noting {
        limits: ConnectionLimits,
        seen: Arc<Mutex<HashSet<ThreadId>>>,
    }

    impl Answering for Noting {
        async fn answer(&self, _: Request<Incoming>, _: Arrival) -> Response {
            self.seen.lock().expect("no panic").insert(thread::current().id());
            Response::default()
        }

        fn limits(&self) -> &ConnectionLimits {
            &self.limits
        }
    }

    #[tokio::test]
    async fn each_connection_is_given_to_the_thread_with_the_fewest() {
        const MORE: usize = 2;
        let pool = ComputePool::start(0, LongestWait::default()).expect("no threads");
        let threads = IoThreads::start(MORE, &pool).expect("threads");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let app = Noting::default();
        let served = app.clone();
        tokio::spawn(async move {
            serve_on(&threads, listener, served, std::future::pending(), std::future::pending()).await;
        });
        let mut callers = Vec::new();
        for _ in 0..=MORE {
            let mut caller = TcpStream::connect(address).await.expect("a connection");
            caller.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
            assert!(caller.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0), "an answer");
            callers.push(caller);
        }
        let seen = app.seen.lock().expect("no panic");
        assert_eq!(seen.len(), MORE + 1);
        assert!(seen.contains(&thread::current().id()), "this one among them");
    }
}
