//! The walk over the posting lists of a plan, window by window.

use std::cell::Cell;

use super::TantivyEngine;
use super::collector::{Match, TierCollector};
use super::cursor::{GroupCursor, Least, Needs};
use super::frequent::Frequent;
use super::list::List;
use super::window::{Bits, Scores, WIDTH, document, first_of, place};
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
    let most = groups.iter().map(GroupCursor::most).sum();
    let mut buffers = BUFFERS.take().unwrap_or_default();
    buffers.groups.resize_with(groups.len().max(buffers.groups.len()), Scores::default);
    let mut walk = Walk {
        engine,
        groups,
        roles,
        order,
        most,
        excluded: Vec::new(),
        excluded_frequent: Vec::new(),
        buffers,
        budget,
        least: None,
    };
    walk.exclude(&plan.excluded)?;
    if plan.groups.is_empty() {
        walk.everything(collector);
    } else if !has_required {
        walk.all_windows(Combine::Any, collector)?;
    } else {
        walk.all_windows(Combine::All, collector)?;
        if collector.falls_back() {
            walk.restart(&plan.excluded)?;
            // A required group that is indispensable is one that every document has.
            let is_given = walk.groups.iter().any(|group| group.required && group.indispensable);
            walk.roles = Roles::new(&walk.groups, |group| if is_given { group.indispensable } else { group.required });
            walk.all_windows(if is_given { Combine::All } else { Combine::Any }, collector)?;
        }
    }
    walk.buffers.groups.truncate(KEPT);
    BUFFERS.set(Some(walk.buffers));
    Ok(())
}

/// The buffers of so many groups are kept, of 17 KiB each: more groups than most queries have.
const KEPT: usize = 12;

thread_local! {
    /// The buffers of the thread's last walk, for its next one: making them anew took 3 % of a search's instructions.
    static BUFFERS: Cell<Option<Box<Buffers>>> = const { Cell::new(None) };
}

/// What a walk writes to.
struct Buffers {
    /// What each group has in the current window.
    groups: Vec<Scores>,
    matches: Vec<Match>,
    /// What each group gives at most by what isn't read.
    unread: Vec<f32>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { groups: Vec::new(), unread: Vec::new(), matches: Vec::with_capacity(TOLD_AT_ONCE) }
    }
}

/// Which documents are found.
#[derive(Clone, Copy)]
enum Combine {
    /// Those of every group that documents are found by.
    All,
    /// Those of any.
    Any,
}

/// What groups are read for, by their places.
struct Roles {
    /// Those that documents are found by, the rarest first.
    finders: Vec<usize>,
    /// Those that only add to their scores.
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
    /// All groups in the order in which they score documents: those that leave most unread first, for what they have read
    /// tells of the others' documents which matter.
    order: Vec<usize>,
    /// What all groups come to at most.
    most: f32,
    excluded: Vec<List>,
    /// The frequent ones of the excluded terms, whose documents are told by their bits.
    excluded_frequent: Vec<&'e Frequent>,
    buffers: Box<Buffers>,
    budget: &'e Budget,
    /// The score below which a document only counts.
    least: Option<f32>,
}

/// So many documents are told at once. Then it is asked how much the next ones have to score.
const TOLD_AT_ONCE: usize = 256;

/// So many documents of a window are scored before it is asked how much the next ones have to score.
const FIRST: usize = 512;

/// What the worths of several groups come to at most, whatever the order in which they are added.
const ROUNDING: f32 = 1.000_01;

/// What a window takes, in units of the budget.
const WINDOW: usize = 100;

/// What each group takes there besides its postings.
const GROUP: usize = 30;

/// What each document found there takes.
const FOUND: usize = 3;

