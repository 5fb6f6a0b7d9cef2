//! Quotas: how many requests a minute a key, a visitor's address, or an address with failed
//! authentications may make.
//!
//! A caller may spend a full minute's requests at once, and gets them back one by one at the
//! quota's rate (the generic cell rate algorithm from ATM traffic management, I.371, which needs one
//! timestamp per caller). So any 60 seconds contain fewer than twice the quota, and any hour at most
//! 61 times the quota.
//!
//! Nothing here reads the clock; callers pass the time.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

/// How long it takes to get back a quota that's used up.
pub const WINDOW: Duration = Duration::from_mins(1);
const WINDOW_NS: u64 = 60_000_000_000;

/// Slots per set. Each address is looked up in one set.
const WAYS: usize = 8;

/// Number of sets. In total there's room for 65,536 addresses in about two megabytes.
const SETS: usize = 8192;

/// Whether the quota allows a request, and what's left of it, as reported in response headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    pub allowed: bool,
    /// Requests per minute.
    pub limit: u32,
    /// Requests left now, after this one.
    pub remaining: u64,
    /// Whole seconds, rounded up, until one more request is available; 0 if none are spent.
    pub reset_seconds: u64,
    /// If rejected: whole seconds, rounded up, until a request is allowed again. At least 1.
    pub retry_after_seconds: Option<u64>,
}

/// The nanoseconds until a caller has its full quota again. The quota, in requests per minute, is
/// passed with each request, so a debt remains if the quota changes.
#[derive(Debug, Default)]
pub struct Debt(u64);

impl Debt {
    /// Spends one request if the quota allows it. A rejected request costs nothing.
    pub fn spend(&mut self, limit: u32) -> Decision {
        let decision = self.peek(limit);
        if decision.allowed {
            return Decision { allowed: true, retry_after_seconds: None, ..self.charge(limit, 1) };
        }
        decision
    }

    /// Charges extra requests for one that was allowed, even if that exceeds the quota. Then
    /// nothing is allowed until enough of the debt is paid off.
    pub fn charge(&mut self, limit: u32, requests: u64) -> Decision {
        self.0 = self.0.saturating_add(cost_ns(limit).saturating_mul(requests));
        self.peek(limit)
    }

    /// Refunds a request that was spent but not carried out.
    pub fn give_back(&mut self, limit: u32) {
        self.0 = self.0.saturating_sub(cost_ns(limit));
    }

    /// Returns what [`Self::spend`] would, without spending anything. It's for responses that are
    /// free, such as 304; `remaining` doesn't count them.
    pub fn peek(&self, limit: u32) -> Decision {
        let capacity = u64::from(limit.max(1));
        // A request that's partly paid off still counts.
        let spent = self.0.div_ceil(cost_ns(limit)).min(capacity);
        let allowed = spent < capacity;
        let next_ns = self.0.saturating_sub(cost_ns(limit) * spent.saturating_sub(1));
        // Rounded up, so that retrying then is never too early.
        let next_seconds = next_ns.div_ceil(1_000_000_000);
        Decision {
            allowed,
            limit,
            remaining: capacity - spent,
            reset_seconds: next_seconds,
            retry_after_seconds: (!allowed).then_some(next_seconds),
        }
    }
}

/// How long it takes to pay off one request, in nanoseconds.
fn cost_ns(limit: u32) -> u64 {
    WINDOW_NS.div_ceil(limit.max(1).into())
}

#[derive(Debug, Default)]
pub struct Quota {
    /// When the debt will be paid off.
    paid_off: Mutex<Option<Instant>>,
}

impl Quota {
    pub fn with_debt<T>(&self, now: Instant, change: impl FnOnce(&mut Debt) -> T) -> T {
        let mut paid_off = self.paid_off.lock().unwrap_or_else(PoisonError::into_inner);
        let left = paid_off.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        let mut debt = Debt(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        let result = change(&mut debt);
        // An instant can be more than 584 years away, which is the largest debt.
        *paid_off = now.checked_add(Duration::from_nanos(debt.0));
        result
    }
}

/// The quotas of client addresses. IPv6 callers own entire networks, so only the first 64 bits of an
/// IPv6 address count.
///
/// The table has a fixed size, no matter how many addresses there are. Addresses without debt are
/// dropped. If there's no free slot, a new address replaces the one with the least debt. So
/// addresses over their quota are kept longest, and a flood of addresses replaces its own entries.
#[derive(Debug)]
pub struct AddressQuotas {
    sets: Box<[Mutex<[Account; WAYS]>]>,
    /// Randomly seeded, so that clients can't choose addresses that share a set.
    hasher: RandomState,
    start: Instant,
}

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    network: Network,
    /// When the debt will be paid off, in nanoseconds since the start. Once that's past, the slot
    /// is free.
    paid_off_ns: u64,
}

