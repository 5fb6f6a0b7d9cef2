//! A caller with a persistent connection.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// One connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    key: String,
}

/// A response.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The value of `X-Generation`.
    pub(crate) generation: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// Connects to `http://<address>`.
    pub(crate) fn connect(address: &str, key: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address.trim_start_matches("http://"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream), key: key.to_owned() })
    }

    /// Requests a path.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", self.key);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "not an HTTP response");
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
        let mut answer = Answer { status, ..Answer::default() };
        let mut length = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok(),
                "x-generation" => answer.generation = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        answer.body.resize(length.ok_or_else(broken)?, 0);
        self.stream.read_exact(&mut answer.body)?;
        Ok(answer)
    }
}
