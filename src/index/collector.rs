//! Collects what a walk over the posting lists finds, by tier, and then the products that are close
//! to the query's meaning. The posting lists of the query's topics determine which are compared.

use tantivy::TERMINATED;

use super::block::{BLOCK_LEN, block_start, document, offset};
use super::{Index, IndexError, PostingList, SearchHits, SearchRequest, hits};
use crate::catalogue::{Filter, Ordinal, Records};
use crate::search::budget::Budget;
use crate::search::collect::{Collector, Pruned, RERANKED, RankedHit, Tier, pinned_score};
use crate::search::facet_counts::FacetCounts;
use crate::search::forward::{Forward, PhraseMatcher};
use crate::search::meaning::Meanings;
use crate::search::{FEW, MOST_COMPARED, Plan, Related, Term};

/// Collects documents with all the words first, then documents with some of them if there are too
/// few, and then related documents.
pub(super) struct TierCollector<'a> {
    forward: &'a Forward,
    meanings: &'a Meanings,
    budget: &'a Budget,
    phrases: Vec<PhraseMatcher<'a>>,
    excluded_phrases: Vec<PhraseMatcher<'a>>,
    /// The documents whose full name is the query, sorted.
    names: Vec<Ordinal>,
    /// The documents that come last, sorted.
    last: Vec<Ordinal>,
    /// The documents pinned to the query, with their positions.
    pinned: Vec<(Ordinal, usize)>,
    collector: Collector<'a>,
    enough: usize,
    /// The first documents found, whether or not they pass the filter; at most `noted`.
    found: Vec<Ordinal>,
    /// The maximum length of `found`. Later steps only need these documents if no more than this
    /// many are found.
    noted: usize,
    /// How many documents have all the words. Set once documents with only some of the words are
    /// being collected.
    complete: Option<Count>,
    /// How many documents the words matched. Set once related documents are being collected.
    by_words: Option<Count>,
}

/// How many documents there are, with and without the filter.
#[derive(Clone, Copy)]
struct Count {
    /// How many of the documents pass the filter.
    admitted: u64,
    all: u64,
}

impl<'a> TierCollector<'a> {
    pub(super) fn new(index: &'a Index, request: &SearchRequest<'a>, filter: &'a Filter) -> Result<Self, IndexError> {
        let plan = request.plan;
        let facets = request.facets.map(|attributes| FacetCounts::new(&index.records.columns, attributes));
        let wanted = request.page.end;
        let kept = if request.order.is_none() { wanted.max(RERANKED) } else { wanted };
        let mut collector = Collector::new(&index.records.columns, filter, kept, facets);
        if let Some(order) = request.order {
            collector = collector.ordered_by(index.records.columns.places(order));
        }
        Ok(Self {
            forward: &index.forward,
            meanings: &index.meanings,
            budget: request.budget,
            phrases: plan.phrases.iter().map(PhraseMatcher::new).collect(),
            excluded_phrases: plan.excluded_phrases.iter().map(PhraseMatcher::new).collect(),
            names: index.with_any(&plan.names, index.records.columns.real, request.budget)?,
            last: index.with_any(&plan.last, TERMINATED, request.budget)?,
            pinned: index.pinned(plan)?,
            collector,
            enough: plan.enough,
            found: Vec::new(),
            noted: if plan.related.is_some() { FEW.max(plan.enough) } else { plan.enough },
            complete: None,
            by_words: None,
        })
    }

    /// Whether documents have to be checked for phrases before they're scored.
    pub(super) fn verifies_phrases(&self) -> bool {
        !self.phrases.is_empty() || !self.excluded_phrases.is_empty()
    }

    /// Whether a document contains all required phrases and no excluded ones.
    pub(super) fn admits_phrases(&self, ordinal: Ordinal) -> bool {
        let has = |phrase: &PhraseMatcher<'_>| phrase.matches(self.forward, ordinal, self.budget);
        self.budget.allows_more() && self.phrases.iter().all(has) && !self.excluded_phrases.iter().any(has)
    }

