//! A search's candidates and their order.

use crate::catalogue::{MAX_ORDINAL, Ordinal};
use crate::record::MAX_PINNED;

/// The hard tiers of the ranking, worst first. A demo record ranks below every real product that
/// matches as many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    RelatedDemo,
    /// The product has none of the query's words but is close to its meaning.
    Related,
    SomeDemo,
    /// The product has some of the query's words.
    Some,
    Demo,
    /// The product has all of the query's words.
    All,
    /// The curator pinned the product to the query.
    Pinned,
    /// The query is the product's full name or an alias.
    ExactName,
}

impl Tier {
    /// The tier for demo records that match as well as this tier's real products.
    #[must_use]
    pub const fn demo(self) -> Self {
        match self {
            Self::RelatedDemo | Self::Related => Self::RelatedDemo,
            Self::SomeDemo | Self::Some => Self::SomeDemo,
            Self::Demo | Self::All | Self::Pinned | Self::ExactName => Self::Demo,
        }
    }

    /// The tier of a product that [has all the words by accident](is_accidental).
    #[must_use]
    pub const fn accidental(self) -> Self {
        match self {
            Self::All => Self::Some,
            Self::Demo => Self::SomeDemo,
            other => other,
        }
    }

    pub const fn is_demo(self) -> bool {
        matches!(self, Self::RelatedDemo | Self::SomeDemo | Self::Demo)
    }

    pub const fn is_related(self) -> bool {
        matches!(self, Self::RelatedDemo | Self::Related)
    }

    /// The tier's number in response scores: 5 for exact names, 0 for demo records with some of the
    /// words, negative for related products.
    pub const fn number(self) -> i8 {
        self as i8 - Self::SomeDemo as i8
    }
}

/// Whether a product with all the words has them only by accident. `best` is the best word score
/// among real products with all the words, not counting exact names and pinned products. If
/// products with only some of the words are also found, an accidental match counts as one of them.
pub fn is_accidental(score: f32, best: f32) -> bool {
    /// The limit, as a share of the best score. With a limit of one half, multi-word queries on
    /// the bundled directory would get worse results.
    const LEAST: f32 = 0.3;
    score < LEAST * best
}

/// A pinned product's score, given its position among the products pinned to the query.
pub fn pinned_score(place: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "there are few positions")]
    let score = MAX_PINNED.saturating_sub(place) as f32;
    score
}

/// Greater is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub tier: Tier,
    /// Score within the tier; never negative.
    pub score: f32,
    /// On a tie, the lower ordinal wins, because lower ordinals mean better quality.
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
    /// A sort key with the same order as candidates: 3 bits for the tier, 31 for the score (the
    /// bits of non-negative floats sort like their values) and 30 for the inverted ordinal.
    #[inline]
    pub(super) fn key(&self) -> u64 {
        let rest = MAX_ORDINAL.saturating_sub(self.ordinal);
        (self.tier as u64) << 61 | u64::from(self.score.to_bits() & (u32::MAX >> 1)) << 30 | u64::from(rest)
    }
}
