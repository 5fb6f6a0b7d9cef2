//! Cursors over the documents that satisfy one group of a plan.

use std::cmp::Reverse;

use ::tantivy::postings::TermInfo;
use ::tantivy::{DocId, TERMINATED};

use super::TantivyEngine;
use super::frequent::Frequent;
use super::gathered::Gathered;
use super::list::List;
use super::window::{Bits, Scores, WIDTH, document, first_of, place, window_of};
use crate::engine::EngineError;
use crate::search::Group;
use crate::search::budget::Budget;
use crate::search::score::Scorer;

/// So many alternatives are read window by window, the most frequent ones; all others that aren't frequent are gathered into
/// one list before.
const MERGED_AT_MOST: usize = 8;

/// An alternative with fewer postings a window is gathered too: going from window to window would take longer.
const MERGED_FROM: usize = 4;

/// What the score of one word is at most, beside its `idf`. The same for all words, so it orders nothing.
const SCALE: f32 = 2.2;

/// What opening an alternative takes, in units of the budget.
const OPENED: usize = 60;

/// How many postings can be read one after another in the time it takes to look one up.
const LOOK_UP: usize = 8;

/// Which documents of a window a group has to score.
pub(super) struct Needs<'w> {
    /// Those that were found.
    pub(super) found: &'w Bits,
    /// How many, where any group reads whole lists.
    pub(super) count: usize,
    /// Those of them that other groups may have too.
    pub(super) shared: &'w Bits,
    /// Those that another group scored.
    pub(super) scored: &'w Bits,
    /// What the group has to give.
    pub(super) least: Least,
}

/// What a group has to give to a document for it to matter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    /// To one that no other group has.
    pub(super) alone: f32,
    /// To one that no other group scored so far.
    pub(super) first: f32,
    /// To any other.
    pub(super) among: f32,
}

impl Least {
    /// Nothing.
    pub(super) const NONE: Self = Self { alone: f32::MIN, first: f32::MIN, among: f32::MIN };
}

impl Needs<'_> {
    /// Notes what a posting gives to the document at a place of a window, if it is one of those and that is enough.
    #[inline]
    fn note(&self, to: &mut Scores, scorer: &Scorer, scale: f32, (at, code, document): (usize, u32, DocId)) {
        let least = if !self.shared.has(at) {
            self.least.alone
        } else if self.scored.has(at) {
            self.least.among
        } else {
            self.least.first
        };
        if self.found.has(at) {
            note(to, scorer, scale, (at, code, document), least);
        }
    }
}

/// The documents of one group, window by window, each with its score for the group.
///
/// Of frequent alternatives a document is told by its bit, and their postings are read in stages, the best first: how far is
/// [settled](Self::read_more) by what the least score is that matters. All others are always read.
pub(super) struct GroupCursor<'e> {
    engine: &'e TantivyEngine,
    /// The frequent alternatives.
    frequent: Vec<FrequentList<'e>>,
    /// The longest lists of the others, with what their scores are multiplied by.
    lists: Vec<(TermInfo, List, f32)>,
    /// The rest.
    gathered: Gathered,
    /// Stages of frequent alternatives, those with the best postings first.
    stages: Vec<Stage>,
    /// How many of them are read.
    read: usize,
    /// `idf * SCALE`: what a document scores at most.
    worth: f32,
    /// How many documents at most.
    pub(super) cost: usize,
    pub(super) required: bool,
    pub(super) indispensable: bool,
}

/// A frequent alternative.
struct FrequentList<'e> {
    term: TermInfo,
    about: &'e Frequent,
    /// What its scores are multiplied by.
    scale: f32,
    /// Its postings, once any had to be read that is in no tier.
    list: Option<List>,
    /// How many stages of it are read.
    read: usize,
}