    /// The documents that the second pass skips because the first pass collected them.
    pub(super) fn collected_before(&self) -> &[Ordinal] {
        let complete = self.complete.map_or(0, |complete| usize::try_from(complete.all).unwrap_or(usize::MAX));
        &self.found[..complete.min(self.found.len())]
    }

    /// A document's score, which is 0 if the document comes last in its tier.
    fn unless_last(&self, ordinal: Ordinal, score: f32) -> f32 {
        if self.last.binary_search(&ordinal).is_ok() { 0.0 } else { score }
    }

    pub(super) fn collect(&mut self, ordinal: Ordinal, score: f32) {
        self.note(std::iter::once(ordinal));
        let score = self.unless_last(ordinal, score);
        let (tier, score) = if self.names.binary_search(&ordinal).is_ok() {
            (Tier::ExactName, score)
        } else if let Some((_, place)) = self.pinned.iter().find(|(pinned, _)| *pinned == ordinal) {
            (Tier::Pinned, pinned_score(*place))
        } else {
            (Tier::Words, score)
        };
        let tier = if self.collector.is_demo(ordinal) { tier.demo() } else { tier };
        self.collector.take(RankedHit { tier, score, ordinal });
    }

    pub(super) fn count_pruned(&mut self, pruned: Pruned<'_>) {
        self.note(pruned.ordinals());
        self.collector.count_pruned(pruned);
        // A full-name match or a pinned product comes first, however low its score.
        for ordinal in self.names.iter().copied().filter(|ordinal| pruned.has(*ordinal)) {
            self.collector.take_pruned(RankedHit { tier: Tier::ExactName, score: 0.0, ordinal });
        }
        for (ordinal, place) in self.pinned.iter().copied().filter(|(ordinal, _)| pruned.has(*ordinal)) {
            if self.names.binary_search(&ordinal).is_err() {
                self.collector.take_pruned(RankedHit { tier: Tier::Pinned, score: pinned_score(place), ordinal });
            }
        }
    }

    /// The score below which a document is only counted; `None` if every document has to be
    /// collected.
    pub(super) fn threshold(&self) -> Option<f32> {
        // If there are too many full-name matches, their scores decide which are kept.
        if self.names.len() <= RERANKED { self.collector.threshold() } else { None }
    }

    /// Whether fewer documents than `enough` have all the words. If so, documents collected from
    /// now on count as having only some of the words.
    pub(super) fn falls_back(&mut self) -> bool {
        if self.collector.visited >= self.enough as u64 || !self.budget.allows_more() {
            return false;
        }
        self.complete = Some(self.count());
        true
    }

    /// If related documents should be added, returns the documents that the words matched, sorted.
    /// Documents collected from now on count as related.
    pub(super) fn relates(&mut self, related: &Related) -> Option<Vec<Ordinal>> {
        let by_words = self.count();
        if !related.follow(self.complete.unwrap_or(by_words).all, by_words.all) || !self.budget.allows_more() {
            return None;
        }
        self.by_words = Some(by_words);
        let mut found = self.found.clone();
        found.sort_unstable();
        Some(found)
    }

    /// Collects a document if it's related.
    pub(super) fn collect_related(&mut self, ordinal: Ordinal, related: &Related) {
        let by_words = self.by_words.map_or(0, |by_words| by_words.all);
        if let Some(likeness) = related.likeness(self.meanings.of(ordinal), by_words) {
            let score = self.unless_last(ordinal, likeness);
            let tier = if self.collector.is_demo(ordinal) { Tier::RelatedDemo } else { Tier::Related };
            self.collector.take(RankedHit { tier, score, ordinal });
        }
    }

    const fn count(&self) -> Count {
        Count { admitted: self.collector.total, all: self.collector.visited }
    }

