//! Collects what a search finds: the exact total and the best hits, by tier.

use std::cmp::Reverse;

use crate::catalogue::{Columns, Filter, MAX_ORDINAL, Ordinal, Places};
use crate::record::MAX_PINNED;
use crate::search::facet_counts::FacetCounts;

/// The number of hits to rerank. It's fixed, so the order doesn't depend on the page.
pub const RERANKED: usize = 48;

/// Matching documents in a block that aren't scored, because the threshold rules them out.
#[derive(Debug, Clone, Copy)]
pub struct Pruned<'b> {
    /// The document at the lowest bit of the first word.
    pub first: Ordinal,
    pub bits: &'b [u64],
}

impl Pruned<'_> {
    pub fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    pub fn has(&self, ordinal: Ordinal) -> bool {
        // If the ordinal is before `first`, this wraps around to an offset far past the end.
        let at = ordinal.wrapping_sub(self.first) as usize;
        self.bits.get(at / BITS).is_some_and(|bits| bits & (1 << (at % BITS)) != 0)
    }

    /// In ascending order.
    pub fn ordinals(&self) -> impl Iterator<Item = Ordinal> + '_ {
        #[expect(clippy::cast_possible_truncation, reason = "at most the number of documents")]
        ones(self.bits).map(|at| self.first + at as Ordinal)
    }
}

pub const BITS: usize = u64::BITS as usize;

/// Positions of all set bits, in ascending order.
#[inline]
pub fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(word, bits)| {
        let mut left = *bits;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let at = word * BITS + left.trailing_zeros() as usize;
            left &= left - 1;
            Some(at)
        })
    })
}

/// A hit with its sort key. Greater keys are better.
#[derive(Debug, Clone, Copy)]
struct KeyedHit {
    key: u64,
    hit: RankedHit,
}

#[derive(Debug, Clone)]
pub struct Collector<'c> {
    columns: &'c Columns,
    filter: &'c Filter,
    /// Whether every product passes the filter.
    is_open: bool,
    /// The sort order to use instead of the ranking.
    order: Option<Places<'c>>,
    kept: usize,
    /// The best hits so far, plus some worse ones, in any order.
    best: Vec<KeyedHit>,
    /// The hit that new ones have to beat; `None` until there are enough hits.
    least: Option<KeyedHit>,
    pub total: u64,
    /// The number of products visited, whether or not they pass the filter.
    pub visited: u64,
    counts: Option<FacetCounts>,
}

impl<'c> Collector<'c> {
    pub fn new(columns: &'c Columns, filter: &'c Filter, kept: usize, counts: Option<FacetCounts>) -> Self {
        // Don't let a caller's offset decide how much memory is allocated.
        let best = Vec::with_capacity(kept.min(RERANKED) * 2);
        let (is_open, order, least) = (filter.is_open(), None, None);
        Self { columns, filter, is_open, order, kept, best, least, total: 0, visited: 0, counts }
    }

    /// Keeps the hits that come first in this order, rather than the ones that rank best.
    #[must_use]
    pub fn ordered_by(self, order: Places<'c>) -> Self {
        Self { order: Some(order), ..self }
    }

    #[inline]
    pub fn take(&mut self, hit: RankedHit) {
        if self.count(hit.ordinal) {
            self.consider(hit);
        }
    }

    #[inline]
    pub fn is_demo(&self, ordinal: Ordinal) -> bool {
        self.columns.is_demo(ordinal)
    }

    /// Counts a product and returns whether it passes the filter. If the hit has already been
    /// collected, call this instead of [`take`](Self::take).
    #[inline]
    pub fn count(&mut self, ordinal: Ordinal) -> bool {
        self.visited += 1;
        let is_admitted = self.is_blind() || self.admits(ordinal);
        self.total += u64::from(is_admitted);
        is_admitted
    }

    /// Adds a hit that was [pruned](Self::count_pruned) but turned out to be needed, if it
    /// passes the filter.
    pub fn take_pruned(&mut self, hit: RankedHit) {
        if self.is_open || self.filter.admit(self.columns, hit.ordinal).passed() {
            self.consider(hit);
        }
    }

    #[inline]
    fn consider(&mut self, hit: RankedHit) {
        let key = match &self.order {
            None => hit.key(),
            Some(order) => u64::MAX - order.of(hit.ordinal),
        };
        if self.least.is_none_or(|least| key > least.key) {
            self.keep(KeyedHit { key, hit });
        }
    }

    fn keep(&mut self, kept: KeyedHit) {
        self.best.push(kept);
        // Waiting until there are twice as many as needed keeps the comparisons per hit low.
        if self.best.len() >= self.kept.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if let Some(last) = self.kept.checked_sub(1).filter(|last| *last < self.best.len()) {
            let (_, least, _) = self.best.select_nth_unstable_by_key(last, |kept| Reverse(kept.key));
            self.least = Some(*least);
        }
        self.best.truncate(self.kept);
    }

    /// Counts products that were [pruned](Pruned); see [`threshold`](Self::threshold).
    pub fn count_pruned(&mut self, pruned: Pruned<'_>) {
        let count = pruned.count();
        self.visited += count;
        if !self.is_open {
            self.total += pruned.ordinals().map(|ordinal| u64::from(self.admits(ordinal))).sum::<u64>();
            return;
        }
        self.total += count;
        if let Some(counts) = &mut self.counts {
            pruned.ordinals().for_each(|ordinal| counts.count_passed(self.columns, ordinal));
        }
    }

