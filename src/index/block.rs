//! Blocks of documents. A search proceeds block by block, so that a block's scores stay in the L1
//! cache.

use tantivy::DocId;

use crate::search::collect::{BITS, Pruned, ones};

/// The number of documents per block, which is a power of two.
pub(super) const BLOCK_LEN: usize = 4096;

pub(super) const fn block_of(document: DocId) -> usize {
    document as usize / BLOCK_LEN
}

#[inline]
pub(super) const fn offset(document: DocId) -> usize {
    document as usize % BLOCK_LEN
}

#[expect(clippy::cast_possible_truncation, reason = "at most the number of documents")]
pub(super) const fn block_start(block: usize) -> DocId {
    (block * BLOCK_LEN) as DocId
}

/// The document at an offset in the block that begins at `start`.
#[expect(clippy::cast_possible_truncation, reason = "below the width")]
pub(super) const fn document(start: DocId, at: usize) -> DocId {
    start + at as DocId
}

/// A set of documents in a block, by offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bitset([u64; Self::WORDS]);

impl Bitset {
    pub(super) const WORDS: usize = BLOCK_LEN / BITS;

    pub(super) const NONE: Self = Self([0; Self::WORDS]);

    /// The block's first documents.
    pub(super) fn first(documents: usize) -> Self {
        Self(std::array::from_fn(|word| match documents.saturating_sub(word * BITS) {
            0 => 0,
            rest if rest < BITS => (1 << rest) - 1,
            _ => u64::MAX,
        }))
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    pub(super) const fn words(&self) -> [u64; Self::WORDS] {
        self.0
    }

    /// The number of documents before `at` in the same bitmap word.
    #[inline]
    pub(super) const fn before(&self, at: usize) -> u32 {
        (self.0[at / BITS % Self::WORDS] & ((1 << (at % BITS)) - 1)).count_ones()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Using a fold avoids a branch per word.
        self.0.iter().fold(0, |all, bits| all | bits) == 0
    }

    #[inline]
    pub(super) const fn has(&self, at: usize) -> bool {
        self.0[at / BITS % Self::WORDS] & (1 << (at % BITS)) != 0
    }

    #[inline]
    pub(super) const fn add(&mut self, at: usize) {
        self.0[at / BITS % Self::WORDS] |= 1 << (at % BITS);
    }

    #[inline]
    pub(super) const fn remove(&mut self, at: usize) {
        self.0[at / BITS % Self::WORDS] &= !(1 << (at % BITS));
    }

    #[inline]
    pub(super) fn unite(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits |= other;
        }
    }

    #[inline]
    pub(super) fn subtract(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= !other;
        }
    }

    #[inline]
    pub(super) fn intersect(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= other;
        }
    }

    /// In ascending order.
    #[inline]
    pub(super) fn offsets(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.0)
    }

    /// The set as pruned documents in the block that begins at `start`.
    pub(super) const fn pruned(&self, start: DocId) -> Pruned<'_> {
        Pruned { first: start, bits: &self.0 }
    }
}

pub(super) struct BlockScores {
    /// The documents that satisfy the group. Documents that weren't candidates may be missing.
    pub(super) members: Bitset,
    /// The documents that have a score, which may not be their highest yet.
    pub(super) scored: Bitset,
    /// For each offset, the highest score so far; 0 if there's none.
    scores: Box<[f32; BLOCK_LEN]>,
}

impl Default for BlockScores {
    fn default() -> Self {
        Self { members: Bitset::NONE, scored: Bitset::NONE, scores: Box::new([0.0; BLOCK_LEN]) }
    }
}

impl BlockScores {
    pub(super) fn clear(&mut self) {
        self.members = Bitset::NONE;
        if self.scored.is_empty() {
            return;
        }
        for (scores, scored) in self.scores.chunks_exact_mut(BITS).zip(self.scored.0) {
            if scored != 0 {
                scores.fill(0.0);
            }
        }
        self.scored = Bitset::NONE;
    }

    #[inline]
    pub(super) fn of(&self, at: usize) -> f32 {
        self.scores[at % BLOCK_LEN]
    }

    /// Raises the score at an offset to `score` if it's lower.
    #[inline]
    pub(super) fn raise(&mut self, at: usize, score: f32) {
        self.scored.add(at);
        let best = &mut self.scores[at % BLOCK_LEN];
        *best = best.max(score);
    }
}
