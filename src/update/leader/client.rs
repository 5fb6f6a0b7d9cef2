//! The leader's files over HTTP.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderName, IF_NONE_MATCH, RANGE};
use http::{Request, Response};

use crate::client::{self, BlockingBody, BlockingClient, Client, Proxies, Roots};
use crate::generation::store::is_generation_name;
use crate::text::count::counted;
use crate::update::leader::{FollowError, UnreadableKey};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for a response's head, and how long its body may stall.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The waiting time over which a leader's rate is measured.
const RATE_WINDOW: Duration = Duration::from_mins(1);
/// The minimum rate in bytes per second: a quarter of what our own servers require of clients.
const MIN_RATE: u64 = 4 * 1024;
/// The maximum size of `CURRENT`.
const MAX_POINTER_BYTES: u64 = 256;

/// A location where an index folder is published.
#[derive(Debug)]
pub struct Leader {
    client: BlockingClient,
    url: String,
    key_file: Option<PathBuf>,
    clock: fn() -> Instant,
}

/// Why an address can't be used as a leader.
#[derive(Debug, thiserror::Error)]
pub enum LeaderError {
    #[error(
        "{0:?} can't be followed: give an http or https URL of a folder, without user, query or fragment, such as \
         https://leader.example/v1/generations"
    )]
    Url(String),
    /// The key file can't be read.
    #[error(transparent)]
    KeyFile(#[from] UnreadableKey),
    #[error(
        "this machine has no root certificates for https; install the ca-certificates package, or set SSL_CERT_FILE"
    )]
    Certificates,
    #[error("the HTTP client can't be started")]
    Client(#[source] io::Error),
}

/// The leader's pointer to the current generation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    /// The pointer still has the entity tag that was sent.
    Unchanged,
    /// The pointer names this folder.
    Current {
        /// The folder's name.
        name: String,
        /// The entity tag.
        tag: Option<String>,
    },
}

impl Leader {
    /// The leader at an address. The key file is read every time, so the key can be replaced.
    pub fn new(url: &str, key_file: Option<PathBuf>) -> Result<Self, LeaderError> {
        let address = client::parse_server(url).ok_or_else(|| LeaderError::Url(client::without_user(url)))?;
        let is_tls = address.scheme_str() == Some("https");
        let roots = if is_tls { client::machine_roots().ok_or(LeaderError::Certificates)? } else { Roots::empty() };
        let client = Client::new(roots, CONNECT_TIMEOUT, Proxies::of_environment()).map_err(io::Error::other);
        let client = client.and_then(|client| BlockingClient::start(client, TIMEOUT)).map_err(LeaderError::Client)?;
        let leader = Self { client, url: url.trim_end_matches('/').to_owned(), key_file, clock: Instant::now };
        leader.authorization()?;
        if leader.key_file.is_some() && !is_tls && !client::is_loopback(&address) {
            tracing::warn!(leader = leader.url, "the key is sent without encryption; use https or a private network");
        }
        Ok(leader)
    }

