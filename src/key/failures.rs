//! Failed authentications by the client's address: an address with too many invalid keys is rate-limited.
//!
//! Each address may fail 60 times at once, and once a second from then on (the generic cell rate algorithm, as in ATM's
//! traffic management, I.371: one time per address is all there is to remember). IPv6 callers own whole networks, so
//! what counts there is the first 64 bits.
//!
//! The table has a fixed size, for any number of addresses. An entry is evicted when its failures have
//! expired; in a full table a new address evicts the one with the fewest. So addresses over their limit stay longest, and a flood
//! of addresses evicts itself.
//!
//! Time is handed in, never read.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failures that an address may have at once.
pub const BURST: u64 = 60;

/// How long one failure takes to be paid off.
const PER_FAILURE_MS: u64 = 1000;

/// Addresses in a set: where one belongs is looked for among these.
const WAYS: usize = 8;

/// Sets of addresses.
const SETS: usize = 8192;

/// The most addresses that are remembered: 65,536, in some two megabytes.
pub const CAPACITY: usize = WAYS * SETS;

/// The debts of addresses.
#[derive(Debug)]
pub struct FailedAttempts {
    sets: Box<[Mutex<[Account; WAYS]>]>,
    /// Seeded at random, so that clients can't choose addresses that share a set.
    hasher: RandomState,
    start: Instant,
}

/// The debt of an address.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    network: Network,
    /// When all is paid off, in milliseconds since the start. In the past: the place is free.
    paid_off_ms: u64,
}

/// An IPv4 address, or the first 64 bits of an IPv6 one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Network {
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

impl FailedAttempts {
    /// A table without failures. Times before `start` count as `start`.
    #[must_use]
    pub fn new(start: Instant) -> Self {
        Self { sets: (0..SETS).map(|_| Mutex::default()).collect(), hasher: RandomState::new(), start }
    }

    /// Notes a failure.
    ///
    /// # Errors
    /// Where the address has had too many: the seconds, rounded up and at least 1, until one more is allowed. Such a failure isn't
    /// counted.
    pub fn note(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        let network = Network::from(address);
        let now_ms = u64::try_from(now.saturating_duration_since(self.start).as_millis()).unwrap_or(u64::MAX / 2);
        #[expect(clippy::cast_possible_truncation, reason = "any of its bits will do")]
        let set = self.hasher.hash_one(network) as usize % SETS;
        // A panic while the lock was held can't leave an account half-changed: go on with it.
        let mut set = self.sets[set].lock().unwrap_or_else(PoisonError::into_inner);
        let known = set.iter().position(|account| account.network == network && account.paid_off_ms > now_ms);
        let place = known.or_else(|| (0..WAYS).min_by_key(|place| set[*place].paid_off_ms)).unwrap_or_default();
        let owed_until_ms = if known.is_some() { set[place].paid_off_ms } else { now_ms };
        let wait_ms = owed_until_ms.saturating_sub(now_ms + (BURST - 1) * PER_FAILURE_MS);
        if wait_ms > 0 {
            return Err(Duration::from_millis(wait_ms).as_secs() + u64::from(wait_ms % 1000 > 0));
        }
        set[place] = Account { network, paid_off_ms: owed_until_ms + PER_FAILURE_MS };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Fails until it is refused, and says how often it could.
    fn exhaust(attempts: &FailedAttempts, address: IpAddr, now: Instant) -> u64 {
        (0..10 * BURST).find(|_| attempts.note(address, now).is_err()).expect("an end")
    }

    #[test]
    fn an_address_fails_sixty_times_at_once_and_once_a_second_from_then_on() {
        let start = Instant::now();
        let attempts = FailedAttempts::new(start);
        let caller = address("198.51.100.7");
        assert_eq!(exhaust(&attempts, caller, start), BURST);
        assert_eq!(attempts.note(caller, start), Err(1));
        assert_eq!(attempts.note(caller, start + Duration::from_millis(999)), Err(1));
        assert_eq!(attempts.note(caller, start + SECOND), Ok(()));
        assert_eq!(attempts.note(caller, start + SECOND), Err(1));
        assert_eq!(exhaust(&attempts, caller, start + SECOND * 31), 30, "30 seconds pay 30 of them off");
        assert_eq!(exhaust(&attempts, caller, start + SECOND * 600), BURST, "in the end all is forgotten");
        assert_eq!(exhaust(&attempts, address("198.51.100.8"), start), BURST, "a neighbour isn't affected");
    }

    #[test]
    fn retry_after_the_stated_time_is_never_too_early() {
        let start = Instant::now();
        let attempts = FailedAttempts::new(start);
        let caller = address("192.0.2.1");
        let mut now = start;
        for step in 0..2000 {
            now += Duration::from_millis(step * 37 % 400);
            if let Err(seconds) = attempts.note(caller, now) {
                assert!(seconds >= 1);
                now += Duration::from_secs(seconds);
                assert_eq!(attempts.note(caller, now), Ok(()), "step {step}");
            }
        }
    }

    #[test]
    fn a_network_of_64_bits_is_one_caller_and_a_mapped_address_is_the_one_it_maps() {
        let start = Instant::now();
        let attempts = FailedAttempts::new(start);
        assert_eq!(exhaust(&attempts, address("2001:db8:1:2::1"), start), BURST);
        assert!(attempts.note(address("2001:db8:1:2:ffff:ffff:ffff:ffff"), start).is_err());
        assert!(attempts.note(address("2001:db8:1:3::1"), start).is_ok());
        assert_eq!(exhaust(&attempts, address("::ffff:192.0.2.9"), start), BURST);
        assert!(attempts.note(address("192.0.2.9"), start).is_err());
        assert!(attempts.note(address("::c000:209"), start).is_ok(), "not the same as the IPv4 address");
    }

    #[test]
    fn a_million_addresses_take_no_more_room_and_free_nobody_who_is_over_the_limit() {
        let start = Instant::now();
        let attempts = FailedAttempts::new(start);
        let limited: Vec<IpAddr> = (0..100).map(|n| IpAddr::from(Ipv4Addr::new(203, 0, 113, n))).collect();
        for address in &limited {
            assert_eq!(exhaust(&attempts, *address, start), BURST);
        }
        for n in 0..1_000_000_u32 {
            let now = start + Duration::from_micros(u64::from(n));
            let newcomer = if n % 2 == 0 {
                IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + n))
            } else {
                IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) | (u128::from(n) << 64)))
            };
            assert_eq!(attempts.note(newcomer, now), Ok(()), "the first failure of an address is always one");
        }
        let late = start + Duration::from_millis(999);
        assert!(limited.iter().all(|address| attempts.note(*address, late).is_err()), "still remembered");
        assert_eq!(attempts.sets.len() * WAYS, CAPACITY);
        assert!(CAPACITY * size_of::<Account>() <= 2 << 20, "the room is fixed");
    }

    #[test]
    fn callers_at_once_get_no_more_than_one_alone() {
        let start = Instant::now();
        let attempts = FailedAttempts::new(start);
        let allowed: usize = std::thread::scope(|scope| {
            let count = || (0..100).filter(|_| attempts.note(address("192.0.2.1"), start).is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(allowed as u64, BURST);
    }
}
