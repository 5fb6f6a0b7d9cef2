//! Resources that callers share, counted in units: download slots, and bytes of response bodies in
//! memory. Each class of callers has its own units, of which a single caller only gets some. Once a
//! class has used up its units, its slowest readers give way to new requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::server::Disconnect;
use crate::key::Holder;

/// A use that's slower than this many bytes per second may have to give way. Connections that read
/// much more slowly (16 KiB/s) are closed anyway.
const MIN_RATE: u64 = 128 * 1024;

/// A class of callers. One class can't use another's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Page visitors without a key.
    Visitor,
    Key,
}

impl Class {
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

/// The units of visitors and keys.
#[derive(Debug)]
pub(super) struct Shares {
    /// What the units are, for the log.
    name: &'static str,
    limits: [Limit; 2],
    /// The shortest period over which a rate is measured.
    period: Duration,
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
    /// Closes the connection if the use is ended.
    connection: Option<Disconnect>,
}

/// Units that are in use until this is dropped.
#[derive(Debug)]
pub(super) struct Share {
    number: u64,
    uses: Arc<Mutex<Uses>>,
}

impl Shares {
    pub(super) fn new(name: &'static str, period: Duration, limits: [Limit; 2]) -> Self {
        Self { name, limits, period, uses: Arc::default() }
    }

    /// Returns units. If the class has none left, ends as many of its slowest uses as necessary.
    pub(super) fn acquire(&self, class: Class, holder: Holder, units: usize, now: Instant) -> Result<Share, Exhausted> {
        let limit = self.limits[class as usize];
        let mut uses = lock(&self.uses);
        let is_room = |used: usize, most: usize| used == 0 || used.saturating_add(units) <= most;
        if !is_room(uses.units(|of| of.class == class && of.holder == holder), limit.of_holder) {
            return Err(Exhausted::Holder);
        }
        let mut taken = uses.units(|of| of.class == class);
        let mut slow = uses.slow(class, now);
        let mut ended = 0;
        while !is_room(taken, limit.of_class) {
            let (_, units, _) = slow.get(ended).ok_or(Exhausted::Class)?;
            taken -= units;
            ended += 1;
        }
        slow.truncate(ended);
        for (rate, _, number) in slow {
            let Some(ended) = uses.by_number.remove(&number) else { continue };
            ended.connection.iter().for_each(Disconnect::now);
            tracing::warn!(
                caller = caller(&ended.holder),
                bytes_per_second = rate,
                "all {} for {} are in use; dropped the slowest response to make room",
                self.name,
                class.as_str()
            );
        }
        let number = uses.next;
        uses.next += 1;
        let rate = Rate { period: self.period, since: now, bytes: 0, measured: None };
        uses.by_number.insert(number, Use { class, holder, units, rate, connection: None });
        Ok(Share { number, uses: Arc::clone(&self.uses) })
    }

    /// Ends all uses of certain holders. Returns the holder of each.
    pub(super) fn end_all_of(&self, is_meant: impl Fn(&Holder) -> bool) -> Vec<Holder> {
        let mut uses = lock(&self.uses);
        let ended = uses.by_number.extract_if(.., |_, of| is_meant(&of.holder));
        ended.inspect(|(_, of)| of.connection.iter().for_each(Disconnect::now)).map(|(_, of)| of.holder).collect()
    }
}

impl Uses {
    fn units(&self, is_meant: impl Fn(&Use) -> bool) -> usize {
        self.by_number.values().filter(|of| is_meant(of)).map(|of| of.units).sum()
    }

    /// The class's uses that are slower than [`MIN_RATE`], slowest first, each with its rate, units
    /// and number.
    fn slow(&mut self, class: Class, now: Instant) -> Vec<(u64, usize, u64)> {
        let of_class = self.by_number.iter_mut().filter(|(_, of)| of.class == class);
        let measured = of_class.filter_map(|(number, of)| Some((of.rate.measure(now)?, of.units, *number)));
        let mut slow: Vec<_> = measured.filter(|(rate, ..)| *rate < MIN_RATE).collect();
        slow.sort_unstable();
        slow
    }
}

impl Share {
    /// Closes a connection if this use has to give way. Until then, what has already been handed to
    /// the connection would stay in memory.
    pub(super) fn closing(self, connection: Option<Disconnect>) -> Self {
        if let Some(of) = lock(&self.uses).by_number.get_mut(&self.number) {
            of.connection = connection;
        }
        self
    }

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
        !lock(&self.uses).by_number.contains_key(&self.number)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        lock(&self.uses).by_number.remove(&self.number);
    }
}

/// A caller's name in the log: its key's id, or `visitor`.
pub(super) fn caller(holder: &Holder) -> &str {
    match holder {
        Holder::Key(id) => id,
        Holder::Address(_) => "visitor",
    }
}

fn lock(uses: &Mutex<Uses>) -> MutexGuard<'_, Uses> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rate at which a caller reads bytes. It's measured per period, so that a fast start doesn't
/// count for long.
#[derive(Debug)]
struct Rate {
    /// The shortest period to measure.
    period: Duration,
    /// When the current period began.
    since: Instant,
    /// Bytes read since then.
    bytes: u64,
    /// Bytes per second in the previous period.
    measured: Option<u64>,
}

impl Rate {
    /// Bytes per second; `None` in the first period.
    fn measure(&mut self, now: Instant) -> Option<u64> {
        let elapsed = now.saturating_duration_since(self.since);
        if elapsed >= self.period {
            let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
            self.measured = Some(self.bytes.saturating_mul(1000) / milliseconds);
            (self.since, self.bytes) = (now, 0);
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
        Shares::new("units", Duration::from_secs(30), [Limit { of_class, of_holder }; 2])
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
    fn slowest_uses_in_a_class_give_way_if_they_are_below_the_minimum_rate() {
        const KIB: usize = 1024;
        let (shares, start) = (shares(4, 4), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let rates = [(Class::Visitor, 200), (Class::Visitor, 20), (Class::Visitor, 50), (Class::Key, 1)];
        let begun = (0..).zip(rates).map(|(number, (class, rate))| {
            (shares.acquire(class, visitor(number), 1, start).expect("free"), rate * KIB)
        });
        let begun: Vec<_> = begun.collect();
        let run = |seconds: std::ops::Range<u64>| {
            for (second, (share, rate)) in seconds.flat_map(|second| begun.iter().map(move |share| (second, share))) {
                share.taken(*rate, at(second));
            }
        };
        let acquire = |units, seconds| shares.acquire(Class::Visitor, visitor(9), units, at(seconds));
        let ended = || begun.iter().map(|(share, _)| share.is_ended()).collect::<Vec<_>>();
        run(0..30);
        assert_eq!(acquire(3, 29).expect_err("too early to say"), Exhausted::Class);
        assert_eq!(acquire(4, 30).expect_err("the first one is fast enough"), Exhausted::Class);
        assert_eq!(ended(), [false; 4], "none gives way if that wouldn't make enough room");
        drop(acquire(1, 30).expect("there's room for one"));
        let first = acquire(2, 30).expect("room of the slowest one");
        assert_eq!(ended(), [false, true, false, false], "a key's use doesn't give way to visitors");
        drop(first);
        let both = acquire(3, 31).expect("room of the next one");
        assert_eq!(ended(), [false, true, true, false]);
        drop(both);
        // The remaining visitor reads for ten more seconds, then stops.
        run(30..40);
        acquire(4, 90).expect("its average is below the minimum");
        assert_eq!(ended(), [true, true, true, false]);
    }
}
