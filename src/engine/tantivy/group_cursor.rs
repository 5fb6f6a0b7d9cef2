//! Cursors over the documents that satisfy one group of a plan.

use ::tantivy::postings::TermInfo;
use ::tantivy::{DocId, TERMINATED};

use super::TantivyEngine;
use super::block::{BLOCK_LEN, Bitset, BlockScores, block_of, block_start, document, offset};
use super::frequent_term::FrequentTerm;
use super::posting_list::PostingList;
use crate::engine::EngineError;
use crate::search::Group;
use crate::search::budget::Budget;
use crate::search::score::{Scorer, group_weight};

/// The units of the budget that opening an alternative takes.
const OPENED: usize = 60;

/// The number of postings that are read one after another in the time it takes to seek one.
const LOOK_UP: usize = 8;

/// The documents of a block that a group has to score.
pub(super) struct Targets<'w> {
    /// The documents found.
    pub(super) found: &'w Bitset,
    /// Their number, where any group reads whole lists.
    pub(super) count: usize,
    /// The documents among them which other groups may have too.
    pub(super) shared: &'w Bitset,
    /// The documents which another group scored.
    pub(super) scored: &'w Bitset,
    /// What the group's score has to reach.
    pub(super) thresholds: Thresholds,
}

/// The scores which a group has to reach for a document to be competitive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thresholds {
    /// Of a document which no other group has.
    pub(super) alone: f32,
    /// Of a document which no other group scored so far.
    pub(super) first: f32,
    /// Of any other document.
    pub(super) among: f32,
}

impl Thresholds {
    /// No thresholds.
    pub(super) const NONE: Self = Self { alone: f32::MIN, first: f32::MIN, among: f32::MIN };
}

impl Targets<'_> {
    /// Scores a posting, if its document is a target.
    #[inline]
    fn score_posting(
        &self,
        scores: &mut BlockScores,
        bm25f: &Scorer,
        scale: f32,
        (at, packed, document): (usize, u32, DocId),
    ) {
        let threshold = if !self.shared.has(at) {
            self.thresholds.alone
        } else if self.scored.has(at) {
            self.thresholds.among
        } else {
            self.thresholds.first
        };
        if self.found.has(at) {
            score_posting(scores, bm25f, scale, (at, packed, document), threshold);
        }
    }
}

/// The documents of one group, block by block, each with its score for the group.
///
/// The documents of frequent alternatives are in bitmaps, and their postings are read in stages, those of the highest impact
/// first: the threshold decides [how many](Self::read_more). All other alternatives are always read.
pub(super) struct GroupCursor<'e> {
    engine: &'e TantivyEngine,
    /// The frequent alternatives.
    frequent: Vec<FrequentCursor<'e>>,
    /// The lists of the others, with the weight of each.
    lists: Vec<(TermInfo, PostingList, f32)>,
    /// The stages of all frequent alternatives, by falling upper bound.
    stages: Vec<Stage>,
    /// The number of stages read.
    read: usize,
    /// An upper bound of the number of documents.
    pub(super) cost: usize,
    pub(super) required: bool,
    pub(super) indispensable: bool,
}

/// A frequent alternative.
struct FrequentCursor<'e> {
    info: TermInfo,
    term: &'e FrequentTerm,
    /// What a posting's score is multiplied by.
    scale: f32,
    /// Its whole posting list, opened at the first posting that is in no tier.
    list: Option<PostingList>,
    /// The number of its stages that are read.
    read: usize,
}

/// A stage of reading a frequent alternative: a tier of its postings, or the whole list.
#[derive(Debug, Clone, Copy)]
struct Stage {
    /// An upper bound of the scores by the postings of this stage and those behind it.
    upper_bound: f32,
    /// The number of postings to read.
    postings: usize,
    /// The index of the alternative.
    of: usize,
}

