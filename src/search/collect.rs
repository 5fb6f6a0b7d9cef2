//! Collection of what a search finds: the exact total, the best candidates, the counts of the facets.

use std::cmp::Reverse;

use crate::catalogue::{Admission, Attribute, Columns, Filter, MAX_ORDINAL, Ordinal, STARS, SortedOrder};

/// The number of candidates that are reranked. Fixed, so that the order doesn't depend on the page.
pub const RERANKED: usize = 200;

/// The hard tiers of a ranking. Demo records have tiers of their own: each is behind every real product with as many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// A demo record that has some of the words.
    SomeDemo,
    /// Has some of the words.
    Some,
    /// A demo record that has all words.
    Demo,
    /// Has all words.
    All,
    /// Its whole name or alias is what was asked.
    Title,
}

impl Tier {
    /// The tier of a demo record that would have this one if it were real.
    #[must_use]
    pub const fn demo(self) -> Self {
        match self {
            Self::SomeDemo | Self::Some => Self::SomeDemo,
            Self::Demo | Self::All | Self::Title => Self::Demo,
        }
    }

    /// Whether it is one of demo records.
    #[must_use]
    pub const fn is_demo(self) -> bool {
        matches!(self, Self::SomeDemo | Self::Demo)
    }
}

/// Documents of a block that a search finds and doesn't score, for no score of theirs could matter: pruned by a threshold.
#[derive(Debug, Clone, Copy)]
pub struct Pruned<'b> {
    /// The document of the lowest bit of the first word.
    pub first: Ordinal,
    /// A bit per document.
    pub bits: &'b [u64],
}

impl Pruned<'_> {
    /// The number of documents.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// Whether a document is one of them.
    #[must_use]
    pub fn has(&self, ordinal: Ordinal) -> bool {
        // One before the first becomes one far behind the last.
        let at = ordinal.wrapping_sub(self.first) as usize;
        self.bits.get(at / BITS).is_some_and(|bits| bits & (1 << (at % BITS)) != 0)
    }

    /// The documents, in rising order.
    pub fn ordinals(&self) -> impl Iterator<Item = Ordinal> + '_ {
        #[expect(clippy::cast_possible_truncation, reason = "no more than there are documents")]
        ones(self.bits).map(|at| self.first + at as Ordinal)
    }
}

/// Bits per word of a set.
pub const BITS: usize = u64::BITS as usize;

/// The positions of all bits that are set, in rising order.
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

/// A candidate; the greater is the better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its tier.
    pub tier: Tier,
    /// Its score within the tier, not negative.
    pub score: f32,
    /// The product. Among equals the lower ordinal, of better quality, is the greater candidate.
    pub ordinal: Ordinal,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Candidate {
    /// A sort key in the order of candidates: the tier in three bits, the score in 31 (the bits of floats that aren't negative
    /// sort as these do), and the inverted ordinal in 30.
    fn key(&self) -> u64 {
        let rest = MAX_ORDINAL.saturating_sub(self.ordinal);
        (self.tier as u64) << 61 | u64::from(self.score.to_bits() & (u32::MAX >> 1)) << 30 | u64::from(rest)
    }

    /// The lower bound of candidates which can still overtake this one when their scores are multiplied by at most a factor.
    /// Among whole names the score doesn't decide, so any of them can.
    fn reach(self, max_factor: f32) -> Kept {
        let score = if self.tier == Tier::Title { 0.0 } else { self.score / max_factor * ROUNDING };
        let candidate = Self { score, ordinal: MAX_ORDINAL, ..self };
        Kept { key: candidate.key(), candidate }
    }
}

/// Bounds the rounding error of a score that is compared after further arithmetic.
const ROUNDING: f32 = 0.999_99;

/// A candidate with its key in the order of the search; the greater is the better.
#[derive(Debug, Clone, Copy)]
struct Kept {
    key: u64,
    candidate: Candidate,
}

/// The collection of one pass over the documents found.
#[derive(Debug, Clone)]
pub struct Collector<'c> {
    columns: &'c Columns,
    filter: &'c Filter,
    /// Whether every product passes the filter.
    is_open: bool,
    /// The order of the hits, in place of the ranking.
    order: Option<&'c SortedOrder>,
    /// The number of candidates kept.
    kept: usize,
    /// How many of these are wanted, and the upper bound of the factors, from 1, that their scores will be multiplied by.
    reach: Option<(usize, f32)>,
    /// The best so far and others, in any order.
    best: Vec<Kept>,
    /// The length at which all but the best are removed.
    room: usize,
    /// The candidate that further ones have to exceed, once there are enough.
    least: Option<Kept>,
    /// Products that passed the filter.
    pub total: u64,
    /// Products visited, filtered or not.
    pub visited: u64,
    counts: Option<FacetCounts>,
}

