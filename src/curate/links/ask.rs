//! Checks a single link: robots.txt, HEAD, GET, redirects. Politely: each host gets one request at a
//! time, with pauses in between, and any wait that a server requests is honoured.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fluent_uri::{Uri, UriRef};
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT};
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use jiff::{SignedDuration, Timestamp};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::timeout;

use super::outcome::{Outcome, Visit};
use super::robots::{self, Robots};
use super::source::{self, Body};
use crate::client::{Client, ReachError, RequestError, certificate_fault};

const MAX_REDIRECTS: usize = 10;
/// Maximum length of a redirect's address, in bytes, because the cache stores it.
const MAX_LOCATION_BYTES: usize = 4096;
/// How many redirects to follow when fetching a robots.txt, as recommended by RFC 9309.
const MAX_ROBOTS_REDIRECTS: usize = 5;
/// The longest pause to wait out. If the pause is longer, the link is left for a later run.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_secs(30);
/// The pause after a 429 or 503 that doesn't specify one.
const USUAL_PAUSE: SignedDuration = SignedDuration::from_hours(1);
/// How much memory the origins' rules may take up. Evicted rules are fetched again.
const ROBOTS_BYTES: u64 = 64 << 20;

/// An origin's rules, or why nothing on it can be requested.
type Rules = Result<Arc<Robots>, Visit>;

pub(super) struct Asker<'c> {
    client: Client,
    clock: &'c dyn Clock,
    user_agent: HeaderValue,
    /// How long it may take to receive a response's head or a robots.txt.
    time: Duration,
    hosts: Hosts,
    robots: Cache<String, Rules, Weigh>,
}

#[derive(Debug, Clone)]
struct Weigh;

impl Weighter<String, Rules> for Weigh {
    fn weight(&self, origin: &String, rules: &Rules) -> u64 {
        (200 + origin.len() + rules.as_ref().map_or(0, |rules| rules.weight())) as u64
    }
}

impl<'c> Asker<'c> {
    pub(super) fn new(client: Client, clock: &'c dyn Clock, user_agent: HeaderValue, time: Duration) -> Self {
        // A single shard, so that even the largest rules fit in the cache.
        let options =
            OptionsBuilder::new().shards(1).estimated_items_capacity(1000).weight_capacity(ROBOTS_BYTES).build().map(
                |options| {
                    Cache::with_options(options, Weigh, DefaultHashBuilder::default(), DefaultLifecycle::default())
                },
            );
        let robots = options.unwrap_or_else(|_| Cache::with_weighter(1000, ROBOTS_BYTES, Weigh));
        Self { client, clock, user_agent, time, hosts: Hosts::default(), robots }
    }

    /// Checks a link and follows its redirects. Reads the page if it's wanted.
    pub(super) async fn visit(&self, url: &str, is_read: bool) -> Visit {
        let Ok(start) = Uri::parse(url.to_owned()) else { return Outcome::NotAsked.into() };
        let mut at = start.clone();
        // The address where the chain's leading permanent redirects end.
        let (mut lasting, mut is_lasting) = (None, true);
        for hop in 0..=MAX_REDIRECTS {
            let visit = match self.page(&at, is_read).await {
                Page::Redirect { status, to } => {
                    let Some(next) = to.and_then(|to| resolved(&to, &at)) else {
                        return visit_at(Outcome::BrokenRedirect.into(), hop, &at);
                    };
                    is_lasting &= matches!(status, 301 | 308);
                    if is_lasting {
                        lasting = Some(next.clone());
                    }
                    at = next;
                    continue;
                }
                Page::Ended(visit) => visit,
            };
            let is_moved = visit.outcome == Outcome::Fine
                || (matches!(visit.outcome, Outcome::Refused | Outcome::Robots) && lasting.is_some());
            return if is_moved {
                Visit { body: visit.body, ..moved(&start, &at, lasting) }
            } else {
                visit_at(visit, hop, &at)
            };
        }
        visit_at(Outcome::TooManyRedirects.into(), MAX_REDIRECTS, &at)
    }

