//! Explains a document's score, using the same weights and scores as a walk.

use ::tantivy::DocSet as _;
use ::tantivy::postings::Postings as _;
use ::tantivy::schema::IndexRecordOption;

use super::TantivyEngine;
use crate::catalogue::{Filter, Ordinal};
use crate::engine::{EngineError, Explain, Explanation, Satisfied, SearchRequest};
use crate::search::phrase::has_words;
use crate::search::score::group_weight;
use crate::search::{Group, Phrase, Term};

impl Explain for TantivyEngine {
    fn explain(&self, request: &SearchRequest<'_>, ordinal: Ordinal) -> Result<Explanation, EngineError> {
        let plan = request.plan;
        let groups = plan.groups.iter().map(|group| best(self, group, ordinal)).collect::<Result<_, _>>()?;
        let mut excluded = Vec::new();
        for (at, term) in plan.excluded.iter().enumerate() {
            if packed(self, term, ordinal)?.is_some() {
                excluded.push(at);
            }
        }
        let has = |phrase: &Phrase| has_words(&self.forward, ordinal, phrase);
        let lacks = |at: &usize| !has(&plan.phrases[*at]);
        let filter = Filter::resolve(request.filter, &self.catalogue, &self.records);
        Ok(Explanation {
            groups,
            excluded,
            has_excluded_phrase: plan.excluded_phrases.iter().any(has),
            lacking: (0..plan.phrases.len()).filter(lacks).collect(),
            signals: plan.rerank.shares(&self.forward, &self.meanings, ordinal),
            admission: filter.admit(&self.records.columns, ordinal),
        })
    }
}

/// The alternative in a group that scores highest for a document.
fn best(engine: &TantivyEngine, group: &Group, ordinal: Ordinal) -> Result<Option<Satisfied>, EngineError> {
    let mut frequency = 0;
    for alternative in &group.alternatives {
        frequency = engine.find(&alternative.term)?.map_or(0, |term| term.doc_freq).max(frequency);
    }
    let group_weight = group_weight(frequency, engine.scorer.documents());
    let mut best: Option<Satisfied> = None;
    for (at, alternative) in group.alternatives.iter().enumerate() {
        let Some(packed) = packed(engine, &alternative.term, ordinal)? else { continue };
        let score = group_weight * alternative.weight * engine.scorer.score(packed, ordinal);
        if best.is_none_or(|best| score > best.score) {
            best = Some(Satisfied { alternative: at, score, shares: engine.scorer.shares(packed, ordinal) });
        }
    }
    Ok(best)
}

/// A term's packed frequency in a document, if it occurs there.
fn packed(engine: &TantivyEngine, term: &Term, ordinal: Ordinal) -> Result<Option<u32>, EngineError> {
    let Some(term) = engine.find(term)? else { return Ok(None) };
    let postings = engine.postings.read_postings_from_terminfo(&term, IndexRecordOption::WithFreqs);
    let mut postings = postings.map_err(EngineError::index("read"))?;
    if postings.doc() < ordinal {
        postings.seek(ordinal);
    }
    Ok((postings.doc() == ordinal).then(|| postings.term_freq()))
}
