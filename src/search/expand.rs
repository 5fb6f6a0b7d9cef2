//! From the words of a query to what may stand for each: other forms, beginnings, compounds, synonyms, corrections.

use std::collections::HashSet;
use std::sync::Arc;

use fst::{IntoStreamer, Streamer};

use super::SearchIndex;
use super::analyse::{Gap, Word};
use super::budget::Budget;
use super::index::{compound, title_key};
use super::lexicon::{StemId, WordId};
use super::plan::{Alternative, Group, INDEXED_PREFIX, Phrase, Plan, Rerank, Signals, Term};
use super::query::ParsedQuery;
use super::stem_slots::StemSlots;
use super::typo;
use crate::resource::{Correction, QueryReport};

/// The most words of a query that count.
pub const MOST_WORDS: usize = 10;

/// A word that at most one product in this many has counts as very rare, and may be a misspelling that slipped into the
/// records.
const VERY_RARE: u32 = 10_000;

/// Function words: they count where a product has them, but none has to, and in a long query they don't count at all. Snowball's
/// English stop words (snowballstem.org/algorithms/english/stop.txt) without the contractions, and the modal verbs.
const FUNCTION_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "ought",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// From so many words on a query is a question or a sentence, in which function words don't count.
const LONG_QUERY: usize = 5;

/// If fewer products than this have all words, those that have some follow.
const ENOUGH: usize = 10;

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
}

/// In how many documents a term occurs.
pub type DocumentFrequency<'a, E> = &'a dyn Fn(&Term) -> Result<u32, E>;

/// Expands the words of a query to what may stand for each, and plans the search.
///
/// # Errors
/// Where a document frequency can't be read.
pub fn expand<E>(
    index: &SearchIndex,
    document_frequency: DocumentFrequency<'_, E>,
    text: &str,
    query: &ParsedQuery,
    typo: bool,
    budget: &Budget,
) -> Result<Expansion, E> {
    Expander {
        index,
        document_frequency,
        text,
        query,
        typo,
        budget,
        report: QueryReport::default(),
        concepts: Vec::new(),
        mended: 0,
    }
    .run()
}

struct Expander<'a, E> {
    index: &'a SearchIndex,
    document_frequency: DocumentFrequency<'a, E>,
    text: &'a str,
    query: &'a ParsedQuery,
    typo: bool,
    budget: &'a Budget,
    report: QueryReport,
    concepts: Vec<u32>,
    /// How many words were looked for under other spellings. No more than count in the end: each costs more than all else
    /// that is done with a word.
    mended: usize,
}