impl<'c> Collector<'c> {
    /// A collector of the best candidates, that many.
    #[must_use]
    pub fn new(columns: &'c Columns, filter: &'c Filter, kept: usize, counts: Option<FacetCounts>) -> Self {
        // A caller's offset must not decide how much memory is set aside.
        let best = Vec::with_capacity(kept.min(RERANKED) * 2);
        let (is_open, room) = (filter.is_open(), kept.saturating_mul(2));
        let (order, reach, least) = (None, None, None);
        Self { columns, filter, is_open, order, kept, reach, best, room, least, total: 0, visited: 0, counts }
    }

    /// Keeps only candidates which can be among the best `wanted` once each score has been multiplied by a factor from 1 to
    /// `max_factor`.
    #[must_use]
    pub fn within_reach(self, wanted: usize, max_factor: f32) -> Self {
        if wanted == 0 || wanted >= self.kept || self.order.is_some() {
            return self;
        }
        Self { reach: Some((wanted, max_factor)), room: wanted.saturating_mul(2), ..self }
    }

    /// Keeps the first candidates in this order in place of the best.
    #[must_use]
    pub fn ordered_by(self, order: &'c SortedOrder) -> Self {
        Self { order: Some(order), ..self }
    }

    /// Collects a candidate.
    #[inline]
    pub fn take(&mut self, candidate: Candidate) {
        if self.count(candidate.ordinal) {
            self.consider(candidate);
        }
    }

    /// Whether a product is a demo record.
    #[must_use]
    #[inline]
    pub fn is_demo(&self, ordinal: Ordinal) -> bool {
        self.columns.is_demo(ordinal)
    }

    /// Counts a product, and returns whether it passes the filter. Called alone where the candidate was collected before.
    #[inline]
    pub fn count(&mut self, ordinal: Ordinal) -> bool {
        self.visited += 1;
        let is_admitted = self.is_blind() || self.admits(ordinal);
        self.total += u64::from(is_admitted);
        is_admitted
    }

    /// Takes in a candidate that was [pruned](Self::count_pruned), where it passes the filter: it matters after all.
    pub fn take_pruned(&mut self, candidate: Candidate) {
        if self.is_open || self.filter.admit(self.columns, candidate.ordinal).passed() {
            self.consider(candidate);
        }
    }

    #[inline]
    fn consider(&mut self, candidate: Candidate) {
        let key = match self.order {
            None => candidate.key(),
            Some(order) => u64::from(u32::MAX - order.ranks[candidate.ordinal as usize]),
        };
        if self.least.is_none_or(|least| key > least.key) {
            self.keep(Kept { key, candidate });
        }
    }

    fn keep(&mut self, kept: Kept) {
        self.best.push(kept);
        if self.best.len() >= self.room {
            self.cut();
        }
    }

    /// Removes all but the best.
    fn cut(&mut self) {
        if let Some((wanted, max_factor)) = self.reach.filter(|(wanted, _)| *wanted <= self.best.len()) {
            let (_, last, _) = self.best.select_nth_unstable_by_key(wanted - 1, |kept| Reverse(kept.key));
            let bound = last.candidate.reach(max_factor);
            self.best.retain(|kept| kept.key > bound.key);
            self.least = Some(bound);
        }
        if let Some(last) = self.kept.checked_sub(1).filter(|last| *last < self.best.len()) {
            let (_, least, _) = self.best.select_nth_unstable_by_key(last, |kept| Reverse(kept.key));
            self.least = Some(*least);
        }
        self.best.truncate(self.kept);
        // Twice as many, so that a candidate is compared few times on average.
        self.room = self.room.max(self.best.len().saturating_mul(2)).min(self.kept.saturating_mul(2));
    }

    /// Counts products which were [pruned](Pruned), see [`threshold`](Self::threshold).
    pub fn count_pruned(&mut self, pruned: Pruned<'_>) {
        let count = pruned.count();
        self.visited += count;
        self.total += if self.is_blind() {
            count
        } else {
            pruned.ordinals().map(|ordinal| u64::from(self.admits(ordinal))).sum()
        };
    }

    /// Whether every product passes the filter and no facet is counted.
    #[inline]
    fn is_blind(&self) -> bool {
        self.is_open && self.counts.is_none()
    }

