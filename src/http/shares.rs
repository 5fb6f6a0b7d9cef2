//! Resources that callers share, counted in units: download slots, and bytes of response bodies in
//! memory. Each class of callers has its own units, of which a single caller only gets some.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::key::Holder;

/// A class of callers. One class can't use another's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Page visitors without a key.
    Visitor,
    Key,
    /// Servers that pull the index, with a key.
    Follower,
}

impl Class {
    /// The class of a caller that doesn't pull the index.
    pub(super) const fn of(holder: &Holder) -> Self {
        match holder {
            Holder::Address(_) => Self::Visitor,
            Holder::Key(_) => Self::Key,
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Visitor => "visitors",
            Self::Key => "keys",
            Self::Follower => "followers",
        }
    }
}

/// How many units a class has, and how many a single caller may use. A use that exceeds a limit is
/// allowed if it's the only one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) of_class: usize,
    pub(super) of_holder: usize,
}

/// Whose units are used up: a caller's or a class's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exhausted {
    Class,
    Holder,
}

/// The units of visitors, keys and followers.
#[derive(Debug)]
pub(super) struct Shares {
    limits: [Limit; 3],
    uses: Arc<Mutex<Uses>>,
}

/// The units in use. There are only a few uses, so they're recounted each time.
#[derive(Debug, Default)]
struct Uses {
    next: u64,
    by_number: BTreeMap<u64, Use>,
}

#[derive(Debug)]
struct Use {
    class: Class,
    holder: Holder,
    units: usize,
    rate: Rate,
    is_ended: Arc<AtomicBool>,
}

/// Units that are in use until this is dropped.
#[derive(Debug)]
pub(super) struct Share {
    number: u64,
    uses: Arc<Mutex<Uses>>,
    is_ended: Arc<AtomicBool>,
}

impl Shares {
    pub(super) fn new(visitors: Limit, keys: Limit, followers: Limit) -> Self {
        Self { limits: [visitors, keys, followers], uses: Arc::default() }
    }

    pub(super) fn acquire(&self, class: Class, holder: Holder, units: usize, now: Instant) -> Result<Share, Exhausted> {
        let limit = self.limits[class as usize];
        let mut uses = lock(&self.uses);
        let is_room = |used: usize, most: usize| used == 0 || used.saturating_add(units) <= most;
        if !is_room(uses.units(|of| of.class == class && of.holder == holder), limit.of_holder) {
            return Err(Exhausted::Holder);
        }
        if !is_room(uses.units(|of| of.class == class), limit.of_class) {
            return Err(Exhausted::Class);
        }
        let (number, is_ended) = (uses.next, Arc::<AtomicBool>::default());
        uses.next += 1;
        let rate = Rate { since: now, bytes: 0, measured: None };
        uses.by_number.insert(number, Use { class, holder, units, rate, is_ended: Arc::clone(&is_ended) });
        Ok(Share { number, uses: Arc::clone(&self.uses), is_ended })
    }

    /// Ends the slowest use in a class if it's slower than `min_rate` bytes per second. Returns its
    /// holder and rate.
    pub(super) fn end_slowest(&self, class: Class, min_rate: u64, now: Instant) -> Option<(Holder, u64)> {
        let mut uses = lock(&self.uses);
        let of_class = uses.by_number.iter_mut().filter(|(_, of)| of.class == class);
        let measured = of_class.filter_map(|(number, of)| Some((of.rate.measure(now)?, *number)));
        let (rate, number) = measured.min().filter(|(rate, _)| *rate < min_rate)?;
        let ended = uses.by_number.remove(&number)?;
        ended.is_ended.store(true, Ordering::Relaxed);
        Some((ended.holder, rate))
    }

    /// Ends all uses of certain holders. Returns the holder of each.
    pub(super) fn end_all_of(&self, is_meant: impl Fn(&Holder) -> bool) -> Vec<Holder> {
        let mut uses = lock(&self.uses);
        let ended = uses.by_number.extract_if(.., |_, of| is_meant(&of.holder));
        ended.inspect(|(_, of)| of.is_ended.store(true, Ordering::Relaxed)).map(|(_, of)| of.holder).collect()
    }
}

impl Uses {
    fn units(&self, is_meant: impl Fn(&Use) -> bool) -> usize {
        self.by_number.values().filter(|of| is_meant(of)).map(|of| of.units).sum()
    }
}

impl Share {
    /// Records that the caller has read some bytes.
    pub(super) fn taken(&self, bytes: usize, now: Instant) {
        if let Some(of) = lock(&self.uses).by_number.get_mut(&self.number) {
            of.rate.measure(now);
            of.rate.bytes += bytes as u64;
        }
    }

    /// Whether this use has lost its units: to another use, or because its holder may no longer
    /// have any.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        lock(&self.uses).by_number.remove(&self.number);
    }
}