impl<'e> GroupCursor<'e> {
    /// Opens a cursor at the group's first document, with all stages read.
    pub(super) fn open(engine: &'e TantivyEngine, group: &Group, budget: &Budget) -> Result<Self, EngineError> {
        let mut found = Vec::with_capacity(group.alternatives.len());
        for alternative in &group.alternatives {
            if let Some(term) = engine.find(&alternative.term)? {
                found.push((term, alternative.weight));
            }
        }
        let bm25f = &engine.scorer;
        let frequency = found.iter().map(|(term, _)| term.doc_freq).max().unwrap_or(0);
        let cost = found.iter().map(|(term, _)| term.doc_freq as usize).sum();
        let group_weight = group_weight(frequency, bm25f.documents());
        let mut frequent = Vec::new();
        found.retain(|(term, weight)| {
            let frequent_term = engine.frequent(term);
            frequent.extend(frequent_term.map(|frequent| {
                let scale = group_weight * *weight;
                FrequentCursor { info: term.clone(), term: frequent, scale, list: None, read: frequent.stages() }
            }));
            frequent_term.is_none()
        });
        let mut stages: Vec<_> = (0..)
            .zip(&frequent)
            .flat_map(|(of, list): (usize, &FrequentCursor<'_>)| {
                (0..list.term.stages()).map(move |stage| Stage {
                    upper_bound: list.scale * list.term.upper_bound(stage),
                    postings: list.term.stage_postings(stage),
                    of,
                })
            })
            .collect();
        // A stable sort: stages of one alternative stay in their order.
        stages.sort_by(|a, b| b.upper_bound.total_cmp(&a.upper_bound));
        let lists = found
            .into_iter()
            .map(|(term, weight)| engine.read(&term).map(|list| (term, list, group_weight * weight)))
            .collect::<Result<Vec<_>, EngineError>>()?;
        budget.spend(OPENED * group.alternatives.len());
        let read = stages.len();
        let (required, indispensable) = (group.required, group.indispensable);
        Ok(Self { engine, frequent, lists, stages, read, cost, required, indispensable })
    }

    /// Returns to the first document, with all stages read.
    pub(super) fn restart(&mut self) -> Result<(), EngineError> {
        for (term, list, _) in &mut self.lists {
            *list = self.engine.read(term)?;
        }
        self.frequent.iter_mut().for_each(|list| list.list = None);
        self.read_all();
        Ok(())
    }

    /// The first block at or behind one that may have documents of the group.
    pub(super) fn next_block(&self, block: usize) -> Option<usize> {
        if !self.frequent.is_empty() {
            return Some(block).filter(|block| block * BLOCK_LEN < self.engine.scorer.documents());
        }
        let lists = self.lists.iter().map(|(_, list, _)| list.document()).filter(|document| *document != TERMINATED);
        lists.map(block_of).min()
    }

    /// An upper bound of a document's score by the stages that aren't read.
    pub(super) fn unread(&self) -> f32 {
        self.stages.get(self.read).map_or(0.0, |stage| stage.upper_bound)
    }

    /// An upper bound of a document's score.
    pub(super) fn upper_bound(&self) -> f32 {
        let frequent = self.stages.first().map_or(0.0, |stage| stage.upper_bound);
        self.lists.iter().map(|(.., scale)| *scale).fold(frequent, f32::max)
    }

    /// Reads all stages from the next block on.
    pub(super) fn read_all(&mut self) {
        self.frequent.iter_mut().for_each(|list| list.read = list.term.stages());
        self.read = self.stages.len();
    }

    /// Whether the whole list of any frequent alternative is read.
    pub(super) fn reads_whole_lists(&self) -> bool {
        self.frequent.iter().any(FrequentCursor::is_read_whole)
    }

    /// Reads no stage from the next block on: only the bitmaps of frequent alternatives.
    pub(super) fn read_none(&mut self) {
        self.read = 0;
        self.frequent.iter_mut().for_each(|list| list.read = 0);
    }

    /// By how much the upper bound of what isn't read falls for each posting of the next stage; `None` where all stages are
    /// read.
    pub(super) fn gain(&self) -> Option<f32> {
        let stage = self.stages.get(self.read)?;
        let behind = self.stages.get(self.read + 1).map_or(0.0, |stage| stage.upper_bound);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        Some((stage.upper_bound - behind) / (stage.postings + 1) as f32)
    }

    /// Reads one more stage.
    pub(super) fn read_more(&mut self) {
        if let Some(stage) = self.stages.get(self.read) {
            self.frequent[stage.of].read += 1;
            self.read += 1;
        }
    }

    /// Finds the group's documents in a block, or those of `among`, and scores the postings which aren't of frequent
    /// alternatives, unless they are below the threshold. Returns the units of work, which don't depend on the threshold.
    pub(super) fn enter(
        &mut self,
        scores: &mut BlockScores,
        block: usize,
        among: Option<&Bitset>,
        threshold: f32,
    ) -> usize {
        scores.clear();
        let mut units = 0;
        for list in &self.frequent {
            scores.members.unite(list.term.bitset(block));
        }
        let bm25f = &self.engine.scorer;
        let start = block_start(block);
        let end = block_start(block + 1);
        if !self.lists.is_empty() && among.is_some_and(|among| self.prefers_looking_up(among.count())) {
            for at in among.into_iter().flat_map(Bitset::offsets) {
                units += LOOK_UP * self.lists.len();
                let document = document(start, at);
                for (_, list, scale) in &mut self.lists {
                    if list.seek(document) == document {
                        scores.members.add(at);
                        scores.raise(at, *scale * bm25f.score(list.packed(), document));
                    }
                }
            }
        } else {
            for (_, list, scale) in &mut self.lists {
                list.seek(start);
                list.for_each_until(end, |document, packed| {
                    units += 1;
                    let at = offset(document);
                    scores.members.add(at);
                    if among.is_none_or(|among| among.has(at)) {
                        score_posting(scores, bm25f, *scale, (at, packed, document), threshold);
                    }
                });
            }
        }
        units
    }

