//! The published directory: the current snapshot behind an atomic pointer, and what's wrong with
//! the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use jiff::Timestamp;

use crate::export::Skipped;
use crate::generation::Snapshot;

/// The reason code for invalid records that were left out.
pub const RECORDS_SKIPPED: &str = "records_skipped";

/// The directory that's being served, shared by the HTTP service, the watcher and anything else
/// that needs it.
#[derive(Debug, Default)]
pub struct Directory {
    current: ArcSwapOption<Snapshot>,
    /// When the current generation was published, in seconds since 1970.
    published_at: AtomicI64,
    degraded: ArcSwap<Vec<Degraded>>,
    reloads: ArcSwap<ReloadStatus>,
}

/// A reason why the directory is degraded, even though it's being served.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Degraded {
    /// A stable name for the reason, such as `exports_invalid`.
    pub code: &'static str,
    /// The number of errors in the exports, products that would be removed, or records left out.
    pub count: Option<usize>,
    /// The number of exports left out entirely; `None` for other reasons.
    pub export_count: Option<usize>,
    /// When the problem began, if known.
    pub since: Option<Timestamp>,
    /// What happened and how to fix it, for the operator.
    pub detail: String,
}

impl Degraded {
    /// The reason for serving only the valid part of an invalid set.
    fn skipped(skipped: Skipped) -> Self {
        let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        Self {
            code: RECORDS_SKIPPED,
            count: Some(count(skipped.records)),
            export_count: Some(count(skipped.exports)),
            since: None,
            detail: format!(
                "{skipped} are invalid and were left out (--skip-invalid); `software-directory check` lists them"
            ),
        }
    }
}

impl Directory {
    /// The current generation; `None` until the first one is published.
    pub fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.load_full()
    }

    /// Makes a generation current with one atomic store, and returns the previous one. Requests in
    /// progress keep using the one they started with.
    pub fn publish(&self, snapshot: Arc<Snapshot>) -> Option<Arc<Snapshot>> {
        let generation = snapshot.generation.clone();
        let before = self.current.swap(Some(snapshot));
        if before.as_ref().is_none_or(|before| before.generation != generation) {
            self.published_at.store(jiff::Timestamp::now().as_second(), Ordering::Relaxed);
        }
        before
    }

    /// When the current generation was published, in seconds since 1970; 0 before the first one.
    pub fn published_at(&self) -> i64 {
        self.published_at.load(Ordering::Relaxed)
    }

    /// Why the directory is degraded; empty if it's healthy.
    pub fn degraded(&self) -> Arc<Vec<Degraded>> {
        let mut reasons = self.degraded.load_full();
        let skipped = self.current().map(|current| current.skipped()).unwrap_or_default();
        if !skipped.is_none() {
            Arc::make_mut(&mut reasons).push(Degraded::skipped(skipped));
        }
        reasons
    }

    /// Replaces the reasons why the directory is degraded, except for what the current generation
    /// leaves out.
    pub fn set_degraded(&self, reasons: Vec<Degraded>) {
        self.degraded.store(Arc::new(reasons));
    }

    /// How reloads have gone so far. This is cheap: one atomic load.
    pub fn reloads(&self) -> Arc<ReloadStatus> {
        self.reloads.load_full()
    }

    /// Adds a reload to the counts in the metrics.
    pub(super) fn record(&self, outcome: Outcome, started: Instant) {
        let reload = Reload { outcome, at: Timestamp::now(), took: started.elapsed() };
        self.reloads.rcu(|status| status.after(reload));
    }

    /// Records when the served generation was last known to be its origin's current generation.
    pub(super) fn confirm(&self, current_at: Option<Timestamp>) {
        self.reloads.rcu(|status| ReloadStatus { current_at, ..(**status).clone() });
    }

    pub(super) fn count_build(&self) {
        self.reloads.rcu(|status| ReloadStatus { builds: status.builds + 1, ..(**status).clone() });
    }
}

/// The outcome of a startup or a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A new generation was built or fetched, and published.
    Published,
    /// A generation that was already on disk was published.
    Loaded,
    /// There's no generation other than the served one.
    Unchanged,
    /// The exports would remove too many records. The previous generation is served until
    /// `--reindex` confirms the removal.
    Withheld,
    /// There's no new generation. The last good one, if any, is being served.
    Failed,
}

impl Outcome {
    pub const ALL: [Self; 5] = [Self::Published, Self::Loaded, Self::Unchanged, Self::Withheld, Self::Failed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Loaded => "loaded",
            Self::Unchanged => "unchanged",
            Self::Withheld => "held_back",
            Self::Failed => "failed",
        }
    }

    /// Whether the served data matches the exports.
    pub const fn is_current(self) -> bool {
        matches!(self, Self::Published | Self::Loaded | Self::Unchanged)
    }
}

/// The reloads so far, including starts and generations from another process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReloadStatus {
    /// The last reload; `None` until the first one has ended.
    pub last: Option<Reload>,
    /// When the served data last matched the exports.
    pub current_at: Option<Timestamp>,
    /// How many generations were built, including those that weren't served.
    pub builds: u64,
    /// The number of reloads by outcome, in the order of [`Outcome::ALL`].
    pub counts: [u64; Outcome::ALL.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reload {
    pub outcome: Outcome,
    /// When the reload ended.
    pub at: Timestamp,
    /// How long the reload took: reading, checking, building and writing.
    pub took: Duration,
}

impl ReloadStatus {
    /// The status after another reload.
    pub(super) fn after(&self, reload: Reload) -> Self {
        let mut next = self.clone();
        next.last = Some(reload);
        if reload.outcome.is_current() {
            next.current_at = Some(reload.at);
        }
        if let Some(count) = next.counts.get_mut(reload.outcome as usize) {
            *count += 1;
        }
        next
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn count(&self, outcome: Outcome) -> u64 {
        self.counts.get(outcome as usize).copied().unwrap_or_default()
    }
}
