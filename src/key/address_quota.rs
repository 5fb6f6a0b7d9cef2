//! Quotas for client addresses, used for failed authentications and for visitors without a key.
//!
//! An address may spend a full minute's requests at once, and then one more each time a request
//! is paid off (the generic cell rate algorithm from ATM traffic management, I.371, which needs one
//! timestamp per address). IPv6 callers own entire networks, so only the first 64 bits of an IPv6
//! address count.
//!
//! The table has a fixed size, no matter how many addresses there are. Addresses without debt are
//! dropped. If there's no free slot, a new address replaces the one with the least debt. So
//! addresses over their quota are kept longest, and a flood of addresses replaces its own entries.
//!
//! Nothing here reads the clock; callers pass the time.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::Decision;

/// How long it takes to pay off a full quota: a minute.
const WINDOW_NS: u64 = 60_000_000_000;

/// Slots per set. Each address is looked up in one set.
const WAYS: usize = 8;

/// Number of sets. In total there's room for 65,536 addresses in about two megabytes.
const SETS: usize = 8192;

/// How much of its quota each address has used, stored as a debt. The quota, in requests per minute
/// and at least 1, is passed with each request.
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

    /// Spends one request if `limit` requests per minute allow it. A rejected request costs
    /// nothing.
    pub fn spend(&self, network: Network, limit: u32, now: Instant) -> Decision {
        self.account(network, now, |debt_ns| {
            let cost_ns = cost_ns(limit);
            let decision = decide(*debt_ns, limit);
            if decision.allowed {
                *debt_ns += cost_ns;
                return Decision { allowed: true, retry_after_seconds: None, ..decide(*debt_ns, limit) };
            }
            decision
        })
    }

    /// Charges extra requests for one that was allowed, even if that exceeds the quota. Then
    /// nothing is allowed until enough of the debt is paid off.
    pub fn charge(&self, network: Network, limit: u32, requests: u32, now: Instant) -> Decision {
        self.account(network, now, |debt_ns| {
            *debt_ns = debt_ns.saturating_add(cost_ns(limit).saturating_mul(requests.into()));
            decide(*debt_ns, limit)
        })
    }

    /// Returns what [`Self::spend`] would decide, without spending.
    pub fn peek(&self, network: Network, limit: u32, now: Instant) -> Decision {
        self.account(network, now, |debt_ns| decide(*debt_ns, limit))
    }

    /// Refunds a request that was spent but not carried out.
    pub fn give_back(&self, network: Network, limit: u32, now: Instant) {
        self.account(network, now, |debt_ns| *debt_ns = debt_ns.saturating_sub(cost_ns(limit)));
    }

    /// Changes an address's debt: the nanoseconds until it's paid off.
    fn account<T>(&self, network: Network, now: Instant, change: impl FnOnce(&mut u64) -> T) -> T {
        let now_ns = u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX / 2);
        #[expect(clippy::cast_possible_truncation, reason = "any of its bits will do")]
        let set = self.hasher.hash_one(network) as usize % SETS;
        // A panic while the lock was held can't leave an account half changed, so carry on.
        let mut set = self.sets[set].lock().unwrap_or_else(PoisonError::into_inner);
        let known = set.iter().position(|account| account.network == network && account.paid_off_ns > now_ns);
        let before_ns = known.map_or(0, |slot| set[slot].paid_off_ns - now_ns);
        let mut debt_ns = before_ns;
        let result = change(&mut debt_ns);
        if debt_ns != before_ns {
            let slot = known.or_else(|| (0..WAYS).min_by_key(|slot| set[*slot].paid_off_ns)).unwrap_or_default();
            set[slot] = Account { network, paid_off_ns: now_ns.saturating_add(debt_ns) };
        }
        result
    }
}

/// How long it takes to pay off one request, in nanoseconds.
fn cost_ns(limit: u32) -> u64 {
    WINDOW_NS / u64::from(limit.max(1))
}

/// The decision for an address with this much debt.
fn decide(debt_ns: u64, limit: u32) -> Decision {
    let cost_ns = cost_ns(limit);
    let capacity_ns = cost_ns * u64::from(limit.max(1));
    let wait_ns = debt_ns.saturating_add(cost_ns).saturating_sub(capacity_ns);
    Decision {
        allowed: wait_ns == 0,
        limit,
        remaining: u32::try_from(capacity_ns.saturating_sub(debt_ns) / cost_ns).unwrap_or(u32::MAX),
        reset_seconds: if debt_ns == 0 { 0 } else { whole_seconds((debt_ns - 1) % cost_ns + 1) },
        retry_after_seconds: (wait_ns > 0).then(|| whole_seconds(wait_ns)),
    }
}