impl<E> Expander<'_, E> {
    fn run(mut self) -> Result<Expansion, E> {
        let words = &self.query.words;
        let mut synonyms = self.synonyms()?;
        let mut slots = Vec::with_capacity(words.len());
        let mut corrected: Vec<String> = words.iter().map(|word| word.folded.clone()).collect();
        // The compound of a word and the one before, where the lexicon has it.
        let mut before = None;
        for at in 0..words.len() {
            let known = self.index.lexicon.word(&words[at].folded);
            let behind = self.joined(at);
            let mut slot = self.slot(at, known, [before, behind]);
            before = behind;
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
        let mut titles = vec![title_key(words)];
        let corrected = corrected.join(" ");
        if corrected != titles[0] {
            titles.push(corrected);
        }
        let asked = slots.len();
        if asked >= LONG_QUERY && slots.iter().any(|slot| slot.finds() && !slot.is_function_word()) {
            slots.retain(|slot| slot.in_phrase || !slot.is_function_word());
        }
        self.drop_words(&mut slots);
        relax(&mut slots);
        let phrases = self.phrases();
        let is_hopeless = (asked > 0 && (slots.is_empty() || phrases.is_none()))
            || (asked == 0 && self.query.excluded.is_empty() && !self.text.trim().is_empty());
        let stems = Arc::new(StemSlots::new(slots.iter().map(Slot::stems)));
        let plan = Plan {
            groups: slots.iter().map(Slot::group).collect(),
            excluded: self.excluded(),
            phrases: phrases.unwrap_or_default(),
            names: if asked == 0 {
                Vec::new()
            } else {
                titles.into_iter().map(|key| Term::Title(key.into())).collect()
            },
            enough: enough(&slots),
            rerank: Rerank::Signals(Signals {
                stems: Arc::clone(&stems),
                spellings: slots.iter().map(|slot| slot.spelling).collect(),
                spelling: self.index.ranking.spelling,
                proximity: self.index.ranking.proximity,
            }),
        };
        Ok(Expansion { slots, plan, report: self.report, stems, concepts: self.concepts, is_hopeless })
    }

    fn is_in_phrase(&self, at: usize) -> bool {
        self.query.phrases.iter().any(|phrase| phrase.contains(&at))
    }

    /// The compound of a word and the next one, where the lexicon has it.
    fn joined(&self, at: usize) -> Option<WordId> {
        let [word, next] = self.query.words.get(at..at + 2)? else { return None };
        matches!(next.gap, Gap::Joined | Gap::Space).then(|| self.index.lexicon.word(&compound(word, next)))?
    }

    /// The word itself, what it is with its neighbours as one word, and what it begins.
    fn slot(&self, at: usize, known: Option<WordId>, joined: [Option<WordId>; 2]) -> Slot {
        let words = &self.query.words;
        let word = &words[at];
        let lexicon = &self.index.lexicon;
        let mut alternatives = Vec::new();
        let stem = known.map(|word| lexicon.stem_of(word)).or_else(|| lexicon.stem(&self.index.stems.of(&word.folded)));
        if let Some(stem) = stem {
            alternatives.push(Alternative { term: Term::Word(stem), weight: 1.0 });
        }
        let mut slot = Slot {
            spelling: if word.spelling == word.folded { known } else { lexicon.accented(&word.spelling) },
            word: word.clone(),
            alternatives,
            required: true,
            in_phrase: self.is_in_phrase(at),
            prefix: None,
            document_frequency: 0,
        };
        if slot.in_phrase {
            return slot;
        }
        slot.alternatives.push(Alternative {
            term: Term::Compound(word.folded.as_str().into()),
            weight: self.index.ranking.compound,
        });
        slot.alternatives.extend(joined.into_iter().flatten().map(|joined| Alternative {
            term: Term::Word(lexicon.stem_of(joined)),
            weight: self.index.ranking.compound,
        }));
        let bare = word.folded.trim_matches(['+', '#', '.']);
        if bare != word.folded
            && let Some(part) = lexicon.word(bare)
        {
            slot.alternatives
                .push(Alternative { term: Term::Word(lexicon.stem_of(part)), weight: self.index.ranking.part });
        }
        if at + 1 == words.len() && self.query.last_is_open {
            self.push_prefix(&mut slot, known.is_some());
        }
        slot
    }

    /// Adds the completions of the last word. Up to three letters that are a known term, or in capitals, have none: `VA` isn't
    /// a prefix of Vanguard.
    fn push_prefix(&self, slot: &mut Slot, known: bool) {
        let letters = slot.word.folded.chars().count();
        if letters <= 3 && (known || slot.word.is_capitals(self.text)) {
            return;
        }
        slot.prefix = Some(slot.word.folded.clone());
        if letters <= INDEXED_PREFIX {
            let term = Term::Prefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative { term, weight: self.index.ranking.prefix });
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
        slot.alternatives.extend(stems.into_iter().map(|stem| Alternative { term: Term::Word(stem), weight }));
    }

    /// The synonym groups that the query's terms ask for, by word.
    fn synonyms(&mut self) -> Result<Vec<Vec<Alternative>>, E> {
        let words = &self.query.words;
        let mut by_word = vec![Vec::new(); words.len()];
        let thesaurus = &self.index.thesaurus;
        let mut reported = HashSet::new();
        for mention in thesaurus.mentions(self.text, words, &self.index.stems, true) {
            if (mention.start..mention.end).any(|at| self.is_in_phrase(at)) {
                continue;
            }
            for concept in mention.asks {
                let term = Term::Concept(*concept);
                if (self.document_frequency)(&term)? == 0 {
                    continue;
                }
                let ranking = &self.index.ranking;
                let weight = if mention.means.contains(concept) { ranking.synonym } else { ranking.wider };
                for of_word in &mut by_word[mention.start..mention.end] {
                    of_word.push(Alternative { term: term.clone(), weight });
                }
                self.concepts.push(*concept);
                let from = &self.text[words[mention.start].start..words[mention.end - 1].end];
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
    fn weigh(&self, slot: &mut Slot) -> Result<(), E> {
        let mut frequencies = Vec::with_capacity(slot.alternatives.len());
        for alternative in &slot.alternatives {
            frequencies.push((self.document_frequency)(&alternative.term)?);
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
    fn mend(&mut self, slot: &mut Slot, known: Option<WordId>, corrected: &mut String) -> Result<(), E> {
        let documents = u32::try_from(self.index.forward.len()).unwrap_or(u32::MAX);
        let lexicon = &self.index.lexicon;
        let absent = slot.alternatives.is_empty();
        // A word that the synonyms know is spelled right, though no product has it.
        let suspicious = if absent { known.is_none() } else { slot.document_frequency <= documents / VERY_RARE };
        let abbreviation = slot.word.is_capitals(self.text) && slot.word.folded.chars().count() <= 3;
        if !self.typo || !suspicious || abbreviation || slot.in_phrase || self.mended == MOST_WORDS {
            return Ok(());
        }
        if !self.budget.allows_more() {
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
                slot.alternatives.push(Alternative { term, weight });
            }
        }
        if absent && let Some(best) = candidates.first() {
            corrected.clone_from(&best.folded);
            self.report.corrected.push(Correction { from: self.written(&slot.word), to: best.folded.clone() });
        }
        self.weigh(slot)
    }

    /// Corrects the last word as a misspelled prefix of a longer one.
    fn mend_prefix(&mut self, slot: &mut Slot) -> Result<(), E> {
        if !self.typo || slot.prefix.is_none() || !self.budget.allows_more() {
            return Ok(());
        }
        let folded = slot.word.folded.as_str();
        let candidates = typo::prefix_candidates(&self.index.lexicon, folded, typo::allowed_edits(folded), self.budget);
        if let Some(best) = candidates.first() {
            self.report.corrected.push(Correction { from: self.written(&slot.word), to: best.folded.clone() });
        }
        slot.alternatives.extend(candidates.into_iter().map(|candidate| Alternative {
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
        slots.retain(|slot| {
            let keep = slot.finds() && slot.document_frequency <= limit;
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

    fn excluded(&self) -> Vec<Term> {
        let lexicon = &self.index.lexicon;
        let stem = |word: &Word| lexicon.word(&word.folded).map(|word| Term::Word(lexicon.stem_of(word)));
        self.query
            .excluded
            .iter()
            .flat_map(|words| match words.as_slice() {
                [first, second] => vec![Term::Compound(compound(first, second).into())],
                words => words.iter().filter_map(stem).collect(),
            })
            .collect()
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
        FUNCTION_WORDS.binary_search(&self.word.folded.as_str()).is_ok()
    }

    /// The stems among its alternatives, with their weights.
    fn stems(&self) -> impl Iterator<Item = (StemId, f32)> + '_ {
        self.alternatives.iter().filter_map(|alternative| match alternative.term {
            Term::Word(stem) => Some((stem, alternative.weight)),
            _ => None,
        })
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

/// Function words and edition years needn't be there, as long as another word must.
fn relax(slots: &mut [Slot]) {
    let is_optional = |slot: &Slot| slot.is_function_word() || slot.word.gap == Gap::Edition;
    if slots.iter().any(|slot| !is_optional(slot)) {
        for slot in slots.iter_mut() {
            slot.required = !is_optional(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FUNCTION_WORDS;

    #[test]
    fn function_words_are_sorted_for_the_binary_search() {
        assert!(FUNCTION_WORDS.is_sorted());
    }
}
