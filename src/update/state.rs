//! Tracks what keeps a directory from being current, for `/readyz`, the log and retries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::generation::Generation;
use crate::update::directory::{Degraded, Directory};

/// The maximum back-off, and the minimum time between a failed build and the next one.
const MAX_BACK_OFF: Duration = Duration::from_secs(30);
/// The wait after a failed build, as a multiple of how long it took.
const BUILD_FACTOR: u32 = 10;
/// A build is slow if it takes longer than this multiple of the processor time it uses, plus this
/// grace period. On a quiet machine, a build takes about as long as the processor time it uses.
const SLOW_FACTOR: u32 = 3;
const SLOW_GRACE: Duration = Duration::from_secs(3);

#[derive(Debug)]
enum State {
    Current,
    Degraded {
        since: Timestamp,
        /// At most one problem per subject, in the order of [`About`].
        problems: Vec<Problem>,
        /// The number of consecutive failures being retried.
        failures: u32,
        /// The last failure and the wait after it; `None` if only a change can help.
        retry: Option<(Instant, Duration)>,
    },
}

/// Something that keeps a directory from being current.
#[derive(Debug)]
pub struct Problem {
    pub about: About,
    /// What `/readyz` shows. Its `since` is set when the problem begins, and again whenever the
    /// code changes.
    pub reason: Degraded,
    /// The log line for when the problem begins or changes; `None` if it's logged elsewhere.
    pub log: Option<String>,
    /// Whether to retry even if nothing has changed.
    pub is_retried: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// The export files, or a build of them.
    Exports,
    /// The cluster.
    Remote,
    /// The index folder, while the exports or an earlier generation are being served from memory.
    Index,
    /// A build that's still running.
    Build,
}

impl Problem {
    pub(super) fn new(about: About, code: &'static str, detail: String, log: Option<String>) -> Self {
        Self { about, reason: Degraded { code, detail, ..Degraded::default() }, log, is_retried: true }
    }

    /// Whether the log already contains a line about this problem. A remote's message may vary from
    /// one attempt to the next, whereas a message about exports changes only when they do.
    fn is_told_by(&self, before: &Self) -> bool {
        let (reason, of) = (&self.reason, &before.reason);
        let is_same = (reason.count, &reason.detail) == (of.count, &of.detail);
        before.log.is_some() && reason.code == of.code && (is_same || self.about != About::Exports)
    }

    /// The wait before a retry. For a remote it starts at 1 s and doubles each time. For a build,
    /// it's ten times as long as the failed build took, but never less than a fixed minimum.
    fn wait(&self, failures: u32, took: Duration) -> Option<Duration> {
        self.is_retried.then(|| match self.about {
            About::Remote => Duration::from_secs(1 << failures.min(5)).min(MAX_BACK_OFF),
            About::Exports | About::Index | About::Build => MAX_BACK_OFF.max(took * BUILD_FACTOR),
        })
    }
}

/// A directory and its state. This is the only caller of [`Directory::set_degraded`].
#[derive(Debug)]
pub struct Health {
    directory: Arc<Directory>,
    state: State,
}

impl Health {
    pub(super) const fn new(directory: Arc<Directory>) -> Self {
        Self { directory, state: State::Current }
    }

    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(super) fn serves(&self, generation: &Generation) -> bool {
        self.directory.current().is_some_and(|served| served.generation == *generation)
    }

    /// Whether a download of the served generation has revealed damage on disk.
    pub(super) fn serves_damaged(&self) -> bool {
        self.directory.current().is_some_and(|current| current.catalogue.is_damaged())
    }

    /// Adds a problem, replacing any other about the same subject.
    pub(super) fn begin(&mut self, mut problem: Problem) {
        let now = Timestamp::now();
        if let State::Current = self.state {
            self.state = State::Degraded { since: now, problems: Vec::new(), failures: 0, retry: None };
        }
        let State::Degraded { problems, .. } = &mut self.state else { return };
        let before = problems.extract_if(.., |before| before.about == problem.about).next();
        if let Some(text) = &problem.log
            && !before.as_ref().is_some_and(|before| problem.is_told_by(before))
        {
            tracing::error!(reason = problem.reason.code, "{text}");
        }
        let same = before.filter(|before| before.reason.code == problem.reason.code);
        problem.reason.since = same.map_or(Some(now), |before| before.reason.since);
        problems.push(problem);
        problems.sort_by_key(|problem| problem.about);
        self.show();
    }

    /// Reports a build that's slow, given how long it has been running and how much processor time
    /// it has used.
    pub(super) fn watch_build(&mut self, elapsed: Duration, used: Duration) {
        if elapsed > used * SLOW_FACTOR + SLOW_GRACE {
            let detail = format!(
                "the build has been running for {} s but has had only {:.1} s of processor time, because the machine \
                 is busy, the disk is slow, or another process holds the index lock",
                elapsed.as_secs(),
                used.as_secs_f64()
            );
            let log = format!("the build is slow: {detail}");
            self.begin(Problem { is_retried: false, ..Problem::new(About::Build, "build_slow", detail, Some(log)) });
        }
    }

