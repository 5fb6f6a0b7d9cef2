//! Carries a search plan out. A small trait, and `tantivy`, the engine behind it.
//!
//! An engine knows documents by ordinal and terms by their text; it knows no record, no filter and no ranking beyond the
//! BM25F score that the plan spells out, so two engines agree by construction.

mod tantivy;

pub use tantivy::{TantivyBuilder, TantivyEngine};

use bytes::Bytes;

use crate::catalogue::Ordinal;
use crate::search::budget::Budget;
use crate::search::{Plan, Term};

/// The files an engine keeps: name and content.
pub type EngineFiles = Vec<(String, Bytes)>;

/// An index that plans can be carried out on.
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// In how many documents a term occurs.
    ///
    /// # Errors
    /// Where the index can't be read.
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError>;

    /// Visits every document that satisfies all required groups of the plan, in the order of ordinals, some at a time. Where
    /// [that isn't enough](Visitor::is_enough), every document that satisfies any of them is visited after that, from the
    /// first. Documents without an indispensable group are never visited. Without a required group all are taken for such, and
    /// without any group every document is found.
    ///
    /// Stops where the budget is spent; which documents are visited by then doesn't depend on [`least`](Visitor::least).
    ///
    /// # Errors
    /// Where the index can't be read.
    fn visit(&self, plan: &Plan, visitor: &mut dyn Visitor, budget: &Budget) -> Result<(), EngineError>;
}

/// Who is told what a plan finds.
pub trait Visitor {
    /// Whether documents have to be [admitted](Self::admits) before they are scored.
    fn is_selective(&self) -> bool {
        false
    }

    /// Whether a document that the plan finds is found; asked once in each pass, in rising order.
    fn admits(&mut self, _ordinal: Ordinal) -> bool {
        true
    }

    /// The next documents.
    fn visit(&mut self, found: &[Match]);

    /// Documents that were found and left out of what is visited, because of [`least`](Self::least).
    fn pass(&mut self, over: Passed<'_>);

    /// The score below which a document matters no more than by being there; `None`: every document has to be told. Asked
    /// now and then.
    fn least(&self) -> Option<f32>;

    /// Whether what was visited is enough, after the documents that satisfy every required group. If it isn't, those that
    /// satisfy any come next, these ones among them.
    fn is_enough(&mut self) -> bool {
        true
    }
}

/// A document that a plan found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Which.
    pub ordinal: Ordinal,
    /// Its BM25F score.
    pub score: f32,
}

/// Documents that matter no more than by being there.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'w> {
    /// What the lowest bit of the first word stands for.
    first: Ordinal,
    /// A bit per document.
    bits: &'w [u64],
}

impl Passed<'_> {
    /// How many they are.
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

    /// Which, in rising order.
    pub fn ordinals(&self) -> impl Iterator<Item = Ordinal> + '_ {
        #[expect(clippy::cast_possible_truncation, reason = "no more than there are documents")]
        positions(self.bits).map(|at| self.first + at as Ordinal)
    }
}

/// Bits per word of a set.
const BITS: usize = u64::BITS as usize;

/// The places of all bits that are set, in rising order.
#[inline]
fn positions(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
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

/// Why an engine can't do its work.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The index can't be built, opened or read.
    #[error("the search index can't be {doing}")]
    Index {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The index isn't one segment with the expected number of documents.
    #[error("the search index holds {found} documents in place of {expected}")]
    Misfit {
        /// Documents found.
        found: usize,
        /// Documents expected.
        expected: usize,
    },
}

impl EngineError {
    fn index<E: Into<Box<dyn std::error::Error + Send + Sync>>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Index { doing, source: source.into() }
    }
}
