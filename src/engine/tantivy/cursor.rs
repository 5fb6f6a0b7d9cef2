//! Cursors over the documents that satisfy one group of a plan.

use std::cmp::Reverse;

use ::tantivy::postings::BlockSegmentPostings;
use ::tantivy::{DocId, TERMINATED};

use super::TantivyEngine;
use super::window::{WIDTH, Window};
use crate::engine::EngineError;
use crate::search::Group;
use crate::search::score::Scorer;

/// So many alternatives are merged during a visit, the most frequent ones; all others are gathered into one list before it.
const MERGED_AT_MOST: usize = 8;

/// What the score of one word is at most, beside its `idf`. The same for all words, so it orders nothing.
const SCALE: f32 = 2.2;

/// How many postings can be read one after another in the time it takes to look one up.
const LOOK_UP: u64 = 8;

/// A posting list and a place in it. Its documents come in blocks of 128.
pub(super) struct List {
    blocks: BlockSegmentPostings,
    at: usize,
}

impl List {
    pub(super) fn new(blocks: BlockSegmentPostings) -> Self {
        Self { blocks, at: 0 }
    }

    /// The document it is at; [`TERMINATED`] behind the last.
    pub(super) fn document(&self) -> DocId {
        // The last block is filled up with that.
        self.blocks.doc(self.at)
    }

    /// Goes to the first document that isn't before `target`.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        if self.document() < target {
            self.at = self.blocks.seek(target);
        }
        self.document()
    }

    /// Goes through the documents up to `end`, each with its frequency there.
    pub(super) fn for_each_until(&mut self, end: DocId, mut visit: impl FnMut(DocId, u32)) {
        loop {
            let documents = self.blocks.docs();
            let rest = documents.get(self.at..).unwrap_or_default();
            let count = match rest.last() {
                None => return,
                Some(last) if *last < end => rest.len(),
                Some(_) => rest.partition_point(|document| *document < end),
            };
            let frequencies = self.blocks.freqs().get(self.at..).unwrap_or_default();
            for (document, frequency) in rest[..count].iter().zip(frequencies) {
                visit(*document, *frequency);
            }
            self.at += count;
            if self.at < documents.len() || documents.len() < BLOCK {
                return;
            }
            self.blocks.advance();
            self.at = 0;
        }
    }
}

/// How many documents a full block has; the last one of a list has fewer.
const BLOCK: usize = 128;

/// A document that one of a group's terms has, with what that is worth.
#[derive(Debug, Clone, Copy)]
struct Posting<'e> {
    document: DocId,
    worth: Worth<'e>,
}

#[derive(Debug, Clone, Copy)]
enum Worth<'e> {
    /// To be worked out: how the term occurs, and what that is multiplied by.
    Coded { code: u32, scale: f32, scorer: &'e Scorer },
    /// Known.
    Scored(f32),
}

impl Posting<'_> {
    #[inline]
    fn score(&self) -> f32 {
        match self.worth {
            Worth::Coded { code, scale, scorer } => scale * scorer.worth(code, self.document),
            Worth::Scored(score) => score,
        }
    }

    /// The score, unless it is less. What a code is worth at most is near at hand; what it is worth in a document isn't.
    #[inline]
    fn score_from(&self, least: f32) -> Option<f32> {
        if let Worth::Coded { code, scale, scorer } = self.worth
            && scale * scorer.most(code) < least
        {
            return None;
        }
        Some(self.score()).filter(|score| *score >= least)
    }
}

/// The documents of one group, window by window, each with its score for the group.
pub(super) struct GroupCursor<'e> {
    scorer: &'e Scorer,
    /// `idf * SCALE`: what a document scores at most.
    pub(super) worth: f32,
    /// The longest lists, with what their scores are multiplied by.
    lists: Vec<(List, f32)>,
    /// All others.
    gathered: Gathered,
    /// How many documents at most.
    pub(super) cost: u32,
    pub(super) required: bool,
}

