//! The walk over the posting lists of a plan, block by block.

use std::cell::Cell;

use super::TantivyEngine;
use super::block::{BLOCK_LEN, Bitset, BlockScores, block_of, block_start, document, offset};
use super::collector::TierCollector;
use super::group_cursor::GroupCursor;
use crate::engine::EngineError;
use crate::search::Plan;
use crate::search::budget::Budget;

/// Collects the documents that satisfy all required groups of a plan, in rising order; where those
/// [aren't enough](TierCollector::falls_back), after that all documents that satisfy any of them, these ones among them.
/// Documents without an indispensable group are never collected. Without a required group any may satisfy the plan, and
/// without any group all documents are collected.
///
/// Stops where the budget is spent; which documents are found by then doesn't depend on the
/// [threshold](TierCollector::threshold).
pub(super) fn walk(
    engine: &TantivyEngine,
    plan: &Plan,
    collector: &mut TierCollector<'_>,
    budget: &Budget,
) -> Result<(), EngineError> {
    let Some(mut walk) = Walk::open(engine, plan, budget)? else { return Ok(()) };
    let has_required = plan.groups.iter().any(|group| group.required);
    if plan.groups.is_empty() {
        walk.all_documents(collector);
    } else if has_required {
        walk.all_blocks(|group| group.required || group.indispensable, Combine::All, collector);
    } else {
        walk.all_blocks(|_| true, Combine::Any, collector);
    }
    drop(walk);
    if has_required && collector.falls_back() {
        let Some(mut walk) = Walk::open(engine, plan, budget)? else { return Ok(()) };
        // A required group that is indispensable is one that every document has.
        if plan.groups.iter().any(|group| group.required && group.indispensable) {
            walk.all_blocks(|group| group.indispensable, Combine::All, collector);
        } else {
            walk.all_blocks(|group| group.required, Combine::Any, collector);
        }
    }
    Ok(())
}

thread_local! {
    /// The buffers of the thread's last walk, reused by its next one: they are large, and fresh ones cost page faults.
    static BUFFERS: Cell<Vec<BlockScores>> = const { Cell::new(Vec::new()) };
}

/// The number of buffers to keep, 17 KiB a group: more than most queries have.
const KEPT: usize = 12;

/// How the documents of groups are combined.
#[derive(Clone, Copy)]
enum Combine {
    /// The intersection.
    All,
    /// The union.
    Any,
}

/// One pass over the documents.
struct Walk<'e> {
    engine: &'e TantivyEngine,
    /// The groups, the required ones first.
    groups: Vec<GroupCursor<'e>>,
    /// The documents and scores of each group in the current block, and buffers of further ones.
    scores: Vec<BlockScores>,
    /// The excluded terms.
    excluded: Vec<GroupCursor<'e>>,
    /// The score below which a document only counts.
    threshold: Option<f32>,
    budget: &'e Budget,
}

/// Bounds the rounding error of a sum of scores in any order.
const ROUNDING: f32 = 1.000_01;

/// The units of the budget that a block takes.
const BLOCK: usize = 100;

/// The units that each group takes there, besides its postings.
const GROUP: usize = 30;

/// The units that each document found there takes.
const FOUND: usize = 3;

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        self.scores.truncate(KEPT);
        BUFFERS.set(std::mem::take(&mut self.scores));
    }
}

impl<'e> Walk<'e> {
    /// Opens the posting lists of a plan; `None` where the budget is spent by then.
    fn open(engine: &'e TantivyEngine, plan: &Plan, budget: &'e Budget) -> Result<Option<Self>, EngineError> {
        let mut groups = Vec::with_capacity(plan.groups.len());
        for group in &plan.groups {
            if !budget.allows_more() {
                return Ok(None);
            }
            groups.push(GroupCursor::open(engine, group, budget)?);
        }
        groups.sort_by_key(|group| !group.required);
        let excluded = (0..).zip(&plan.excluded).filter(|(at, term)| !plan.excluded[..*at].contains(term));
        let excluded =
            excluded.map(|(_, term)| GroupCursor::of_term(engine, term, budget)).collect::<Result<_, _>>()?;
        let mut scores = BUFFERS.take();
        scores.resize_with(scores.len().max(groups.len() + 1), BlockScores::default);
        Ok(Some(Self { engine, groups, scores, excluded, threshold: None, budget }))
    }

    /// Collects all documents, except excluded ones.
    fn all_documents(&mut self, collector: &mut TierCollector<'_>) {
        let documents = self.engine.scorer.documents();
        for block in 0..documents.div_ceil(BLOCK_LEN) {
            if !self.budget.allows_more() {
                break;
            }
            let mut found = Bitset::first(documents - block * BLOCK_LEN);
            self.exclude(block, &mut found);
            self.admit(block, &mut found, collector);
            self.collect(block, &found, collector);
        }
    }

