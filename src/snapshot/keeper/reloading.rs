//! How a keeper does a reload beside requests: where they leave the processor, or with a tenth of it; and what it notes of it.

use std::ops::ControlFlow;
use std::time::Instant;

use super::apart::{caught_apart, caught_yielding};
use super::{KeepError, Keeper, Outcome};
use crate::snapshot::priority::{self, Share};
use crate::snapshot::{BuildError, OpenError, Reload, ReloadOutcome};

impl Keeper {
    /// From here on requests are answered beside it: what it does takes the processor only where they leave it, and where
    /// they leave too little, its tenth.
    pub fn give_way(&mut self) {
        priority::lower_own();
        self.gives_way = true;
    }

    /// Does a reload; where it fails or panics, the last good generation is served. Notes how it ended.
    pub(super) fn noted(&mut self, reload: fn(&mut Self) -> Result<Outcome, KeepError>) -> Result<Outcome, KeepError> {
        let started = Instant::now();
        self.failed_at = None;
        let ended = self.yielding(reload);
        let ended = ended.unwrap_or_else(|| caught_apart(|| reload(self)).unwrap_or_else(panicked));
        self.reported = false;
        if ended.is_ok() && self.index_problem.take().is_some() {
            self.show_health();
        }
        let ended = ended.or_else(|error| {
            self.failed_at = error.is_transient().then(Instant::now);
            self.keep_last_good(error)
        });
        self.note(
            started,
            match &ended {
                Ok(Outcome::Published(_)) => ReloadOutcome::Published,
                Ok(Outcome::Loaded(_)) => ReloadOutcome::Loaded,
                Ok(Outcome::Unchanged) => ReloadOutcome::Unchanged,
                Ok(Outcome::KeptLastGood(_)) if self.holds_back() => ReloadOutcome::HeldBack,
                Ok(Outcome::KeptLastGood(_)) | Err(_) => ReloadOutcome::Failed,
            },
        );
        ended
    }

    /// Does a reload where nothing else wants the processor; `None` where that is too seldom, or needn't be.
    fn yielding(&mut self, reload: fn(&mut Self) -> Result<Outcome, KeepError>) -> Option<Result<Outcome, KeepError>> {
        if !self.gives_way {
            return None;
        }
        let ended = caught_yielding(|share| {
            self.share = share;
            reload(self)
        });
        let ended = ended.unwrap_or_else(panicked);
        self.share = None;
        let was_stopped = matches!(ended, Err(KeepError::Open(OpenError::Build(BuildError::Stopped))));
        if was_stopped {
            tracing::debug!("the processor is wanted all the time; the reload begins again and takes its tenth");
        }
        (!was_stopped).then_some(ended)
    }

    pub(super) fn note(&self, started: Instant, outcome: ReloadOutcome) {
        let reload = Reload { outcome, at: jiff::Timestamp::now(), took: started.elapsed() };
        self.directory.set_reloads(self.directory.reloads().after(reload, self.builds));
    }
}

fn panicked(message: String) -> Result<Outcome, KeepError> {
    Err(KeepError::Panicked(message))
}

/// Whether work that yields to all others had better stop and begin again without yielding.
pub(super) fn starves(share: Option<Share>) -> ControlFlow<()> {
    if share.is_some_and(|share| share.is_too_small()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
