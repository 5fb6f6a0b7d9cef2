//! From the words of a query to what may stand for each: other forms, beginnings, compounds, synonyms, corrections.

use std::collections::HashSet;
use std::sync::Arc;

use fst::{IntoStreamer, Streamer};
use serde::Serialize;

use super::SearchIndex;
use super::analyse::{Gap, Word, compound, title_key, written};
use super::budget::Budget;
use super::english;
use super::intent::{is_intent_word, is_kind};
use super::lexicon::{StemId, WordId};
use super::plan::{Alternative, Group, INDEXED_PREFIX, Kind, Phrase, Plan, Rerank, Signals, Term};
use super::query::{LONG_QUERY, ParsedQuery};
use super::stem_slots::StemSlots;
use super::typo;
use super::understand::{Documents, Subject, excluded_terms, understand};
use crate::resource::{Correction, QueryReport};

/// The most words of a query that count.
pub const MOST_WORDS: usize = 10;

/// A word that at most one product in this many has counts as very rare, and may be a misspelling that slipped into the
/// records.
const VERY_RARE: u32 = 10_000;

/// The most words that are searched: words as frequent as the tenth count too, but not any number of them.
const MOST_SEARCHED: usize = 30;

/// If fewer products than this have all words, those that have some follow.
pub const ENOUGH: usize = 10;

/// The units of the budget for each word with the typed prefix.
const LISTED: usize = 10;

/// A word of the query with its alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// The word.
    pub word: Word,
    /// The terms that match it.
    pub alternatives: Vec<Alternative>,
    /// Whether a product must have it to have all words.
    pub required: bool,
    /// Whether it is a word of a phrase.
    pub in_phrase: bool,
    /// The word as spelled in the query, where the lexicon has it.
    pub spelling: Option<WordId>,
    /// The letters it begins with, where it is a prefix.
    pub prefix: Option<String>,
    /// In how many products the most frequent alternative occurs.
    pub document_frequency: u32,
    /// The stems of the other words of a name that it stands for.
    pub others: Vec<StemId>,
}

/// A query, understood.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    /// Its words, in order, those that were dropped left out.
    pub slots: Vec<Slot>,
    /// The plan for the engine.
    pub plan: Plan,
    /// How it was understood.
    pub report: QueryReport,
    /// Which stems stand for which slots.
    pub stems: Arc<StemSlots>,
    /// The synonym groups that were searched.
    pub concepts: Vec<u32>,
    /// Whether nothing can match: every word was dropped, or one of a phrase is unknown.
    pub is_hopeless: bool,
    /// Whether the last word might be the beginning of others, but as it is a word it was taken for that.
    pub is_closed: bool,
}

/// Whether the last word of a query is the beginning of others too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Prefix {
    /// Unless it is a word itself: one of the directory's or a common English one.
    #[default]
    Auto,
    /// In any case: it is still being typed.
    Always,
    /// In no case.
    Never,
}

/// How freely a query is understood.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether misspelled words are corrected.
    pub typo: bool,
    /// Whether the last word is a beginning.
    pub prefix: Prefix,
}

/// Expands the words of a query to what may stand for each, and plans the search.
///
/// # Errors
/// Where a document frequency can't be read.
pub fn expand<D: Documents>(
    index: &SearchIndex,
    documents: &D,
    text: &str,
    query: &ParsedQuery,
    options: Options,
    budget: &Budget,
) -> Result<Expansion, D::Error> {
    Expander {
        index,
        documents,
        text,
        query,
        options,
        budget,
        report: QueryReport::default(),
        concepts: Vec::new(),
        mended: 0,
        is_closed: false,
    }
    .run()
}

struct Expander<'a, D> {
    index: &'a SearchIndex,
    documents: &'a D,
    text: &'a str,
    query: &'a ParsedQuery,
    options: Options,
    budget: &'a Budget,
    report: QueryReport,
    concepts: Vec<u32>,
    /// How many words were looked for under other spellings. No more than count in the end: each costs more than all else
    /// that is done with a word.
    mended: usize,
    is_closed: bool,
}

