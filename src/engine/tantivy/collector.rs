//! Collection of what a walk over the posting lists finds, into tiers.

use super::TantivyEngine;
use crate::catalogue::{Filter, Ordinal, Records};
use crate::engine::{EngineError, SearchHits, SearchRequest, records};
use crate::search::Rerank;
use crate::search::budget::Budget;
use crate::search::collect::{Candidate, Collector, Pruned, RERANKED, Tier};
use crate::search::facet_counts::FacetCounts;
use crate::search::forward::Forward;
use crate::search::phrase::PhraseMatcher;

/// A document that satisfies the plan, with its BM25F score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    pub(super) ordinal: Ordinal,
    pub(super) score: f32,
}

/// Collects documents, first those with all words and then, where these are too few, those with some.
pub(super) struct TierCollector<'a> {
    forward: &'a Forward,
    budget: &'a Budget,
    phrases: Vec<PhraseMatcher<'a>>,
    /// The documents whose whole name is the query, sorted.
    names: Vec<Ordinal>,
    /// The largest number of these whose order doesn't depend on their scores.
    unscored_names: usize,
    collector: Collector<'a>,
    /// How many documents with all words are enough.
    enough: usize,
    /// Collects from the start where they aren't; `None` once it does, or where those with all words are enough in any case.
    fallback: Option<Collector<'a>>,
    /// In the second pass: the documents with all words, which are among the best already, sorted.
    complete: Option<Vec<Ordinal>>,
    /// How many documents that pass the filter were found with all words, once the second pass has begun.
    complete_total: Option<u64>,
    /// The first documents found, as many as are enough; in the second pass those of them which it hasn't found again.
    first: Vec<Ordinal>,
}

impl<'a> TierCollector<'a> {
    /// An empty collector for a request.
    ///
    /// # Errors
    /// Where the posting lists of the names can't be read.
    pub(super) fn new(
        engine: &'a TantivyEngine,
        request: &SearchRequest<'a>,
        filter: &'a Filter,
    ) -> Result<Self, EngineError> {
        let plan = request.plan;
        let facets = request.facets.map(|attributes| FacetCounts::new(&engine.records.columns, attributes));
        let wanted = request.page.end;
        let kept = if request.order.is_none() { wanted.max(RERANKED) } else { wanted };
        let mut collector = Collector::new(&engine.records.columns, filter, kept, facets);
        if let Some(order) = request.order {
            collector = collector.ordered_by(engine.records.columns.order(order));
        } else if !matches!(plan.rerank, Rerank::ShortestName) {
            collector = collector.within_reach(wanted, plan.rerank.upper_bound());
        }
        Ok(Self {
            forward: &engine.forward,
            budget: request.budget,
            phrases: plan.phrases.iter().map(PhraseMatcher::new).collect(),
            names: engine.names(plan, request.budget)?,
            unscored_names: if matches!(plan.rerank, Rerank::ShortestName) { 0 } else { RERANKED },
            fallback: (plan.enough > 0).then(|| collector.clone()),
            enough: plan.enough,
            collector,
            complete: None,
            complete_total: None,
            first: Vec::new(),
        })
    }

    /// Whether documents have to be verified before they are scored.
    pub(super) fn has_phrases(&self) -> bool {
        !self.phrases.is_empty()
    }

    /// Whether a document has all phrases.
    pub(super) fn has_all_phrases(&self, ordinal: Ordinal) -> bool {
        self.budget.allows_more()
            && self.phrases.iter().all(|phrase| phrase.matches(self.forward, ordinal, self.budget))
    }

    /// Collects documents, in rising order.
    pub(super) fn collect(&mut self, matches: &[Match]) {
        for found in matches {
            self.note(found.ordinal);
            if self.is_complete(found.ordinal) {
                self.collector.count(found.ordinal);
                continue;
            }
            let tier = if self.names.binary_search(&found.ordinal).is_ok() {
                Tier::ExactName
            } else if self.complete.is_some() {
                Tier::Some
            } else {
                Tier::All
            };
            let tier = if self.collector.is_demo(found.ordinal) { tier.demo() } else { tier };
            self.collector.take(Candidate { tier, score: found.score, ordinal: found.ordinal });
        }
    }

    /// Counts pruned documents.
    pub(super) fn count_pruned(&mut self, pruned: Pruned<'_>) {
        self.collector.count_pruned(pruned);
        if self.complete.is_some() {
            self.first.retain(|first| !pruned.has(*first));
        } else if self.fallback.is_some() {
            self.first.extend(pruned.ordinals().take(self.enough - self.first.len()));
        }
        // A whole name comes first however low its score.
        for ordinal in self.names.iter().copied().filter(|ordinal| pruned.has(*ordinal)) {
            if !self.is_complete(ordinal) {
                self.collector.take_pruned(Candidate { tier: Tier::ExactName, score: 0.0, ordinal });
            }
        }
    }

    /// The score below which a document only counts; `None`: every document has to be collected.
    pub(super) fn threshold(&self) -> Option<f32> {
        // The scores decide which of too many whole names are kept.
        if self.names.len() <= self.unscored_names { self.collector.threshold() } else { None }
    }

    /// Begins the second pass, if fewer documents than are enough have all words. Those are found again by it, and keep
    /// their tier.
    pub(super) fn falls_back(&mut self) -> bool {
        if self.collector.visited >= self.enough as u64 || !self.budget.allows_more() {
            return false;
        }
        let Some(fallback) = self.fallback.take() else { return false };
        let complete = std::mem::replace(&mut self.collector, fallback);
        self.complete_total = Some(complete.total);
        let complete = complete.into_best();
        for candidate in &complete {
            self.collector.take_pruned(*candidate);
        }
        let mut complete: Vec<_> = complete.into_iter().map(|candidate| candidate.ordinal).collect();
        complete.sort_unstable();
        self.complete = Some(complete);
        true
    }

    /// Reranks the best and returns the page.
    pub(super) fn finish(mut self, request: &SearchRequest<'_>, records: &Records) -> SearchHits {
        if self.complete.is_some() {
            // The second pass stopped early; documents with all words count nevertheless.
            for ordinal in self.first {
                self.collector.count(ordinal);
            }
        }
        let (total, unfiltered_total) = (self.collector.total, self.collector.visited);
        let complete = self.complete_total.unwrap_or(total);
        let facets = self.collector.take_counts();
        let mut best = self.collector.into_best();
        if request.order.is_none() {
            let head = best.len().min(RERANKED);
            request.plan.rerank.rerank(self.forward, &mut best[..head], request.page.end);
        }
        let hits = records::hits(records, request.page_of(&best));
        SearchHits { hits, texts: Vec::new(), total, complete, unfiltered_total, facets }
    }

    fn note(&mut self, ordinal: Ordinal) {
        if self.complete.is_some() {
            self.first.retain(|first| *first != ordinal);
        } else if self.fallback.is_some() && self.first.len() < self.enough {
            self.first.push(ordinal);
        }
    }

    /// Whether a document was collected as one that has all words.
    fn is_complete(&self, ordinal: Ordinal) -> bool {
        self.complete.as_ref().is_some_and(|complete| complete.binary_search(&ordinal).is_ok())
    }
}