    /// An upper bound of the units of work that it takes to score that many documents of a block by frequent alternatives.
    pub(super) fn scoring(&self, documents: usize) -> usize {
        let of =
            |list: &FrequentCursor<'_>| self.engine.per_block(list.term.documents as usize).min(documents * LOOK_UP);
        self.frequent.iter().map(of).sum()
    }

    /// Whether seeking that many documents of a block takes less time than reading all postings there.
    fn prefers_looking_up(&self, documents: usize) -> bool {
        let postings: usize = self.lists.iter().map(|(term, ..)| term.doc_freq as usize).sum();
        documents * self.lists.len() * LOOK_UP < self.engine.per_block(postings)
    }

    /// Scores documents of a block by the stages that are read.
    pub(super) fn score(
        &mut self,
        scores: &mut BlockScores,
        block: usize,
        targets: &Targets<'_>,
    ) -> Result<(), EngineError> {
        let bm25f = &self.engine.scorer;
        let start = block_start(block);
        for list in &mut self.frequent {
            if list.is_read_whole() {
                list.score(self.engine, scores, block, targets)?;
                continue;
            }
            for posting in list.term.tier_postings(block, list.read) {
                let at = posting.offset();
                targets.score_posting(scores, bm25f, list.scale, (at, posting.packed(), document(start, at)));
            }
        }
        Ok(())
    }

    /// Completes the score of a document by the stages that aren't read.
    pub(super) fn complete(&mut self, scores: &mut BlockScores, block: usize, at: usize) -> Result<(), EngineError> {
        if self.read == self.stages.len() {
            return Ok(());
        }
        for list in &mut self.frequent {
            if !list.is_read_whole() && scores.of(at) < list.scale * list.term.upper_bound(list.read) {
                list.look_up(self.engine, scores, block, at)?;
            }
        }
        Ok(())
    }
}

impl FrequentCursor<'_> {
    /// Whether the whole list is read.
    fn is_read_whole(&self) -> bool {
        self.read == self.term.stages()
    }

    /// Scores documents of a block by the whole list.
    fn score(
        &mut self,
        engine: &TantivyEngine,
        scores: &mut BlockScores,
        block: usize,
        targets: &Targets<'_>,
    ) -> Result<(), EngineError> {
        if targets.count * LOOK_UP < engine.per_block(self.term.documents as usize) {
            let mut both = *targets.found;
            both.intersect(self.term.bitset(block));
            for at in both.offsets() {
                self.look_up(engine, scores, block, at)?;
            }
            return Ok(());
        }
        let (start, scale) = (block_start(block), self.scale);
        let (list, bm25f) = (self.list(engine)?, &engine.scorer);
        list.seek(start);
        list.for_each_until(document(start, targets.found.end()), |document, packed| {
            targets.score_posting(scores, bm25f, scale, (offset(document), packed, document));
        });
        Ok(())
    }

    /// Scores one document of a block, if it has the term. Calls are in rising order of documents.
    fn look_up(
        &mut self,
        engine: &TantivyEngine,
        scores: &mut BlockScores,
        block: usize,
        at: usize,
    ) -> Result<(), EngineError> {
        let (document, scale) = (document(block_start(block), at), self.scale);
        if self.term.bitset(block).has(at) {
            let list = self.list(engine)?;
            if list.seek(document) == document {
                scores.raise(at, scale * engine.scorer.score(list.packed(), document));
            }
        }
        Ok(())
    }

    fn list(&mut self, engine: &TantivyEngine) -> Result<&mut PostingList, EngineError> {
        // `get_or_insert_with` can't return an error, and a list is a kilobyte to move.
        match &mut self.list {
            Some(list) => Ok(list),
            none => Ok(none.insert(engine.read(&self.info)?)),
        }
    }
}

/// Scores a posting, unless its score is below the threshold. The upper bound of a packed frequency is in the cache, a
/// document's lengths often aren't.
#[inline]
fn score_posting(
    scores: &mut BlockScores,
    bm25f: &Scorer,
    scale: f32,
    (at, packed, document): (usize, u32, DocId),
    threshold: f32,
) {
    if scale * bm25f.upper_bound(packed) >= threshold {
        let score = scale * bm25f.score(packed, document);
        if score >= threshold {
            scores.raise(at, score);
        }
    }
}