/// Short lists put together: the documents of each window with their scores, in any order and more than once.
#[derive(Default)]
struct Gathered {
    windows: Vec<Vec<(DocId, f32)>>,
    /// The next window.
    at: usize,
}

impl<'e> GroupCursor<'e> {
    /// A cursor at the group's first document.
    pub(super) fn open(engine: &'e TantivyEngine, group: &Group) -> Result<Self, EngineError> {
        let mut found = Vec::with_capacity(group.alternatives.len());
        for alternative in &group.alternatives {
            if let Some(term) = engine.find(&alternative.term)? {
                found.push((term, alternative.weight));
            }
        }
        let scorer = &engine.scorer;
        let frequency = found.iter().map(|(term, _)| term.doc_freq).max().unwrap_or(0);
        let cost = found.iter().map(|(term, _)| term.doc_freq).fold(0, u32::saturating_add);
        let worth = inverse_document_frequency(frequency, scorer.documents()) * SCALE;
        if found.len() > MERGED_AT_MOST {
            found.select_nth_unstable_by_key(MERGED_AT_MOST, |(term, _)| Reverse(term.doc_freq));
        }
        let mut lists = found.iter().map(|(term, weight)| Ok((List::new(engine.read(term)?), worth * *weight)));
        let longest = lists.by_ref().take(MERGED_AT_MOST).collect::<Result<Vec<_>, EngineError>>()?;
        let gathered = if found.len() > MERGED_AT_MOST { gather(lists, scorer)? } else { Gathered::default() };
        Ok(Self { scorer, worth, lists: longest, gathered, cost, required: group.required })
    }

    /// A document of the next window that it has any in; [`TERMINATED`] behind the last.
    pub(super) fn document(&self) -> DocId {
        let gathered = self.gathered.windows.iter().skip(self.gathered.at).find_map(|window| window.first());
        let documents = self.lists.iter().map(|(list, _)| list.document());
        documents.chain(gathered.map(|(document, _)| *document)).min().unwrap_or(TERMINATED)
    }

    /// Whether to look up that many documents of a window rather than to read all that the group has there.
    fn prefers_looking_up(&self, documents: u32) -> bool {
        let lists = self.lists.len() as u64;
        let in_window = u64::from(self.cost) * WIDTH as u64 / (self.scorer.documents() as u64).max(1);
        self.gathered.windows.is_empty() && u64::from(documents) * lists * LOOK_UP < in_window
    }

    /// The score of a document, if one of the lists has it. Documents must be asked for in rising order.
    fn score(&mut self, document: DocId) -> Option<f32> {
        let mut best: Option<f32> = None;
        for (list, scale) in &mut self.lists {
            if list.seek(document) == document {
                let score = *scale * self.scorer.worth(list.blocks.freq(list.at), document);
                best = Some(best.map_or(score, |best| best.max(score)));
            }
        }
        best
    }

