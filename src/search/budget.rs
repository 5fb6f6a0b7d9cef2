//! A limit on how much work a search may do.
//!
//! A search that reaches the limit stops and returns the hits found so far, like Meilisearch's
//! `searchCutoffMs`. The limit counts work rather than time, so a query on a generation always gets
//! the same response, whatever the load. Responses are cached, carry entity tags and are compared
//! across replicas.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The minimum budget in units, which small directories get: enough to highlight a page of a
/// hundred hits.
const LEAST: u64 = 320_000;

/// The base of a large directory's budget, in units.
const BASE: u64 = 160_000;

/// The units added to the base for each product, because counting and scoring the hits of a
/// frequent word takes time proportional to the directory's size.
const PER_DOCUMENT: u64 = 3;

/// How much work a search may do. A unit is roughly the cost of reading one posting, a few
/// nanoseconds.
#[derive(Debug)]
pub struct Budget {
    units: u64,
    // Atomic so that a search can be awaited on another thread. Only one thread writes at a time,
    // so separate loads and stores suffice.
    spent: AtomicU64,
    exceeded: AtomicBool,
}

impl Budget {
    pub const fn new(units: u64) -> Self {
        Self { units, spent: AtomicU64::new(0), exceeded: AtomicBool::new(false) }
    }

    pub const fn for_documents(documents: usize) -> Self {
        let units = BASE + PER_DOCUMENT * documents as u64;
        Self::new(if units > LEAST { units } else { LEAST })
    }

    /// Half of the budget, to spend on whatever a page shows in addition to its results.
    #[must_use]
    pub const fn half(&self) -> Self {
        Self::new(self.units / 2)
    }

    /// Deducts units for work that has been done or is about to be.
    #[inline]
    pub fn spend(&self, units: usize) {
        self.spent.store(self.spent() + units as u64, Ordering::Relaxed);
    }

    /// Marks the search as incomplete for a reason other than its budget.
    pub fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// How much of `whole` to do, given that all of it would cost `units`: everything if the budget
    /// allows, otherwise a proportional part, but never less than 1. If it's only a part, marks the
    /// search as incomplete.
    pub fn part_of(&self, whole: usize, units: usize) -> usize {
        let left = self.units.saturating_sub(self.spent());
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
        let allows = self.spent() + units as u64 <= self.units;
        if !allows {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        allows
    }

    /// Caps the charge for understanding a query at half of what was left `before` that, so the
    /// other half can be spent on running the query. Does nothing once the search is incomplete,
    /// because then only part of the query was understood, and a search for that part might find
    /// more than a search for the whole query.
    pub fn leave_half(&self, before: u64) {
        if !self.is_exceeded() {
            let half = self.units.saturating_sub(before) / 2;
            self.spent.fetch_min(before.saturating_add(half), Ordering::Relaxed);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understanding_a_query_leaves_half_of_the_budget() {
        let budget = Budget::new(100);
        budget.spend(30);
        budget.leave_half(0);
        assert_eq!(budget.spent(), 30);
        budget.spend(60);
        budget.leave_half(0);
        assert!(budget.allows(50) && !budget.is_exceeded());
        budget.spend(50);
        assert!(!budget.allows_more());
        budget.leave_half(0);
        assert!(!budget.allows_more(), "an incomplete search stays incomplete");
    }

    #[test]
    fn several_searches_share_one_budget() {
        let budget = Budget::new(100);
        let mut spent = Vec::new();
        for _ in 0..3 {
            let before = budget.spent();
            budget.spend(usize::try_from(100 - before).expect("few"));
            budget.leave_half(before);
            spent.push(budget.spent());
        }
        assert_eq!(spent, [50, 75, 87], "units spent by an earlier search aren't refunded");
    }
}
