//! Quotas: how many requests a key may make, counted exactly over a sliding window of 60 seconds.
//!
//! A fixed window would let twice the quota through around a boundary, and a token bucket nearly as
//! much in its first minute. With a sliding window, no 60-second period exceeds the quota. Requests
//! less than a quarter of a second apart are stored as one burst and become available again when
//! the last of them is 60 seconds old. So memory is limited to 241 bursts per key at any rate, and
//! a caller that never pauses gets its quota to within 0.5%.
//!
//! Nothing here reads the clock; callers pass the time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The window over which requests are counted.
pub const WINDOW: Duration = Duration::from_mins(1);

/// Requests closer together than this form one burst.
const GRAIN: Duration = Duration::from_millis(250);

/// The requests that a key has spent during the last window. The rate is passed with each request,
/// so a key keeps its count when its rate changes.
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

/// Whether the quota allows a request, and what's left of it, as reported in response headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    pub allowed: bool,
    /// Requests per window.
    pub limit: u32,
    /// Requests left now, after this one.
    pub remaining: u32,
    /// Whole seconds, rounded up, until the first spent requests are available again; 0 if none
    /// are spent.
    pub reset_seconds: u64,
    /// If rejected: whole seconds, rounded up, until a request is allowed again. At least 1.
    pub retry_after_seconds: Option<u64>,
}

impl Quota {
    /// Spends one request if `limit` requests per window allow it. A rejected request costs
    /// nothing.
    pub fn spend(&self, limit: u32, now: Instant) -> Decision {
        self.decide(limit, now, true)
    }

    /// Charges extra requests for one that was allowed but costs more than one. Requests that
    /// exceed this window's quota are charged to future windows; until then the quota is in debt
    /// and nothing is allowed.
    pub fn charge(&self, limit: u32, requests: u32, now: Instant) -> Decision {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.forget(now);
        log.charge(limit.max(1), requests, now);
        drop(log);
        self.peek(limit, now)
    }

    /// Returns what [`Quota::spend`] would, without spending anything. It's for responses that are
    /// free, such as 304; `remaining` doesn't count them.
    pub fn peek(&self, limit: u32, now: Instant) -> Decision {
        self.decide(limit, now, false)
    }