    /// Uses a different clock to measure rates.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> Instant) -> Self {
        Self { clock, ..self }
    }

    /// The address.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Requests the pointer, unless it still has this entity tag.
    pub(super) fn current(&self, tag: Option<&str>) -> Result<Pointer, FollowError> {
        let url = format!("{}/CURRENT", self.url);
        let mut pace = Pace::new(self.clock);
        let response = self.get(&url, tag.map(|tag| (IF_NONE_MATCH, tag.to_owned())), &mut pace)?;
        if response.status() == 304 {
            return Ok(Pointer::Unchanged);
        }
        let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        let text = read_whole(&url, response, MAX_POINTER_BYTES)?;
        let name =
            String::from_utf8(text).ok().map(|text| text.trim().to_owned()).filter(|name| is_generation_name(name));
        let name =
            name.ok_or_else(|| FollowError::Unexpected { url, what: "it doesn't name a generation".to_owned() })?;
        Ok(Pointer::Current { name, tag })
    }

    /// The files of the generation in this folder.
    pub(super) fn generation<'l>(&'l self, name: &'l str) -> RemoteGeneration<'l> {
        RemoteGeneration { leader: self, name, pace: Pace::new(self.clock) }
    }

    /// Sends a GET request. Returns a response with a body, or a 304.
    fn get<'p>(
        &self,
        url: &str,
        header: Option<(HeaderName, String)>,
        pace: &'p mut Pace,
    ) -> Result<Response<PacedBody<'_, 'p>>, FollowError> {
        let mut request = Request::get(url);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        if let Some(authorization) = self.authorization()? {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Bytes::new()).map_err(io::Error::other);
        let response = request.and_then(|request| pace.wait(|| self.client.send(request)));
        let response = response.map_err(|source| FollowError::Unreachable { url: url.to_owned(), source })?;
        let url = || url.to_owned();
        match response.status().as_u16() {
            200 | 206 | 304 => Ok(response.map(|body| Paced { body, pace })),
            status @ (401 | 403) => Err(FollowError::Refused { url: url(), status }),
            status @ (408 | 429 | 500..=599) => Err(FollowError::Unavailable { url: url(), status }),
            status => Err(FollowError::Unexpected { url: url(), what: format!("it responded with {status}") }),
        }
    }

    /// The value of the header that contains the key.
    fn authorization(&self) -> Result<Option<String>, UnreadableKey> {
        let Some(path) = &self.key_file else { return Ok(None) };
        let text = fs::read_to_string(path).and_then(|text| {
            let key = text.trim();
            let is_key = !key.is_empty() && key.len() <= 4096 && key.bytes().all(|byte| byte.is_ascii_graphic());
            is_key.then(|| format!("Bearer {key}")).ok_or_else(|| io::Error::other("it isn't a single line with a key"))
        });
        text.map(Some).map_err(|source| UnreadableKey { path: path.clone(), source })
    }
}

/// The files in a leader's generation. The minimum rate applies to all of them combined.
pub(super) struct RemoteGeneration<'l> {
    leader: &'l Leader,
    name: &'l str,
    pace: Pace,
}

impl RemoteGeneration<'_> {
    /// Reads a small file.
    pub(super) fn file(&mut self, file: &str, max_bytes: u64) -> Result<Vec<u8>, FollowError> {
        let url = self.url_of(file);
        let response = self.leader.get(&url, None, &mut self.pace)?;
        read_whole(&url, response, max_bytes)
    }

    /// Starts reading a range of a file of this size. Also returns the response's range, because
    /// servers without range support send the whole file.
    pub(super) fn open(
        &mut self,
        file: &str,
        range: Range<u64>,
        size: u64,
    ) -> Result<(Range<u64>, PacedBody<'_, '_>), FollowError> {
        let url = self.url_of(file);
        let header = match (range.start, range.end) {
            (0, end) if end == size => None,
            (start, end) if end == size => Some(format!("bytes={start}-")),
            (start, end) => Some(format!("bytes={start}-{}", end - 1)),
        };
        let response = self.leader.get(&url, header.map(|header| (RANGE, header)), &mut self.pace)?;
        if response.status() != 206 {
            return Ok((0..size, response.into_body()));
        }
        let sent = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
        let start = sent.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok());
        if start != Some(range.start) {
            return Err(FollowError::Unexpected { url, what: "it sent a different range than requested".to_owned() });
        }
        Ok((range, response.into_body()))
    }

    pub(super) fn url_of(&self, file: &str) -> String {
        format!("{}/{}/{file}", self.leader.url, self.name)
    }
}

/// Measures how fast a leader sends. Only the time spent waiting for it counts.
struct Pace {
    clock: fn() -> Instant,
    /// Time waited and bytes received since the rate was last high enough.
    waited: Duration,
    bytes: u64,
}

impl Pace {
    fn new(clock: fn() -> Instant) -> Self {
        Self { clock, waited: Duration::ZERO, bytes: 0 }
    }

    fn wait<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        let started = (self.clock)();
        let result = wait();
        self.waited += (self.clock)().saturating_duration_since(started);
        result
    }

    /// Counts received bytes. If there are too few, every further read fails until the rate
    /// recovers.
    fn receive(&mut self, bytes: usize) -> io::Result<()> {
        self.bytes += bytes as u64;
        if self.waited < RATE_WINDOW {
            return Ok(());
        }
        let (bytes, seconds) = (self.bytes, self.waited.as_secs());
        if bytes < MIN_RATE * seconds {
            let what =
                format!("only {} arrived within {seconds} s, less than {MIN_RATE} per second", counted(bytes, "byte"));
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        (self.waited, self.bytes) = (Duration::ZERO, 0);
        Ok(())
    }
}

