//! How a document fares in a search.

use super::{EngineError, SearchRequest};
use crate::catalogue::{Admission, Ordinal};
use crate::search::rerank::Shares;

/// An engine that explains its scores.
pub trait Explain {
    /// Explains how a document fares in a search, whether or not the search finds it. The scores
    /// are from before reranking.
    fn explain(&self, request: &SearchRequest<'_>, ordinal: Ordinal) -> Result<Explanation, EngineError>;
}

/// How a document fares in each part of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// For each group, the highest-scoring alternative; `None` if the document doesn't match any.
    pub groups: Vec<Option<Satisfied>>,
    /// The plan indices of the excluded terms that the document contains.
    pub excluded: Vec<usize>,
    pub has_excluded_phrase: bool,
    /// The plan indices of the phrases that the document doesn't contain.
    pub lacking: Vec<usize>,
    /// The reranking signals; zero if the plan has none.
    pub signals: Shares,
    /// Which parts of the filter the document fails.
    pub admission: Admission,
}

/// The alternative in a group that scores highest for a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Satisfied {
    /// The alternative's index in the group.
    pub alternative: usize,
    /// The document's score for the group.
    pub score: f32,
    /// How much each section contributes to the score: names, short fields, long fields and
    /// category descriptions. The shares add up to 1.
    pub shares: [f32; 4],
}

impl Explanation {
    /// The document's score before reranking: the sum over the groups.
    pub fn score(&self) -> f32 {
        self.groups.iter().flatten().map(|group| group.score).fold(0.0, |sum, score| sum + score)
    }
}