/// An IPv4 address, or the first 64 bits of an IPv6 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Network {
    v6: bool,
    bits: u64,
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self { v6: false, bits: u64::from(address.to_bits()) },
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments().map(u64::from);
                Self { v6: true, bits: a << 48 | b << 32 | c << 16 | d }
            }
        }
    }
}

impl AddressQuotas {
    /// Creates a table without any debts. Times before `start` count as `start`.
    pub fn new(start: Instant) -> Self {
        Self { sets: (0..SETS).map(|_| Mutex::default()).collect(), hasher: RandomState::new(), start }
    }

    pub fn with_debt<T>(&self, network: Network, now: Instant, change: impl FnOnce(&mut Debt) -> T) -> T {
        let now_ns = u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX / 2);
        #[expect(clippy::cast_possible_truncation, reason = "any of its bits will do")]
        let set = self.hasher.hash_one(network) as usize % SETS;
        // A panic while the lock was held can't leave an account half changed, so carry on.
        let mut set = self.sets[set].lock().unwrap_or_else(PoisonError::into_inner);
        let known = set.iter().position(|account| account.network == network && account.paid_off_ns > now_ns);
        let before_ns = known.map_or(0, |slot| set[slot].paid_off_ns - now_ns);
        let mut debt = Debt(before_ns);
        let result = change(&mut debt);
        if debt.0 != before_ns {
            let slot = known.or_else(|| (0..WAYS).min_by_key(|slot| set[*slot].paid_off_ns)).unwrap_or_default();
            set[slot] = Account { network, paid_off_ns: now_ns.saturating_add(debt.0) };
        }
        result
    }
}

/// Requests per minute, from 1 to 1,000,000,000, or no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(Option<u32>);

/// An invalid rate; the message says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate; write requests per minute from 1 to {max}, such as `600` or `600/min`, or `none` for no \
         limit", max = Rate::MAX)]
pub struct RateError(String);

/// How a rate without a limit is written.
pub(super) const UNLIMITED: &str = "none";

impl Rate {
    /// The highest rate besides `none`: more than any machine can serve, and a quarter of
    /// what a quota can count.
    pub const MAX: u32 = 1_000_000_000;
    pub const DEFAULT: Self = Self(Some(600));

    pub const UNLIMITED: Self = Self(None);

    /// The development key's rate: a thousand requests per second, which is more than enough for
    /// tests and for trying things out.
    pub const DEVELOPMENT: Self = Self(Some(60_000));

    /// Creates a rate in requests per minute; `None` outside 1 to [`Rate::MAX`].
    pub fn new(per_minute: u64) -> Option<Self> {
        u32::try_from(per_minute).ok().filter(|rate| (1..=Self::MAX).contains(rate)).map(|rate| Self(Some(rate)))
    }

    /// Requests per minute; `None` means no limit.
    pub fn per_minute(self) -> Option<u32> {
        self.0
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        if text == UNLIMITED {
            return Ok(Self::UNLIMITED);
        }
        let digits = text.strip_suffix("/min").unwrap_or(text);
        Some(digits)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .and_then(Self::new)
            .ok_or_else(|| RateError(text.to_owned()))
    }
}