    /// Refunds a request that was spent at `spent` but not carried out.
    pub fn give_back(&self, spent: Instant) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        // The request is in the last burst that had begun by then. If another thread read its clock
        // later but got the lock earlier, it's in the first burst.
        let at = log.bursts.iter().rposition(|burst| burst.first <= spent).unwrap_or(0);
        let Some(burst) = log.bursts.get_mut(at) else { return };
        burst.count -= 1;
        let is_over = burst.count == 0;
        if is_over {
            log.bursts.remove(at);
        }
        log.total -= 1;
    }

    fn decide(&self, limit: u32, now: Instant, spend: bool) -> Decision {
        // A panic while the lock was held can't have corrupted the count in a way that matters, so
        // carry on.
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.forget(now);
        let allowed = log.total < limit;
        if allowed && spend {
            log.add(now);
        }
        // If the rate was lowered, more may have been spent than the limit allows. Wait for the
        // burst that brings the total below it.
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
            // Also covers the case where another thread read its clock later but got the lock
            // earlier: `last` never goes back.
            Some(burst) if now.saturating_duration_since(burst.first) < GRAIN => {
                burst.last = burst.last.max(now);
                burst.count += 1;
            }
            _ => self.bursts.push_back(Burst { first: now, last: now, count: 1 }),
        }
    }

    /// Adds bursts that each fill a window: the first one now, the others in the future, after any
    /// existing debt.
    fn charge(&mut self, limit: u32, requests: u32, now: Instant) {
        let mut left = requests;
        let last = self.bursts.back().map_or(now, |burst| burst.first.max(now));
        // If there's debt, only its last window has room.
        let spent = if last > now { self.bursts.back().map_or(0, |burst| burst.count) } else { self.total };
        let mut room = limit.saturating_sub(spent);
        let mut at = last;
        while left > 0 {
            let count = left.min(room);
            if count > 0 {
                self.bursts.push_back(Burst { first: at, last: at, count });
                self.total += count;
                left -= count;
            }
            (at, room) = (at + WINDOW, limit);
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

/// Rounds up to whole seconds, so that retrying then is never too early.
fn seconds_until_back(burst: &Burst, now: Instant) -> u64 {
    let wait = (burst.last + WINDOW).saturating_duration_since(now);
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_quota_allows_exactly_the_given_number_of_requests() {
        let (quota, now) = (Quota::default(), Instant::now());
        for left in (0..5).rev() {
            let decision = quota.spend(5, now);
            assert_eq!((decision.allowed, decision.remaining, decision.retry_after_seconds), (true, left, None));
        }
        let refused = quota.spend(5, now);
        assert_eq!((refused.allowed, refused.remaining, refused.retry_after_seconds), (false, 0, Some(60)));
    }

    #[test]
    fn a_used_request_is_available_again_after_one_window() {
        let (quota, start) = (Quota::default(), Instant::now());
        assert!(quota.spend(1, start).allowed);
        let just_before = start + Duration::from_secs(59) + Duration::from_nanos(999_999_999);
        assert_eq!(quota.spend(1, just_before).retry_after_seconds, Some(1));
        assert!(quota.spend(1, start + WINDOW).allowed);
    }

    #[test]
    fn the_waiting_time_is_rounded_up_so_retrying_is_never_too_early() {
        let (quota, start) = (Quota::default(), Instant::now());
        assert!(quota.spend(1, start).allowed);
        let refused = quota.spend(1, start + Duration::from_millis(500));
        assert_eq!((refused.retry_after_seconds, refused.reset_seconds), (Some(60), 60));
        let refused = quota.spend(1, start + SECOND);
        assert_eq!((refused.retry_after_seconds, refused.reset_seconds), (Some(59), 59));
    }

    #[test]
    fn checking_a_quota_costs_nothing() {
        let (quota, now) = (Quota::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(quota.peek(3, now).remaining, 3);
        }
        assert_eq!(quota.peek(3, now).reset_seconds, 0);
        assert_eq!(quota.spend(3, now).remaining, 2);
    }

    #[test]
    fn refunded_requests_can_be_spent_again_but_no_others() {
        let (quota, start) = (Quota::default(), Instant::now());
        let later = start + SECOND;
        assert!(quota.spend(3, start).allowed && quota.spend(3, later).allowed && quota.spend(3, later).allowed);
        assert!(!quota.peek(3, later).allowed);
        quota.give_back(later);
        assert_eq!(quota.peek(3, later).remaining, 1);
        // Requests spent at the start count until they're a window old.
        assert_eq!(quota.peek(3, start + SECOND * 59).remaining, 1);
        assert_eq!(quota.peek(3, start + WINDOW).remaining, 2);
        quota.give_back(later);
        let empty = quota.peek(3, start + WINDOW);
        assert_eq!((empty.remaining, empty.reset_seconds), (3, 0));
    }

    #[test]
    fn after_lowering_the_rate_the_wait_lasts_until_enough_requests_come_back() {
        let (quota, start) = (Quota::default(), Instant::now());
        for second in 0..10 {
            assert!(quota.spend(10, start + SECOND * second).allowed);
        }
        // Ten are spent and three allowed, so the eighth, made at second 7, must come back first.
        let now = start + SECOND * 10;
        assert_eq!(quota.spend(3, now).retry_after_seconds, Some(57));
        assert!(!quota.spend(3, start + SECOND * 66).allowed);
        assert!(quota.spend(3, start + SECOND * 67).allowed);
    }

    #[test]
    fn a_charge_beyond_the_quota_is_paid_off_in_future_windows() {
        let (quota, start) = (Quota::default(), Instant::now());
        assert!(quota.spend(10, start).allowed);
        // 44 in total: ten now, thirty in the next three windows, four in the one after.
        let charged = quota.charge(10, 43, start);
        assert_eq!((charged.remaining, charged.retry_after_seconds), (0, Some(240)));
        assert!(!quota.spend(10, start + SECOND * 239).allowed);
        let after = quota.spend(10, start + SECOND * 240);
        assert!(after.allowed);
        assert_eq!(after.remaining, 5);
    }

    #[test]
    fn a_charge_within_the_quota_is_available_again_after_one_window() {
        let (quota, start) = (Quota::default(), Instant::now());
        assert!(quota.spend(10, start).allowed);
        assert_eq!(quota.charge(10, 4, start).remaining, 5);
        assert_eq!(quota.peek(10, start + WINDOW).remaining, 10);
    }

    #[test]
    fn charges_for_several_downloads_add_up() {
        let (quota, start) = (Quota::default(), Instant::now());
        assert!(quota.spend(10, start).allowed && quota.spend(10, start).allowed);
        assert_eq!(quota.charge(10, 14, start).retry_after_seconds, Some(60));
        // Thirty in total: three windows.
        assert_eq!(quota.charge(10, 14, start).retry_after_seconds, Some(180));
        assert!(quota.spend(10, start + SECOND * 180).allowed);
    }

    #[test]
    fn a_caller_that_never_pauses_gets_its_quota_to_within_one_per_cent() {
        for limit in [1, 60, 600, 100_000] {
            let (quota, start) = (Quota::default(), Instant::now());
            let minutes = 10;
            let step = Duration::from_micros(60_000_000 / u64::from(limit * 2));
            let asked = u64::from(limit) * 2 * minutes;
            let got = (0..asked)
                .filter(|at| quota.spend(limit, start + step * u32::try_from(*at).expect("small")).allowed)
                .count();
            let full = u64::from(limit) * minutes;
            let least = full - full.div_ceil(100);
            assert!((least..=full).contains(&(got as u64)), "{got} of {full}");
        }
    }

    #[test]
    fn memory_is_bounded_at_any_rate() {
        let (quota, start) = (Quota::default(), Instant::now());
        for at in 0..200_000 {
            let _ = quota.spend(1_000_000, start + Duration::from_millis(1) * at);
        }
        let bursts = quota.log.lock().expect("not poisoned").bursts.len();
        assert!(bursts <= 241, "{bursts}");
    }

    #[test]
    fn concurrent_threads_spend_no_more_than_the_quota() {
        let (quota, now) = (Quota::default(), Instant::now());
        let allowed: usize = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..500).filter(|_| quota.spend(600, now).allowed).count())).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(allowed, 600);
    }

    proptest! {
        #[test]
        fn no_window_ever_exceeds_the_quota_and_waiting_always_helps(
            limit in 1..40_u32,
            pauses_ms in prop::collection::vec(prop_oneof![8 => 0..400_u64, 2 => 0..20_000_u64], 1..400),
            obey in any::<bool>(),
        ) {
            let quota = Quota::default();
            let mut now = Instant::now();
            let mut allowed: Vec<Instant> = Vec::new();
            for pause_ms in pauses_ms {
                now += Duration::from_millis(pause_ms);
                let mut decision = quota.spend(limit, now);
                if let (true, Some(seconds)) = (obey, decision.retry_after_seconds) {
                    // One second less is too early, so the wait is as short as whole seconds allow.
                    prop_assert!(seconds == 1 || !quota.peek(limit, now + SECOND * u32::try_from(seconds - 1).expect("small")).allowed);
                    now += Duration::from_secs(seconds);
                    decision = quota.spend(limit, now);
                    prop_assert!(decision.allowed);
                }
                prop_assert_eq!(decision.allowed, decision.retry_after_seconds.is_none());
                if decision.allowed {
                    allowed.push(now);
                }
                let in_window = allowed.iter().filter(|at| now.duration_since(**at) < WINDOW).count();
                prop_assert!(in_window <= limit as usize);
                prop_assert!(decision.remaining as usize <= limit as usize - in_window);
            }
        }
    }
}