    /// Whether a product passes the filter. Facets count it.
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

    /// The score below which a candidate only counts. Whole names are excepted: they come first with any score. There is none as
    /// long as a demo record is among the best, for any real product comes before it.
    #[must_use]
    pub fn threshold(&self) -> Option<f32> {
        let least = self.least.filter(|_| self.order.is_none())?.candidate;
        (least.tier != Tier::Title && !least.tier.is_demo()).then_some(least.score)
    }

    /// The counts of the facets, where requested.
    #[must_use]
    pub fn take_counts(&mut self) -> Option<FacetCounts> {
        self.counts.take().map(|counts| counts.settled(self.columns))
    }

    /// The best candidates, best first.
    #[must_use]
    pub fn into_best(mut self) -> Vec<Candidate> {
        self.cut();
        self.best.sort_unstable_by_key(|kept| Reverse(kept.key));
        self.best.into_iter().map(|kept| kept.candidate).collect()
    }
}

/// The most values of an attribute that a facet has: the most frequent ones.
pub const MAX_ATTRIBUTE_VALUES: usize = 100;

/// How many products of a result have each value; each facet leaves its own filter out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetCounts {
    /// By category index.
    pub categories: Vec<u64>,
    /// By offering type, in the order of `OfferingType::ALL`.
    pub offering_types: [u64; 2],
    /// By evidence status, in the order of `EvidenceStatus::ALL`.
    pub evidence_statuses: [u64; 2],
    /// By whole stars from 1: rated at least that.
    pub ratings: [u64; STARS],
    /// By attribute, its most frequent values with their counts, in falling order of these; empty where not requested.
    pub attributes: [Vec<(u32, u64)>; Attribute::COUNT],
    /// By requested attribute and value, while counting.
    by_value: Vec<(Attribute, Vec<u64>)>,
    /// By profile, products that passed the whole filter: not yet among those above.
    passed: Vec<u32>,
    /// The same, of products that passed it but for one facet's part, for each of [`Admission::FACETS`].
    passed_but_for: [Vec<u32>; Admission::FACETS.len()],
}

impl FacetCounts {
    /// Nothing counted yet, of the products with these columns. Of the attributes only these are counted.
    #[must_use]
    pub fn new(columns: &Columns, attributes: &[Attribute]) -> Self {
        let of = |attribute: &Attribute| (*attribute, vec![0; columns.attribute(*attribute).len()]);
        Self {
            by_value: attributes.iter().map(of).collect(),
            categories: vec![0; columns.category_count()],
            passed: vec![0; columns.profiles().len()],
            ..Self::default()
        }
    }

    /// The memory that they take once settled, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let attributes = self.attributes.iter().map(|values| size_of_val(&**values));
        size_of::<Self>() + size_of_val(&*self.categories) + attributes.sum::<usize>()
    }

    /// Counts a product that passed the whole filter.
    #[inline]
    fn count_passed(&mut self, columns: &Columns, ordinal: Ordinal) {
        self.passed[columns.profile_of(ordinal)] += 1;
        self.count_attributes(columns, ordinal, Admission::PASSED);
    }

    /// Counts the values of each attribute if the product fails no filter, or only that of the attribute.
    #[inline]
    fn count_attributes(&mut self, columns: &Columns, ordinal: Ordinal, admission: Admission) {
        for (attribute, counts) in &mut self.by_value {
            if admission.passed_but_for(Admission::attribute(*attribute)) {
                columns.attribute(*attribute).of(ordinal).iter().for_each(|value| counts[*value as usize] += 1);
            }
        }
    }

    /// Counts a product that passed all of the filter or all but one part.
    fn count(&mut self, columns: &Columns, ordinal: Ordinal, admission: Admission) {
        if admission.passed() {
            return self.count_passed(columns, ordinal);
        }
        let part = Admission::FACETS.iter().position(|part| admission.passed_but_for(*part));
        if let Some(counts) = part.map(|part| &mut self.passed_but_for[part]) {
            counts.resize(columns.profiles().len(), 0);
            counts[columns.profile_of(ordinal)] += 1;
        }
        self.count_attributes(columns, ordinal, admission);
    }

    /// The counts by facet value.
    fn settled(mut self, columns: &Columns) -> Self {
        let passed = std::mem::take(&mut self.passed);
        self.add(columns, &passed, &Admission::FACETS);
        for (part, counts) in Admission::FACETS.iter().zip(std::mem::take(&mut self.passed_but_for)) {
            self.add(columns, &counts, &[*part]);
        }
        for (attribute, counts) in std::mem::take(&mut self.by_value) {
            self.attributes[attribute as usize] = most_frequent(&counts);
        }
        self
    }

    /// Adds to the values of some facets what was counted by profile.
    fn add(&mut self, columns: &Columns, counts: &[u32], facets: &[Admission]) {
        for (ordinal, count) in columns.profiles().iter().zip(counts).filter(|(_, count)| **count > 0) {
            let (at, count) = (*ordinal as usize, u64::from(*count));
            for facet in facets {
                match *facet {
                    Admission::CATEGORY => {
                        for category in columns.categories_of(*ordinal) {
                            self.categories[*category as usize] += count;
                        }
                    }
                    Admission::OFFERING_TYPE => self.offering_types[columns.offering_type[at] as usize] += count,
                    Admission::EVIDENCE_STATUS => self.evidence_statuses[columns.evidence_status[at] as usize] += count,
                    _ => self.ratings[..columns.stars_of(*ordinal)].iter_mut().for_each(|of| *of += count),
                }
            }
        }
    }
}

