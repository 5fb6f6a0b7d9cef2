//! The connection to an OpenSearch cluster: addresses, deadlines, retries and credentials.
//!
//! A request goes to the addresses in turn. If one fails, a repeatable request goes to another one
//! within the same deadline, and the failed address is avoided for a while.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, io};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::error::{ClusterError, ErrorKind, Reason, SettingsError};
use crate::client::{self, Client, Proxies, RequestError, Roots};

/// How long connecting may take, which counts towards the attempt's time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The time limit for a request, including its retry and its wait for a turn.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(8);
/// The time limit for requests that nobody waits for in front of a screen.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);
/// The time limit for an attempt if another address is left.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// How many requests may be in progress at once; any others have to wait.
const MAX_CONCURRENT_REQUESTS: usize = 64;
/// How long an address that failed is avoided.
const AVOIDED: Duration = Duration::from_secs(5);
/// The maximum size of a response. A page has at most 100 products, most of them a few kilobytes.
const MAX_RESPONSE_BYTES: usize = 16 << 20;
/// The same for requests that may take long, which read whole indices a page at a time.
const MAX_BULK_RESPONSE_BYTES: usize = 64 << 20;
/// Larger responses aren't parsed on the threads that serve connections.
const MAX_PARSED_INLINE_BYTES: usize = 256 << 10;

#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The nodes' addresses. A single address may be a load balancer's.
    pub urls: Vec<Uri>,
    /// A PEM file with certificate authorities to trust instead of the machine's.
    pub ca_file: Option<PathBuf>,
    pub credentials: Option<Credentials>,
}

impl Settings {
    /// Parses a node's address: http or https, a host, and optionally a port and a path.
    pub fn parse_url(text: &str) -> Result<Uri, SettingsError> {
        client::parse_server(text).ok_or_else(|| no_address(text))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    method: Method,
    /// The encoded path and parameters, with a leading slash.
    target: String,
    body: Bytes,
    /// Whether sending the request twice has the same effect as sending it once.
    is_repeatable: bool,
    timeout: Duration,
}

impl Call {
    /// A request with a JSON document, or without a body if it's empty.
    pub(super) fn new(method: Method, target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let is_repeatable = method != Method::POST;
        Self { method, target: target.into(), body: body.into(), is_repeatable, timeout: REQUEST_TIMEOUT }
    }

    pub(super) fn get(target: impl Into<String>) -> Self {
        Self::new(Method::GET, target, Bytes::new())
    }

    pub(super) fn put(target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::PUT, target, body)
    }

    /// A POST request that may be sent twice, such as a search, or a bulk request whose documents
    /// have ids.
    pub(super) fn post(target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { is_repeatable: true, ..Self::new(Method::POST, target, body) }
    }

    /// Sets the time limit for the request and its retry.
    pub(super) const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// A successful response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) body: Bytes,
    pub(super) node: String,
}

impl Answer {
    pub(super) async fn json<T: DeserializeOwned + Send + 'static>(self) -> Result<T, ClusterError> {
        let Self { body, node } = self;
        let parsed = if body.len() > MAX_PARSED_INLINE_BYTES {
            blocking(move || serde_json::from_slice(&body)).await?
        } else {
            serde_json::from_slice(&body)
        };
        parsed.map_err(|error| {
            let message = format!("the response from node {node} doesn't have the expected structure");
            ClusterError::new(ErrorKind::Other, message).caused_by(error)
        })
    }
}

/// Does work that takes long, on a thread that serves no connections.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ClusterError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ClusterError::new(ErrorKind::Other, "a response couldn't be read").caused_by(error))
}

#[derive(Debug)]
struct Node {
    /// The URL, without a trailing slash.
    url: String,
    /// Until when the node is avoided, in milliseconds since the connection was set up.
    avoided_until: AtomicU64,
}

/// A cluster's addresses and the connections to them.
#[derive(Debug)]
pub struct Connection {
    nodes: Vec<Node>,
    /// Determines which node gets the next request.
    turn: AtomicUsize,
    started: Instant,
    client: Client,
    credentials: Option<Credentials>,
    permits: Semaphore,
}

