//! Reloads under load: every response is 2xx and from a single generation, and latency is hardly
//! higher than without a build.
//!
//! The server's capacity is measured first, with callers that send the next request at once (closed
//! loop). Then requests arrive at 30% of that, at times that don't depend on the responses (open
//! loop). Each is timed from when it was due, so a request that waits behind a slow one also counts
//! as slow.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::checker::Checker;
use crate::client::Client;
use crate::common::process::{Server, run, text};
use crate::corpus::Corpus;
use crate::scale::{from_environment, is_full, times};
use crate::system::threads;

const CONNECTIONS: usize = 8;
/// How many callers search without a pause while an edit has to go live.
const SEARCHERS: usize = 16;
/// The share of the capacity to use, in per cent.
const SHARE: usize = 30;

/// A server, and what's known about its responses.
pub(crate) struct Target {
    pub(crate) folder: TempDir,
    pub(crate) server: Server,
    pub(crate) corpus: Corpus,
    pub(crate) checker: Checker,
    connections: usize,
}

/// The callers' observations.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The time from when each request was due until its response, in microseconds, sorted.
    latencies: Vec<u32>,
    pub(crate) faults: Vec<String>,
}

impl Seen {
    /// A percentile of the latencies.
    pub(crate) fn percentile(&self, percent: f64) -> Duration {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = ((self.latencies.len() as f64) * percent / 100.0) as usize;
        Duration::from_micros(self.latencies.get(at.min(self.latencies.len() - 1)).copied().unwrap_or_default().into())
    }

    pub(crate) fn summary(&self) -> String {
        format!(
            "{} requests, {} faults, p50 {:.2?}, p99 {:.2?}, p99.9 {:.2?}, most {:.2?}",
            self.latencies.len(),
            self.faults.len(),
            self.percentile(50.0),
            self.percentile(99.0),
            self.percentile(99.9),
            self.percentile(100.0)
        )
    }
}

impl Target {
    pub(crate) fn new(corpus: Corpus) -> Self {
        Self::started_by(corpus, |folder| Server::start(folder, &[]))
    }