/// A number, or `none`.
impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => serializer.serialize_u32(rate),
            None => serializer.serialize_str(UNLIMITED),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => write!(f, "{rate}/min"),
            None => f.write_str(UNLIMITED),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::{Rate, *};

    const SECOND: Duration = Duration::from_secs(1);
    const LIMIT: u32 = 60;

    fn spend(quota: &Quota, limit: u32, now: Instant) -> Decision {
        quota.with_debt(now, |debt| debt.spend(limit))
    }

    fn peek(quota: &Quota, limit: u32, now: Instant) -> Decision {
        quota.with_debt(now, |debt| debt.peek(limit))
    }

    #[test]
    fn a_quota_may_be_spent_at_once_and_is_then_available_again_at_its_rate() {
        let (quota, start) = (Quota::default(), Instant::now());
        for left in (0..5).rev() {
            let decision = spend(&quota, 5, start);
            assert_eq!((decision.allowed, decision.remaining, decision.retry_after_seconds), (true, left, None));
        }
        let refused = spend(&quota, 5, start);
        assert_eq!((refused.allowed, refused.remaining, refused.retry_after_seconds), (false, 0, Some(12)));
        let just_before = start + Duration::from_nanos(11_999_999_999);
        assert_eq!(spend(&quota, 5, just_before).retry_after_seconds, Some(1));
        assert!(spend(&quota, 5, start + SECOND * 12).allowed);
        assert_eq!(spend(&quota, 5, start + SECOND * 12).retry_after_seconds, Some(12));
        assert_eq!(peek(&quota, 5, start + SECOND * 48).remaining, 3);
        assert_eq!(peek(&quota, 5, start + SECOND * 72).remaining, 5);
        assert_eq!(peek(&quota, 5, start + SECOND * 720).remaining, 5, "no more than the quota");
    }

    #[test]
    fn the_waiting_time_is_rounded_up_so_retrying_is_never_too_early() {
        let (quota, start) = (Quota::default(), Instant::now());
        assert!(spend(&quota, 1, start).allowed);
        let refused = spend(&quota, 1, start + Duration::from_millis(500));
        assert_eq!((refused.retry_after_seconds, refused.reset_seconds), (Some(60), 60));
        let refused = spend(&quota, 1, start + SECOND);
        assert_eq!((refused.retry_after_seconds, refused.reset_seconds), (Some(59), 59));
    }

    #[test]
    fn checking_a_quota_costs_nothing() {
        let (quota, now) = (Quota::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(peek(&quota, 3, now).remaining, 3);
        }
        assert_eq!(peek(&quota, 3, now).reset_seconds, 0);
        assert_eq!(spend(&quota, 3, now).remaining, 2);
    }

    #[test]
    fn refunded_requests_can_be_spent_again() {
        let (quota, start) = (Quota::default(), Instant::now());
        let give_back = |at| quota.with_debt(at, |debt| debt.give_back(3));
        let later = start + SECOND;
        assert!(spend(&quota, 3, start).allowed && spend(&quota, 3, later).allowed && spend(&quota, 3, later).allowed);
        assert!(!peek(&quota, 3, later).allowed);
        give_back(later);
        assert_eq!(peek(&quota, 3, later).remaining, 1);
        give_back(later);
        give_back(later);
        give_back(later);
        let full = peek(&quota, 3, later);
        assert_eq!((full.remaining, full.reset_seconds), (3, 0), "no more than the quota");
    }

    #[test]
    fn a_charge_beyond_the_quota_has_to_be_paid_off_first() {
        let (quota, start) = (Quota::default(), Instant::now());
        let charge = |requests| quota.with_debt(start, |debt| debt.charge(10, requests));
        assert!(spend(&quota, 10, start).allowed);
        assert_eq!(charge(4).remaining, 5);
        // 44 in total, of which 35 have to be paid off before another is allowed.
        let charged = charge(39);
        assert_eq!((charged.remaining, charged.reset_seconds, charged.retry_after_seconds), (0, 210, Some(210)));
        assert!(!spend(&quota, 10, start + SECOND * 209).allowed);
        let after = spend(&quota, 10, start + SECOND * 210);
        assert_eq!((after.allowed, after.remaining), (true, 0));
        for limit in [1, u32::MAX] {
            let quota = Quota::default();
            assert_eq!(spend(&quota, limit, start).remaining, u64::from(limit) - 1);
            assert!(!quota.with_debt(start, |debt| debt.charge(limit, u64::MAX)).allowed, "{limit}");
        }
    }

    #[test]
    fn a_caller_that_never_pauses_gets_its_quota_to_within_one_per_cent() {
        for limit in [1, 7, 60, 600, 100_000] {
            let (quota, start) = (Quota::default(), Instant::now());
            let minutes = 10;
            let step = Duration::from_micros(60_000_000 / u64::from(limit * 2));
            let asked = u64::from(limit) * 2 * minutes;
            let got = (0..asked)
                .filter(|at| spend(&quota, limit, start + step * u32::try_from(*at).expect("small")).allowed)
                .count();
            // The first burst comes on top.
            let full = u64::from(limit) * (minutes + 1);
            let least = full - full.div_ceil(100);
            assert!((least..=full).contains(&(got as u64)), "{got} of {full}");
        }
    }

    #[test]
    fn concurrent_threads_spend_no_more_than_the_quota() {
        let (start, caller) = (Instant::now(), network("192.0.2.1"));
        let (quota, quotas) = (Quota::default(), AddressQuotas::new(start));
        let spend_address = || quotas.with_debt(caller, start, |debt| debt.spend(600));
        let each: [&(dyn Fn() -> Decision + Sync); 2] = [&|| spend(&quota, 600, start), &spend_address];
        for spend in each {
            let allowed: usize = std::thread::scope(|scope| {
                let count = || (0..500).filter(|_| spend().allowed).count();
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
            });
            assert_eq!(allowed, 600);
        }
    }

    proptest! {
        #[test]
        fn no_window_contains_twice_the_quota_and_waiting_always_helps(
            limit in 1..40_u32,
            pauses_ms in prop::collection::vec(prop_oneof![8 => 0..400_u64, 2 => 0..20_000_u64], 1..400),
            obey in any::<bool>(),
        ) {
            let quota = Quota::default();
            let mut now = Instant::now();
            let mut allowed: Vec<Instant> = Vec::new();
            for pause_ms in pauses_ms {
                now += Duration::from_millis(pause_ms);
                let mut decision = spend(&quota, limit, now);
                if let (true, Some(seconds)) = (obey, decision.retry_after_seconds) {
                    // One second less is too early, so the wait is as short as whole seconds allow.
                    prop_assert!(seconds == 1 || !peek(&quota, limit, now + Duration::from_secs(seconds - 1)).allowed);
                    now += Duration::from_secs(seconds);
                    decision = spend(&quota, limit, now);
                    prop_assert!(decision.allowed);
                }
                prop_assert_eq!(decision.allowed, decision.retry_after_seconds.is_none());
                if decision.allowed {
                    allowed.push(now);
                }
                let in_window = allowed.iter().filter(|at| now.duration_since(**at) < WINDOW).count();
                prop_assert!(in_window < 2 * limit as usize);
                prop_assert!(decision.remaining < limit.into());
            }
        }
    }

    fn network(text: &str) -> Network {
        text.parse::<IpAddr>().expect("an address").into()
    }

    /// Spends requests until one is rejected, and returns how many were allowed.
    fn exhaust(quotas: &AddressQuotas, network: Network, now: Instant) -> u32 {
        (0..10 * LIMIT).find(|_| wait(quotas, network, now).is_some()).expect("an end")
    }

    fn wait(quotas: &AddressQuotas, network: Network, now: Instant) -> Option<u64> {
        quotas.with_debt(network, now, |debt| debt.spend(LIMIT)).retry_after_seconds
    }

    #[test]
    fn a_64_bit_network_is_one_caller_and_a_mapped_address_counts_as_ipv4() {
        let start = Instant::now();
        let quotas = AddressQuotas::new(start);
        assert_eq!(exhaust(&quotas, network("2001:db8:1:2::1"), start), LIMIT);
        assert!(wait(&quotas, network("2001:db8:1:2:ffff:ffff:ffff:ffff"), start).is_some());
        assert!(wait(&quotas, network("2001:db8:1:3::1"), start).is_none());
        assert_eq!(exhaust(&quotas, network("::ffff:192.0.2.9"), start), LIMIT);
        assert!(wait(&quotas, network("192.0.2.9"), start).is_some());
        assert!(wait(&quotas, network("::c000:209"), start).is_none(), "not the same as the IPv4 address");
    }

    #[test]
    fn a_million_addresses_use_no_more_memory_and_displace_none_that_are_over_quota() {
        let start = Instant::now();
        let quotas = AddressQuotas::new(start);
        let limited: Vec<Network> = (0..100).map(|n| IpAddr::from(Ipv4Addr::new(203, 0, 113, n)).into()).collect();
        for network in &limited {
            assert_eq!(exhaust(&quotas, *network, start), LIMIT);
        }
        for n in 0..1_000_000_u32 {
            let now = start + Duration::from_micros(u64::from(n));
            let newcomer = if n % 2 == 0 {
                IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + n))
            } else {
                IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) | (u128::from(n) << 64)))
            };
            assert!(wait(&quotas, newcomer.into(), now).is_none(), "an address's first request is always allowed");
        }
        let late = start + Duration::from_millis(999);
        assert!(limited.iter().all(|network| wait(&quotas, *network, late).is_some()), "still remembered");
        assert_eq!(quotas.sets.len(), SETS);
        assert!(SETS * WAYS * size_of::<Account>() <= 2 << 20, "the memory is fixed");
    }

    #[test]
    fn a_rate_is_in_requests_per_minute() {
        let rate = |text: &str| text.parse::<Rate>().ok().and_then(Rate::per_minute);
        assert_eq!(rate("600"), Some(600));
        assert_eq!(rate("600/min"), Some(600));
        assert_eq!(rate("1000000000/min"), Some(1_000_000_000));
        assert_eq!("none".parse(), Ok(Rate::UNLIMITED));
        assert_eq!(Rate::UNLIMITED.to_string(), "none");
    }

    #[test]
    fn an_invalid_rate_is_rejected_with_a_valid_example() {
        for wrong in [
            "0",
            "None",
            "1000000001",
            "-1",
            "+1",
            "600/s",
            "600/min/min",
            "1.5",
            "",
            "/min",
            " 600",
            "99999999999999999999",
        ] {
            let error = wrong.parse::<Rate>().expect_err(wrong);
            assert!(error.to_string().contains("`600/min`"), "{error}");
        }
    }
}
