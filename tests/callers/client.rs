//! A caller that sees every byte: what comes back, how long it took, and whether the connection
//! stays open.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

/// A complete response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) took: Duration,
}

impl Answer {
    /// A header, or an empty string if it's missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(of, _)| of.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value.trim())
    }

    /// Whether the server closes the connection.
    pub(crate) fn closes(&self) -> bool {
        self.header("connection") == "close"
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.head, self.text())
    }
}

/// A request with a key.
pub(crate) fn request(path: &str, key: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{headers}\r\n").into_bytes()
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sends a request and reads the response.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        let started = Instant::now();
        self.stream.write_all(request).await?;
        let mut answer = self.answer().await?;
        answer.took = started.elapsed();
        Ok(answer)
    }

    /// Reads the next response.
    pub(crate) async fn answer(&mut self) -> io::Result<Answer> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            self.read_more().await?;
        };
        let rest = self.buffer.split_off(end);
        let head = String::from_utf8_lossy(&std::mem::replace(&mut self.buffer, rest)).into_owned();
        let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut answer = Answer { status, head, body: Vec::new(), took: Duration::ZERO };
        let length: usize = answer.header("content-length").parse().unwrap_or(0);
        while self.buffer.len() < length {
            self.read_more().await?;
        }
        let rest = self.buffer.split_off(length);
        answer.body = std::mem::replace(&mut self.buffer, rest);
        Ok(answer)
    }

    async fn read_more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Waits until the other side closes the connection, and discards anything it still sends.
    pub(crate) async fn closed(&mut self) {
        let mut bytes = [0; 4096];
        while self.stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
    }
}
