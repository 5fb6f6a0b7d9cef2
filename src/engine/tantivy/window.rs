//! A stretch of documents with their scores: a visit goes through the documents window by window, so that what it needs at
//! a time stays in the processor's nearest cache.

use ::tantivy::DocId;

use crate::engine::{BITS, Passed, positions};

/// How many documents a window holds. A power of two.
pub(super) const WIDTH: usize = 4096;

/// More documents than this are cleared all at once.
const MANY: u32 = width() / 8;

/// A set of documents in a window, each with its score so far and the number of groups that it satisfies.
pub(super) struct Window {
    start: DocId,
    bits: [u64; WIDTH / BITS],
    /// Documents that only count: they are found, but nothing else of them matters.
    others: [u64; WIDTH / BITS],
    /// 0 for a document that isn't in the set.
    scores: Box<[f32; WIDTH]>,
    satisfied: Box<[u8; WIDTH]>,
}

impl Window {
    /// An empty window.
    pub(super) fn new() -> Self {
        Self {
            start: 0,
            bits: [0; WIDTH / BITS],
            others: [0; WIDTH / BITS],
            scores: Box::new([0.0; WIDTH]),
            satisfied: Box::new([0; WIDTH]),
        }
    }

    /// Empties it and moves it to where a document lies.
    pub(super) fn move_to(&mut self, document: DocId) {
        if self.count() > MANY {
            self.scores.fill(0.0);
            self.satisfied.fill(0);
        } else {
            for at in positions(&self.bits) {
                self.scores[at % WIDTH] = 0.0;
                self.satisfied[at % WIDTH] = 0;
            }
        }
        self.bits.fill(0);
        self.others.fill(0);
        self.start = document - document % width();
    }

    /// Its first document.
    pub(super) const fn start(&self) -> DocId {
        self.start
    }

    /// The document behind its last.
    pub(super) const fn end(&self) -> DocId {
        self.start.saturating_add(width())
    }

    /// How many documents are in the set, those that only count left out.
    pub(super) fn count(&self) -> u32 {
        self.bits.iter().map(|bits| bits.count_ones()).sum()
    }

    /// All documents that are found, those that only count included.
    pub(super) fn all(&self) -> Documents {
        Documents { start: self.start, bits: std::array::from_fn(|at| self.bits[at] | self.others[at]) }
    }

    /// Whether a document of this window is in the set.
    #[inline]
    pub(super) fn has(&self, document: DocId) -> bool {
        let at = self.place(document);
        self.bits[at / BITS] & (1 << (at % BITS)) != 0
    }

    /// Notes a document of this window that only counts.
    #[inline]
    pub(super) fn note(&mut self, document: DocId) {
        let at = self.place(document);
        self.others[at / BITS] |= 1 << (at % BITS);
    }

    /// Adds a document of this window, or a better score to it.
    #[inline]
    pub(super) fn raise(&mut self, document: DocId, score: f32) {
        let at = self.place(document);
        self.bits[at / BITS] |= 1 << (at % BITS);
        let best = &mut self.scores[at];
        *best = best.max(score);
    }

    /// Adds a document of this window, or to its score, as one that satisfies one more group.
    #[inline]
    pub(super) fn add(&mut self, document: DocId, score: f32) {
        let at = self.place(document);
        self.bits[at / BITS] |= 1 << (at % BITS);
        self.scores[at] += score;
        self.satisfied[at] = self.satisfied[at].saturating_add(1);
    }

    /// Adds to the score of a document of this set, and nothing else.
    #[inline]
    pub(super) fn reward(&mut self, document: DocId, score: f32) {
        let at = self.place(document);
        self.scores[at] += score;
    }

    /// Takes a document of this window out.
    #[inline]
    pub(super) fn remove(&mut self, document: DocId) {
        let at = self.place(document);
        self.bits[at / BITS] &= !(1 << (at % BITS));
        self.others[at / BITS] &= !(1 << (at % BITS));
        self.scores[at] = 0.0;
        self.satisfied[at] = 0;
    }

    /// Adds the first documents of the window, without a score.
    pub(super) fn add_first(&mut self, documents: usize) {
        for document in (self.start..).take(documents.min(WIDTH)) {
            self.raise(document, 0.0);
        }
    }

    /// Adds all documents of another window at the same place.
    pub(super) fn unite(&mut self, other: &Self) {
        for (document, score) in other.documents() {
            self.add(document, score);
        }
    }

    /// Keeps the documents that another window at the same place has too, adding their scores.
    pub(super) fn intersect(&mut self, other: &Self) {
        for word in 0..self.bits.len() {
            let mut lost = self.bits[word] & !other.bits[word];
            self.bits[word] &= other.bits[word];
            while lost != 0 {
                let at = word * BITS + lost.trailing_zeros() as usize;
                self.scores[at % WIDTH] = 0.0;
                self.satisfied[at % WIDTH] = 0;
                lost &= lost - 1;
            }
        }
        for at in positions(&self.bits) {
            self.scores[at % WIDTH] += other.scores[at % WIDTH];
        }
    }

    /// Adds the scores of another window at the same place to the documents that both have.
    pub(super) fn reward_common(&mut self, other: &Self) {
        for at in positions(&self.bits) {
            self.scores[at % WIDTH] += other.scores[at % WIDTH];
        }
    }

    /// The documents with their scores, in rising order.
    pub(super) fn documents(&self) -> impl Iterator<Item = (DocId, f32)> + '_ {
        positions(&self.bits).map(|at| (self.document(at), self.scores[at % WIDTH]))
    }

    /// The documents with their scores and the number of groups that each satisfies, in rising order.
    pub(super) fn counted(&self) -> impl Iterator<Item = (DocId, f32, u8)> + '_ {
        positions(&self.bits).map(|at| (self.document(at), self.scores[at % WIDTH], self.satisfied[at % WIDTH]))
    }

    fn place(&self, document: DocId) -> usize {
        place(self.start, document)
    }

    #[expect(clippy::cast_possible_truncation, reason = "below the width")]
    const fn document(&self, at: usize) -> DocId {
        self.start + at as u32
    }
}

/// Where a document of the window that starts so stands in it.
#[inline]
const fn place(start: DocId, document: DocId) -> usize {
    document.wrapping_sub(start) as usize % WIDTH
}

/// Some documents of a window.
pub(super) struct Documents {
    start: DocId,
    bits: [u64; WIDTH / BITS],
}

impl Documents {
    /// Takes one of them out.
    #[inline]
    pub(super) fn remove(&mut self, document: DocId) {
        let at = place(self.start, document);
        self.bits[at / BITS] &= !(1 << (at % BITS));
    }

    /// Those that are left, as ones that are passed over.
    pub(super) fn passed(&self) -> Passed<'_> {
        Passed { first: self.start, bits: &self.bits }
    }
}

/// The width, as documents are counted.
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
const fn width() -> DocId {
    WIDTH as DocId
}