    pub(super) fn finish(mut self, request: &SearchRequest<'_>, records: &Records) -> SearchHits {
        let total = self.collector.total;
        let by_words = self.by_words.unwrap_or(self.count());
        let complete = self.complete.unwrap_or(by_words).admitted;
        let facets = self.collector.take_counts();
        // A page further down isn't affected by reranking.
        let is_reranked = request.order.is_none() && request.page.start < RERANKED;
        let mut best = self.collector.into_best(if is_reranked { RERANKED } else { request.page.start });
        if is_reranked {
            let head = best.len().min(RERANKED);
            request.plan.signals.rerank(self.forward, self.meanings, &mut best[..head], request.page.end);
        }
        let hits = hits::with_items(records, request.page_of(&best));
        let related = total - by_words.admitted;
        SearchHits { hits, texts: Vec::new(), total, complete, related, unfiltered_total: by_words.all, facets }
    }

    fn note(&mut self, ordinals: impl Iterator<Item = Ordinal>) {
        if self.found.len() < self.noted {
            self.found.extend(ordinals.take(self.noted - self.found.len()));
        }
    }
}

/// Budget units for opening a posting list.
const OPENED: usize = 60;

/// Budget units per block.
const BLOCK: usize = 400;

/// Budget units for comparing a document.
const COMPARED: usize = 20;

/// Collects a plan's related documents if the words matched few documents.
pub(super) fn collect_related(
    index: &Index,
    plan: &Plan,
    collector: &mut TierCollector<'_>,
    budget: &Budget,
) -> Result<(), IndexError> {
    let Some(related) = &plan.related else { return Ok(()) };
    let Some(found) = collector.relates(related) else { return Ok(()) };
    let nearest = sharing_topics(index, related, &plan.excluded, &found, collector, budget)?;
    index.meanings.fetch(nearest.iter().map(|hit| hit.ordinal));
    for hit in nearest {
        collector.collect_related(hit.ordinal, related);
    }
    Ok(())
}

/// The documents that share the most topics with the query, except those already found or excluded.
/// Empty if finding them would exceed the budget.
fn sharing_topics(
    index: &Index,
    related: &Related,
    excluded: &[Term],
    found: &[Ordinal],
    collector: &TierCollector<'_>,
    budget: &Budget,
) -> Result<Vec<RankedHit>, IndexError> {
    let documents = index.scorer.documents();
    let blocks = documents.div_ceil(BLOCK_LEN);
    let mut units = blocks * BLOCK + MOST_COMPARED * COMPARED;
    let mut open = |term: &Term| -> Result<Option<PostingList>, IndexError> {
        units += OPENED;
        let Some(info) = index.find(term)? else { return Ok(None) };
        units += info.doc_freq as usize;
        index.read(&info).map(Some)
    };
    let (mut topics, mut without) = (Vec::new(), Vec::new());
    for (topic, weight) in related.topics() {
        topics.extend(open(&topic)?.map(|list| (list, weight)));
    }
    for term in excluded {
        without.extend(open(term)?);
    }
    if !budget.allows(units) {
        return Ok(Vec::new());
    }
    budget.spend(units);
    let everything = Filter::default();
    let mut best = Collector::new(&index.records.columns, &everything, MOST_COMPARED, None);
    let mut found = found.iter().copied().peekable();
    // Indexed by offset in the block.
    let mut weights = [0_u16; BLOCK_LEN];
    for block in 0..blocks {
        let (start, end) = (block_start(block), block_start(block + 1));
        for (list, weight) in &mut topics {
            list.for_each_until(end, |document, _| weights[offset(document)] += *weight);
        }
        for list in &mut without {
            list.for_each_until(end, |document, _| weights[offset(document)] = 0);
        }
        while let Some(document) = found.next_if(|document| *document < end) {
            weights[offset(document)] = 0;
        }
        for (at, weight) in weights.iter_mut().enumerate().filter(|(_, weight)| **weight > 0) {
            let (ordinal, score) = (document(start, at), f32::from(std::mem::take(weight)));
            if !collector.verifies_phrases() || collector.admits_phrases(ordinal) {
                best.take(RankedHit { tier: Tier::Related, score, ordinal });
            }
        }
    }
    Ok(best.into_best(0))
}
