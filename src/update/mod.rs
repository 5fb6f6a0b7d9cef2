//! Keeps a directory current: a loop checks the origin of its generations, fetches a new generation
//! if there is one, and publishes it. An [`Origin`] is a set of export files, an index
//! folder, or a cluster.

mod debounce;
mod directory;
pub mod files;
pub mod index;
mod state;
mod stored;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;

pub use self::debounce::Signal;
pub use self::directory::{Degraded, Directory, RECORDS_SKIPPED};
pub use self::directory::{Outcome, Reload, ReloadStatus};
pub use self::state::{About, Health, Problem};
use crate::generation::failpoint::{Step, pass};
use crate::generation::{Change, FailureCode, Snapshot};
use crate::panics;
use crate::update::debounce::{POLL_INTERVAL, next_signal};

/// Longer than mimalloc keeps freed memory before returning it to the system (`purge_delay`, 1 s).
const PURGE_DELAY: Duration = Duration::from_millis(1500);

/// Where a directory's generations come from.
pub trait Origin {
    type Error;

    /// The log line for a new generation.
    const NEW: &'static str;
    /// The log line if everything was read and nothing is new, which counts as a reload; `None` if
    /// checks are too frequent to log or count.
    const UNCHANGED: Option<&'static str> = None;
    /// The end of the log line once no problems are left.
    const RECOVERED: &'static str;

    /// Decides how to start.
    fn restore(&mut self, health: &mut Health) -> Start;

    /// Checks whether there's a reason to fetch, on each iteration of the loop.
    fn look(&mut self, now: Instant, health: &mut Health) -> Look {
        if health.retry().is_some_and(|(from, wait)| now < from + wait) { Look::Nothing } else { Look::Due }
    }

    /// The longest wait for a signal before the next check.
    fn max_wait(&self) -> Duration {
        POLL_INTERVAL
    }

    /// Fetches or builds the generation and opens it; `None` if it's already being served. If this
    /// fails, `last_good` is served.
    fn fetch(&mut self, last_good: Option<&Snapshot>, health: &mut Health) -> Result<Option<Opened>, Self::Error>;

    /// The error for a panic.
    fn panicked(panic: String) -> Self::Error;

    fn problem(&self, error: &Self::Error, last_good: Option<&Snapshot>, health: &Health) -> Problem;

    /// Removes what a killed process left behind, once the first generation is being served.
    fn tidy(&self) {}
}

#[derive(Debug)]
pub enum Start {
    /// Serves this generation, which is on disk and was current at the given time.
    Serve(Arc<Snapshot>, Option<Timestamp>),
    /// Serves whatever can be fetched or, failing that, this last good generation.
    Fetch(Option<Arc<Snapshot>>),
    /// Serves nothing until the loop has fetched something.
    Wait,
}

#[derive(Debug)]
pub enum Look {
    Nothing,
    Due,
    /// Another process has built this generation.
    Found(Arc<Snapshot>),
}

/// A generation to publish.
#[derive(Debug)]
pub struct Opened {
    pub snapshot: Arc<Snapshot>,
    /// Published, loaded, or unchanged if an identical generation is already being served.
    pub outcome: Outcome,
    pub change: Option<Change>,
}

impl Opened {
    fn tell(&self, text: &str, started: Instant) {
        let change = self.change.as_ref();
        tracing::info!(
            generation = self.snapshot.generation(),
            software = self.snapshot.software_count(),
            added = change.map(|change| change.added),
            removed = change.map(|change| change.removed),
            changed = change.map(|change| change.changed),
            exports_changed = change.map(|change| change.exports).filter(|exports| *exports > 0),
            files = change.map(|change| &*change.files).filter(|files| !files.is_empty()),
            took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "{text}"
        );
    }
}

/// Returns freshly freed memory to the system. mimalloc does that only when a thread allocates
/// pages or ends, so without requests it wouldn't happen. This thread just waits, then ends.
fn return_freed_memory() {
    let ends = || {
        // A thread that never allocates has no heap, so ending it wouldn't return anything.
        drop(black_box(Box::new(0_u8)));
        thread::sleep(PURGE_DELAY);
    };
    if let Err(error) = thread::Builder::new().name("free".to_owned()).spawn(ends) {
        tracing::debug!(%error, "freed memory will be returned by later requests");
    }
}

/// Keeps a directory current.
#[derive(Debug)]
pub struct Updater<O> {
    pub origin: O,
    pub health: Health,
    is_running: bool,
    /// Generations that are no longer being served but may still be in use by requests in progress.
    retired: Vec<Arc<Snapshot>>,
}

impl<O: Origin> Updater<O> {
    /// Creates an updater for a directory that's still empty.
    pub const fn new(origin: O, directory: Arc<Directory>) -> Self {
        Self { origin, health: Health::new(directory), is_running: false, retired: Vec::new() }
    }