impl Walk<'_> {
    /// Leaves documents with these terms out, from the first document on.
    fn exclude(&mut self, terms: &[Term]) -> Result<(), EngineError> {
        self.excluded.clear();
        self.excluded_frequent.clear();
        for (at, term) in terms.iter().enumerate() {
            let Some(found) = self.engine.find(term)?.filter(|_| !terms[..at].contains(term)) else { continue };
            match self.engine.frequent(&found) {
                Some(about) => self.excluded_frequent.push(about),
                None => self.excluded.push(self.engine.read(&found)?),
            }
        }
        Ok(())
    }

    /// Goes back to the first document.
    fn restart(&mut self, excluded: &[Term]) -> Result<(), EngineError> {
        self.least = None;
        self.exclude(excluded)?;
        self.groups.iter_mut().try_for_each(GroupCursor::restart)
    }

    fn everything(&mut self, collector: &mut TierCollector<'_>) {
        let documents = self.engine.scorer.documents();
        for window in 0..documents.div_ceil(WIDTH) {
            if !self.budget.allows_more() {
                break;
            }
            let mut found = Bits::first(documents - window * WIDTH);
            self.leave_out(window, &mut found);
            self.admit(window, &mut found, collector);
            self.tell(window, &found, &found, collector);
        }
    }

    /// Takes out of the documents of a window those that the collector doesn't admit, and spends what scoring the others takes: the
    /// most that it can, for what pruning saves depends on the page.
    fn admit(&self, window: usize, found: &mut Bits, collector: &mut TierCollector<'_>) {
        if collector.has_phrases() {
            let start = first_of(window);
            for at in Bits::clone(found).places() {
                if !collector.has_all_phrases(document(start, at)) {
                    found.remove(at);
                }
            }
        }
        let count = found.count();
        let scoring: usize = self.groups.iter().map(|group| group.scoring(count)).sum();
        let units = WINDOW + self.groups.len() * GROUP + count * FOUND + scoring;
        let part = self.budget.part_of(WIDTH, units);
        self.budget.spend(units);
        if part < WIDTH {
            *found = found.take_until(part);
        }
    }

    fn all_windows(&mut self, combine: Combine, collector: &mut TierCollector<'_>) -> Result<(), EngineError> {
        let mut next = 0;
        while let Some(window) = self.next_window(next, combine) {
            next = window + 1;
            if !self.budget.allows_more() {
                break;
            }
            let (mut found, mut shared) = self.find(window, combine);
            self.leave_out(window, &mut found);
            if found.is_empty() {
                continue;
            }
            self.admit(window, &mut found, collector);
            self.accompany(window, &found, &mut shared);
            // Until a least score is known, all that is found has to be scored; it takes few documents to know one.
            if self.least.is_none() && found.count() > 2 * FIRST {
                let first = found.take_until(FIRST);
                self.score_and_tell(window, &first, &shared, collector)?;
            }
            self.score_and_tell(window, &found, &shared, collector)?;
        }
        Ok(())
    }

    /// The first window from one on that has any document.
    fn next_window(&self, window: usize, combine: Combine) -> Option<usize> {
        match combine {
            Combine::All => self.groups[*self.roles.finders.first()?].next_window(window),
            Combine::Any => self.roles.finders.iter().filter_map(|at| self.groups[*at].next_window(window)).min(),
        }
    }

    /// The documents of a window, and those of them that several groups may have. Of postings without bits they are scored as
    /// well.
    fn find(&mut self, window: usize, combine: Combine) -> (Bits, Bits) {
        let (mut found, mut shared) = (None, Bits::NONE);
        for at in &self.roles.finders {
            let least = self.among(*at);
            let (group, scores) = (&mut self.groups[*at], &mut self.buffers.groups[*at]);
            let among = found.as_ref().filter(|_| matches!(combine, Combine::All));
            self.budget.spend(group.enter(scores, window, among, least));
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
        (found.unwrap_or(Bits::NONE), shared)
    }

    /// Finds out which of the documents of a window the groups have that only add to their scores.
    fn accompany(&mut self, window: usize, found: &Bits, shared: &mut Bits) {
        for at in &self.roles.others {
            let least = self.among(*at);
            let scores = &mut self.buffers.groups[*at];
            self.budget.spend(self.groups[*at].enter(scores, window, Some(found), least));
            shared.unite_common(found, &scores.members);
        }
    }

    /// What a group has to give to a document for it to matter, whatever others give.
    fn among(&self, at: usize) -> f32 {
        let others = || (self.most - self.groups[at].most()) * ROUNDING;
        self.least.map_or(f32::MIN, |least| least / ROUNDING - others())
    }

    /// Takes out of the documents of a window those that are excluded.
    fn leave_out(&mut self, window: usize, found: &mut Bits) {
        let start = first_of(window);
        for about in &self.excluded_frequent {
            found.subtract(about.documents_in(window));
        }
        let mut units = (self.excluded.len() + self.excluded_frequent.len()) * GROUP;
        for list in &mut self.excluded {
            list.seek(start);
            list.for_each_until(first_of(window + 1), |document, _| {
                units += 1;
                found.remove(place(document));
            });
        }
        self.budget.spend(units);
    }

    /// Scores documents found in a window and tells them.
    fn score_and_tell(
        &mut self,
        window: usize,
        found: &Bits,
        shared: &Bits,
        collector: &mut TierCollector<'_>,
    ) -> Result<(), EngineError> {
        let candidates = self.score(window, found, shared)?;
        self.tell(window, found, &candidates, collector);
        self.settle(collector.threshold());
        Ok(())
    }

    /// Scores the documents of a window that can come to the least score, and tells which they are.
    ///
    /// The groups' postings that go unread bring no document so far all together, so one that matters was scored by another
    /// one that was read, as in `MaxScore` (Turtle and Flood, 1995). Of those few what they may have unread is looked up.
    fn score(&mut self, window: usize, found: &Bits, shared: &Bits) -> Result<Bits, EngineError> {
        let count = if self.groups.iter().any(GroupCursor::reads_whole_lists) { found.count() } else { 0 };
        let mut known = Bits::NONE;
        self.buffers.groups[..self.groups.len()].iter().for_each(|scores| known.unite(&scores.scored));
        // What others give at most to a document that none of them scored: those before by what they didn't read, those behind
        // by all that they have.
        let mut others = self.most;
        for of in 0..self.order.len() {
            let at = self.order[of];
            others -= self.groups[at].most();
            let least = self.least.map_or(Least::NONE, |least| Least {
                alone: least / ROUNDING,
                first: least / ROUNDING - others * ROUNDING,
                among: self.among(at),
            });
            let needs = Needs { found, count, shared, scored: &known, least };
            let scores = &mut self.buffers.groups[at];
            self.groups[at].score(scores, window, &needs)?;
            known.unite(&scores.scored);
            others += self.groups[at].unread();
        }
        let Buffers { groups, unread, .. } = &mut *self.buffers;
        let groups = &mut groups[..self.groups.len()];
        unread.clear();
        unread.extend(self.groups.iter().map(GroupCursor::unread));
        let mut candidates = *found;
        let Some(least) = self.least.map(|least| least / ROUNDING) else { return Ok(candidates) };
        let unread_at_most: f32 = unread.iter().sum();
        if unread_at_most < least {
            candidates.intersect(&known);
        }
        if unread_at_most == 0.0 {
            return Ok(candidates);
        }
        for at in Bits::clone(&candidates).places() {
            let mut most: f32 = unread.iter().zip(&*groups).map(|(unread, scores)| scores.at_most(at, *unread)).sum();
            for ((group, unread), scores) in self.groups.iter_mut().zip(&*unread).zip(&mut *groups) {
                if most < least {
                    break;
                }
                let before = scores.at_most(at, *unread);
                group.complete(scores, window, at)?;
                most -= before - scores.of(at);
            }
            if most < least {
                candidates.remove(at);
            }
        }
        Ok(candidates)
    }

    /// Reads as much of each group as it takes.
    fn settle(&mut self, least: Option<f32>) {
        if least == self.least {
            return;
        }
        self.least = least;
        let Some(least) = least.map(|least| least / ROUNDING) else {
            return self.groups.iter_mut().for_each(GroupCursor::read_all);
        };
        self.groups.iter_mut().for_each(GroupCursor::read_least);
        while self.groups.iter().map(GroupCursor::unread).sum::<f32>() >= least {
            let gains = self.groups.iter_mut().filter_map(|group| Some((group.gain()?, group)));
            let Some((_, best)) = gains.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { break };
            best.read_more();
        }
        let groups = &self.groups;
        self.order.sort_by(|a, b| groups[*b].unread().total_cmp(&groups[*a].unread()));
    }

    /// Tells the collector the documents found in a window: of the candidates those that come to the least score, all others as
    /// passed over.
    fn tell(&mut self, window: usize, found: &Bits, candidates: &Bits, collector: &mut TierCollector<'_>) {
        let mut least = self.least.unwrap_or(f32::NEG_INFINITY);
        let start = first_of(window);
        let Buffers { groups, matches, .. } = &mut *self.buffers;
        let groups = &groups[..self.groups.len()];
        let mut passed = *found;
        matches.clear();
        for at in candidates.places() {
            // Added up in one order, so that a score doesn't tell what was read when.
            let score = groups.iter().map(|scores| scores.of(at)).sum();
            if score >= least {
                passed.remove(at);
                matches.push(Match { ordinal: document(start, at), score });
                if matches.len() == TOLD_AT_ONCE {
                    collector.collect(matches);
                    matches.clear();
                    least = collector.threshold().unwrap_or(least);
                }
            }
        }
        if !matches.is_empty() {
            collector.collect(matches);
        }
        collector.count_pruned(passed.pruned(start));
    }
}
