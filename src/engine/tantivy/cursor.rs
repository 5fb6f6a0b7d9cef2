//! Cursors over the documents that satisfy one group of a plan.

use ::tantivy::postings::BlockSegmentPostings;
use ::tantivy::{DocId, TERMINATED};

use super::TantivyEngine;
use super::window::{WIDTH, Window};
use crate::engine::EngineError;
use crate::search::Group;
use crate::search::score::Scorer;

/// More alternatives than this are gathered into one list before the visit instead of being merged during it.
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

/// The documents of one group in rising order, each with its score for the group.
pub(super) struct GroupCursor<'e> {
    scorer: &'e Scorer,
    /// `idf * SCALE`: what a document scores at most.
    pub(super) worth: f32,
    source: Source,
    /// How many documents at most.
    pub(super) cost: u32,
    pub(super) required: bool,
}

enum Source {
    /// A few lists with their weights.
    Lists(Vec<(List, f32)>),
    /// Many, gathered: the documents of each window with their scores, in any order and more than once.
    Gathered { windows: Vec<Vec<(DocId, f32)>>, at: usize },
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
        let mut lists = found.iter().map(|(term, weight)| Ok((List::new(engine.read(term)?), *weight)));
        let source = if found.len() > MERGED_AT_MOST {
            Source::Gathered { windows: gather(lists, worth, scorer)?, at: 0 }
        } else {
            Source::Lists(lists.by_ref().collect::<Result<_, EngineError>>()?)
        };
        Ok(Self { scorer, worth, source, cost, required: group.required })
    }

    /// A document of the next window that it has any in; [`TERMINATED`] behind the last.
    pub(super) fn document(&self) -> DocId {
        match &self.source {
            Source::Lists(lists) => lists.iter().map(|(list, _)| list.document()).min().unwrap_or(TERMINATED),
            Source::Gathered { windows, at } => {
                let next = windows.iter().skip(*at).find_map(|window| window.first());
                next.map_or(TERMINATED, |(document, _)| *document)
            }
        }
    }

    /// Whether to look up that many documents of a window rather than to read all that the group has there.
    fn prefers_looking_up(&self, documents: u32) -> bool {
        let Source::Lists(lists) = &self.source else { return false };
        let lists = lists.len() as u64;
        let in_window = u64::from(self.cost) * WIDTH as u64 / (self.scorer.documents() as u64).max(1);
        u64::from(documents) * lists * LOOK_UP < in_window
    }

    /// The score of a document, if the group has it. Documents must be asked for in rising order.
    fn score(&mut self, document: DocId) -> Option<f32> {
        match &mut self.source {
            Source::Lists(lists) => {
                let mut best: Option<f32> = None;
                for (list, weight) in lists {
                    if list.seek(document) == document {
                        let frequency = list.blocks.freq(list.at);
                        let score = self.worth * *weight * self.scorer.worth(frequency, document);
                        best = Some(best.map_or(score, |best| best.max(score)));
                    }
                }
                best
            }
            Source::Gathered { windows, .. } => {
                let window = windows.get(place(document))?;
                let scores = window.iter().filter(|(of, _)| *of == document).map(|(_, score)| *score);
                scores.reduce(f32::max)
            }
        }
    }

    /// Reads all that the group has in a window.
    fn fill(&mut self, window: &mut Window) {
        let (start, end) = (window.start(), window.end());
        let (worth, scorer) = (self.worth, self.scorer);
        match &mut self.source {
            Source::Lists(lists) => {
                for (list, weight) in lists {
                    list.seek(start);
                    list.for_each_until(end, |document, frequency| {
                        window.raise(document, worth * *weight * scorer.worth(frequency, document));
                    });
                }
            }
            Source::Gathered { windows, at } => {
                *at = place(start);
                for (document, score) in windows.get(*at).into_iter().flatten() {
                    window.raise(*document, *score);
                }
                *at += 1;
            }
        }
    }

    /// Adds the group's documents in a window, and to the score of those that are there.
    pub(super) fn unite(&mut self, found: &mut Window, scratch: &mut Window) {
        let (start, end) = (found.start(), found.end());
        let (worth, scorer) = (self.worth, self.scorer);
        if let Source::Lists(lists) = &mut self.source {
            // Mostly no more than one of the words has anything here.
            let mut here =
                lists.iter_mut().filter_map(|(list, weight)| (list.seek(start) < end).then_some((list, weight)));
            match (here.next(), here.next()) {
                (None, _) => return,
                (Some((list, weight)), None) => {
                    return list.for_each_until(end, |document, code| {
                        found.add(document, worth * *weight * scorer.worth(code, document));
                    });
                }
                _ => {}
            }
        }
        scratch.move_to(start);
        self.fill(scratch);
        found.unite(scratch);
    }

    /// Adds to the scores of the documents that are found already; others of the group only count.
    pub(super) fn accompany(&mut self, found: &mut Window, scratch: &mut Window) {
        let (start, end) = (found.start(), found.end());
        let (worth, scorer) = (self.worth, self.scorer);
        scratch.move_to(start);
        let mut take = |document, score: &dyn Fn() -> f32| {
            if found.has(document) { scratch.raise(document, score()) } else { found.note(document) }
        };
        match &mut self.source {
            Source::Lists(lists) => {
                for (list, weight) in lists {
                    list.seek(start);
                    list.for_each_until(end, |document, code| {
                        take(document, &|| worth * *weight * scorer.worth(code, document));
                    });
                }
            }
            Source::Gathered { windows, at } => {
                *at = place(start);
                for (document, score) in windows.get(*at).into_iter().flatten() {
                    take(*document, &|| *score);
                }
                *at += 1;
            }
        }
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
            scratch.move_to(found.start());
            self.fill(scratch);
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
            scratch.move_to(found.start());
            self.fill(scratch);
            found.reward_common(scratch);
        }
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
    worth: f32,
    scorer: &Scorer,
) -> Result<Vec<Vec<(DocId, f32)>>, EngineError> {
    let mut windows = vec![Vec::new(); scorer.documents().div_ceil(WIDTH)];
    for list in lists {
        let (mut list, weight) = list?;
        list.for_each_until(TERMINATED, |document, code| {
            if let Some(window) = windows.get_mut(place(document)) {
                window.push((document, worth * weight * scorer.worth(code, document)));
            }
        });
    }
    Ok(windows)
}

/// Which window a document is in.
const fn place(document: DocId) -> usize {
    document as usize / WIDTH
}
