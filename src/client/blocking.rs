//! A blocking version of the client.

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Client;

/// A client with its own thread for connections. The thread keeps running between requests, so a
/// connection that the server closes in the meantime isn't reused.
#[derive(Debug)]
pub(crate) struct BlockingClient {
    client: Client,
    timeout: Duration,
    runtime: Handle,
    /// Stops the thread when dropped.
    _running: oneshot::Sender<()>,
}

impl BlockingClient {
    /// The timeout applies to connecting and receiving a response's headers, and then to each
    /// further part of the body.
    pub(crate) fn start(client: Client, timeout: Duration) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, (running, ended)) = (runtime.handle().clone(), oneshot::channel());
        thread::Builder::new().name("client".to_owned()).spawn(move || drop(runtime.block_on(ended)))?;
        Ok(Self { client, timeout, runtime: handle, _running: running })
    }

    /// Sends a request and waits for the response headers. Must not be called inside a runtime.
    pub(crate) fn send(&self, request: Request<Bytes>) -> io::Result<Response<BlockingBody<'_>>> {
        let response = self.within_timeout(self.client.send(request))?.map_err(io::Error::other)?;
        Ok(response.map(|body| BlockingBody { client: self, body, unread: Bytes::new() }))
    }

    fn within_timeout<F: Future>(&self, future: F) -> io::Result<F::Output> {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, format!("no data arrived within {:?}", self.timeout));
        self.runtime.block_on(async { timeout(self.timeout, future).await.map_err(late) })
    }
}

/// A response body, read as it arrives.
pub(crate) struct BlockingBody<'a> {
    client: &'a BlockingClient,
    body: Incoming,
    unread: Bytes,
}

impl Read for BlockingBody<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.unread.is_empty() {
            let Some(frame) = self.client.within_timeout(self.body.frame())? else { return Ok(0) };
            self.unread = frame.map_err(io::Error::other)?.into_data().unwrap_or_default();
        }
        let read = self.unread.len().min(buffer.len());
        self.unread.copy_to_slice(&mut buffer[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::super::{Proxies, Roots};
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    #[test]
    fn silent_servers_and_stalled_bodies_time_out() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let request = || Request::get(&url).body(Bytes::new()).expect("a request");
        let client = Client::new(Roots::empty(), Duration::from_mins(1), Proxies::NONE).expect("a client");
        let client = BlockingClient::start(client, SHORT).expect("a thread");
        let error = client.send(request()).err().expect("the connection is never accepted");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");

        drop(listener.accept().expect("the first connection"));
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            assert!(stream.read(&mut [0; 1024]).expect("a request") > 0);
            stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\nhalf").expect("sent");
            stream
        });
        let mut body = client.runtime.block_on(client.client.send(request())).expect("a response").into_body();
        let half = client.runtime.block_on(body.frame()).expect("a frame").expect("no error");
        let mut body = BlockingBody { client: &client, body, unread: half.into_data().expect("data") };
        let mut read = Vec::new();
        assert_eq!(body.read_to_end(&mut read).expect_err("silence").kind(), io::ErrorKind::TimedOut);
        assert_eq!(read, b"half");
        drop(served);
    }
}