    /// Publishes the first generation, if there is one yet.
    ///
    /// # Errors
    /// If there's nothing to serve because fetching failed.
    pub fn start(&mut self) -> Result<Outcome, O::Error> {
        let started = Instant::now();
        let outcome = match self.origin.restore(&mut self.health) {
            Start::Serve(snapshot, current_at) => {
                self.publish(snapshot);
                self.health.directory().record(Outcome::Loaded, started);
                self.health.directory().confirm(current_at);
                Outcome::Loaded
            }
            Start::Fetch(last_good) => self.update(last_good)?,
            Start::Wait => Outcome::Unchanged,
        };
        self.origin.tidy();
        return_freed_memory();
        Ok(outcome)
    }

    /// Keeps the directory current until the stop signal arrives.
    pub fn run(&mut self, signals: &Receiver<Signal>) {
        self.is_running = true;
        // A generation that was loaded without asking the origin is verified soon, while it's being
        // served.
        let (mut is_first, mut is_forced, mut is_requested) = (true, false, false);
        loop {
            let looked_at = Instant::now();
            if (self.look(looked_at) || is_forced)
                && let (Ok(Outcome::Unchanged), Some(text)) = (self.refresh(), O::UNCHANGED)
            {
                if is_requested { tracing::info!("{text}") } else { tracing::debug!("{text}") }
            }
            let signal = next_signal(signals, looked_at, self.origin.max_wait());
            if signal == Some(Signal::Stop) {
                return;
            }
            is_requested = signal == Some(Signal::Reload);
            is_forced = is_first || is_requested;
            is_first = false;
        }
    }

    /// Returns whether there's a reason to refresh. Publishes what another process has built.
    pub fn look(&mut self, now: Instant) -> bool {
        // Freeing a large generation takes a while, so it's done here rather than by the last
        // request that uses it.
        let retired = self.retired.len();
        self.retired.retain(|snapshot| Arc::strong_count(snapshot) > 1);
        if self.retired.len() < retired {
            return_freed_memory();
        }
        let started = Instant::now();
        match self.origin.look(now, &mut self.health) {
            Look::Due => true,
            Look::Nothing => self.is_due(now),
            Look::Found(snapshot) => {
                self.health.end(|_| true);
                self.publish(snapshot);
                self.health.directory().record(Outcome::Loaded, started);
                self.health.settle(O::RECOVERED);
                false
            }
        }
    }

    /// Whether to refresh even though nothing has changed: after a failure, or because the served
    /// generation turned out to be damaged on disk.
    pub fn is_due(&self, now: Instant) -> bool {
        self.health.retry().map_or_else(|| self.health.serves_damaged(), |(from, wait)| now >= from + wait)
    }

    /// Publishes the origin's generation, if it differs from the served one and may be served.
    ///
    /// # Errors
    ///
    /// If that fails and nothing is being served. Otherwise, the last good generation stays in
    /// service.
    pub fn refresh(&mut self) -> Result<Outcome, O::Error> {
        self.update(None)
    }

    fn update(&mut self, last_good: Option<Arc<Snapshot>>) -> Result<Outcome, O::Error> {
        let started = Instant::now();
        let last_good = self.health.directory().current().or(last_good);
        let fetched = panics::catch(|| {
            let opened = self.origin.fetch(last_good.as_deref(), &mut self.health)?;
            // Do this first, so that a new generation is never shown with the old one's problem.
            self.health.end(|about| about != About::Index);
            if let Some(opened) = &opened {
                self.publish(Arc::clone(&opened.snapshot));
            }
            Ok(opened)
        });
        let outcome = match fetched.unwrap_or_else(|panic| Err(O::panicked(panic))) {
            Ok(Some(opened)) => {
                self.health.directory().record(opened.outcome, started);
                if self.is_running && opened.outcome != Outcome::Unchanged {
                    opened.tell(O::NEW, started);
                }
                Ok(opened.outcome)
            }
            Ok(None) => {
                match O::UNCHANGED {
                    Some(_) => self.health.directory().record(Outcome::Unchanged, started),
                    None => self.health.directory().confirm(Some(Timestamp::now())),
                }
                Ok(Outcome::Unchanged)
            }
            Err(error) => self.keep_last_good(error, last_good, started),
        };
        self.health.schedule(Instant::now(), started.elapsed());
        self.health.settle(O::RECOVERED);
        outcome
    }

    fn keep_last_good(
        &mut self,
        error: O::Error,
        last_good: Option<Arc<Snapshot>>,
        started: Instant,
    ) -> Result<Outcome, O::Error> {
        // The failure may have happened after publishing.
        let last_good = self.health.directory().current().or(last_good);
        let mut problem = self.origin.problem(&error, last_good.as_deref(), &self.health);
        // The caller of `start` reports why there's nothing to serve.
        problem.log = problem.log.filter(|_| self.is_running || last_good.is_some());
        self.health.end(|about| about == About::Build);
        let is_withheld = problem.reason.code == FailureCode::RecordsRemoved.as_str();
        let outcome = if is_withheld { Outcome::Withheld } else { Outcome::Failed };
        self.health.begin(problem);
        self.health.directory().record(outcome, started);
        let last_good = last_good.ok_or(error)?;
        if self.health.directory().current().is_none() {
            self.publish(last_good);
        }
        Ok(outcome)
    }

    fn publish(&mut self, snapshot: Arc<Snapshot>) {
        pass(Step::PublishBefore);
        self.retired.extend(self.health.directory().publish(snapshot));
        pass(Step::PublishAfter);
    }
}
