//! The walk over the posting lists of a plan, block by block.

use std::cell::Cell;

use super::TantivyEngine;
use super::block::{BLOCK_LEN, Bitset, BlockScores, block_start, document, offset};
use super::collector::{Match, TierCollector};
use super::frequent_term::FrequentTerm;
use super::group_cursor::{GroupCursor, Targets, Thresholds};
use super::posting_list::PostingList;
use crate::engine::EngineError;
use crate::search::budget::Budget;
use crate::search::{Plan, Term};

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
    let mut groups = Vec::with_capacity(plan.groups.len());
    for group in &plan.groups {
        if !budget.allows_more() {
            return Ok(());
        }
        groups.push(GroupCursor::open(engine, group, budget)?);
    }
    groups.sort_by_key(|group| !group.required);
    let has_required = groups.iter().any(|group| group.required);
    let roles = Roles::new(&groups, |group| !has_required || group.required || group.indispensable);
    let order = (0..groups.len()).collect();
    let upper_bound = groups.iter().map(GroupCursor::upper_bound).sum();
    let mut buffers = BUFFERS.take().unwrap_or_default();
    buffers.groups.resize_with(groups.len().max(buffers.groups.len()), BlockScores::default);
    let mut walk = Walk {
        engine,
        groups,
        roles,
        order,
        upper_bound,
        excluded: Vec::new(),
        excluded_frequent: Vec::new(),
        buffers,
        budget,
        threshold: None,
    };
    walk.exclude(&plan.excluded)?;
    if plan.groups.is_empty() {
        walk.all_documents(collector);
    } else if !has_required {
        walk.all_blocks(Combine::Any, collector)?;
    } else {
        walk.all_blocks(Combine::All, collector)?;
        if collector.falls_back() {
            walk.restart(&plan.excluded)?;
            // A required group that is indispensable is one that every document has.
            let is_given = walk.groups.iter().any(|group| group.required && group.indispensable);
            walk.roles = Roles::new(&walk.groups, |group| if is_given { group.indispensable } else { group.required });
            walk.all_blocks(if is_given { Combine::All } else { Combine::Any }, collector)?;
        }
    }
    walk.buffers.groups.truncate(KEPT);
    BUFFERS.set(Some(walk.buffers));
    Ok(())
}

/// The number of buffers to keep, 17 KiB a group: more than most queries have.
const KEPT: usize = 12;

thread_local! {
    /// The buffers of the thread's last walk, reused by its next one: to allocate them took 3 % of a search's instructions.
    static BUFFERS: Cell<Option<Box<Buffers>>> = const { Cell::new(None) };
}

/// The buffers of a walk.
struct Buffers {
    /// The documents and scores of each group in the current block.
    groups: Vec<BlockScores>,
    matches: Vec<Match>,
    /// The upper bound of each group's score by what isn't read.
    unread: Vec<f32>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { groups: Vec::new(), unread: Vec::new(), matches: Vec::with_capacity(COLLECTED_AT_ONCE) }
    }
}

/// How the documents of groups are combined.
#[derive(Clone, Copy)]
enum Combine {
    /// The intersection.
    All,
    /// The union.
    Any,
}

/// The roles of groups, by their indices.
struct Roles {
    /// The groups which decide whether a document is found, the rarest first.
    finders: Vec<usize>,
    /// The groups which only add to scores.
    others: Vec<usize>,
}

impl Roles {
    fn new(groups: &[GroupCursor<'_>], finds: impl Fn(&GroupCursor<'_>) -> bool) -> Self {
        let (mut finders, others): (Vec<_>, Vec<_>) = (0..groups.len()).partition(|at| finds(&groups[*at]));
        finders.sort_by_key(|at| groups[*at].cost);
        Self { finders, others }
    }
}

struct Walk<'e> {
    engine: &'e TantivyEngine,
    /// The groups, the required ones first.
    groups: Vec<GroupCursor<'e>>,
    roles: Roles,
    /// All groups in the order in which they score documents: by falling upper bound of what isn't read. The documents which
    /// these have scored are the competitive ones of the others.
    order: Vec<usize>,
    /// An upper bound of a document's score.
    upper_bound: f32,
    excluded: Vec<PostingList>,
    /// The frequent ones among the excluded terms.
    excluded_frequent: Vec<&'e FrequentTerm>,
    buffers: Box<Buffers>,
    budget: &'e Budget,
    /// The score below which a document only counts.
    threshold: Option<f32>,
}

/// The number of documents collected before the threshold is read again.
const COLLECTED_AT_ONCE: usize = 256;

/// The number of documents scored before the first threshold is read.
const FIRST: usize = 512;

/// Bounds the rounding error of a sum of scores in any order.
const ROUNDING: f32 = 1.000_01;

/// The units of the budget that a block takes.
const BLOCK: usize = 100;

/// The units that each group takes there, besides its postings.
const GROUP: usize = 30;

/// The units that each document found there takes.
const FOUND: usize = 3;

