//! Checks the websites and sources of records, politely: which are dead, have moved, or have
//! certificate problems.

mod ask;
mod outcome;
mod robots;
mod source;
#[cfg(test)]
mod tests;

pub use ask::{Clock, MachineClock};
pub use outcome::{CacheError, LinkCache};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fluent_uri::Uri;
use futures_util::{StreamExt as _, stream};
use http::HeaderValue;

use crate::client::Client;
use crate::export::{Report, SourceClaim, WebLinks};
use ask::Asker;
use outcome::Outcome;
use source::{Body, Content};
use tokio::time::timeout;

/// Maximum number of links in a set.
const MAX_LINKS: usize = 1_000_000;
/// How many hosts are contacted at the same time.
const HOSTS_AT_ONCE: usize = 8;
/// How long it may take to connect and receive the head of a response.
pub const TIMEOUT: Duration = Duration::from_secs(20);
/// How long it may take to open a TCP connection to one address.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// If at least this many hosts were contacted and none has an address, this machine is probably
/// offline.
const OFFLINE_HOSTS: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum LinksError {
    #[error(
        "there are {0} distinct links, but at most {MAX_LINKS} can be checked at once: check fewer exports at a time"
    )]
    TooMany(usize),
    #[error("none of the {0} hosts has an address, so this machine seems to be offline; nothing was checked")]
    Offline(usize),
}

/// A check of a set's links.
#[derive(Debug)]
pub struct LinkCheck {
    links: WebLinks,
    /// The addresses to request.
    due: Vec<Box<str>>,
    cache: Mutex<LinkCache>,
    /// The hosts contacted, except those already known to have no address, and whether any host has
    /// an address.
    hosts: Mutex<(BTreeSet<Box<str>>, bool)>,
}

impl LinkCheck {
    /// Prepares to check a report's links. The cache contains what's known about them; only links
    /// that are due will be requested.
    /// `watches_sources` says whether to find changed sources, too.
    pub fn new(
        report: &Report,
        mut cache: LinkCache,
        clock: &dyn Clock,
        watches_sources: bool,
    ) -> Result<Self, LinksError> {
        let links = WebLinks::of(report, watches_sources);
        if links.urls().len() > MAX_LINKS {
            return Err(LinksError::TooMany(links.urls().len()));
        }
        let now = clock.now();
        cache.forget_old(now);
        let due =
            links.urls().filter(|url| cache.is_due(url, now) || cache.lacks(url, links.claims(url))).map(Into::into);
        let due = due.collect();
        Ok(Self { links, due, cache: Mutex::new(cache), hosts: Mutex::default() })
    }

    /// How many links will be requested.
    pub fn due(&self) -> usize {
        self.due.len()
    }

    /// Whether any of these links uses https.
    pub fn needs_tls(&self) -> bool {
        self.due.iter().any(|url| url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")))
    }

    /// Checks the links that are due. `progress` is called for each. If the future is dropped, the
    /// results so far are kept.
    pub(crate) async fn ask(
        &self,
        client: Client,
        clock: &dyn Clock,
        user_agent: HeaderValue,
        time: Duration,
        progress: impl Fn(),
    ) -> Result<(), LinksError> {
        let asker = Asker::new(client, clock, user_agent, time);
        let (asker, progress) = (&asker, &progress);
        let mut by_host: BTreeMap<Box<str>, Vec<&str>> = BTreeMap::new();
        for url in &self.due {
            by_host.entry(host(url)).or_default().push(url);
        }
        let queues = stream::iter(by_host);
        queues
            .for_each_concurrent(HOSTS_AT_ONCE, |(host, urls)| async move {
                for url in urls {
                    let claims = self.links.claims(url);
                    let mut visit = asker.visit(url, !claims.is_empty()).await;
                    let content = match visit.body.take() {
                        Some(body) => Some(read(body, claims, time).await),
                        None => None,
                    };
                    let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
                    let is_unknown = |outcome| outcome == Outcome::UnknownHost;
                    hosts.1 |= !is_unknown(visit.outcome);
                    // A host that had no address before either isn't a sign of being offline.
                    if !cache.get(url).is_some_and(|known| is_unknown(known.outcome)) {
                        hosts.0.insert(host.clone());
                    }
                    cache.learn(url, visit, content, clock.now());
                    drop((cache, hosts));
                    progress();
                }
            })
            .await;
        match &*self.hosts.lock().unwrap_or_else(PoisonError::into_inner) {
            (hosts, false) if hosts.len() >= OFFLINE_HOSTS => Err(LinksError::Offline(hosts.len())),
            _ => Ok(()),
        }
    }

    /// What's known about the links so far.
    pub fn cache(self) -> LinkCache {
        self.cache.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what is known about the links to the report.
    pub fn report(self, report: &mut Report) -> LinkCache {
        let Self { links, due, cache, .. } = self;
        let cache = cache.into_inner().unwrap_or_else(PoisonError::into_inner);
        report.add_links(&links, due.len(), |url, claims| {
            let Some(known) = cache.get(url) else { return Vec::new() };
            known.answer().into_iter().chain(known.claim_answers(claims)).collect()
        });
        cache
    }
}

/// Reads a page in another thread. If that takes too long, only the bytes count.
async fn read(body: Body, claims: &[SourceClaim], time: Duration) -> Content {
    let quotes: Vec<Box<str>> = claims.iter().filter_map(|claim| claim.quote.clone()).collect();
    let bytes = body.bytes.clone();
    let read = tokio::task::spawn_blocking(move || Content::of(&body, &quotes));
    timeout(time, read).await.ok().and_then(Result::ok).unwrap_or_else(|| Content::of_bytes(&bytes))
}

/// An address's host, in lower case.
fn host(url: &str) -> Box<str> {
    let uri = Uri::parse(url).ok();
    let host = uri.and_then(|uri| uri.authority()).map_or("", |authority| authority.host());
    host.to_ascii_lowercase().into()
}