impl Connection {
    /// Sets up a connection. Doesn't send anything yet.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let mut nodes: Vec<Node> = Vec::new();
        for url in &settings.urls {
            let text = url.to_string().trim_end_matches('/').to_owned();
            if !client::is_server(url) {
                return Err(no_address(&text));
            }
            if settings.credentials.is_some() && url.scheme_str() != Some("https") && !client::is_loopback(url) {
                tracing::warn!(
                    node = text,
                    "the credentials are sent without encryption; use https or a private network"
                );
            }
            if nodes.iter().all(|node| node.url != text) {
                nodes.push(Node { url: text, avoided_until: AtomicU64::new(0) });
            }
        }
        if nodes.is_empty() {
            let text =
                "no cluster address was given; pass a node's with --engine-url, such as https://search-1.example:9200";
            return Err(SettingsError(text.to_owned()));
        }
        let is_tls = nodes.iter().any(|node| node.url.starts_with("https:"));
        let roots = roots(settings.ca_file.as_deref(), is_tls)?;
        Ok(Self {
            nodes,
            turn: AtomicUsize::new(0),
            started: Instant::now(),
            client: Client::new(roots, CONNECT_TIMEOUT, Proxies::NONE)
                .map_err(|error| SettingsError(format!("TLS can't be set up: {error}")))?,
            credentials: settings.credentials,
            permits: Semaphore::new(MAX_CONCURRENT_REQUESTS),
        })
    }

    /// Sends a request to the next node in turn. A repeatable request is sent to another node, or
    /// again to the only one, if the first can't be reached, drops the connection, responds too
    /// late or with 502, 503 or 504, or reports that it has lost another node. 429 isn't retried.
    ///
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    /// If the response isn't successful.
    pub(super) async fn send(&self, call: Call) -> Result<Answer, ClusterError> {
        let deadline = Instant::now() + call.timeout;
        // A request that starts later would time out anyway.
        let Ok(Ok(_permit)) = timeout(call.timeout / 2, self.permits.acquire()).await else {
            return Err(overloaded());
        };
        let mut order = self.in_turn();
        if let [only] = *order {
            order.push(only);
        }
        let mut outcome = None;
        for (attempt, at) in order.iter().enumerate() {
            let node = &self.nodes[*at];
            let rest = deadline.saturating_duration_since(Instant::now());
            if outcome.is_some() && rest.is_zero() {
                break;
            }
            let is_last = !call.is_repeatable || attempt + 1 == order.len();
            // A lone address may be a load balancer's, so its second attempt is only for a quick
            // failure. Requests with more time than usual have long attempts, too.
            let share = ATTEMPT_TIMEOUT.max(call.timeout.saturating_sub(REQUEST_TIMEOUT) / 2);
            let limit = if is_last || self.nodes.len() == 1 { rest } else { rest.min(share) };
            let found = timeout(limit, self.attempt(node, &call)).await.unwrap_or_else(|_| {
                let message = format!("node {} didn't respond within {} ms", node.url, limit.as_millis());
                Err(ClusterError::unavailable(message))
            });
            match found {
                Err(error) if error.kind == ErrorKind::Unavailable => outcome = Some(error),
                found => return found,
            }
            self.avoid(node);
            if is_last {
                break;
            }
        }
        Err(outcome.unwrap_or_else(overloaded))
    }

    /// The nodes' indices in the order to try them: first those that haven't failed recently.
    fn in_turn(&self) -> Vec<usize> {
        let (count, now) = (self.nodes.len(), self.now());
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % count;
        let mut order: Vec<_> = (turn..count).chain(0..turn).collect();
        order.sort_by_key(|at| self.nodes[*at].avoided_until.load(Ordering::Relaxed) > now);
        order
    }

    fn avoid(&self, node: &Node) {
        let until = self.now().saturating_add(u64::try_from(AVOIDED.as_millis()).unwrap_or(u64::MAX));
        if self.nodes.len() > 1 && node.avoided_until.swap(until, Ordering::Relaxed) == 0 {
            tracing::warn!(node = node.url, "a request to the node failed; avoiding it for a while");
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn attempt(&self, node: &Node, call: &Call) -> Result<Answer, ClusterError> {
        let url = &node.url;
        let broken = |source: Box<dyn std::error::Error + Send + Sync>| {
            ClusterError::unavailable(format!("the connection to node {url} was lost")).caused_by(source)
        };
        let mut message = Request::builder()
            .method(call.method.clone())
            .uri(format!("{url}{}", call.target))
            .header(ACCEPT, "application/json");
        if !call.body.is_empty() {
            let is_lines = call.target.contains("_bulk") || call.target.contains("_msearch");
            let kind = if is_lines { "application/x-ndjson" } else { "application/json" };
            message = message.header(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        if let Some(credentials) = &self.credentials {
            message = message.header(AUTHORIZATION, credentials.authorization.clone());
        }
        let message = message.body(call.body.clone()).map_err(|error| broken(error.into()))?;
        let response = self.client.send(message).await.map_err(|error| {
            let message = match &error {
                RequestError::Connect(_) => format!("node {url} can't be reached; check that it's running"),
                RequestError::Tls(_) => format!(
                    "the TLS connection to node {url} failed; pass the CA certificate that signed the node's with \
                     --engine-ca-file, and use a name in the node's certificate as its address"
                ),
                RequestError::Broken(_) => format!("the connection to node {url} was lost"),
            };
            ClusterError::unavailable(message).caused_by(error)
        })?;
        let status = response.status();
        let most = if call.timeout > REQUEST_TIMEOUT { MAX_BULK_RESPONSE_BYTES } else { MAX_RESPONSE_BYTES };
        let body = Limited::new(response.into_body(), most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                let most = most >> 20;
                let message = format!("the response from node {url} is larger than {most} MiB; ask for fewer records");
                ClusterError::new(ErrorKind::Other, message)
            } else {
                broken(error)
            }
        })?;
        let body = body.to_bytes();
        if status.is_success() {
            node.avoided_until.store(0, Ordering::Relaxed);
            return Ok(Answer { body, node: url.clone() });
        }
        let credentials = self.credentials.as_ref().map(|credentials| &*credentials.name);
        Err(ClusterError::of_status(url, status, &Reason::of(&body), credentials))
    }
}

fn overloaded() -> ClusterError {
    ClusterError::new(ErrorKind::Overloaded, "too many requests to the cluster are in progress")
}

fn no_address(text: &str) -> SettingsError {
    SettingsError(format!(
        "{:?} isn't the address of a node; pass an http or https URL without user, query or fragment, such as \
         https://search-1.example:9200, and the user and password as separate options",
        client::without_user(text)
    ))
}

/// The root certificates to trust: those in the CA file or, if there's no file, the machine's. They
/// aren't needed unless an address uses https.
fn roots(ca_file: Option<&Path>, is_tls: bool) -> Result<Roots, SettingsError> {
    let Some(path) = ca_file else {
        let roots = if is_tls { client::machine_roots() } else { Some(Roots::empty()) };
        return roots.ok_or_else(|| {
            let text = "this machine has no root certificates for https; pass the CA's file with --engine-ca-file, install \
                        the ca-certificates package, or set SSL_CERT_FILE";
            SettingsError(text.to_owned())
        });
    };
    let unusable = |why: String| {
        SettingsError(format!(
            "{} can't be used ({why}); pass a PEM file with the cluster's CA certificate",
            path.display()
        ))
    };
    let roots = client::roots_of(path).map_err(|error| unusable(error.to_string()))?;
    if roots.is_empty() { Err(unusable("it contains no certificate".to_owned())) } else { Ok(roots) }
}

/// The maximum length of a password or key, in bytes.
const MAX_SECRET_BYTES: usize = 4096;

/// The credentials sent with each request. Debug output doesn't reveal any secrets.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The name shown in messages: the user's name, or the kind of key.
    pub(super) name: String,
    /// Marked as sensitive.
    pub(super) authorization: HeaderValue,
}