impl<D: Documents> Expander<'_, D> {
    fn run(mut self) -> Result<Expansion, D::Error> {
        let words = &self.query.words;
        let mut understood = understand(self.index, self.documents, self.text, self.query)?;
        self.report.alternatives_to = understood.subject.as_ref().map(|subject| subject.written.clone());
        self.report.excluded.extend(understood.left_out.take());
        let mut synonyms = self.synonyms()?;
        let mut slots = Vec::with_capacity(words.len());
        let mut corrected: Vec<String> = words.iter().map(|word| word.folded.clone()).collect();
        // The compound of a word and the one before, where the lexicon has it.
        let mut before = None;
        for at in 0..words.len() {
            let behind = self.joined(at);
            let joined = [before, behind];
            before = behind;
            if let Some(subject) = understood.subject.as_ref().filter(|subject| subject.words.contains(&at)) {
                if at == subject.words.start {
                    slots.push(self.subject_slot(subject)?);
                }
                continue;
            }
            if understood.cues.contains(&at) {
                continue;
            }
            let known = self.index.lexicon.word(&words[at].folded);
            let mut slot = self.slot(at, known, joined);
            slot.alternatives.append(&mut synonyms[at]);
            self.weigh(&mut slot)?;
            self.mend(&mut slot, known, &mut corrected[at])?;
            slots.push(slot);
        }
        // A prefix is corrected only where the query finds nothing otherwise.
        let finds_nothing = slots.iter().all(|slot| slot.alternatives.is_empty());
        if let Some(last) = slots.last_mut().filter(|_| finds_nothing) {
            self.mend_prefix(last)?;
        }
        let asked = slots.len();
        let mut names = vec![Term::Title(title_key(words).into()), Term::Title(corrected.concat().into())];
        names.append(&mut understood.names);
        names.dedup();
        if asked >= LONG_QUERY {
            drop_where_others_find(&mut slots, Slot::is_function_word);
        }
        drop_where_others_find(&mut slots, |slot| is_intent_word(self.text, &slot.word));
        self.drop_words(&mut slots);
        if understood.is_comparison {
            for slot in &mut slots {
                slot.required = false;
            }
        } else {
            relax(&mut slots);
        }
        let phrases = self.phrases();
        let mut excluded = self.excluded();
        let is_hopeless = (asked > 0 && (slots.is_empty() || phrases.is_none()))
            || (asked == 0 && excluded.is_empty() && !self.text.trim().is_empty());
        excluded.append(&mut understood.excluded);
        let stems = Arc::new(StemSlots::new(slots.iter().map(Slot::stems)));
        let plan = Plan {
            groups: slots.iter().map(Slot::group).collect(),
            excluded,
            phrases: phrases.unwrap_or_default(),
            names: if asked == 0 { Vec::new() } else { names },
            enough: enough(&slots),
            rerank: Rerank::Signals(Signals {
                stems: Arc::clone(&stems),
                spellings: slots.iter().map(|slot| slot.spelling).collect(),
                spelling: self.index.ranking.spelling,
                proximity: self.index.ranking.proximity,
            }),
        };
        let is_closed = self.is_closed;
        Ok(Expansion { slots, plan, report: self.report, stems, concepts: self.concepts, is_hopeless, is_closed })
    }

    /// The slot of a name that alternatives are looked for to.
    fn subject_slot(&self, subject: &Subject) -> Result<Slot, D::Error> {
        let words = &self.query.words[subject.words.clone()];
        let lexicon = &self.index.lexicon;
        let stem = |word: &Word| lexicon.word(&word.folded).map(|word| lexicon.stem_of(word));
        let mut slot = Slot {
            word: words[0].clone(),
            alternatives: subject.alternatives.clone(),
            required: true,
            in_phrase: false,
            spelling: None,
            prefix: None,
            document_frequency: 0,
            others: words.iter().filter_map(stem).collect(),
        };
        self.weigh(&mut slot)?;
        Ok(slot)
    }

    /// The compound of a word and the next one, where the lexicon has it.
    fn joined(&self, at: usize) -> Option<WordId> {
        let [word, next] = self.query.words.get(at..at + 2)? else { return None };
        matches!(next.gap, Gap::Joined | Gap::Space).then(|| self.index.lexicon.word(&compound(word, next)))?
    }

    /// The word itself, what it is with its neighbours as one word, and what it begins.
    fn slot(&mut self, at: usize, known: Option<WordId>, joined: [Option<WordId>; 2]) -> Slot {
        let words = &self.query.words;
        let word = &words[at];
        let lexicon = &self.index.lexicon;
        let mut alternatives = Vec::new();
        let stem = known.map(|word| lexicon.stem_of(word)).or_else(|| lexicon.stem(&self.index.stems.of(&word.folded)));
        if let Some(stem) = stem {
            let kind = if known.is_some() { Kind::Exact } else { Kind::Stem };
            alternatives.push(Alternative { kind, term: Term::Word(stem), weight: 1.0 });
        }
        let mut slot = Slot {
            spelling: if word.spelling == word.folded { known } else { lexicon.accented(&word.spelling) },
            word: word.clone(),
            alternatives,
            required: true,
            in_phrase: self.query.is_in_phrase(at),
            prefix: None,
            document_frequency: 0,
            others: Vec::new(),
        };
        if slot.in_phrase {
            return slot;
        }
        slot.alternatives.push(Alternative {
            kind: Kind::Compound,
            term: Term::Compound(self.index.stems.of(&word.folded).into()),
            weight: self.index.ranking.compound,
        });
        slot.alternatives.extend(joined.into_iter().flatten().map(|joined| Alternative {
            kind: Kind::Compound,
            term: Term::Word(lexicon.stem_of(joined)),
            weight: self.index.ranking.compound,
        }));
        let bare = word.folded.trim_matches(['+', '#', '.']);
        if bare != word.folded
            && let Some(part) = lexicon.word(bare)
        {
            slot.alternatives.push(Alternative {
                kind: Kind::Part,
                term: Term::Word(lexicon.stem_of(part)),
                weight: self.index.ranking.part,
            });
        }
        if at + 1 == words.len() && self.query.last_is_open {
            self.push_prefix(&mut slot, known);
        }
        slot
    }

    /// Adds the completions of the last word, unless it is closed: a word itself. Up to three letters that are a known term, or in
    /// capitals, have none: `VA` isn't a prefix of Vanguard. A letter alone is the beginning of names.
    fn push_prefix(&mut self, slot: &mut Slot, known: Option<WordId>) {
        let letters = slot.word.folded.chars().count();
        if letters == 1 && self.query.words.len() == 1 && self.options.prefix != Prefix::Never {
            slot.prefix = Some(slot.word.folded.clone());
            let term = Term::NamePrefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative { kind: Kind::Prefix, term, weight: self.index.ranking.prefix });
            return;
        }
        let is_known = known.is_some_and(|word| self.index.lexicon.document_frequency(word) > 0);
        if letters <= 3 && (is_known || slot.word.is_capitals(self.text)) {
            return;
        }
        let is_word = || is_known || english::is_common(&slot.word.folded);
        match self.options.prefix {
            Prefix::Never => return,
            Prefix::Auto if is_word() => {
                self.is_closed = true;
                return;
            }
            Prefix::Auto | Prefix::Always => {}
        }
        slot.prefix = Some(slot.word.folded.clone());
        if letters <= INDEXED_PREFIX {
            let term = Term::Prefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative { kind: Kind::Prefix, term, weight: self.index.ranking.prefix });
            return;
        }
        self.push_longer(slot, &slot.word.folded.clone(), self.index.ranking.prefix);
    }

    /// Adds every word with a prefix.
    fn push_longer(&self, slot: &mut Slot, prefix: &str, weight: f32) {
        let lexicon = &self.index.lexicon;
        let mut stems: Vec<StemId> = Vec::new();
        // A range, because an automaton would open every branch beside the path to the prefix.
        let mut stream = lexicon.words().range().ge(prefix).into_stream();
        while let Some((text, word)) = stream.next() {
            self.budget.spend(LISTED);
            if !text.starts_with(prefix.as_bytes()) || !self.budget.allows_more() {
                break;
            }
            if let Ok(word) = WordId::try_from(word) {
                stems.push(lexicon.stem_of(word));
            }
        }
        stems.sort_unstable();
        stems.dedup();
        stems.retain(|stem| !slot.alternatives.iter().any(|alternative| alternative.term == Term::Word(*stem)));
        slot.alternatives.extend(stems.into_iter().map(|stem| Alternative {
            kind: Kind::Prefix,
            term: Term::Word(stem),
            weight,
        }));
    }

    /// The synonym groups that the query's terms ask for, by word.
    fn synonyms(&mut self) -> Result<Vec<Vec<Alternative>>, D::Error> {
        let words = &self.query.words;
        let mut by_word = vec![Vec::new(); words.len()];
        let thesaurus = &self.index.thesaurus;
        let mut reported = HashSet::new();
        for mention in thesaurus.mentions(self.text, words, &self.index.stems, true) {
            if (mention.start..mention.end).any(|at| self.query.is_in_phrase(at)) {
                continue;
            }
            for concept in mention.asks {
                let term = Term::Concept(*concept);
                if self.documents.document_frequency(&term)? == 0 {
                    continue;
                }
                let ranking = &self.index.ranking;
                let (kind, weight) = if mention.means.contains(concept) {
                    (Kind::Synonym, ranking.synonym)
                } else {
                    (Kind::Wider, ranking.wider)
                };
                for of_word in &mut by_word[mention.start..mention.end] {
                    of_word.push(Alternative { kind, term: term.clone(), weight });
                }
                self.concepts.push(*concept);
                let from = written(self.text, &words[mention.start..mention.end]);
                for to in thesaurus.terms_of(*concept).iter().filter(|to| &***to != mention.term) {
                    if reported.insert((from, to)) {
                        self.report.synonyms.push(Correction { from: from.to_owned(), to: to.to_string() });
                    }
                }
            }
        }
        Ok(by_word)
    }

    /// Leaves out what no product has, and notes how frequent the rest is.
    fn weigh(&self, slot: &mut Slot) -> Result<(), D::Error> {
        let mut frequencies = Vec::with_capacity(slot.alternatives.len());
        for alternative in &slot.alternatives {
            frequencies.push(self.documents.document_frequency(&alternative.term)?);
        }
        let mut at = 0;
        slot.alternatives.retain(|_| {
            at += 1;
            frequencies[at - 1] > 0
        });
        slot.document_frequency = frequencies.into_iter().max().unwrap_or(0);
        Ok(())
    }

    /// Looks for what a word that no product has, or hardly any, can have meant.
    fn mend(&mut self, slot: &mut Slot, known: Option<WordId>, corrected: &mut String) -> Result<(), D::Error> {
        let documents = u32::try_from(self.index.documents).unwrap_or(u32::MAX);
        let lexicon = &self.index.lexicon;
        let absent = slot.alternatives.is_empty();
        // A word that the synonyms know is spelled right, though no product has it.
        let suspicious = if absent { known.is_none() } else { slot.document_frequency <= documents / VERY_RARE };
        let abbreviation = slot.word.is_capitals(self.text) && slot.word.folded.chars().count() <= 3;
        if !self.options.typo || !suspicious || abbreviation || slot.in_phrase || self.mended == MOST_WORDS {
            return Ok(());
        }
        // A common word is spelled right, whether or not any record has it.
        if english::is_common(&slot.word.folded) || !self.budget.allows_more() {
            return Ok(());
        }
        self.mended += 1;
        let folded = slot.word.folded.clone();
        let edits = typo::allowed_edits(&folded);
        let candidates = typo::candidates(lexicon, &folded, edits, self.budget);
        let least = candidates.first().map_or(0.0, |best| best.cost);
        for candidate in &candidates {
            let weight =
                if absent && candidate.cost <= least { self.index.ranking.correction } else { self.index.ranking.typo };
            let term = Term::Word(lexicon.stem_of(candidate.word));
            if !slot.alternatives.iter().any(|alternative| alternative.term == term) {
                slot.alternatives.push(Alternative { kind: Kind::Correction, term, weight });
            }
        }
        if absent && let Some(best) = candidates.first() {
            corrected.clone_from(&best.folded);
            self.report.corrected.push(Correction { from: self.written(&slot.word), to: best.folded.clone() });
        }
        self.weigh(slot)
    }

    /// Corrects the last word as a misspelled prefix of a longer one.
    fn mend_prefix(&mut self, slot: &mut Slot) -> Result<(), D::Error> {
        let folded = slot.word.folded.as_str();
        let is_right = english::is_common(folded) || self.index.lexicon.word(folded).is_some();
        if !self.options.typo || is_right || slot.prefix.is_none() || !self.budget.allows_more() {
            return Ok(());
        }
        let candidates = typo::prefix_candidates(&self.index.lexicon, folded, typo::allowed_edits(folded), self.budget);
        if let Some(best) = candidates.first() {
            self.report.corrected.push(Correction { from: self.written(&slot.word), to: best.folded.clone() });
        }
        slot.alternatives.extend(candidates.into_iter().map(|candidate| Alternative {
            kind: Kind::Correction,
            term: Term::Word(self.index.lexicon.stem_of(candidate.word)),
            weight: self.index.ranking.typo,
        }));
        self.weigh(slot)
    }

    fn written(&self, word: &Word) -> String {
        self.text[word.start..word.end].to_owned()
    }

    /// Drops the words that no product has; of more than ten the most frequent, except those as frequent as the tenth.
    fn drop_words(&mut self, slots: &mut Vec<Slot>) {
        let mut limit = u32::MAX;
        let mut frequencies: Vec<u32> =
            slots.iter().filter(|slot| !slot.alternatives.is_empty()).map(|slot| slot.document_frequency).collect();
        if frequencies.len() > MOST_WORDS {
            frequencies.sort_unstable();
            limit = frequencies[MOST_WORDS - 1];
        }
        let mut dropped = Vec::new();
        let mut kept = 0;
        slots.retain(|slot| {
            let keep = slot.finds() && slot.document_frequency <= limit && kept < MOST_SEARCHED;
            kept += usize::from(keep);
            if !keep {
                dropped.push(slot.word.clone());
            }
            keep
        });
        for word in dropped {
            let written = self.written(&word);
            if !self.report.dropped.contains(&written) {
                self.report.dropped.push(written);
            }
        }
    }

    fn excluded(&mut self) -> Vec<Term> {
        let query = self.query;
        for words in &query.excluded {
            self.report.excluded.push(written(self.text, words).to_owned());
        }
        query.excluded.iter().flat_map(|words| excluded_terms(self.index, words)).collect()
    }

    /// The phrases, the rarest first; `None` where a word of one is unknown, so that nothing matches.
    fn phrases(&self) -> Option<Vec<Phrase>> {
        let lexicon = &self.index.lexicon;
        let words = |range: &std::ops::Range<usize>| {
            self.query.words[range.clone()].iter().map(|word| lexicon.word(&word.folded)).collect::<Option<Vec<_>>>()
        };
        let mut phrases = self.query.phrases.iter().map(words).collect::<Option<Vec<_>>>()?;
        let frequency = |phrase: &[WordId]| phrase.iter().map(|word| lexicon.document_frequency(*word)).min();
        phrases.sort_by_cached_key(|phrase| (frequency(phrase), phrase.clone()));
        phrases.dedup();
        let spellings = |phrase: Vec<WordId>| phrase.into_iter().map(|word| lexicon.spellings(word)).collect();
        Some(phrases.into_iter().map(spellings).collect())
    }
}

