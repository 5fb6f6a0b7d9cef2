//! Quotas: how many requests a key may make, counted exactly over a sliding window of 60 seconds.
//!
//! A window that slides, and not a fixed one: a fixed window lets twice the quota through around its boundary, and a
//! token bucket nearly as much in its first minute. Here no 60 seconds whatever hold more than the quota. Requests
//! less than a quarter of a second apart are remembered as one burst and come back together when the last of them is
//! 60 seconds old, so memory is bounded by 241 bursts a key whatever the rate, and a caller who always asks gets the
//! quota to within 0.5 per cent.
//!
//! Time is handed in, never read.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The window over which requests are counted.
pub const WINDOW: Duration = Duration::from_mins(1);

/// Requests closer together than this are one burst.
const GRAIN: Duration = Duration::from_millis(250);

/// What a key has spent during the last window. The rate is handed in with each request, so that a key whose rate is
/// changed keeps its count.
#[derive(Debug, Default)]
pub struct Quota {
    log: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    bursts: VecDeque<Burst>,
    total: u32,
}

#[derive(Debug)]
struct Burst {
    first: Instant,
    last: Instant,
    count: u32,
}

/// Whether a request fits the quota, and what is left of it: all that the answer's headers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether the request may be answered.
    pub allowed: bool,
    /// Requests per window.
    pub limit: u32,
    /// Requests left right now, this one taken off.
    pub remaining: u32,
    /// Whole seconds, rounded up, until requests spent earlier begin to come back; 0 where nothing is spent.
    pub reset_seconds: u64,
    /// Where refused: whole seconds, rounded up, after which a request is allowed again. At least 1.
    pub retry_after_seconds: Option<u64>,
}

impl Quota {
    /// Spends one request if `limit` requests per window allow it. A refused request costs nothing.
    #[must_use]
    pub fn spend(&self, limit: u32, now: Instant) -> Decision {
        self.decide(limit, now, true)
    }

    /// What [`Quota::spend`] would answer, with nothing spent: for answers that are free, such as 304.
    /// `remaining` doesn't count a request that isn't spent.
    #[must_use]
    pub fn peek(&self, limit: u32, now: Instant) -> Decision {
        self.decide(limit, now, false)
    }

    fn decide(&self, limit: u32, now: Instant, spend: bool) -> Decision {
        // A panic while the lock was held can't leave the count half-changed in a way that matters: go on with it.
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.forget(now);
        let allowed = log.total < limit;
        if allowed && spend {
            log.add(now);
        }
        // After a rate was lowered more may be spent than the limit: wait for the burst that brings it below.
        let wait_seconds = (!allowed).then(|| log.wait_until_below(limit, now)).flatten();
        Decision {
            allowed,
            limit,
            remaining: limit.saturating_sub(log.total),
            reset_seconds: log.wait_for_first(now),
            retry_after_seconds: if allowed { None } else { Some(wait_seconds.unwrap_or(WINDOW.as_secs()).max(1)) },
        }
    }
}

impl Spent {
    fn forget(&mut self, now: Instant) {
        while let Some(burst) = self.bursts.front()
            && now.saturating_duration_since(burst.last) >= WINDOW
        {
            self.total -= burst.count;
            self.bursts.pop_front();
        }
    }

    fn add(&mut self, now: Instant) {
        self.total += 1;
        match self.bursts.back_mut() {
            // Also where another thread took its time later and the lock earlier: `last` never goes back.
            Some(burst) if now.saturating_duration_since(burst.first) < GRAIN => {
                burst.last = burst.last.max(now);
                burst.count += 1;
            }
            _ => self.bursts.push_back(Burst { first: now, last: now, count: 1 }),
        }
    }

    fn wait_for_first(&self, now: Instant) -> u64 {
        self.bursts.front().map_or(0, |burst| seconds_until_back(burst, now))
    }

    fn wait_until_below(&self, limit: u32, now: Instant) -> Option<u64> {
        let mut left = self.total;
        self.bursts.iter().find_map(|burst| {
            left -= burst.count;
            (left < limit).then(|| seconds_until_back(burst, now))
        })
    }
}

/// Whole seconds, rounded up, so that it is never too early.
fn seconds_until_back(burst: &Burst, now: Instant) -> u64 {
    let wait = WINDOW.saturating_sub(now.saturating_duration_since(burst.last));
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl Decision {
    /// The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers, a structured field): the quota per window.
    #[must_use]
    pub fn policy_header(&self) -> String {
        format!("\"default\";q={};w={}", self.limit, WINDOW.as_secs())
    }

    /// The value of `RateLimit` (the same draft): what is left, and the seconds until more comes back.
    #[must_use]
    pub fn limit_header(&self) -> String {
        format!("\"default\";r={};t={}", self.remaining, self.reset_seconds)
    }
}