    /// Reads all that the group has in a window; a document may come more than once.
    fn read(&mut self, start: DocId, end: DocId, mut take: impl FnMut(Posting<'e>)) {
        let scorer = self.scorer;
        for (list, scale) in &mut self.lists {
            list.seek(start);
            list.for_each_until(end, |document, code| {
                take(Posting { document, worth: Worth::Coded { code, scale: *scale, scorer } });
            });
        }
        let at = place(start);
        for (document, score) in self.gathered.windows.get(at).into_iter().flatten() {
            take(Posting { document: *document, worth: Worth::Scored(*score) });
        }
        self.gathered.at = at + 1;
    }

    /// From how many of its lists a window has documents.
    fn sources_in(&mut self, start: DocId, end: DocId) -> usize {
        let lists = self.lists.iter_mut().map(|(list, _)| usize::from(list.seek(start) < end)).sum::<usize>();
        let gathered = self.gathered.windows.get(place(start)).is_some_and(|window| !window.is_empty());
        lists + 2 * usize::from(gathered)
    }

    /// Adds the group's documents in a window, and to the score of those that are there. Documents that the group gives less
    /// than `least` only count.
    pub(super) fn unite(&mut self, found: &mut Window, scratch: &mut Window, least: f32) {
        let (start, end) = (found.start(), found.end());
        let sources = self.sources_in(start, end);
        if sources == 0 {
            return;
        }
        if sources == 1 {
            // No document comes twice, so there is no best score to find.
            return self.read(start, end, |posting| match posting.score_from(least) {
                Some(score) => found.add(posting.document, score),
                None => found.note(posting.document),
            });
        }
        scratch.move_to(start);
        self.read(start, end, |posting| match posting.score_from(least) {
            Some(score) => scratch.raise(posting.document, score),
            None => found.note(posting.document),
        });
        found.unite(scratch);
    }

    /// Adds to the scores of the documents that are found already; others of the group only count.
    pub(super) fn accompany(&mut self, found: &mut Window, scratch: &mut Window) {
        let (start, end) = (found.start(), found.end());
        scratch.move_to(start);
        self.read(start, end, |posting| {
            if found.has(posting.document) {
                scratch.raise(posting.document, posting.score());
            } else {
                found.note(posting.document);
            }
        });
        found.unite(scratch);
    }

    /// Leaves only the group's documents in a window, adding to their scores.
    pub(super) fn narrow(&mut self, found: &mut Window, scratch: &mut Window) {
        if self.prefers_looking_up(found.count()) {
            let mut lost = Vec::new();
            let mut gained = Vec::new();
            for (document, _) in found.documents() {
                match self.score(document) {
                    Some(score) => gained.push((document, score)),
                    None => lost.push(document),
                }
            }
            for (document, score) in gained {
                found.reward(document, score);
            }
            for document in lost {
                found.remove(document);
            }
        } else {
            self.fill(found, scratch);
            found.intersect(scratch);
        }
    }

    /// Adds to the scores of some documents of a window, given in rising order.
    pub(super) fn reward(&mut self, found: &mut Window, documents: &[DocId], scratch: &mut Window) {
        let count = u32::try_from(documents.len()).unwrap_or(u32::MAX);
        if self.prefers_looking_up(count) {
            for document in documents {
                if let Some(score) = self.score(*document) {
                    found.reward(*document, score);
                }
            }
        } else {
            self.fill(found, scratch);
            found.reward_common(scratch);
        }
    }

    /// Reads what the group has of the documents found.
    fn fill(&mut self, found: &Window, scratch: &mut Window) {
        scratch.move_to(found.start());
        self.read(found.start(), found.end(), |posting| {
            if found.has(posting.document) {
                scratch.raise(posting.document, posting.score());
            }
        });
    }
}

/// The probabilistic inverse document frequency of BM25, `ln(1 + (N - n + 0.5) / (n + 0.5))`.
fn inverse_document_frequency(frequency: u32, documents: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (n, all) = (frequency as f32, documents as f32);
    (1.0 + (all - n + 0.5).max(0.5) / (n + 0.5)).ln()
}

/// All documents of many lists with their scores, by window. Which window a document is in is soon told, and within one no
/// order is needed, so none is made.
fn gather(
    lists: impl Iterator<Item = Result<(List, f32), EngineError>>,
    scorer: &Scorer,
) -> Result<Gathered, EngineError> {
    let mut windows = vec![Vec::new(); scorer.documents().div_ceil(WIDTH)];
    for list in lists {
        let (mut list, scale) = list?;
        list.for_each_until(TERMINATED, |document, code| {
            if let Some(window) = windows.get_mut(place(document)) {
                window.push((document, scale * scorer.worth(code, document)));
            }
        });
    }
    Ok(Gathered { windows, at: 0 })
}

/// Which window a document is in.
const fn place(document: DocId) -> usize {
    document as usize / WIDTH
}