    /// Removes problems. Returns whether there were any.
    pub(super) fn end(&mut self, is_over: impl Fn(About) -> bool) -> bool {
        let State::Degraded { problems, .. } = &mut self.state else { return false };
        let ended = problems.extract_if(.., |problem| is_over(problem.about)).count();
        self.show();
        ended > 0
    }

    fn show(&self) {
        if let State::Degraded { problems, .. } = &self.state {
            self.directory.set_degraded(problems.iter().map(|problem| problem.reason.clone()).collect());
        }
    }

    /// Logs the end of the last problem, so that the last line in the log isn't an error.
    pub(super) fn settle(&mut self, recovered: &str) {
        if let State::Degraded { since, problems, .. } = &self.state
            && problems.is_empty()
            && let Some(current) = self.directory.current()
        {
            let (generation, software) = (current.generation(), current.software_count());
            tracing::info!(%since, generation, software, "recovered: {recovered}");
            self.state = State::Current;
        }
    }

    /// Decides when to try again after an attempt that took this long.
    pub(super) fn schedule(&mut self, now: Instant, took: Duration) {
        let State::Degraded { problems, failures, retry, .. } = &mut self.state else { return };
        let waits = problems.iter().filter_map(|problem| problem.wait(*failures, took));
        *retry = waits.max().map(|wait| (now, wait));
        *failures = if retry.is_some() { failures.saturating_add(1) } else { 0 };
    }

    pub(super) fn retry_now(&mut self, now: Instant) {
        if let State::Degraded { retry, .. } = &mut self.state {
            *retry = Some((now, Duration::ZERO));
        }
    }

    /// The last failure and the wait after it, if it's retried.
    pub const fn retry(&self) -> Option<(Instant, Duration)> {
        match self.state {
            State::Current => None,
            State::Degraded { retry, .. } => retry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(about: About, code: &'static str) -> Problem {
        Problem::new(about, code, "it is broken".to_owned(), None)
    }

    /// The waits in seconds after attempts that took this long.
    fn waits(about: About, took: u64) -> Vec<u64> {
        let mut health = Health::new(Arc::default());
        let mut wait = || {
            health.begin(problem(about, "broken"));
            health.schedule(Instant::now(), Duration::from_secs(took));
            health.retry().expect("a retry").1.as_secs()
        };
        (0..7).map(|_| wait()).collect()
    }

    #[test]
    fn remotes_are_retried_at_doubling_intervals_but_builds_only_rarely() {
        assert_eq!(waits(About::Remote, 15), [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(waits(About::Exports, 1), [30; 7]);
        assert_eq!(waits(About::Index, 60), [600; 7]);
    }

    #[test]
    fn a_problem_that_only_a_change_can_fix_is_not_retried() {
        let mut health = Health::new(Arc::default());
        health.begin(Problem { is_retried: false, ..problem(About::Exports, "exports_invalid") });
        health.schedule(Instant::now(), Duration::ZERO);
        assert_eq!(health.retry(), None);
        health.begin(problem(About::Index, "index_locked"));
        health.schedule(Instant::now(), Duration::ZERO);
        assert!(health.retry().is_some(), "another problem is retried");
    }

    #[test]
    fn each_subject_has_one_reason_with_the_time_when_it_began() {
        let directory = Arc::<Directory>::default();
        let reasons = || directory.degraded().iter().map(|reason| (reason.code, reason.since)).collect::<Vec<_>>();
        let mut health = Health::new(Arc::clone(&directory));
        health.begin(problem(About::Index, "index_lost"));
        let lost_since = reasons()[0].1;
        assert!(lost_since.is_some());
        health.begin(problem(About::Index, "index_lost"));
        assert_eq!(reasons()[0].1, lost_since);
        health.begin(problem(About::Index, "index_not_written"));
        let since = reasons()[0].1;
        assert!(since > lost_since, "another reason");
        health.begin(problem(About::Exports, "exports_invalid"));
        assert_eq!(reasons()[0].0, "exports_invalid", "problems with the exports come first");
        assert_eq!(reasons()[1], ("index_not_written", since));
        assert!(health.end(|about| about == About::Exports));
        assert!(!health.end(|about| about == About::Exports), "it's already over");
        assert_eq!(reasons(), [("index_not_written", since)]);
    }

    #[test]
    fn a_build_is_slow_if_it_takes_over_three_times_its_processor_time_plus_three_seconds() {
        let directory = Arc::<Directory>::default();
        let mut health = Health::new(Arc::clone(&directory));
        let (second, moment) = (Duration::from_secs(1), Duration::from_millis(1));
        health.watch_build(second * 3, Duration::ZERO);
        health.watch_build(second * 33, second * 10);
        assert_eq!(directory.degraded().len(), 0, "a third of a processor is enough");
        health.watch_build(second * 33 + moment, second * 10);
        let [begun] = &directory.degraded()[..] else { panic!("no reason") };
        assert_eq!(begun.code, "build_slow");
        assert!(begun.since.is_some());
        health.watch_build(second * 100, second * 11);
        let [later] = &directory.degraded()[..] else { panic!("no reason") };
        assert_eq!(later.since, begun.since);
        assert!(later.detail.contains("for 100 s but has had only 11.0 s of processor time"), "{}", later.detail);
        health.schedule(Instant::now(), second);
        assert_eq!(health.retry(), None, "a running build isn't started again");
    }
}