    /// Requests an address with HEAD, and with GET if the server refuses HEAD or the page is to be
    /// read.
    async fn page(&self, at: &Uri<String>, is_read: bool) -> Page {
        let Some(target) = target(at) else { return Page::Ended(Outcome::NotAsked.into()) };
        let rules = match self.rules(at).await {
            Ok(rules) => rules,
            Err(visit) => return Page::Ended(visit),
        };
        if !rules.allows(target.path_and_query().map_or("/", |path| path.as_str())) {
            return Page::Ended(Outcome::Robots.into());
        }
        let method = if is_read { Method::GET } else { Method::HEAD };
        let mut page = self.send(method, &target, rules.delay).await;
        let is_head_refused = match &page {
            Ok(response) => {
                let status = response.status().as_u16();
                status >= 400 && !matches!(status, 401 | 407 | 410 | 429 | 503)
            }
            Err(visit) => visit.outcome == Outcome::BrokenAnswer,
        };
        if is_head_refused && !is_read {
            page = self.send(Method::GET, &target, rules.delay).await;
        }
        match page {
            Ok(response) => match Page::of(&response) {
                Page::Ended(visit) if is_read && visit.outcome == Outcome::Fine => self.read(response, visit).await,
                // The body isn't read: dropping it closes the connection.
                page => page,
            },
            Err(visit) => Page::Ended(visit),
        }
    }

    async fn read(&self, response: Response<Incoming>, visit: Visit) -> Page {
        let head = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (content_type, is_encoded) =
            (head(CONTENT_TYPE), head(CONTENT_ENCODING).is_some_and(|of| of != "identity"));
        let read = timeout(self.time, beginning(response.into_body(), source::MAX_BYTES + 1)).await.ok().flatten();
        let Some(bytes) = read else { return Page::Ended(Outcome::BrokenAnswer.into()) };
        let is_whole = bytes.len() <= source::MAX_BYTES;
        Page::Ended(Visit { body: Some(Body { content_type, is_encoded, bytes, is_whole }), ..visit })
    }

    /// The rules for an address's origin, fetched only once.
    async fn rules(&self, at: &Uri<String>) -> Rules {
        let origin = format!("{}://{}", at.scheme(), at.authority().map_or("", |authority| authority.as_str()));
        let origin = origin.to_ascii_lowercase();
        let fetch = async { Ok::<_, Infallible>(self.fetch_rules(&origin).await.map(Arc::new)) };
        match self.robots.get_or_insert_async(&*origin, fetch).await {
            Ok(rules) => rules,
            Err(never) => match never {},
        }
    }

    async fn fetch_rules(&self, origin: &str) -> Result<Robots, Visit> {
        let unavailable = || Visit::from(Outcome::RobotsUnavailable);
        let mut at = Uri::parse(format!("{origin}/robots.txt")).map_err(|_| Outcome::NotAsked)?;
        for hop in 0..=MAX_ROBOTS_REDIRECTS {
            let target = target(&at).ok_or(Outcome::NotAsked)?;
            let response = match self.send(Method::GET, &target, None).await {
                Ok(response) => response,
                // If an origin can't be reached, nothing on it can be requested.
                Err(visit) if hop == 0 && visit.outcome != Outcome::BrokenAnswer => return Err(visit),
                Err(_) => return Err(unavailable()),
            };
            match response.status().as_u16() {
                200..=299 => {
                    let body = timeout(self.time, beginning(response.into_body(), robots::MAX_BYTES)).await;
                    return Ok(Robots::parse(&body.ok().flatten().ok_or_else(unavailable)?));
                }
                300..=399 => match location(&response).and_then(|to| resolved(&to, &at)) {
                    Some(next) => at = next,
                    None => break,
                },
                500.. => return Err(unavailable()),
                _ => break,
            }
        }
        // A missing robots.txt allows everything.
        Ok(Robots::default())
    }