    /// Collects the documents of all blocks by the groups that decide whether a document is found. The other groups only add to
    /// scores.
    fn all_blocks(
        &mut self,
        is_finder: impl Fn(&GroupCursor<'_>) -> bool,
        combine: Combine,
        collector: &mut TierCollector<'_>,
    ) {
        let (mut finders, others): (Vec<_>, Vec<_>) =
            (0..self.groups.len()).partition(|at| is_finder(&self.groups[*at]));
        finders.sort_by_key(|at| self.groups[*at].cost);
        let mut next = 0;
        while let Some(block) = self.next_block(&finders, next, combine) {
            next = block + 1;
            if !self.budget.allows_more() {
                break;
            }
            let mut found = self.find(&finders, block, combine);
            self.exclude(block, &mut found);
            if found.is_empty() {
                continue;
            }
            self.admit(block, &mut found, collector);
            for at in &others {
                self.budget.spend(self.groups[*at].enter(&mut self.scores[*at], block, Some(&found)));
            }
            self.collect(block, &found, collector);
            self.set_threshold(collector.threshold());
        }
    }

    /// The first block at or behind one that may have documents.
    fn next_block(&self, finders: &[usize], block: usize, combine: Combine) -> Option<usize> {
        match combine {
            Combine::All => self.groups[*finders.first()?].next_block(block),
            Combine::Any => finders.iter().filter_map(|at| self.groups[*at].next_block(block)).min(),
        }
    }

    /// Finds the documents of a block. The rarest groups come first.
    fn find(&mut self, finders: &[usize], block: usize, combine: Combine) -> Bitset {
        let mut found: Option<Bitset> = None;
        for at in finders {
            let scores = &mut self.scores[*at];
            let among = found.as_ref().filter(|_| matches!(combine, Combine::All));
            self.budget.spend(self.groups[*at].enter(scores, block, among));
            match (combine, &mut found) {
                (_, None) => found = Some(scores.members),
                (Combine::All, Some(found)) => {
                    found.intersect(&scores.members);
                    if found.is_empty() {
                        break;
                    }
                }
                (Combine::Any, Some(found)) => found.unite(&scores.members),
            }
        }
        found.unwrap_or(Bitset::NONE)
    }

    /// Removes the excluded documents of a block.
    fn exclude(&mut self, block: usize, found: &mut Bitset) {
        let scores = &mut self.scores[self.groups.len()];
        for term in &mut self.excluded {
            self.budget.spend(GROUP + term.enter(scores, block, Some(&Bitset::NONE)));
            found.subtract(&scores.members);
        }
    }

    /// Removes the documents of a block which were collected before or don't have the phrases, and spends the units of scoring the
    /// others: an upper bound, for pruning depends on the page. Where the budget is exceeded, removes documents at the end of the block.
    fn admit(&self, block: usize, found: &mut Bitset, collector: &mut TierCollector<'_>) {
        let start = block_start(block);
        for ordinal in collector.collected_before().iter().filter(|ordinal| block_of(**ordinal) == block) {
            found.remove(offset(*ordinal));
        }
        if collector.has_phrases() {
            for at in Bitset::clone(found).offsets() {
                if !collector.has_all_phrases(document(start, at)) {
                    found.remove(at);
                }
            }
        }
        let count = found.count();
        let scoring: usize = self.groups.iter().map(|group| group.scoring(count)).sum();
        let units = BLOCK + self.groups.len() * GROUP + count * FOUND + scoring;
        let part = self.budget.part_of(BLOCK_LEN, units);
        self.budget.spend(units);
        if part < BLOCK_LEN {
            found.intersect(&Bitset::first(part));
        }
    }

    /// Collects the documents of a block: those which reach the threshold with their scores, all others as pruned.
    fn collect(&mut self, block: usize, found: &Bitset, collector: &mut TierCollector<'_>) {
        let start = block_start(block);
        let mut threshold = self.threshold.unwrap_or(f32::NEG_INFINITY);
        let mut pruned = *found;
        for at in self.candidates(block, found).offsets() {
            let groups = self.groups.iter().zip(&self.scores);
            // Summed in one order, so that a score doesn't depend on pruning.
            let score = groups.fold(0.0, |score, (group, scores)| score + group.score(scores, block, at));
            if score >= threshold {
                pruned.remove(at);
                collector.collect(document(start, at), score);
                threshold = collector.threshold().unwrap_or(threshold);
            }
        }
        collector.count_pruned(pruned.pruned(start));
    }

    /// The documents among those found in a block which can reach the threshold, as `MaxScore` selects them (Turtle and Flood,
    /// "Query evaluation: strategies and optimizations", 1995): those of the essential stages.
    fn candidates(&self, block: usize, found: &Bitset) -> Bitset {
        if self.threshold.is_none() {
            return *found;
        }
        let mut candidates = Bitset::NONE;
        for (group, scores) in self.groups.iter().zip(&self.scores) {
            group.add_essential(scores, block, &mut candidates);
        }
        candidates.intersect(found);
        candidates
    }

    /// Sets the threshold. Stages become essential, those of the highest upper bounds first, until the bounds of all others are
    /// together below it.
    fn set_threshold(&mut self, threshold: Option<f32>) {
        self.threshold = threshold;
        let Some(threshold) = threshold else { return };
        self.groups.iter_mut().for_each(|group| group.essential = 0);
        while self.groups.iter().map(GroupCursor::nonessential_bound).sum::<f32>() * ROUNDING >= threshold {
            let others = self.groups.iter_mut().filter(|group| group.has_nonessential());
            let highest = others.max_by(|a, b| a.nonessential_bound().total_cmp(&b.nonessential_bound()));
            let Some(highest) = highest else { break };
            highest.essential += 1;
        }
    }
}