fn lock(uses: &Mutex<Uses>) -> MutexGuard<'_, Uses> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rate at which a caller reads bytes. It's measured per period, so that a fast start doesn't
/// count for long.
#[derive(Debug)]
struct Rate {
    /// When the current period began.
    since: Instant,
    /// Bytes read since then.
    bytes: u64,
    /// Bytes per second in the previous period.
    measured: Option<u64>,
}

/// The shortest period over which a rate is measured.
const PERIOD: Duration = Duration::from_secs(30);

impl Rate {
    /// Bytes per second; `None` in the first period.
    fn measure(&mut self, now: Instant) -> Option<u64> {
        let elapsed = now.saturating_duration_since(self.since);
        if elapsed >= PERIOD {
            *self = Self { since: now, bytes: 0, measured: Some(self.bytes / elapsed.as_secs()) };
        }
        self.measured
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn key(id: &str) -> Holder {
        Holder::Key(id.into())
    }

    fn visitor(last: u8) -> Holder {
        Holder::Address(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)).into())
    }

    fn shares(of_class: usize, of_holder: usize) -> Shares {
        let limit = Limit { of_class, of_holder };
        Shares::new(limit, limit, limit)
    }

    #[test]
    fn callers_are_limited_to_a_share_which_is_freed_when_they_finish() {
        let (shares, now) = (shares(3, 2), Instant::now());
        let acquire = |id: &str| shares.acquire(Class::Key, key(id), 1, now);
        let held = [acquire("a").expect("free"), acquire("a").expect("free")];
        assert_eq!(acquire("a").expect_err("a part"), Exhausted::Holder);
        let other = acquire("b").expect("free");
        assert_eq!(acquire("b").expect_err("all"), Exhausted::Class);
        drop((held, other));
        assert!(acquire("a").is_ok());
        assert!(lock(&shares.uses).by_number.is_empty(), "finished uses are forgotten");
    }

    #[test]
    fn classes_do_not_use_each_others_units() {
        let (shares, now) = (shares(8, 4), Instant::now());
        let visitors: Vec<_> =
            (0..16).filter_map(|n| shares.acquire(Class::Visitor, visitor(n), 1, now).ok()).collect();
        assert_eq!(visitors.len(), 8);
        let keys: Vec<_> =
            (0..16).filter_map(|n| shares.acquire(Class::Key, key(&format!("{n}")), 1, now).ok()).collect();
        assert_eq!(keys.len(), 8);
        assert!(shares.acquire(Class::Follower, key("0"), 1, now).is_ok());
    }

    #[test]
    fn a_use_larger_than_the_limit_is_allowed_if_it_is_the_only_one() {
        let (shares, now) = (shares(10, 5), Instant::now());
        let small = shares.acquire(Class::Key, key("a"), 1, now).expect("free");
        assert_eq!(shares.acquire(Class::Key, key("a"), 100, now).expect_err("not alone"), Exhausted::Holder);
        assert_eq!(shares.acquire(Class::Key, key("b"), 100, now).expect_err("not alone"), Exhausted::Class);
        drop(small);
        let large = shares.acquire(Class::Key, key("b"), 100, now).expect("alone");
        assert_eq!(shares.acquire(Class::Key, key("a"), 1, now).expect_err("taken"), Exhausted::Class);
        drop(large);
    }

    #[test]
    fn slowest_use_in_a_class_is_ended_if_it_is_below_the_minimum_rate() {
        const KIB: usize = 1024;
        let (shares, start) = (shares(8, 4), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let rates = [(Class::Visitor, 100 * KIB), (Class::Visitor, 20 * KIB), (Class::Key, KIB)];
        let begun = rates.map(|(class, rate)| (shares.acquire(class, key("a"), 1, start).expect("free"), rate));
        let run = |seconds: std::ops::Range<u64>| {
            for (second, (share, rate)) in seconds.flat_map(|second| begun.iter().map(move |share| (second, share))) {
                share.taken(*rate, at(second));
            }
        };
        let end = |seconds| shares.end_slowest(Class::Visitor, 64 * KIB as u64, at(seconds)).map(|(_, rate)| rate);
        run(0..30);
        assert_eq!(end(29), None, "too early to say");
        assert_eq!(end(30), Some(20 * KIB as u64));
        let ended = begun.each_ref().map(|(share, _)| share.is_ended());
        assert_eq!(ended, [false, true, false], "a key's use isn't ended to make room for visitors");
        assert_eq!(end(31), None, "the other visitor is fast enough");
        // The remaining visitor reads for ten more seconds, then stops.
        run(30..40);
        assert_eq!(end(90), Some(100 * KIB as u64 * 10 / 60));
    }
}
