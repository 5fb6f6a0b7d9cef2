//! A limit on how much work a search may do.
//!
//! A search that reaches the limit stops and returns the hits found so far, like Meilisearch's
//! `searchCutoffMs`. The limit counts work rather than time, so a query on a generation always gets
//! the same response, whatever the load. Responses are cached, carry entity tags and are compared
//! across replicas.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The minimum budget in units, which small directories get: enough to highlight a page of fifty
/// hits with full records, or a hundred with short ones.
const LEAST: u64 = 280_000;

/// The base of a large directory's budget, in units.
const BASE: u64 = 120_000;

/// The units added to the base for each product, because counting and scoring the hits of a
/// frequent word takes time proportional to the directory's size.
const PER_DOCUMENT: u64 = 3;

/// Tells work on another thread that nobody is waiting for its result any more.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How much work a request may do. A unit is roughly the cost of reading one posting, about ten
/// nanoseconds.
#[derive(Debug)]
pub struct Budget {
    units: u64,
    // Atomic so that a search can be awaited on another thread. Only one thread writes at a time,
    // so separate loads and stores suffice.
    spent: AtomicU64,
    exceeded: AtomicBool,
    stop: Stop,
}

impl Budget {
    pub fn new(units: u64) -> Self {
        Self { units, spent: AtomicU64::new(0), exceeded: AtomicBool::new(false), stop: Stop::default() }
    }

    pub fn for_documents(documents: usize) -> Self {
        let units = BASE + PER_DOCUMENT * documents as u64;
        Self::new(units.max(LEAST))
    }

    /// Allows nothing more once the stop signal is set, because the result won't be used.
    #[must_use]
    pub fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The part of the budget for understanding a query, which doesn't grow with the directory.
    #[must_use]
    pub fn for_understanding(&self) -> Self {
        Self::new(self.left().min(LEAST)).until(&self.stop)
    }

    /// Deducts units for work that has been done or is about to be.
    #[inline]
    pub fn spend(&self, units: usize) {
        self.charge(units as u64);
    }

    /// Deducts units that an earlier part of the same request took.
    pub fn charge(&self, units: u64) {
        self.spent.store(self.spent().saturating_add(units), Ordering::Relaxed);
    }

    /// Marks the search as incomplete for a reason other than its budget.
    pub fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// How much of `whole` to do, given that all of it would cost `units`: everything if the budget
    /// allows, otherwise a proportional part, but never less than 1. If it's only a part, marks the
    /// search as incomplete.
    pub fn part_of(&self, whole: usize, units: usize) -> usize {
        let left = self.left();
        if units as u64 <= left {
            return whole;
        }
        self.exceeded.store(true, Ordering::Relaxed);
        let part = u128::from(left) * whole as u128 / units as u128;
        usize::try_from(part).unwrap_or(whole).max(1)
    }

    /// Whether the budget allows another step. If not, marks the search as incomplete.
    #[inline]
    pub fn allows_more(&self) -> bool {
        self.allows(1)
    }

    /// Whether the budget allows a step that costs `units`. If not, marks the search as incomplete.
    #[inline]
    pub fn allows(&self, units: usize) -> bool {
        let allows = units as u64 <= self.left() && !self.stop.is_set();
        if !allows {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        allows
    }

    /// Deducts units and returns true if the budget [allows](Self::allows) them.
    #[inline]
    pub fn pay(&self, units: usize) -> bool {
        let allows = self.allows(units);
        if allows {
            self.spend(units);
        }
        allows
    }

    /// Charges what understanding a query took, but at most half of what was left, so the other half
    /// can be spent on running the query. If only a part of the query was understood, nothing is left,
    /// because a search for that part might find more than a search for the whole query.
    pub fn charge_understanding(&self, part: &Self) {
        if part.is_exceeded() {
            self.charge(self.left());
            self.exceed();
        } else {
            self.charge(part.spent().min(self.left() / 2));
        }
    }

    /// Whether the search is incomplete.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    #[inline]
    fn left(&self) -> u64 {
        self.units.saturating_sub(self.spent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Understands a query for this many units, and returns what has been spent then.
    fn understand(budget: &Budget, units: usize) -> u64 {
        let part = budget.for_understanding();
        part.pay(units);
        budget.charge_understanding(&part);
        budget.spent()
    }

    #[test]
    fn understanding_a_query_leaves_half_of_the_budget() {
        let budget = Budget::new(400);
        assert_eq!(understand(&budget, 100), 100);
        assert_eq!(understand(&budget, 200), 250, "units spent before aren't refunded");
        assert!(budget.allows(150) && !budget.is_exceeded());
        assert_eq!(understand(&budget, 151), 400, "a query that isn't understood isn't run");
        assert!(budget.is_exceeded());
    }

    #[test]
    fn understanding_a_query_takes_no_longer_in_a_large_directory() {
        let (small, large) = (Budget::for_documents(10), Budget::for_documents(10_000_000));
        assert_eq!(small.for_understanding().units, large.for_understanding().units);
    }

    #[test]
    fn nothing_more_is_allowed_once_nobody_waits() {
        let stop = Stop::default();
        let budget = Budget::new(u64::MAX).until(&stop);
        let part = budget.for_understanding();
        assert!(budget.pay(1) && part.pay(1));
        stop.set();
        assert!(!budget.allows_more() && !part.allows_more());
        assert_eq!((budget.spent(), budget.is_exceeded()), (1, true));
    }
}