    /// Sends a request when it's the host's turn. If the server asks us to retry soon, waits and
    /// retries once.
    async fn send(
        &self,
        method: Method,
        target: &http::Uri,
        delay: Option<Duration>,
    ) -> Result<Response<Incoming>, Visit> {
        let later = |pause| Visit { pause: Some(pause), ..Outcome::Later.into() };
        let host = target.host().unwrap_or_default();
        let mut has_waited = false;
        loop {
            let turn = self.hosts.turn(host, self.clock).await.map_err(later)?;
            let request = Request::builder().method(method.clone()).uri(target.clone());
            let request = request.header(USER_AGENT, &self.user_agent).header(ACCEPT, "*/*").body(Bytes::new());
            let request = request.map_err(|_| Outcome::NotAsked)?;
            let response = timeout(self.time, self.client.send(request)).await;
            let response =
                response.map_err(|_| Outcome::NoAnswer).and_then(|sent| sent.map_err(|error| failed(&error)));
            let status = response.as_ref().map_or(0, |response| response.status().as_u16());
            let response = match response {
                Ok(response) if matches!(status, 429 | 503) => response,
                answered => {
                    turn.end(self.clock, delay);
                    return Ok(answered?);
                }
            };
            let asked = retry_after(&response, self.clock.now());
            let pause = asked.unwrap_or(USUAL_PAUSE);
            if pause <= LONGEST_WAIT && !std::mem::replace(&mut has_waited, true) {
                let wait = Duration::try_from(pause).unwrap_or_default();
                turn.end(self.clock, Some(wait));
                continue;
            }
            // A 503 without a `Retry-After` may apply only to this page.
            if status == 429 || asked.is_some() {
                turn.pause(self.clock, pause);
            } else {
                turn.end(self.clock, delay);
            }
            return Err(Visit { status: Some(status), ..later(pause) });
        }
    }
}

/// The response for a single address.
enum Page {
    Redirect { status: u16, to: Option<String> },
    Ended(Visit),
}

impl Page {
    fn of(response: &Response<Incoming>) -> Self {
        let status = response.status().as_u16();
        let outcome = match status {
            301 | 302 | 303 | 307 | 308 => return Self::Redirect { status, to: location(response) },
            404 | 410 => Outcome::NotFound,
            // LinkedIn responds to bots with status 999.
            400..=499 | 600.. => Outcome::Refused,
            500..=599 => Outcome::ServerError,
            _ => Outcome::Fine,
        };
        Self::Ended(Visit::answered(outcome, status))
    }
}

fn visit_at(mut visit: Visit, hop: usize, at: &Uri<String>) -> Visit {
    visit.to = (hop > 0).then(|| at.as_str().into());
    visit
}

/// The result if a page was reached, possibly through redirects.
pub(super) fn moved(start: &Uri<String>, end: &Uri<String>, lasting: Option<Uri<String>>) -> Visit {
    let to = |outcome: Outcome, to: &Uri<String>| Visit { to: Some(to.as_str().into()), ..outcome.into() };
    if domain(start) != domain(end) {
        return to(Outcome::OtherDomain, end);
    }
    match lasting {
        Some(lasting) if is_upgrade(start, &lasting) => to(Outcome::Insecure, &lasting),
        Some(lasting) if lasting != *start => to(Outcome::Moved, &lasting),
        _ => Outcome::Fine.into(),
    }
}

/// An address's registrable domain, or else its host.
fn domain(uri: &Uri<String>) -> String {
    let host = uri.authority().map_or("", |authority| authority.host()).to_ascii_lowercase();
    let host = host.trim_end_matches('.');
    psl::domain_str(host).unwrap_or(host).to_owned()
}

/// Whether an address differs only in using https instead of http.
fn is_upgrade(from: &Uri<String>, to: &Uri<String>) -> bool {
    let rest = |uri: &Uri<String>| {
        let host = uri.authority().map(|authority| authority.host().to_ascii_lowercase());
        let path = uri.path().as_str();
        (host, if path.is_empty() { "/" } else { path }.to_owned(), uri.query().map(|query| query.as_str().to_owned()))
    };
    from.scheme().as_str().eq_ignore_ascii_case("http")
        && to.scheme().as_str().eq_ignore_ascii_case("https")
        && rest(from) == rest(to)
}

/// An address that can be requested: http or https, with a host and without a user.
fn target(uri: &Uri<String>) -> Option<http::Uri> {
    let scheme = uri.scheme().as_str();
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = uri.authority()?;
    let is_plain = authority.userinfo().is_none() && !authority.host().is_empty() && authority.port_to_u16().is_ok();
    if !is_web || !is_plain {
        return None;
    }
    uri.strip_fragment().as_str().parse().ok()
}