/// A stage of reading a frequent alternative.
#[derive(Debug, Clone, Copy)]
struct Stage {
    /// What a document scores at most by the postings of this stage and those behind it.
    most: f32,
    /// How many postings it has to read.
    postings: usize,
    /// Which alternative.
    of: usize,
}

impl<'e> GroupCursor<'e> {
    /// A cursor at the group's first document, which reads everything.
    pub(super) fn open(engine: &'e TantivyEngine, group: &Group, budget: &Budget) -> Result<Self, EngineError> {
        let mut found = Vec::with_capacity(group.alternatives.len());
        for alternative in &group.alternatives {
            if let Some(term) = engine.find(&alternative.term)? {
                found.push((term, alternative.weight));
            }
        }
        let scorer = &engine.scorer;
        let frequency = found.iter().map(|(term, _)| term.doc_freq).max().unwrap_or(0);
        let cost = found.iter().map(|(term, _)| term.doc_freq as usize).sum();
        let worth = inverse_document_frequency(frequency, scorer.documents()) * SCALE;
        let mut frequent = Vec::new();
        found.retain(|(term, weight)| {
            let about = engine.frequent(term);
            frequent.extend(about.map(|about| {
                let scale = worth * *weight;
                FrequentList { term: term.clone(), about, scale, list: None, read: about.stages() }
            }));
            about.is_none()
        });
        let mut stages: Vec<_> = (0..)
            .zip(&frequent)
            .flat_map(|(of, list): (usize, &FrequentList<'_>)| {
                (0..list.about.stages()).map(move |stage| Stage {
                    most: list.scale * list.about.most(stage),
                    postings: list.about.postings_of(stage),
                    of,
                })
            })
            .collect();
        // Stages of one alternative that are worth the same stay in their order.
        stages.sort_by(|a, b| b.most.total_cmp(&a.most));
        if found.len() > MERGED_AT_MOST {
            found.select_nth_unstable_by_key(MERGED_AT_MOST, |(term, _)| Reverse(term.doc_freq));
        }
        let many = scorer.documents().div_ceil(WIDTH) * MERGED_FROM;
        let (merged, rest): (Vec<_>, Vec<_>) =
            (0..).zip(found).partition(|(at, (term, _))| *at < MERGED_AT_MOST && term.doc_freq as usize >= many);
        let lists = merged
            .into_iter()
            .map(|(_, (term, weight))| engine.read(&term).map(|list| (term, list, worth * weight)))
            .collect::<Result<Vec<_>, EngineError>>()?;
        budget.spend(
            OPENED * group.alternatives.len() + rest.iter().map(|(_, (term, _))| term.doc_freq as usize).sum::<usize>(),
        );
        let gathered = Gathered::read(engine, rest.iter().map(|(_, rest)| rest), worth)?;
        let read = stages.len();
        let (required, indispensable) = (group.required, group.indispensable);
        Ok(Self { engine, frequent, lists, gathered, stages, read, worth, cost, required, indispensable })
    }

    /// Goes back to the first document, and reads everything again.
    pub(super) fn restart(&mut self) -> Result<(), EngineError> {
        for (term, list, _) in &mut self.lists {
            *list = self.engine.read(term)?;
        }
        self.frequent.iter_mut().for_each(|list| list.list = None);
        self.read_all();
        Ok(())
    }

    /// The first window from one on that it may have documents in.
    pub(super) fn next_window(&self, window: usize) -> Option<usize> {
        if !self.frequent.is_empty() {
            return Some(window).filter(|window| window * WIDTH < self.engine.scorer.documents());
        }
        let lists = self.lists.iter().map(|(_, list, _)| list.document()).filter(|document| *document != TERMINATED);
        lists.map(window_of).chain(self.gathered.next(window)).min()
    }

    /// What a document scores at most by postings that aren't read.
    pub(super) fn unread(&self) -> f32 {
        self.stages.get(self.read).map_or(0.0, |stage| stage.most)
    }