impl Walk<'_> {
    /// Opens the posting lists of excluded terms, at the first document.
    fn exclude(&mut self, terms: &[Term]) -> Result<(), EngineError> {
        self.excluded.clear();
        self.excluded_frequent.clear();
        for (at, term) in terms.iter().enumerate() {
            let Some(found) = self.engine.find(term)?.filter(|_| !terms[..at].contains(term)) else { continue };
            match self.engine.frequent(&found) {
                Some(term) => self.excluded_frequent.push(term),
                None => self.excluded.push(self.engine.read(&found)?),
            }
        }
        Ok(())
    }

    /// Returns to the first document.
    fn restart(&mut self, excluded: &[Term]) -> Result<(), EngineError> {
        self.threshold = None;
        self.exclude(excluded)?;
        self.groups.iter_mut().try_for_each(GroupCursor::restart)
    }

    /// Collects all documents, except excluded ones.
    fn all_documents(&mut self, collector: &mut TierCollector<'_>) {
        let documents = self.engine.scorer.documents();
        for block in 0..documents.div_ceil(BLOCK_LEN) {
            if !self.budget.allows_more() {
                break;
            }
            let mut found = Bitset::first(documents - block * BLOCK_LEN);
            self.exclude_from(block, &mut found);
            self.admit(block, &mut found, collector);
            self.collect(block, &found, &found, collector);
        }
    }

    /// Removes the documents of a block which don't have the phrases, and spends the units of scoring the others: an upper bound,
    /// for pruning depends on the page. Where the budget is exceeded, removes documents at the end of the block.
    fn admit(&self, block: usize, found: &mut Bitset, collector: &mut TierCollector<'_>) {
        if collector.has_phrases() {
            let start = block_start(block);
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
            *found = found.take_until(part);
        }
    }

    /// Collects the documents of all blocks.
    fn all_blocks(&mut self, combine: Combine, collector: &mut TierCollector<'_>) -> Result<(), EngineError> {
        let mut next = 0;
        while let Some(block) = self.next_block(next, combine) {
            next = block + 1;
            if !self.budget.allows_more() {
                break;
            }
            let (mut found, mut shared) = self.find(block, combine);
            self.exclude_from(block, &mut found);
            if found.is_empty() {
                continue;
            }
            self.admit(block, &mut found, collector);
            self.enter_others(block, &found, &mut shared);
            // Without a threshold every document has to be scored; the first few give one.
            if self.threshold.is_none() && found.count() > 2 * FIRST {
                let first = found.take_until(FIRST);
                self.score_and_collect(block, &first, &shared, collector)?;
            }
            self.score_and_collect(block, &found, &shared, collector)?;
        }
        Ok(())
    }

    /// The first block at or behind one that may have documents.
    fn next_block(&self, block: usize, combine: Combine) -> Option<usize> {
        match combine {
            Combine::All => self.groups[*self.roles.finders.first()?].next_block(block),
            Combine::Any => self.roles.finders.iter().filter_map(|at| self.groups[*at].next_block(block)).min(),
        }
    }

    /// Finds the documents of a block, and those among them which several groups may have. Scores them by all terms that aren't
    /// frequent.
    fn find(&mut self, block: usize, combine: Combine) -> (Bitset, Bitset) {
        let (mut found, mut shared) = (None, Bitset::NONE);
        for at in &self.roles.finders {
            let threshold = self.among(*at);
            let (group, scores) = (&mut self.groups[*at], &mut self.buffers.groups[*at]);
            let among = found.as_ref().filter(|_| matches!(combine, Combine::All));
            self.budget.spend(group.enter(scores, block, among, threshold));
            match (combine, &mut found) {
                (_, None) => found = Some(scores.members),
                (Combine::All, Some(found)) => {
                    found.intersect(&scores.members);
                    if found.is_empty() {
                        break;
                    }
                    shared = *found;
                }
                (Combine::Any, Some(found)) => {
                    shared.unite_common(found, &scores.members);
                    found.unite(&scores.members);
                }
            }
        }
        (found.unwrap_or(Bitset::NONE), shared)
    }

    /// Finds the documents of a block which the groups have that only add to scores.
    fn enter_others(&mut self, block: usize, found: &Bitset, shared: &mut Bitset) {
        for at in &self.roles.others {
            let threshold = self.among(*at);
            let scores = &mut self.buffers.groups[*at];
            self.budget.spend(self.groups[*at].enter(scores, block, Some(found), threshold));
            shared.unite_common(found, &scores.members);
        }
    }

    /// The score which a group has to reach for a document to be competitive, with the others at their upper bounds.
    fn among(&self, at: usize) -> f32 {
        let others = || (self.upper_bound - self.groups[at].upper_bound()) * ROUNDING;
        self.threshold.map_or(f32::MIN, |threshold| threshold / ROUNDING - others())
    }

    /// Removes the excluded documents of a block.
    fn exclude_from(&mut self, block: usize, found: &mut Bitset) {
        let start = block_start(block);
        for term in &self.excluded_frequent {
            found.subtract(term.bitset(block));
        }
        let mut units = (self.excluded.len() + self.excluded_frequent.len()) * GROUP;
        for list in &mut self.excluded {
            list.seek(start);
            list.for_each_until(block_start(block + 1), |document, _| {
                units += 1;
                found.remove(offset(document));
            });
        }
        self.budget.spend(units);
    }

    /// Scores documents of a block and collects them.
    fn score_and_collect(
        &mut self,
        block: usize,
        found: &Bitset,
        shared: &Bitset,
        collector: &mut TierCollector<'_>,
    ) -> Result<(), EngineError> {
        let candidates = self.score(block, found, shared)?;
        self.collect(block, found, &candidates, collector);
        self.set_threshold(collector.threshold());
        Ok(())
    }

    /// Scores the competitive documents of a block and returns them, as `MaxScore` does (Turtle and Flood, "Query evaluation:
    /// strategies and optimizations", 1995): the upper bounds of what isn't read are together below the threshold, so a
    /// competitive document was scored by something that was read. The rest of its score is looked up.
    fn score(&mut self, block: usize, found: &Bitset, shared: &Bitset) -> Result<Bitset, EngineError> {
        let count = if self.groups.iter().any(GroupCursor::reads_whole_lists) { found.count() } else { 0 };
        let mut known = Bitset::NONE;
        self.buffers.groups[..self.groups.len()].iter().for_each(|scores| known.unite(&scores.scored));
        // The upper bound of the other groups' scores of a document which none of them has scored: of the groups before by what
        // they didn't read, of those behind by all.
        let mut others = self.upper_bound;
        for of in 0..self.order.len() {
            let at = self.order[of];
            others -= self.groups[at].upper_bound();
            let thresholds = self.threshold.map_or(Thresholds::NONE, |threshold| Thresholds {
                alone: threshold / ROUNDING,
                first: threshold / ROUNDING - others * ROUNDING,
                among: self.among(at),
            });
            let targets = Targets { found, count, shared, scored: &known, thresholds };
            let scores = &mut self.buffers.groups[at];
            self.groups[at].score(scores, block, &targets)?;
            known.unite(&scores.scored);
            others += self.groups[at].unread();
        }
        let Buffers { groups, unread, .. } = &mut *self.buffers;
        let groups = &mut groups[..self.groups.len()];
        unread.clear();
        unread.extend(self.groups.iter().map(GroupCursor::unread));
        let mut candidates = *found;
        let Some(threshold) = self.threshold.map(|threshold| threshold / ROUNDING) else { return Ok(candidates) };
        let unread_bound: f32 = unread.iter().sum();
        if unread_bound < threshold {
            candidates.intersect(&known);
        }
        if unread_bound == 0.0 {
            return Ok(candidates);
        }
        for at in Bitset::clone(&candidates).offsets() {
            let mut upper_bound: f32 =
                unread.iter().zip(&*groups).map(|(unread, scores)| scores.at_most(at, *unread)).sum();
            for ((group, unread), scores) in self.groups.iter_mut().zip(&*unread).zip(&mut *groups) {
                if upper_bound < threshold {
                    break;
                }
                let before = scores.at_most(at, *unread);
                group.complete(scores, block, at)?;
                upper_bound -= before - scores.of(at);
            }
            if upper_bound < threshold {
                candidates.remove(at);
            }
        }
        Ok(candidates)
    }

    /// Sets the threshold, and reads as many stages of each group as it takes.
    fn set_threshold(&mut self, threshold: Option<f32>) {
        if threshold == self.threshold {
            return;
        }
        self.threshold = threshold;
        let Some(threshold) = threshold.map(|threshold| threshold / ROUNDING) else {
            return self.groups.iter_mut().for_each(GroupCursor::read_all);
        };
        self.groups.iter_mut().for_each(GroupCursor::read_none);
        while self.groups.iter().map(GroupCursor::unread).sum::<f32>() >= threshold {
            let gains = self.groups.iter_mut().filter_map(|group| Some((group.gain()?, group)));
            let Some((_, best)) = gains.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { break };
            best.read_more();
        }
        let groups = &self.groups;
        self.order.sort_by(|a, b| groups[*b].unread().total_cmp(&groups[*a].unread()));
    }

    /// Collects the documents of a block: the candidates which reach the threshold with their scores, all others as pruned.
    fn collect(&mut self, block: usize, found: &Bitset, candidates: &Bitset, collector: &mut TierCollector<'_>) {
        let mut threshold = self.threshold.unwrap_or(f32::NEG_INFINITY);
        let start = block_start(block);
        let Buffers { groups, matches, .. } = &mut *self.buffers;
        let groups = &groups[..self.groups.len()];
        let mut pruned = *found;
        matches.clear();
        for at in candidates.offsets() {
            // Summed in one order, so that a score doesn't depend on pruning.
            let score = groups.iter().map(|scores| scores.of(at)).sum();
            if score >= threshold {
                pruned.remove(at);
                matches.push(Match { ordinal: document(start, at), score });
                if matches.len() == COLLECTED_AT_ONCE {
                    collector.collect(matches);
                    matches.clear();
                    threshold = collector.threshold().unwrap_or(threshold);
                }
            }
        }
        if !matches.is_empty() {
            collector.collect(matches);
        }
        collector.count_pruned(pruned.pruned(start));
    }
}