/// Resolves the address that a redirect points to.
fn resolved(location: &str, at: &Uri<String>) -> Option<Uri<String>> {
    if location.len() > MAX_LOCATION_BYTES {
        return None;
    }
    let next = UriRef::parse(location).ok()?.resolve_against(&at.strip_fragment()).ok()?;
    Some(next.strip_fragment().to_owned())
}

/// ASCII characters in a `Location` that many servers fail to escape.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// A response's `Location`, escaped.
fn location(response: &Response<Incoming>) -> Option<String> {
    let bytes = response.headers().get(LOCATION)?.as_bytes();
    Some(percent_encode(bytes.trim_ascii(), ESCAPED).to_string())
}

/// The pause in `Retry-After`, given in seconds or as a date.
fn retry_after(response: &Response<Incoming>, now: Timestamp) -> Option<SignedDuration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(SignedDuration::from_secs(seconds.into()));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(value).ok()?;
    Some(date.duration_since(now).max(SignedDuration::ZERO))
}

/// The first bytes of a body; `None` if it's cut short.
async fn beginning(mut body: Incoming, limit: usize) -> Option<Bytes> {
    let mut read = BytesMut::new();
    while read.len() < limit {
        let Some(frame) = body.frame().await else { break };
        if let Ok(data) = frame.ok()?.into_data() {
            read.extend_from_slice(&data[..data.len().min(limit - read.len())]);
        }
    }
    Some(read.freeze())
}

fn failed(error: &RequestError) -> Outcome {
    match (error, error.reach_error()) {
        (RequestError::Tls(error), _) => certificate_fault(error).into(),
        (_, Some(ReachError::UnknownHost)) => Outcome::UnknownHost,
        (_, Some(ReachError::NotPublic)) => Outcome::NotPublic,
        (RequestError::Connect(_), _) => Outcome::NoConnection,
        (RequestError::Broken(_), _) => Outcome::BrokenAnswer,
    }
}

/// The pause between requests to a host.
const PAUSE: Duration = Duration::from_secs(1);

/// A clock that can also sleep.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
}

#[derive(Debug)]
pub struct MachineClock;

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// The hosts contacted so far, by name. All ports on a host share one turn.
#[derive(Debug, Default)]
struct Hosts(Mutex<HashMap<Box<str>, Arc<AsyncMutex<Host>>>>);

#[derive(Debug, Default)]
struct Host {
    /// The next request must not be sent before this time.
    next: Option<Timestamp>,
    /// The server asked us not to send any requests before this time.
    paused_until: Option<Timestamp>,
}

/// The exclusive right to send requests to a host.
struct Turn {
    host: OwnedMutexGuard<Host>,
}

impl Hosts {
    /// Waits for the host's turn, and until the host may be contacted again.
    ///
    /// # Errors
    ///
    /// How much longer the server wants us to wait.
    async fn turn(&self, name: &str, clock: &dyn Clock) -> Result<Turn, SignedDuration> {
        let host = {
            let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(hosts.entry(name.to_ascii_lowercase().into()).or_default())
        };
        let host = host.lock_owned().await;
        let now = clock.now();
        if let Some(rest) = host.paused_until.map(|until| until.duration_since(now)).filter(SignedDuration::is_positive)
        {
            return Err(rest);
        }
        let wait = host.next.map(|next| next.duration_since(now)).and_then(|wait| Duration::try_from(wait).ok());
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            clock.sleep(wait).await;
        }
        Ok(Turn { host })
    }
}

impl Turn {
    /// Ends the turn after a request.
    fn end(mut self, clock: &dyn Clock, delay: Option<Duration>) {
        self.host.next = clock.now().checked_add(delay.unwrap_or_default().max(PAUSE)).ok();
    }

    /// Ends the turn, and pauses requests to the host for this long.
    fn pause(mut self, clock: &dyn Clock, time: SignedDuration) {
        self.host.paused_until = clock.now().checked_add(time).ok();
    }
}
