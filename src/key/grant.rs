//! The rights that a key grants.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use super::{Decision, Origin, Quota, Rate};

/// The rights of an accepted key. Contains no secret.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The key's id, which may be logged.
    pub id: Box<str>,
    /// The key's holder.
    pub name: Box<str>,
    /// Requests a minute.
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
    /// The requests that the key has spent; they survive a reload of the key file.
    pub quota: Arc<Quota>,
    /// Requests authenticated with the key; they survive a reload of the key file.
    pub requests: Arc<AtomicU64>,
}

impl Grant {
    /// Spends one request of the quota; `None` for a key without a limit.
    #[must_use]
    pub fn spend(&self, now: Instant) -> Option<Decision> {
        Some(self.quota.spend(self.rate.per_minute()?, now))
    }

    /// Spends further requests for one that was allowed, which may put the quota in debt; `None` without a
    /// limit.
    #[must_use]
    pub fn charge(&self, requests: u32, now: Instant) -> Option<Decision> {
        Some(self.quota.charge(self.rate.per_minute()?, requests, now))
    }

    /// Takes back a request that was spent then and isn't carried out.
    pub fn give_back(&self, spent: Instant) {
        if self.rate != Rate::UNLIMITED {
            self.quota.give_back(spent);
        }
    }

    /// Looks at the quota without spending; `None` without a limit.
    #[must_use]
    pub fn peek(&self, now: Instant) -> Option<Decision> {
        Some(self.quota.peek(self.rate.per_minute()?, now))
    }

    /// Whether a request with this `Origin` header may use the key. Only browsers send one; a request without it isn't
    /// restricted.
    #[must_use]
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.origins.is_empty() || self.origins.iter().any(|allowed| allowed.matches(origin))
    }
}