/// The most frequent values of an attribute, those of lower numbers first among equals.
#[must_use]
pub fn most_frequent(counts: &[u64]) -> Vec<(u32, u64)> {
    let mut counted: Vec<_> = (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect();
    counted.sort_unstable_by_key(|(value, count)| (Reverse(*count), *value));
    counted.truncate(MAX_ATTRIBUTE_VALUES);
    counted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The upper bound of the factors.
    const MAX_FACTOR: f32 = 1.07;

    /// The best candidates once each score has been multiplied by its factor; those of whole names are replaced by it.
    fn reranked(candidates: &[Candidate], factors: &[f32], wanted: usize) -> Vec<Candidate> {
        let mut reranked: Vec<_> = candidates
            .iter()
            .map(|candidate| {
                let factor = factors[candidate.ordinal as usize];
                let score = if candidate.tier == Tier::Title { factor - 1.0 } else { candidate.score * factor };
                Candidate { score, ..*candidate }
            })
            .collect();
        reranked.sort_by(|a, b| b.cmp(a));
        reranked.truncate(wanted);
        reranked
    }

    proptest! {
        #[test]
        fn candidates_out_of_reach_are_not_among_the_wanted(
            all in prop::collection::vec((0..3_usize, 1..60_u8, prop::sample::select(vec![1.0, 1.02, 1.05, MAX_FACTOR])), 0..500),
            wanted in 1..30_usize,
        ) {
            let (columns, filter) = (Columns::default(), Filter::default());
            let mut collector = Collector::new(&columns, &filter, RERANKED, None).within_reach(wanted, MAX_FACTOR);
            let mut candidates = Vec::new();
            for (ordinal, (tier, score, _)) in (0..).zip(&all) {
                // Few whole names, and scores that are close.
                let tier = [Tier::Some, Tier::All, if ordinal % 16 == 0 { Tier::Title } else { Tier::All }][*tier];
                candidates.push(Candidate { tier, score: f32::from(*score) / 20.0, ordinal });
                collector.take(candidates[ordinal as usize]);
            }
            let factors: Vec<_> = all.iter().map(|(.., factor)| *factor).collect();
            let first = {
                let mut first = candidates.clone();
                first.sort_by(|a, b| b.cmp(a));
                first.truncate(RERANKED);
                first
            };
            prop_assert_eq!(collector.total, all.len() as u64);
            let kept = collector.into_best();
            prop_assert_eq!(reranked(&kept, &factors, wanted), reranked(&first, &factors, wanted));
        }
    }

    #[test]
    fn distant_candidates_are_removed() {
        let (columns, filter) = (Columns::default(), Filter::default());
        // The best come at first, then at last.
        for best in [0..4, 96..100] {
            let mut collector = Collector::new(&columns, &filter, RERANKED, None).within_reach(2, MAX_FACTOR);
            for ordinal in 0..100 {
                let score = if best.contains(&ordinal) { 2.0 } else { 1.8 };
                collector.take(Candidate { tier: Tier::All, score, ordinal });
            }
            let least = collector.threshold().expect("there are enough");
            assert!((1.6..2.0).contains(&least), "{least}");
            assert_eq!(collector.total, 100);
            let kept: Vec<_> = collector.into_best().iter().map(|candidate| candidate.ordinal).collect();
            assert_eq!(kept, best.collect::<Vec<_>>());
        }
    }
}
