//! How a document fares in a search.

use super::{EngineError, SearchRequest};
use crate::catalogue::{Admission, Ordinal};
use crate::search::rerank::Shares;

/// An engine that explains its scores.
pub trait Explain {
    /// Explains how a document fares in a search, whether or not it's found. The scores are from
    /// before reranking.
    fn explain(&self, request: &SearchRequest<'_>, ordinal: Ordinal) -> Result<Explanation, EngineError>;
}

/// How a document fares in each part of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// For each group, the alternative that counts; `None` if the document satisfies none.
    pub groups: Vec<Option<Satisfied>>,
    /// The plan indices of the excluded terms that the document contains.
    pub excluded: Vec<usize>,
    pub has_excluded_phrase: bool,
    /// The plan indices of the phrases that the document lacks.
    pub lacking: Vec<usize>,
    /// The reranking signals; zero if the plan has none.
    pub signals: Shares,
    /// The parts of the filter that the document fails.
    pub admission: Admission,
}

/// A group's alternative with the highest score in a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Satisfied {
    /// The alternative's index in the group.
    pub alternative: usize,
    /// The document's score for the group.
    pub score: f32,
    /// How much each section contributes: names, short fields, long fields, category descriptions.
    /// The shares add up to 1.
    pub shares: [f32; 4],
}

impl Explanation {
    /// The document's score before reranking: the sum over the groups.
    pub fn score(&self) -> f32 {
        self.groups.iter().flatten().map(|group| group.score).fold(0.0, |sum, score| sum + score)
    }
}
