//! Collects products that are close to a query's meaning. The posting lists of the query's topics
//! determine which products are compared.

use super::block::{BLOCK_LEN, block_start, document, offset};
use super::collector::TierCollector;
use super::posting_list::PostingList;
use super::{Index, IndexError};
use crate::catalogue::{Filter, Ordinal};
use crate::search::MOST_COMPARED;
use crate::search::budget::Budget;
use crate::search::collect::{Collector, RankedHit, Tier};
use crate::search::{Plan, Related, Term};

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
