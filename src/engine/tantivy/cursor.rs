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
    /// Many, gathered: documents with their scores.
    Gathered { documents: Vec<(DocId, f32)>, at: usize },
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
            Source::Gathered { documents: gather(lists, cost, worth, scorer)?, at: 0 }
        } else {
            Source::Lists(lists.by_ref().collect::<Result<_, EngineError>>()?)
        };
        Ok(Self { scorer, worth, source, cost, required: group.required })
    }

    /// The document it is at; [`TERMINATED`] behind the last.
    pub(super) fn document(&self) -> DocId {
        match &self.source {
            Source::Lists(lists) => lists.iter().map(|(list, _)| list.document()).min().unwrap_or(TERMINATED),
            Source::Gathered { documents, at } => documents.get(*at).map_or(TERMINATED, |(document, _)| *document),
        }
    }

    /// Whether to look up that many documents of a window rather than to read all that the group has there.
    fn prefers_looking_up(&self, documents: u32) -> bool {
        let lists = match &self.source {
            Source::Lists(lists) => lists.len() as u64,
            Source::Gathered { .. } => 1,
        };
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
            Source::Gathered { documents, at } => {
                *at += documents[*at..].partition_point(|(of, _)| *of < document);
                documents.get(*at).filter(|(of, _)| *of == document).map(|(_, score)| *score)
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
            Source::Gathered { documents, at } => {
                *at += documents[*at..].partition_point(|(document, _)| *document < start);
                let rest = &documents[*at..];
                let count = rest.partition_point(|(document, _)| *document < end);
                for (document, score) in &rest[..count] {
                    window.raise(*document, *score);
                }
                *at += count;
            }
        }
    }

    /// Adds the group's documents in a window, and to the score of those that are there.
    pub(super) fn unite(&mut self, found: &mut Window, scratch: &mut Window) {
        let (start, end) = (found.start(), found.end());
        let (worth, scorer) = (self.worth, self.scorer);
        if let Source::Lists(lists) = &mut self.source
            && let [(list, weight)] = lists.as_mut_slice()
        {
            list.seek(start);
            list.for_each_until(end, |document, frequency| {
                found.add(document, worth * *weight * scorer.worth(frequency, document));
            });
            return;
        }
        if self.document() < end {
            scratch.move_to(start);
            self.fill(scratch);
            found.unite(scratch);
        }
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
            gained.into_iter().for_each(|(document, score)| found.reward(document, score));
            lost.into_iter().for_each(|document| found.remove(document));
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

/// All documents of many lists, each with its best score, in rising order.
fn gather(
    lists: impl Iterator<Item = Result<(List, f32), EngineError>>,
    cost: u32,
    worth: f32,
    scorer: &Scorer,
) -> Result<Vec<(DocId, f32)>, EngineError> {
    // Sorting many postings takes longer than looking through all documents for those that have one.
    if cost as usize > scorer.documents() / 16 {
        let mut scores = vec![0.0_f32; scorer.documents()];
        for list in lists {
            let (mut list, weight) = list?;
            list.for_each_until(TERMINATED, |document, frequency| {
                let best = &mut scores[document as usize];
                *best = best.max(worth * weight * scorer.worth(frequency, document));
            });
        }
        return Ok((0..).zip(scores).filter(|(_, score)| *score > 0.0).collect());
    }
    let mut documents = Vec::with_capacity(cost as usize);
    for list in lists {
        let (mut list, weight) = list?;
        list.for_each_until(TERMINATED, |document, frequency| {
            documents.push((document, worth * weight * scorer.worth(frequency, document)));
        });
    }
    documents.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    documents.dedup_by_key(|(document, _)| *document);
    Ok(documents)
}