    /// A target whose server is started by the test, in this folder and with the callers' key.
    pub(crate) fn started_by(corpus: Corpus, start: impl FnOnce(&Path) -> Server) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("data")).expect("a folder");
        corpus.write(&folder.path().join("data"), 0);
        // The development key's quota is lower.
        let made = run(folder.path(), &["keys", "create", "--name", "load", "--rate", "1000000/min"]);
        assert!(made.status.success(), "{made:?}");
        let mut server = start(folder.path());
        server.made_key = Some(text(&made.stdout).trim().to_owned());
        Self { folder, server, corpus, checker: Checker::default(), connections: CONNECTIONS }
    }

    pub(crate) fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// The mix of requests: lists, searches, filters with facets, single products.
    fn path(&self, turn: usize) -> (String, bool) {
        const QUERIES: [&str; 5] = ["audit", "product safety", "management", "tranining", "risk document"];
        // Each query contains a different number, so none is answered from the cache. No product
        // contains these numbers.
        let query = format!("{}+{turn}q", QUERIES[turn / 8 % QUERIES.len()].replace(' ', "+"));
        match turn % 8 {
            0 | 1 => (format!("/v1/software?limit=20&offset={}", turn * 20 % self.corpus.count(0)), true),
            2 | 3 => (format!("/v1/search?limit=20&offset={}", turn % 50), true),
            4 | 5 => (format!("/v1/search?q={query}&limit=10"), false),
            6 => (format!("/v1/search?q={query}&limit=10&highlight=true&facets=category"), false),
            _ => ("/v1/software?sort=-review_count&limit=1".to_owned(), true),
        }
    }

    /// Sends requests over several connections until the stop signal. `due` determines when each
    /// request is sent. If it's `None`, each is sent once the previous one has been answered.
    pub(crate) fn ask(&self, stop: &AtomicBool, due: Option<(Instant, f64)>) -> Seen {
        self.ask_at(&[&self.server.address], stop, due)
    }

    /// Like [`ask`](Self::ask), with connections to each of these servers. Their responses must
    /// agree.
    pub(crate) fn ask_at(&self, addresses: &[&str], stop: &AtomicBool, due: Option<(Instant, f64)>) -> Seen {
        let turns = AtomicUsize::new(0);
        let one = |number: usize| {
            let mut seen = Seen::default();
            let (address, key) = (addresses[number % addresses.len()], self.server.key());
            let mut client = Client::connect(address, &key).expect("a connection");
            while !stop.load(Ordering::Relaxed) {
                let turn = turns.fetch_add(1, Ordering::Relaxed);
                #[expect(clippy::cast_precision_loss)]
                let due =
                    due.map_or_else(Instant::now, |(start, rate)| start + Duration::from_secs_f64(turn as f64 / rate));
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let (path, is_all) = self.path(turn);
                let answer = client.get(&path);
                let took = due.elapsed();
                seen.latencies.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
                let checked = answer.map_err(|error| error.to_string()).and_then(|answer| {
                    // If a search finds nothing, there's no record to check.
                    let is_empty = !is_all && answer.status == 200 && answer.body.starts_with(b"{\"data\":[]");
                    if is_empty { Ok(0) } else { self.checker.check(&self.corpus, &answer, is_all) }
                });
                if let Err(fault) = checked {
                    seen.faults.push(format!("{path}: {fault}"));
                    client = Client::connect(address, &key).expect("a connection");
                }
            }
            seen
        };
        let (one, mut all) = (&one, Seen::default());
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..self.connections).map(|number| scope.spawn(move || one(number))).collect();
            for caller in callers {
                let seen = caller.join().expect("no panic");
                all.latencies.extend(seen.latencies);
                all.faults.extend(seen.faults);
            }
        });
        all.latencies.sort_unstable();
        all
    }

    /// Sends requests for as long as the work is running.
    pub(crate) fn ask_during<T>(&self, rate: Option<f64>, work: impl FnOnce() -> T) -> (Seen, T) {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| self.ask(&stop, rate.map(|rate| (Instant::now(), rate))));
            // Stops the callers even if the work panics; otherwise the test would hang.
            let stopping = Stopping(&stop);
            let done = work();
            drop(stopping);
            (asking.join().expect("no panic"), done)
        })
    }

    /// Writes a revision and waits until it's served. Returns how long that took.
    pub(crate) fn reload(&self, client: &mut Client, revision: usize) -> Duration {
        self.corpus.write(&self.data(), revision);
        self.await_revision(client, revision)
    }

    /// Waits until a revision is served. Returns how long that took.
    pub(crate) fn await_revision(&self, client: &mut Client, revision: usize) -> Duration {
        let written = Instant::now();
        loop {
            let answer = client.get("/v1/software?limit=1").expect("a response");
            if self.checker.check(&self.corpus, &answer, true).expect("whole") == revision {
                break;
            }
            // The machine may be busy.
            assert!(written.elapsed() < Duration::from_mins(10), "revision {revision} was never served");
            std::thread::sleep(Duration::from_millis(10));
        }
        written.elapsed()
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.server.address, &self.server.key()).expect("a connection")
    }
}

/// Stops the callers when dropped.
pub(crate) struct Stopping<'s>(pub(crate) &'s AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Measures the capacity, and then alternately the latencies during reloads and during equally long
/// quiet times, so that other work on the machine affects both equally.
fn reloads_under_load(name: &str, corpus: Corpus, reloads: usize) {
    let target = Target::new(corpus);
    target.reload(&mut target.client(), 1);
    let seconds = times(1, 10);
    let (measured, ()) = target.ask_during(None, || std::thread::sleep(Duration::from_secs(seconds as u64)));
    let capacity = measured.latencies.len() / seconds;
    #[expect(clippy::cast_precision_loss)]
    let rate = (capacity * SHARE) as f64 / 100.0;
    println!("load: {name}: capacity {capacity} requests per second; sending {rate:.0} per second");
    let (mut quiet, mut busy) = (Windows::default(), Windows::default());
    let (mut peak, mut slowest, mut revision) = (0, Duration::ZERO, 1);
    let turn = reloads.div_ceil(times(1, 25));
    while revision <= reloads {
        let last = (revision + turn).min(reloads + 1);
        let (seen, took) = target.ask_during(Some(rate), || {
            let (started, mut client) = (Instant::now(), target.client());
            for next in revision + 1..=last {
                slowest = slowest.max(target.reload(&mut client, next));
                peak = peak.max(threads(target.server.pid()).len());
            }
            started.elapsed()
        });
        revision = last;
        busy.add(seen);
        quiet.add(target.ask_during(Some(rate), || std::thread::sleep(took)).0);
    }
    println!("load: {name}: quiet: {}", quiet.summary());
    println!("load: {name}: {reloads} reloads: {}", busy.summary());
    println!("load: {name}: edits were served after at most {slowest:.1?}");
    for (what, seen) in [("closed loop", &measured), ("quiet", &quiet.all), ("reloads", &busy.all)] {
        assert_eq!(seen.faults.first(), None, "{what}: {} faults", seen.faults.len());
    }
    assert!(target.checker.generations() >= reloads, "{} generations", target.checker.generations());
    no_thread_builds(&target, peak);
    // In full runs, nothing else is running on the machine, so the timings are meaningful.
    let (p99, bound) = (busy.p99(), quiet.p99() * 2);
    println!("load: {name}: p99 {p99:.2?}; limit, twice the quiet p99: {bound:.2?}");
    if is_full() {
        assert!(p99 <= bound, "p99 while reloading: {p99:?}; limit, twice the quiet p99: {bound:?}");
    }
}