    /// What a document scores at most.
    pub(super) fn most(&self) -> f32 {
        let frequent = self.stages.first().map_or(0.0, |stage| stage.most);
        let gathered = if self.gathered.is_empty() { 0.0 } else { self.worth };
        self.lists.iter().map(|(.., scale)| *scale).fold(frequent.max(gathered), f32::max)
    }

    /// Reads everything from now on.
    pub(super) fn read_all(&mut self) {
        self.frequent.iter_mut().for_each(|list| list.read = list.about.stages());
        self.read = self.stages.len();
    }

    /// Whether the next documents are scored by any of the frequent alternatives' whole lists.
    pub(super) fn reads_whole_lists(&self) -> bool {
        self.frequent.iter().any(FrequentList::is_read_whole)
    }

    /// Reads nothing of the frequent alternatives but their bits, until told to read more.
    pub(super) fn read_least(&mut self) {
        self.read = 0;
        self.frequent.iter_mut().for_each(|list| list.read = 0);
    }

    /// What reading one more stage gives: by how much the most that can go unread falls for each posting; `None` where
    /// everything is read.
    pub(super) fn gain(&self) -> Option<f32> {
        let stage = self.stages.get(self.read)?;
        let behind = self.stages.get(self.read + 1).map_or(0.0, |stage| stage.most);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        Some((stage.most - behind) / (stage.postings + 1) as f32)
    }

    /// Reads one more stage.
    pub(super) fn read_more(&mut self) {
        if let Some(stage) = self.stages.get(self.read) {
            self.frequent[stage.of].read += 1;
            self.read += 1;
        }
    }

    /// Finds the group's documents in a window, or those of `among`, and scores those of which there is no bit. Documents
    /// that the group gives less than `least` get none. Returns the units of work that it took, whatever the `least`.
    pub(super) fn enter(&mut self, to: &mut Scores, window: usize, among: Option<&Bits>, least: f32) -> usize {
        to.clear();
        let mut units = 0;
        for list in &self.frequent {
            to.members.unite(list.about.documents_in(window));
        }
        let scorer = &self.engine.scorer;
        let start = first_of(window);
        let end = first_of(window + 1);
        if !self.lists.is_empty() && among.is_some_and(|among| self.prefers_looking_up(among.count())) {
            for at in among.into_iter().flat_map(Bits::places) {
                units += LOOK_UP * self.lists.len();
                let document = document(start, at);
                for (_, list, scale) in &mut self.lists {
                    if list.seek(document) == document {
                        to.members.add(at);
                        to.raise(at, *scale * scorer.worth(list.code(), document));
                    }
                }
            }
        } else {
            for (_, list, scale) in &mut self.lists {
                list.seek(start);
                list.for_each_until(end, |document, code| {
                    units += 1;
                    let at = place(document);
                    to.members.add(at);
                    if among.is_none_or(|among| among.has(at)) {
                        note(to, scorer, *scale, (at, code, document), least);
                    }
                });
            }
        }
        for (posting, scale) in self.gathered.of(window) {
            let at = posting.place();
            to.members.add(at);
            if among.is_none_or(|among| among.has(at)) {
                note(to, scorer, *scale, (at, posting.code(), document(start, at)), least);
            }
        }
        units + self.gathered.of(window).len()
    }

    /// The units of work that scoring so many documents of a window by the frequent alternatives takes at most, beside those
    /// that pruning saves in any case.
    pub(super) fn scoring(&self, documents: usize) -> usize {
        let all = self.engine.scorer.documents().max(1);
        let of = |list: &FrequentList<'_>| (list.about.documents as usize * WIDTH / all).min(documents * LOOK_UP);
        self.frequent.iter().map(of).sum()
    }

    /// Whether to look up that many documents of a window rather than to read all that the lists have there.
    fn prefers_looking_up(&self, documents: usize) -> bool {
        let postings: usize = self.lists.iter().map(|(term, ..)| term.doc_freq as usize).sum();
        let in_window = postings * WIDTH / self.engine.scorer.documents().max(1);
        documents * self.lists.len() * LOOK_UP < in_window
    }

