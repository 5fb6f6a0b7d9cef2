//! Reloads and their outcomes, for the log, the command and monitoring.

use std::time::Duration;

use jiff::Timestamp;

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
    /// All outcomes.
    pub const ALL: [Self; 5] = [Self::Published, Self::Loaded, Self::Unchanged, Self::Withheld, Self::Failed];

    /// The stable name.
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

    /// The number of reloads.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn count(&self, outcome: Outcome) -> u64 {
        self.counts.get(outcome as usize).copied().unwrap_or_default()
    }
}