type PacedBody<'l, 'p> = Paced<'p, BlockingBody<'l>>;

/// A body that fails with an error if its leader sends too slowly.
pub(super) struct Paced<'p, R> {
    body: R,
    pace: &'p mut Pace,
}

impl<R: Read> Read for Paced<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.pace.wait(|| self.body.read(buffer))?;
        if read > 0 {
            self.pace.receive(read)?;
        }
        Ok(read)
    }
}

/// Reads a small body.
fn read_whole(url: &str, response: Response<impl Read>, max_bytes: u64) -> Result<Vec<u8>, FollowError> {
    let mut content = Vec::new();
    let read = response.into_body().take(max_bytes + 1).read_to_end(&mut content);
    let received = content.len() as u64;
    read.map_err(|source| FollowError::Cut { url: url.to_owned(), received, source })?;
    if received > max_bytes {
        return Err(FollowError::Unexpected {
            url: url.to_owned(),
            what: format!("it has more than {max_bytes} bytes"),
        });
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_urls_are_followed_and_passwords_are_not_shown() {
        for wrong in
            ["", "leader.example", "ftp://leader.example", "https://", "https://leader.example/?x=1", "http://a/#b"]
        {
            assert!(Leader::new(wrong, None).is_err(), "{wrong}");
        }
        let error = Leader::new("http://me:secret@leader.example/", None).expect_err("a user").to_string();
        assert!(!error.contains("secret"), "{error}");
        assert_eq!(Leader::new("http://leader.example/a/", None).expect("a leader").url(), "http://leader.example/a");
    }

    /// The current time for the test's thread.
    fn clock() -> Instant {
        NOW.get()
    }

    thread_local! {
        static NOW: std::cell::Cell<Instant> = std::cell::Cell::new(Instant::now());
    }

    /// A body that yields this many bytes per read, each time after this many seconds.
    struct Dripping(usize, u64);

    impl Read for Dripping {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            NOW.set(NOW.get() + Duration::from_secs(self.1));
            Ok(self.0.min(buffer.len()))
        }
    }

    /// The seconds until a leader is abandoned (an hour at most) if each of its bodies takes this
    /// many reads.
    fn seconds(bytes: usize, every: u64, reads: usize) -> u64 {
        let (start, mut pace, mut buffer) = (NOW.get(), Pace::new(clock), vec![0; 1 << 20]);
        let elapsed = || (NOW.get() - start).as_secs();
        loop {
            let mut body = Paced { body: Dripping(bytes, every), pace: &mut pace };
            for _ in 0..reads {
                if elapsed() >= 3600 || body.read(&mut buffer).is_err() {
                    return elapsed();
                }
            }
            // Time that passes between two bodies isn't the leader's fault.
            let writing = Duration::from_secs(1);
            NOW.set(NOW.get() + writing);
        }
    }

    #[test]
    fn a_leader_below_the_minimum_rate_is_abandoned_after_a_minute_of_waiting() {
        let whole = usize::MAX;
        assert_eq!([seconds(1, 5, whole), seconds(4000, 1, whole), seconds(1, 14, whole)], [60, 60, 70]);
        assert_eq!([seconds(4100, 1, whole), seconds(70 * 1024, 14, whole)], [3600, 3612], "faster leaders aren't");
        // Many small bodies: sixty waits of a second each, with a pause after all but the last.
        assert_eq!([seconds(4000, 1, 1), seconds(4100, 1, 1)], [119, 3600]);
    }

    #[test]
    fn a_key_is_a_single_line_in_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        assert!(Leader::new("http://127.0.0.1/", Some(path.clone())).is_err());
        for (text, is_key) in [("sd_live_x\n", true), ("", false), ("a b", false), ("a\nb", false)] {
            fs::write(&path, text).expect("written");
            assert_eq!(Leader::new("http://127.0.0.1/", Some(path.clone())).is_ok(), is_key, "{text:?}");
        }
    }
}