    /// Whether every product passes the filter and no facets are counted.
    #[inline]
    fn is_blind(&self) -> bool {
        self.is_open && self.counts.is_none()
    }

    /// Whether a product passes the filter; also counts its facets.
    #[inline]
    fn admits(&mut self, ordinal: Ordinal) -> bool {
        if let (true, Some(counts)) = (self.is_open, &mut self.counts) {
            counts.count_passed(self.columns, ordinal);
            return true;
        }
        let admission = self.filter.admit(self.columns, ordinal);
        if let Some(counts) = &mut self.counts {
            counts.count(self.columns, ordinal, admission);
        }
        admission.passed()
    }

    /// The score below which a hit is only counted. Exact names are exempt, because they rank
    /// first whatever their score. There's no threshold while the worst hit that's kept is a
    /// demo record, because any real product beats it.
    pub fn threshold(&self) -> Option<f32> {
        let least = self.least.filter(|_| self.order.is_none())?.hit;
        (least.tier < Tier::Pinned && !least.tier.is_demo()).then_some(least.score)
    }

    pub fn take_counts(&mut self) -> Option<FacetCounts> {
        self.counts.take().map(|counts| counts.settled(self.columns))
    }

    /// The best hits. Only those from this position onwards are sorted.
    pub fn into_best(mut self, sorted_from: usize) -> Vec<RankedHit> {
        self.cut();
        let key = |kept: &KeyedHit| Reverse(kept.key);
        let from = sorted_from.min(self.best.len());
        if (1..self.best.len()).contains(&from) {
            self.best.select_nth_unstable_by_key(from, key);
        }
        self.best[from..].sort_unstable_by_key(key);
        self.best.into_iter().map(|kept| kept.hit).collect()
    }
}

/// The hard tiers of the ranking, worst first. A demo record ranks below every real product that
/// the words find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    RelatedDemo,
    /// The product has none of the query's words but is close to its meaning.
    Related,
    Demo,
    /// The product has the query's words, or some of them.
    Words,
    /// The curator pinned the product to the query.
    Pinned,
    /// The query is the product's full name or an alias.
    ExactName,
}

impl Tier {
    /// The tier for demo records that match as well as this tier's real products.
    #[must_use]
    pub const fn demo(self) -> Self {
        if self.is_related() { Self::RelatedDemo } else { Self::Demo }
    }

    pub const fn is_demo(self) -> bool {
        matches!(self, Self::RelatedDemo | Self::Demo)
    }

    pub const fn is_related(self) -> bool {
        matches!(self, Self::RelatedDemo | Self::Related)
    }

    /// The tier's number in response scores: 3 for exact names, 0 for demo records, negative for
    /// related products.
    pub const fn number(self) -> i8 {
        self as i8 - Self::Demo as i8
    }
}

/// A pinned product's score, given its position among the products pinned to the query.
pub fn pinned_score(place: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "there are few positions")]
    let score = MAX_PINNED.saturating_sub(place) as f32;
    score
}

/// Greater is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedHit {
    pub tier: Tier,
    /// Score within the tier; never negative.
    pub score: f32,
    /// On a tie, the lower ordinal wins, because lower ordinals mean better quality.
    pub ordinal: Ordinal,
}

impl Eq for RankedHit {}

impl Ord for RankedHit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for RankedHit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl RankedHit {
    /// A sort key with the same order as hits: 3 bits for the tier, 31 for the score (the
    /// bits of non-negative floats sort like their values) and 30 for the inverted ordinal.
    #[inline]
    fn key(&self) -> u64 {
        let rest = MAX_ORDINAL.saturating_sub(self.ordinal);
        (self.tier as u64) << 61 | u64::from(self.score.to_bits() & (u32::MAX >> 1)) << 30 | u64::from(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hits_below_the_threshold_are_not_among_the_best(
            all in prop::collection::vec((0..100_u8, 1..60_u8), 0..2000),
            demos in 0..100_u8,
            from in 0..300_usize,
            kept in 1..300_usize,
        ) {
            let (columns, filter) = (Columns::default(), Filter::default());
            let mut collector = Collector::new(&columns, &filter, kept, None);
            let mut hits = Vec::new();
            for (ordinal, (kind, score)) in (0..).zip(&all) {
                // A few exact names, which are kept whatever their score.
                let tier = match kind {
                    99 => Tier::ExactName,
                    kind if *kind < demos => Tier::Demo,
                    _ => Tier::Words,
                };
                let hit = RankedHit { tier, score: f32::from(*score) / 20.0, ordinal };
                hits.push(hit);
                let is_below = collector.threshold().is_some_and(|threshold| hit.score < threshold);
                if is_below && tier != Tier::ExactName {
                    collector.count(ordinal);
                } else {
                    collector.take(hit);
                }
            }
            prop_assert_eq!(collector.total, all.len() as u64);
            hits.sort_by(|a, b| b.cmp(a));
            hits.truncate(kept);
            prop_assert_eq!(collector.clone().into_best(0), &hits[..]);
            let from = from.min(kept).min(hits.len());
            prop_assert_eq!(&collector.into_best(from)[from..], &hits[from..]);
        }
    }
}