impl Credentials {
    /// A user, with the password read from a one-line file.
    pub fn password(user: &str, file: &Path) -> Result<Self, SettingsError> {
        if user.is_empty() || user.contains(|c: char| c == ':' || c.is_control()) {
            let text = "isn't a valid user name: it must not be empty or contain a colon or control characters";
            return Err(SettingsError(format!("{user:?} {text}")));
        }
        let authorization = read(file, |text| {
            let is_password = !text.chars().any(char::is_control);
            is_password.then(|| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{text}"))))
        })?;
        Ok(Self { name: format!("user {user}"), authorization })
    }

    /// A key read from a one-line file: a token, sent as `Bearer`, or a scheme and a token, such as
    /// `ApiKey …`.
    pub fn key(file: &Path) -> Result<Self, SettingsError> {
        let authorization = read(file, |text| {
            let (scheme, token) = text.split_once(' ').unwrap_or(("Bearer", text));
            let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            (is_word(scheme) && is_word(token)).then(|| format!("{scheme} {token}"))
        })?;
        Ok(Self { name: "the key".to_owned(), authorization })
    }
}

/// Reads a header value from a one-line file. The value is never shown.
fn read(file: &Path, value: impl Fn(&str) -> Option<String>) -> Result<HeaderValue, SettingsError> {
    let header = fs::read_to_string(file).and_then(|text| {
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let value = (!text.is_empty() && text.len() <= MAX_SECRET_BYTES).then(|| value(text)).flatten();
        let header = value.and_then(|value| HeaderValue::try_from(value).ok());
        header.ok_or_else(|| io::Error::other("it isn't a single line with a password or a key"))
    });
    let mut header = header
        .map_err(|error| SettingsError(format!("the password or key in {} can't be read: {error}", file.display())))?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use std::thread::{self, ThreadId};

    use serde::de::{Deserialize, Deserializer, IgnoredAny};

    use super::*;

    /// The thread that parsed it.
    struct ParsedBy(ThreadId);

    impl<'de> Deserialize<'de> for ParsedBy {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            IgnoredAny::deserialize(deserializer).map(|_| Self(thread::current().id()))
        }
    }

