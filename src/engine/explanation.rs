//! How a document stands to a search.

use super::{EngineError, SearchRequest};
use crate::catalogue::{Admission, Ordinal};
use crate::search::rerank::Shares;

/// An engine that explains its scores.
pub trait Explain {
    /// Explains how a document stands to a search, found or not. The scores are those before the rerank.
    fn explain(&self, request: &SearchRequest<'_>, ordinal: Ordinal) -> Result<Explanation, EngineError>;
}

/// How a document stands to each part of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// By group: the alternative that counts, `None` where the document satisfies none.
    pub groups: Vec<Option<Satisfied>>,
    /// The excluded terms that it has, as indices in the plan.
    pub excluded: Vec<usize>,
    pub has_excluded_phrase: bool,
    /// The phrases that it lacks, as indices in the plan.
    pub lacking: Vec<usize>,
    /// The signals of the rerank; zero where the plan has none.
    pub signals: Shares,
    /// The parts of the filter that it fails.
    pub admission: Admission,
}

/// The alternative with the highest score of a group in a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Satisfied {
    /// The alternative, as an index in the group.
    pub alternative: usize,
    /// The document's score for the group.
    pub score: f32,
    /// The shares of the sections in it: names, short fields, long ones, descriptions of categories; their sum is 1.
    pub shares: [f32; 4],
}

impl Explanation {
    /// The document's score before the rerank: the sum over the groups.
    pub fn score(&self) -> f32 {
        self.groups.iter().flatten().map(|group| group.score).fold(0.0, |sum, score| sum + score)
    }
}