/// What the callers observed in all turns of one kind.
#[derive(Default)]
pub(crate) struct Windows {
    pub(crate) all: Seen,
    p99s: Vec<Duration>,
}

impl Windows {
    pub(crate) fn add(&mut self, seen: Seen) {
        self.p99s.push(seen.percentile(99.0));
        self.p99s.sort_unstable();
        self.all.latencies.extend(seen.latencies);
        self.all.latencies.sort_unstable();
        self.all.faults.extend(seen.faults);
    }

    /// The p99 of the median turn, so that a single disturbed turn doesn't count.
    pub(crate) fn p99(&self) -> Duration {
        self.p99s[self.p99s.len() / 2]
    }

    pub(crate) fn summary(&self) -> String {
        format!(
            "{}; p99 of {} turns {:.2?} to {:.2?}, median {:.2?}",
            self.all.summary(),
            self.p99s.len(),
            self.p99s[0],
            self.p99s[self.p99s.len() - 1],
            self.p99()
        )
    }
}

/// Checks that builds run in another process: the server has the same threads as without a build,
/// plus two that read the build's log and messages.
fn no_thread_builds(target: &Target, peak: usize) {
    let threads = threads(target.server.pid());
    let ours = ["search", "updater", "log", "build-log", "build-messages", "announce"];
    let others = |name: &str| !(ours.contains(&name) || name.starts_with("tokio") || name.starts_with("notify"));
    let unknown: Vec<_> = threads.iter().filter(|name| others(name)).collect();
    assert_eq!(unknown.len(), 1, "unexpected threads besides the main one: {threads:?}");
    assert!(peak <= threads.len() + 2, "{peak} threads while building, {} otherwise", threads.len());
}

#[test]
fn reloads_under_load_never_mix_generations_or_reject_requests() {
    let reloads = from_environment("FAULTS_RELOADS").unwrap_or_else(|| times(1, 1000));
    reloads_under_load("generated", Corpus::generated(times(200, 2000)), reloads);
}

#[test]
fn an_edit_goes_live_while_sixteen_callers_search() {
    let target = Target { connections: SEARCHERS, ..Target::new(Corpus::generated(times(200, 60_000))) };
    let edits = times(1, 3);
    let reload = |revisions: std::ops::RangeInclusive<usize>| {
        let mut client = target.client();
        let mut took: Vec<_> = revisions.map(|revision| target.reload(&mut client, revision)).collect();
        took.sort_unstable();
        took
    };
    let quiet = reload(1..=edits)[edits / 2];
    let (seen, busy) = target.ask_during(None, || reload(edits + 1..=2 * edits));
    let (most, bound) = (busy[edits - 1], quiet * 3 + Duration::from_secs(3));
    println!("load: {SEARCHERS} callers: {}", seen.summary());
    println!(
        "load: {SEARCHERS} callers: edits were served after {most:.1?}, {quiet:.1?} when quiet; limit {bound:.1?}"
    );
    assert_eq!(target.server.reasons().len(), 0);
    if is_full() {
        assert!(most <= bound, "an edit was served after {most:?}; limit, three times {quiet:?} plus 3 s: {bound:?}");
    }
}

#[test]
#[ignore = "slow: takes several minutes; run by `make faults`"]
fn reloads_of_a_large_export_under_load_never_mix_generations_or_reject_requests() {
    let reloads = from_environment("FAULTS_LARGE_RELOADS").unwrap_or_else(|| times(2, 20));
    reloads_under_load("large", Corpus::large(), reloads);
}
