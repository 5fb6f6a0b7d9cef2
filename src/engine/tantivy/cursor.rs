//! Cursors over the documents that satisfy one group of a plan.

use ::tantivy::postings::{Postings as _, SegmentPostings};
use ::tantivy::{DocId, DocSet as _, TERMINATED};

use super::TantivyEngine;
use crate::engine::EngineError;
use crate::search::Group;
use crate::search::score::Scorer;

/// More alternatives than this are gathered into one list before the visit instead of being merged during it.
const MERGED_AT_MOST: usize = 8;

/// What the score of one word is at most, beside its `idf`. The same for all words, so it orders nothing.
const SCALE: f32 = 2.2;

/// The documents of one group in rising order, each with its score for the group.
pub(super) struct GroupCursor<'e> {
    scorer: &'e Scorer,
    /// `idf * SCALE`.
    worth: f32,
    source: Source,
    /// How many documents at most.
    pub(super) cost: u32,
    pub(super) required: bool,
}

enum Source {
    /// One posting list and its weight.
    One(Box<SegmentPostings>, f32),
    /// A few, merged as they go.
    Few { lists: Vec<(SegmentPostings, f32)>, at: DocId },
    /// Many, gathered: documents with the best of `weight * worth`.
    Gathered { documents: Vec<(DocId, f32)>, at: usize },
}

impl<'e> GroupCursor<'e> {
    /// A cursor at the group's first document.
    pub(super) fn open(engine: &'e TantivyEngine, group: &Group) -> Result<Self, EngineError> {
        let mut lists = Vec::with_capacity(group.alternatives.len());
        for alternative in &group.alternatives {
            if let Some(postings) = engine.postings(&alternative.term)? {
                lists.push((postings, alternative.weight));
            }
        }
        let scorer = &engine.scorer;
        let frequency = lists.iter().map(|(postings, _)| postings.doc_freq()).max().unwrap_or(0);
        let cost = lists.iter().map(|(postings, _)| postings.doc_freq()).fold(0, u32::saturating_add);
        let worth = inverse_document_frequency(frequency, scorer.documents()) * SCALE;
        let source = if lists.len() > MERGED_AT_MOST {
            Source::Gathered { documents: gather(lists, scorer), at: 0 }
        } else if let Some((postings, weight)) = lists.pop_if(|_| cost == frequency && cost > 0) {
            // All others are empty, or this is the only one.
            Source::One(Box::new(postings), weight)
        } else {
            let at = lists.iter().map(|(postings, _)| postings.doc()).min().unwrap_or(TERMINATED);
            Source::Few { lists, at }
        };
        Ok(Self { scorer, worth, source, cost, required: group.required })
    }

    /// The document it is at; [`TERMINATED`] behind the last.
    pub(super) fn document(&self) -> DocId {
        match &self.source {
            Source::One(postings, _) => postings.doc(),
            Source::Few { at, .. } => *at,
            Source::Gathered { documents, at } => documents.get(*at).map_or(TERMINATED, |(document, _)| *document),
        }
    }

    /// Goes to the first document that isn't before `target`.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        match &mut self.source {
            Source::One(postings, _) => {
                if postings.doc() < target {
                    postings.seek(target);
                }
            }
            Source::Few { lists, at } => {
                if *at < target {
                    *at = TERMINATED;
                    for (postings, _) in lists {
                        if postings.doc() < target {
                            postings.seek(target);
                        }
                        *at = postings.doc().min(*at);
                    }
                }
            }
            Source::Gathered { documents, at } => {
                *at += documents[*at..].partition_point(|(document, _)| *document < target);
            }
        }
        self.document()
    }

    /// The score of the document it is at.
    pub(super) fn score(&mut self) -> f32 {
        let saturated = match &mut self.source {
            Source::One(postings, weight) => saturate(postings, *weight, self.scorer),
            Source::Few { lists, at } => lists
                .iter()
                .filter(|(postings, _)| postings.doc() == *at)
                .map(|(postings, weight)| saturate(postings, *weight, self.scorer))
                .fold(0.0, f32::max),
            Source::Gathered { documents, at } => documents.get(*at).map_or(0.0, |(_, saturated)| *saturated),
        };
        self.worth * saturated
    }
}

/// What the document a posting list is at is worth by it.
fn saturate(postings: &SegmentPostings, weight: f32, scorer: &Scorer) -> f32 {
    weight * scorer.worth(postings.term_freq(), postings.doc())
}

/// The probabilistic inverse document frequency of BM25, `ln(1 + (N - n + 0.5) / (n + 0.5))`.
fn inverse_document_frequency(frequency: u32, documents: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (n, all) = (frequency as f32, documents as f32);
    (1.0 + (all - n + 0.5).max(0.5) / (n + 0.5)).ln()
}

/// All documents of many lists, each with its best score.
fn gather(lists: Vec<(SegmentPostings, f32)>, scorer: &Scorer) -> Vec<(DocId, f32)> {
    let mut documents = Vec::new();
    for (mut postings, weight) in lists {
        while postings.doc() != TERMINATED {
            documents.push((postings.doc(), saturate(&postings, weight, scorer)));
            postings.advance();
        }
    }
    documents.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    documents.dedup_by_key(|(document, _)| *document);
    documents
}