    #[tokio::test]
    async fn only_small_responses_are_parsed_on_the_threads_that_serve_connections() {
        let here = thread::current().id();
        for (bytes, is_here) in [(2, true), (MAX_PARSED_INLINE_BYTES, true), (MAX_PARSED_INLINE_BYTES + 1, false)] {
            let body = format!("\"{}\"", "a".repeat(bytes - 2));
            let answer = Answer { body: body.into(), node: "a".to_owned() };
            let ParsedBy(thread) = answer.json().await.expect("JSON");
            assert_eq!(thread == here, is_here, "{bytes} bytes");
        }
    }

    #[test]
    fn a_secret_is_a_single_line_that_no_message_contains() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        let password = |text: &str| {
            fs::write(&path, text).expect("written");
            Credentials::password("me", &path)
        };
        let credentials = password("päss wörd \n").expect("credentials");
        let header = credentials.authorization.to_str().expect("ASCII");
        assert_eq!(header, format!("Basic {}", BASE64_STANDARD.encode("me:päss wörd ")));
        assert!(!format!("{credentials:?}").contains(&header[6..]));
        for wrong in ["", "\n", "hunter2\nb", "hunter2\tb"] {
            let error = password(wrong).expect_err("not a line").to_string();
            assert!(!error.contains("hunter"), "{error}");
        }
        for (text, header) in
            [("abc\n", Some("Bearer abc")), ("ApiKey abc", Some("ApiKey abc")), (" a", None), ("a b c", None)]
        {
            fs::write(&path, text).expect("written");
            assert_eq!(Credentials::key(&path).ok().map(|of| of.authorization), header.map(HeaderValue::from_static));
        }
    }
}
