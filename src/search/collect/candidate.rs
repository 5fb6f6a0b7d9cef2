//! Candidates of a search, in the order of the ranking.

use crate::catalogue::{MAX_ORDINAL, Ordinal};

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
    /// The query is its whole name or an alias.
    ExactName,
}

impl Tier {
    /// The tier of a demo record that would have this one if it were real.
    #[must_use]
    pub const fn demo(self) -> Self {
        match self {
            Self::SomeDemo | Self::Some => Self::SomeDemo,
            Self::Demo | Self::All | Self::ExactName => Self::Demo,
        }
    }

    /// Whether it is one of demo records.
    pub const fn is_demo(self) -> bool {
        matches!(self, Self::SomeDemo | Self::Demo)
    }
}

/// A candidate; the greater is the better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
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
    #[inline]
    pub(super) fn key(&self) -> u64 {
        let rest = MAX_ORDINAL.saturating_sub(self.ordinal);
        (self.tier as u64) << 61 | u64::from(self.score.to_bits() & (u32::MAX >> 1)) << 30 | u64::from(rest)
    }
}