impl Slot {
    fn finds(&self) -> bool {
        !self.alternatives.is_empty()
    }

    fn is_function_word(&self) -> bool {
        english::is_function_word(&self.word.folded)
    }

    /// The stems that stand for it, with their weights.
    fn stems(&self) -> impl Iterator<Item = (StemId, f32)> + '_ {
        let alternatives = self.alternatives.iter().filter_map(|alternative| match alternative.term {
            Term::Word(stem) => Some((stem, alternative.weight)),
            _ => None,
        });
        alternatives.chain(self.others.iter().map(|stem| (*stem, 0.0)))
    }

    fn group(&self) -> Group {
        Group { alternatives: self.alternatives.clone(), required: self.required, indispensable: self.in_phrase }
    }
}

/// How many products with all words are enough. Where every required word is one of a phrase, no product has only some.
fn enough(slots: &[Slot]) -> usize {
    let required = || slots.iter().filter(|slot| slot.required);
    if required().count() > 1 && required().any(|slot| !slot.in_phrase) { ENOUGH } else { 0 }
}

/// Drops slots, but for those of phrases, if others find something.
fn drop_where_others_find(slots: &mut Vec<Slot>, drops: impl Fn(&Slot) -> bool) {
    let is_dropped = |slot: &Slot| !slot.in_phrase && drops(slot);
    if slots.iter().any(|slot| slot.finds() && !is_dropped(slot)) {
        slots.retain(|slot| !is_dropped(slot));
    }
}

/// Function words, kinds of products and edition years needn't be there, as long as another word must.
fn relax(slots: &mut [Slot]) {
    let is_optional =
        |slot: &Slot| slot.is_function_word() || is_kind(&slot.word.folded) || slot.word.gap == Gap::Edition;
    if slots.iter().any(|slot| !is_optional(slot)) {
        for slot in slots.iter_mut() {
            slot.required = !is_optional(slot);
        }
    }
}
