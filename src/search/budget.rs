//! A limit on the work of one search.
//!
//! A search that reaches it stops and returns the hits found so far, as with Meilisearch's `searchCutoffMs`. It counts work and
//! not time, so that one query on one generation has one response under any load: responses are cached, have entity tags, and
//! are compared between replicas.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The budget of a search in a small directory, in units.
const LEAST: u64 = 160_000;

/// The units that each product adds: counting and scoring the hits of a frequent word takes time in proportion to the directory.
const PER_DOCUMENT: u64 = 3;

/// The work that one search may do. A unit is about what reading one posting takes, some nanoseconds.
#[derive(Debug)]
pub struct Budget {
    units: u64,
    // Atomic so that a search can be awaited on another thread. Only one thread writes at a time, so a load and a store suffice.
    spent: AtomicU64,
    exceeded: AtomicBool,
}

impl Budget {
    /// That many units.
    pub const fn new(units: u64) -> Self {
        Self { units, spent: AtomicU64::new(0), exceeded: AtomicBool::new(false) }
    }

    /// The budget of a search in a directory of that many products.
    pub const fn for_documents(documents: usize) -> Self {
        Self::new(LEAST + PER_DOCUMENT * documents as u64)
    }

    /// Takes units off, for work that was done or is about to be.
    #[inline]
    pub fn spend(&self, units: usize) {
        self.spent.store(self.spent() + units as u64, Ordering::Relaxed);
    }

    /// Notes that the search is incomplete, for a reason other than its work.
    pub fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// How much of a step of that many units may be done, as a share of `whole`: all of it, or where the budget would be
    /// exceeded a part, at least 1. Then the search is incomplete.
    pub fn part_of(&self, whole: usize, units: usize) -> usize {
        let left = self.units.saturating_sub(self.spent());
        if units as u64 <= left {
            return whole;
        }
        self.exceeded.store(true, Ordering::Relaxed);
        let part = u128::from(left) * whole as u128 / units as u128;
        usize::try_from(part).unwrap_or(whole).max(1)
    }

    /// Whether a further step may be done. Where it may not, the search is incomplete.
    #[inline]
    pub fn allows_more(&self) -> bool {
        self.allows(1)
    }

    /// Whether a further step of that many units may be done. Where it may not, the search is incomplete.
    #[inline]
    pub fn allows(&self, units: usize) -> bool {
        let allows = self.spent() + units as u64 <= self.units;
        if !allows {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        allows
    }

    /// Whether a step was left out.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// The units spent so far.
    #[inline]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }
}
