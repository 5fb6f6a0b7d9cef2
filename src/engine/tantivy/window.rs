//! A stretch of documents: a visit goes through the documents window by window, so that what it needs at a time stays in the
//! processor's nearest cache.

use ::tantivy::DocId;

use crate::search::collect::{BITS, Pruned, ones};

/// How many documents a window holds. A power of two.
pub(super) const WIDTH: usize = 4096;

/// The words of a window's set.
const WORDS: usize = WIDTH / BITS;

/// Which window a document is in.
pub(super) const fn window_of(document: DocId) -> usize {
    document as usize / WIDTH
}

/// Where a document stands in its window.
#[inline]
pub(super) const fn place(document: DocId) -> usize {
    document as usize % WIDTH
}

/// The first document of a window.
#[expect(clippy::cast_possible_truncation, reason = "no more than there are documents")]
pub(super) const fn first_of(window: usize) -> DocId {
    (window * WIDTH) as DocId
}

/// The document at a place of a window that begins with another one.
#[expect(clippy::cast_possible_truncation, reason = "below the width")]
pub(super) const fn document(start: DocId, at: usize) -> DocId {
    start + at as DocId
}

/// A set of documents of a window, a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bits([u64; WORDS]);

impl Bits {
    /// None.
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// The first so many.
    pub(super) fn first(documents: usize) -> Self {
        Self(std::array::from_fn(|word| match documents.saturating_sub(word * BITS) {
            0 => 0,
            rest if rest < BITS => (1 << rest) - 1,
            _ => u64::MAX,
        }))
    }

    /// Takes out those before a place.
    pub(super) fn take_until(&mut self, end: usize) -> Self {
        let mut taken = *self;
        let first = Self::first(end.min(WIDTH));
        taken.intersect(&first);
        for (bits, taken) in self.0.iter_mut().zip(taken.0) {
            *bits &= !taken;
        }
        taken
    }

    /// The place behind the last one.
    pub(super) fn end(&self) -> usize {
        let last = self.0.iter().rposition(|bits| *bits != 0);
        last.map_or(0, |word| (word + 1) * BITS - self.0[word].leading_zeros() as usize)
    }

    /// How many there are.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Without a branch for each, which takes longer than all of them.
        self.0.iter().fold(0, |all, bits| all | bits) == 0
    }

    /// Whether the one at a place is there.
    #[inline]
    pub(super) const fn has(&self, at: usize) -> bool {
        self.0[at / BITS % WORDS] & (1 << (at % BITS)) != 0
    }

    /// Adds the one at a place.
    #[inline]
    pub(super) const fn add(&mut self, at: usize) {
        self.0[at / BITS % WORDS] |= 1 << (at % BITS);
    }

    /// Takes out the one at a place.
    #[inline]
    pub(super) const fn remove(&mut self, at: usize) {
        self.0[at / BITS % WORDS] &= !(1 << (at % BITS));
    }

    /// Adds those of another set.
    #[inline]
    pub(super) fn unite(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits |= other;
        }
    }

    /// Adds those that two other sets have in common.
    #[inline]
    pub(super) fn unite_common(&mut self, one: &Self, other: &Self) {
        for ((bits, one), other) in self.0.iter_mut().zip(one.0).zip(other.0) {
            *bits |= one & other;
        }
    }

    /// Takes out those of another set.
    #[inline]
    pub(super) fn subtract(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= !other;
        }
    }

    /// Leaves only those of another set too.
    #[inline]
    pub(super) fn intersect(&mut self, other: &Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= other;
        }
    }

    /// Their places, in rising order.
    #[inline]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.0)
    }

    /// These, of a window that begins with a document, as ones that were pruned.
    pub(super) const fn pruned(&self, start: DocId) -> Pruned<'_> {
        Pruned { first: start, bits: &self.0 }
    }
}

/// What a group has in a window.
pub(super) struct Scores {
    /// Its documents. Where only some matter, others of them may be missing.
    pub(super) members: Bits,
    /// Those of which a score was found. It may not be their best.
    pub(super) scored: Bits,
    /// Above 0 for those, 0 for all others.
    best: Box<[f32; WIDTH]>,
}

impl Default for Scores {
    fn default() -> Self {
        Self { members: Bits::NONE, scored: Bits::NONE, best: Box::new([0.0; WIDTH]) }
    }
}

impl Scores {
    /// Leaves nothing.
    pub(super) fn clear(&mut self) {
        self.members = Bits::NONE;
        if self.scored.is_empty() {
            return;
        }
        for (scores, scored) in self.best.chunks_exact_mut(BITS).zip(self.scored.0) {
            if scored != 0 {
                scores.fill(0.0);
            }
        }
        self.scored = Bits::NONE;
    }

    /// The best score found of the document at a place.
    #[inline]
    pub(super) fn of(&self, at: usize) -> f32 {
        self.best[at % WIDTH]
    }

    /// What the document at a place scores at most, if what wasn't read gives it no more than that.
    #[inline]
    pub(super) fn at_most(&self, at: usize, unread: f32) -> f32 {
        if self.members.has(at) { self.of(at).max(unread) } else { 0.0 }
    }

    /// Notes a score of the document at a place.
    #[inline]
    pub(super) fn raise(&mut self, at: usize, score: f32) {
        self.scored.add(at);
        let best = &mut self.best[at % WIDTH];
        *best = best.max(score);
    }
}
