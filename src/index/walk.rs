//! Walks a plan's posting lists, block by block.

use std::cell::Cell;

use super::block::{BLOCK_LEN, Bitset, BlockScores, block_of, block_start, document, offset};
use super::collector::TierCollector;
use super::group_cursor::GroupCursor;
use super::{Index, IndexError};
use crate::search::Plan;
use crate::search::budget::Budget;

/// Collects the documents that satisfy all required groups, in ascending order. If there [aren't
/// enough](TierCollector::falls_back), continues with documents that satisfy any required group.
/// Documents that don't satisfy an indispensable group are never collected. If no group is
/// required, satisfying any group suffices; without groups, all documents are collected.
///
/// Stops once the budget is spent. Which documents it has found by then doesn't depend on the
/// [threshold](TierCollector::threshold).
pub(super) fn walk(
    index: &Index,
    plan: &Plan,
    collector: &mut TierCollector<'_>,
    budget: &Budget,
) -> Result<(), IndexError> {
    let Some(mut walk) = Walk::open(index, plan, budget)? else { return Ok(()) };
    let has_required = plan.groups.iter().any(|group| group.required);
    if plan.groups.is_empty() {
        walk.all_documents(collector);
    } else if has_required {
        walk.all_blocks(|group| group.required || group.indispensable, Combine::All, collector);
    } else {
        walk.all_blocks(|_| true, Combine::Any, collector);
    }
    if has_required && collector.falls_back() {
        walk.restart()?;
        // If a required group is indispensable, every hit satisfies it.
        if plan.groups.iter().any(|group| group.required && group.indispensable) {
            walk.all_blocks(|group| group.indispensable, Combine::All, collector);
        } else {
            walk.all_blocks(|group| group.required, Combine::Any, collector);
        }
    }
    Ok(())
}

thread_local! {
    /// Buffers from the thread's last walk, reused for its next one, because they're large and new
    /// ones would cause page faults.
    static BUFFERS: Cell<Vec<BlockScores>> = const { Cell::new(Vec::new()) };
}

/// The number of buffers to keep, at 17 KiB each. Most queries have fewer groups than that.
const KEPT: usize = 12;

#[derive(Clone, Copy)]
enum Combine {
    /// Intersection.
    All,
    /// Union.
    Any,
}

struct Walk<'e> {
    index: &'e Index,
    /// The required groups come first.
    groups: Vec<GroupCursor<'e>>,
    /// Each group's documents and scores in the current block, then the excluded documents, and
    /// spare buffers.
    scores: Vec<BlockScores>,
    excluded: Vec<GroupCursor<'e>>,
    /// The score below which a document is only counted.
    threshold: Option<f32>,
    budget: &'e Budget,
}

/// Bounds the rounding error when scores are summed in any order.
const ROUNDING: f32 = 1.000_01;

/// Budget units per block.
const BLOCK: usize = 100;

/// Budget units per group in a block, in addition to its postings.
const GROUP: usize = 30;

/// Budget units per document found.
const FOUND: usize = 3;

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        self.scores.truncate(KEPT);
        BUFFERS.set(std::mem::take(&mut self.scores));
    }
}

impl<'e> Walk<'e> {
    /// Opens a plan's posting lists; `None` if that exhausts the budget.
    fn open(index: &'e Index, plan: &Plan, budget: &'e Budget) -> Result<Option<Self>, IndexError> {
        let mut groups = Vec::with_capacity(plan.groups.len());
        for group in &plan.groups {
            if !budget.allows_more() {
                return Ok(None);
            }
            groups.push(GroupCursor::open(index, group, budget)?);
        }
        groups.sort_by_key(|group| !group.required);
        let excluded = (0..).zip(&plan.excluded).filter(|(at, term)| !plan.excluded[..*at].contains(term));
        let excluded = excluded.map(|(_, term)| GroupCursor::of_term(index, term, budget)).collect::<Result<_, _>>()?;
        let mut scores = BUFFERS.take();
        scores.resize_with(scores.len().max(groups.len() + 1), BlockScores::default);
        Ok(Some(Self { index, groups, scores, excluded, threshold: None, budget }))
    }

    /// Goes back to the first document.
    fn restart(&mut self) -> Result<(), IndexError> {
        for cursors in [&mut self.groups, &mut self.excluded] {
            let all = std::mem::take(cursors).into_iter();
            *cursors = all.map(|cursor| cursor.restarted(self.budget)).collect::<Result<_, _>>()?;
        }
        self.threshold = None;
        Ok(())
    }

    fn all_documents(&mut self, collector: &mut TierCollector<'_>) {
        let documents = self.index.scorer.documents();
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

    /// Collects documents in all blocks. Only the groups that satisfy `is_finder` decide whether a
    /// document is found; the other groups only add to scores.
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

    /// The first block, from `block` onwards, that may contain documents.
    fn next_block(&self, finders: &[usize], block: usize, combine: Combine) -> Option<usize> {
        match combine {
            Combine::All => self.groups[*finders.first()?].next_block(block),
            Combine::Any => finders.iter().filter_map(|at| self.groups[*at].next_block(block)).min(),
        }
    }

    /// Finds the documents in a block, starting with the rarest groups.
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

    fn exclude(&mut self, block: usize, found: &mut Bitset) {
        let scores = &mut self.scores[self.groups.len()];
        for term in &mut self.excluded {
            self.budget.spend(GROUP + term.enter(scores, block, Some(&Bitset::NONE)));
            found.subtract(&scores.members);
        }
    }

    /// Removes documents that were already collected or that the phrases rule out, and spends the
    /// units for scoring the others. The cost is an upper bound, because pruning depends on the
    /// page. If the cost exceeds the budget, removes documents at the end of the block.
    fn admit(&self, block: usize, found: &mut Bitset, collector: &mut TierCollector<'_>) {
        let start = block_start(block);
        for ordinal in collector.collected_before().iter().filter(|ordinal| block_of(**ordinal) == block) {
            found.remove(offset(*ordinal));
        }
        if collector.verifies_phrases() {
            for at in Bitset::clone(found).offsets() {
                if !collector.admits_phrases(document(start, at)) {
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

    /// Collects a block's documents. Those that reach the threshold are collected with their
    /// scores, and the others as pruned.
    fn collect(&mut self, block: usize, found: &Bitset, collector: &mut TierCollector<'_>) {
        let start = block_start(block);
        let mut threshold = self.threshold.unwrap_or(f32::NEG_INFINITY);
        let mut pruned = *found;
        for at in self.candidates(block, found).offsets() {
            let groups = self.groups.iter().zip(&self.scores).filter(|(_, scores)| scores.members.has(at));
            // Always sum in the same order, so that a score doesn't depend on pruning.
            let score = groups.fold(0.0, |score, (group, scores)| score + group.score(scores, block, at));
            if score >= threshold {
                pruned.remove(at);
                collector.collect(document(start, at), score);
                threshold = collector.threshold().unwrap_or(threshold);
            }
        }
        collector.count_pruned(pruned.pruned(start));
    }

    /// The matching documents that can reach the threshold because they're in essential stages, as
    /// in `MaxScore` (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995).
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

    /// Sets the threshold. Stages become essential, highest upper bound first, until the sum of the
    /// remaining bounds is below it.
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
