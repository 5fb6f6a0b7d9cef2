//! Large numbers of callers, and how quickly they got their responses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::callers::client::{Client, request};

/// The callers' requests.
pub(crate) const PATHS: [&str; 4] = [
    "/v1/search?q=permit+audi&facets=category&highlight=true",
    "/v1/software?limit=20",
    "/v1/software/product-7",
    "/v1/categories",
];

/// A request and its outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// 0 if the connection broke.
    pub(crate) status: u16,
    /// Measured from when the request was due, so it includes any wait.
    pub(crate) took: Duration,
    /// Measured from when the request was sent.
    pub(crate) answered_in: Duration,
    /// Whether the response says how many seconds to wait, in `Retry-After`.
    pub(crate) says_when: bool,
}

impl Outcome {
    /// Whether the request succeeded. If tests share the machine, which may then stall for a while,
    /// a response with `Retry-After` also counts as success.
    pub(crate) fn is_fine(&self) -> bool {
        self.status == 200 || (!crate::callers::full() && self.status == 503 && self.says_when)
    }
}

/// The next request. `{}` is replaced with a different number each time, for requests that must not
/// be cached.
fn next_path(paths: &[&str], at: usize) -> String {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    paths[at % paths.len()].replace("{}", &ASKED.fetch_add(1, Ordering::Relaxed).to_string())
}

/// Sends requests at a fixed rate over several connections (open loop).
pub(crate) async fn at_rate(
    address: SocketAddr,
    key: &str,
    paths: &'static [&'static str],
    per_second: f64,
    connections: usize,
    lasting: Duration,
) -> Vec<Outcome> {
    let mut callers = JoinSet::new();
    let key = Arc::<str>::from(key);
    let started = Instant::now() + Duration::from_millis(100);
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let every = Duration::from_secs_f64(connections as f64 / per_second);
    for caller in 0..connections {
        let key = Arc::clone(&key);
        #[expect(clippy::cast_precision_loss, reason = "thousands")]
        let offset = every.mul_f64(caller as f64 / connections as f64);
        callers.spawn(async move {
            // Callers connect when they send their first request, one after another. A listener's
            // backlog is short, and a client that finds it full only retries seconds later.
            let mut client = None;
            let mut outcomes = Vec::new();
            let mut turn = 0;
            loop {
                let due = started + offset + every * turn;
                if due >= started + lasting {
                    return outcomes;
                }
                tokio::time::sleep_until(due.into()).await;
                if client.is_none() {
                    client = Client::connect(address).await.ok();
                }
                let path = next_path(paths, caller + turn as usize);
                let answer = match &mut client {
                    Some(client) => client.ask(&request(&path, &key, "")).await.ok(),
                    None => None,
                };
                let status = answer.as_ref().map_or(0, |answer| answer.status);
                if answer.as_ref().is_none_or(crate::callers::client::Answer::closes) {
                    client = None;
                }
                let answered_in = answer.as_ref().map(|answer| answer.took).unwrap_or_default();
                let says_when = answer.is_some_and(|answer| answer.header("retry-after").parse::<u32>().is_ok());
                outcomes.push(Outcome { status, took: due.elapsed(), answered_in, says_when });
                turn += 1;
            }
        });
    }
    callers.join_all().await.into_iter().flatten().collect()
}

/// Sends requests back to back over several connections, and returns the number of responses per
/// second.
pub(crate) async fn capacity(
    address: SocketAddr,
    key: &str,
    paths: &'static [&'static str],
    connections: usize,
    lasting: Duration,
) -> f64 {
    let mut callers = JoinSet::new();
    let key = Arc::<str>::from(key);
    let end = Instant::now() + lasting;
    for caller in 0..connections {
        let key = Arc::clone(&key);
        callers.spawn(async move {
            let mut client = Client::connect(address).await.expect("a connection");
            let mut answered = 0;
            while Instant::now() < end {
                let path = next_path(paths, caller + answered);
                let answer = client.ask(&request(&path, &key, "")).await.expect("a response");
                assert_eq!(answer.status, 200, "{answer:?}");
                answered += 1;
            }
            answered
        });
    }
    let answered: usize = callers.join_all().await.into_iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let answered = answered as f64;
    answered / lasting.as_secs_f64()
}

/// The latency at a percentile in milliseconds; 0 if there is none.
pub(crate) fn percentile(took: impl IntoIterator<Item = Duration>, per_cent: usize) -> f64 {
    let mut took: Vec<_> = took.into_iter().collect();
    took.sort_unstable();
    let at = (took.len() * per_cent).div_ceil(100).saturating_sub(1);
    took.get(at).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
}