    /// Scores documents of a window by the stages that are read, but for those that the group doesn't give enough.
    pub(super) fn score(&mut self, to: &mut Scores, window: usize, needs: &Needs<'_>) -> Result<(), EngineError> {
        let scorer = &self.engine.scorer;
        let start = first_of(window);
        for list in &mut self.frequent {
            if list.is_read_whole() {
                list.score(self.engine, to, window, needs)?;
                continue;
            }
            for posting in list.about.best_in(window, list.read) {
                let at = posting.place();
                needs.note(to, scorer, list.scale, (at, posting.code(), document(start, at)));
            }
        }
        Ok(())
    }

    /// Finds the whole score of the document at a place of a window.
    pub(super) fn complete(&mut self, to: &mut Scores, window: usize, at: usize) -> Result<(), EngineError> {
        if self.read == self.stages.len() {
            return Ok(());
        }
        for list in &mut self.frequent {
            if !list.is_read_whole() && to.of(at) < list.scale * list.about.most(list.read) {
                list.look_up(self.engine, to, window, at)?;
            }
        }
        Ok(())
    }
}

impl FrequentList<'_> {
    /// Whether documents are scored by its whole list.
    fn is_read_whole(&self) -> bool {
        self.read == self.about.stages()
    }

    /// Scores documents of a window.
    fn score(
        &mut self,
        engine: &TantivyEngine,
        to: &mut Scores,
        window: usize,
        needs: &Needs<'_>,
    ) -> Result<(), EngineError> {
        if needs.count * LOOK_UP < self.about.documents as usize * WIDTH / engine.scorer.documents().max(1) {
            let mut both = *needs.found;
            both.intersect(self.about.documents_in(window));
            for at in both.places() {
                self.look_up(engine, to, window, at)?;
            }
            return Ok(());
        }
        let (start, scale) = (first_of(window), self.scale);
        let (list, scorer) = (self.list(engine)?, &engine.scorer);
        list.seek(start);
        list.for_each_until(document(start, needs.found.end()), |document, code| {
            needs.note(to, scorer, scale, (place(document), code, document));
        });
        Ok(())
    }

    /// Scores the document at a place of a window, if it has the term. Documents must be asked for in rising order.
    fn look_up(
        &mut self,
        engine: &TantivyEngine,
        to: &mut Scores,
        window: usize,
        at: usize,
    ) -> Result<(), EngineError> {
        let (document, scale) = (document(first_of(window), at), self.scale);
        if self.about.documents_in(window).has(at) {
            let list = self.list(engine)?;
            if list.seek(document) == document {
                to.raise(at, scale * engine.scorer.worth(list.code(), document));
            }
        }
        Ok(())
    }

    fn list(&mut self, engine: &TantivyEngine) -> Result<&mut List, EngineError> {
        // Taking it out and putting it back would move a kilobyte twice.
        match &mut self.list {
            Some(list) => Ok(list),
            none => Ok(none.insert(engine.read(&self.term)?)),
        }
    }
}

/// Notes what a posting gives to the document at a place, unless that is less. What a code is worth at most is near at hand;
/// what it is worth in a document isn't.
#[inline]
fn note(to: &mut Scores, scorer: &Scorer, scale: f32, (at, code, document): (usize, u32, DocId), least: f32) {
    if scale * scorer.most(code) >= least {
        let score = scale * scorer.worth(code, document);
        if score >= least {
            to.raise(at, score);
        }
    }
}

/// The probabilistic inverse document frequency of BM25, `ln(1 + (N - n + 0.5) / (n + 0.5))`.
fn inverse_document_frequency(frequency: u32, documents: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (n, all) = (frequency as f32, documents as f32);
    (1.0 + (all - n + 0.5).max(0.5) / (n + 0.5)).ln()
}