/// Rounds up to whole seconds, so that retrying then is never too early.
fn whole_seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LIMIT: u32 = 60;

    fn network(text: &str) -> Network {
        text.parse::<IpAddr>().expect("an address").into()
    }

    /// Spends requests until one is rejected, and returns how many were allowed.
    fn exhaust(quotas: &AddressQuotas, network: Network, now: Instant) -> u32 {
        (0..10 * LIMIT).find(|_| !quotas.spend(network, LIMIT, now).allowed).expect("an end")
    }

    fn wait(quotas: &AddressQuotas, network: Network, now: Instant) -> Option<u64> {
        quotas.spend(network, LIMIT, now).retry_after_seconds
    }

    #[test]
    fn an_address_may_spend_a_minutes_requests_at_once_and_is_then_limited_to_the_rate() {
        let start = Instant::now();
        let quotas = AddressQuotas::new(start);
        let caller = network("198.51.100.7");
        assert_eq!(exhaust(&quotas, caller, start), LIMIT);
        assert_eq!(wait(&quotas, caller, start), Some(1));
        assert_eq!(wait(&quotas, caller, start + Duration::from_millis(999)), Some(1));
        assert_eq!(wait(&quotas, caller, start + SECOND), None);
        assert_eq!(wait(&quotas, caller, start + SECOND), Some(1));
        assert_eq!(exhaust(&quotas, caller, start + SECOND * 31), 30, "30 seconds pay off 30 of them");
        assert_eq!(exhaust(&quotas, caller, start + SECOND * 600), LIMIT, "eventually everything is forgotten");
        assert_eq!(exhaust(&quotas, network("198.51.100.8"), start), LIMIT, "a neighbour isn't affected");
    }

    #[test]
    fn retrying_after_the_stated_time_is_never_too_early() {
        let start = Instant::now();
        let quotas = AddressQuotas::new(start);
        let caller = network("192.0.2.1");
        let mut now = start;
        for step in 0..2000 {
            now += Duration::from_millis(step * 37 % 400);
            // Neither limit divides a minute evenly.
            let limit = if step % 2 == 0 { 7 } else { 77 };
            if let Some(seconds) = quotas.spend(caller, limit, now).retry_after_seconds {
                assert!(seconds >= 1);
                now += Duration::from_secs(seconds);
                assert!(quotas.spend(caller, limit, now).allowed, "step {step}");
            }
        }
    }

    #[test]
    fn the_decision_reports_how_much_quota_is_left() {
        let start = Instant::now();
        let quotas = AddressQuotas::new(start);
        let caller = network("192.0.2.1");
        let spent = |limit, allowed, remaining, reset_seconds, retry_after_seconds| Decision {
            allowed,
            limit,
            remaining,
            reset_seconds,
            retry_after_seconds,
        };
        assert_eq!(quotas.peek(caller, 30, start), spent(30, true, 30, 0, None));
        assert_eq!(quotas.spend(caller, 30, start), spent(30, true, 29, 2, None));
        assert_eq!(quotas.peek(caller, 30, start + SECOND), spent(30, true, 29, 1, None));
        quotas.give_back(caller, 30, start);
        assert_eq!(quotas.peek(caller, 30, start), spent(30, true, 30, 0, None));
        assert_eq!(quotas.charge(caller, 30, 40, start), spent(30, false, 0, 2, Some(22)), "in debt");
        assert_eq!(quotas.spend(caller, 30, start + SECOND * 21), spent(30, false, 0, 1, Some(1)));
        assert!(quotas.spend(caller, 30, start + SECOND * 22).allowed);
        for limit in [1, u32::MAX] {
            let caller = network(&format!("192.0.2.{}", limit % 100 + 2));
            assert_eq!(quotas.spend(caller, limit, start).remaining, limit - 1);
            assert!(!quotas.charge(caller, limit, u32::MAX, start).allowed, "{limit}");
        }
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
            assert!(quotas.spend(newcomer.into(), LIMIT, now).allowed, "an address's first request is always allowed");
        }
        let late = start + Duration::from_millis(999);
        assert!(limited.iter().all(|network| !quotas.spend(*network, LIMIT, late).allowed), "still remembered");
        assert_eq!(quotas.sets.len(), SETS);
        assert!(SETS * WAYS * size_of::<Account>() <= 2 << 20, "the memory is fixed");
    }

    #[test]
    fn concurrent_callers_get_no_more_than_a_single_caller_would() {
        let start = Instant::now();
        let quotas = AddressQuotas::new(start);
        let caller = network("192.0.2.1");
        let allowed: usize = std::thread::scope(|scope| {
            let count = || (0..100).filter(|_| quotas.spend(caller, LIMIT, start).allowed).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(allowed, LIMIT as usize);
    }
}
