//! Explains a document's score, using the same weights and scores as a walk.

use tantivy::DocSet as _;
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;

use super::{Index, IndexError, SearchRequest};
use crate::catalogue::{Admission, Filter, Ordinal};
use crate::search::forward::has_words;
use crate::search::rerank::Shares;
use crate::search::score::group_weight;
use crate::search::{Phrase, Term, WordGroup};

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
    /// Whether the document is last in its tier, whatever its score.
    pub is_last: bool,
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

impl Index {
    /// Explains how a document fares in a search, whether or not the search finds it. The scores are
    /// from before reranking.
    pub fn explain(&self, request: &SearchRequest<'_>, ordinal: Ordinal) -> Result<Explanation, IndexError> {
        let plan = request.plan;
        let groups = plan.groups.iter().map(|group| best(self, group, ordinal)).collect::<Result<_, _>>()?;
        let mut excluded = Vec::new();
        for (at, term) in plan.excluded.iter().enumerate() {
            if packed(self, term, ordinal)?.is_some() {
                excluded.push(at);
            }
        }
        let mut is_last = false;
        for term in &plan.last {
            is_last |= packed(self, term, ordinal)?.is_some();
        }
        let has = |phrase: &Phrase| has_words(&self.forward, ordinal, phrase);
        let lacks = |at: &usize| !has(&plan.phrases[*at]);
        let filter = Filter::resolve(request.filter, &self.catalogue, &self.records);
        Ok(Explanation {
            groups,
            excluded,
            has_excluded_phrase: plan.excluded_phrases.iter().any(has),
            lacking: (0..plan.phrases.len()).filter(lacks).collect(),
            is_last,
            signals: plan.signals.shares(&self.forward, &self.meanings, ordinal),
            admission: filter.admit(&self.records.columns, ordinal),
        })
    }
}

/// The alternative in a group that scores highest for a document.
fn best(index: &Index, group: &WordGroup, ordinal: Ordinal) -> Result<Option<Satisfied>, IndexError> {
    let mut frequency = 0;
    for alternative in &group.alternatives {
        frequency = index.find(&alternative.term)?.map_or(0, |term| term.doc_freq).max(frequency);
    }
    let group_weight = group_weight(frequency, index.scorer.documents());
    let mut best: Option<Satisfied> = None;
    for (at, alternative) in group.alternatives.iter().enumerate() {
        let Some(packed) = packed(index, &alternative.term, ordinal)? else { continue };
        let score = group_weight * alternative.weight * index.scorer.score(packed, ordinal);
        if best.is_none_or(|best| score > best.score) {
            best = Some(Satisfied { alternative: at, score, shares: index.scorer.shares(packed, ordinal) });
        }
    }
    Ok(best)
}

/// A term's packed frequency in a document, if it occurs there.
fn packed(index: &Index, term: &Term, ordinal: Ordinal) -> Result<Option<u32>, IndexError> {
    let Some(term) = index.find(term)? else { return Ok(None) };
    let postings = index.postings.read_postings_from_terminfo(&term, IndexRecordOption::WithFreqs);
    let mut postings = postings.map_err(IndexError::index("read"))?;
    if postings.doc() < ordinal {
        postings.seek(ordinal);
    }
    Ok((postings.doc() == ordinal).then(|| postings.term_freq()))
}
