//! Corrections of misspelled words.

use std::ops::Range;

use super::slot::Slot;
use super::{Expander, MOST_WORDS};
use crate::catalogue::resource::{Correction, QueryReport};
use crate::search::lexicon::{Relation, WordId};
use crate::search::plan::{Alternative, MatchKind, Term};
use crate::search::query::{LONG_QUERY, ParsedQuery};
use crate::search::{TermLookup, typo};
use crate::text::analyse::{Gap, Word, words};
use crate::text::english;
use crate::text::stem::Inflected;

/// A word is very rare if at most one product in this many has it. Such a word may be a misspelling
/// that slipped into the records.
const VERY_RARE: usize = 10_000;

/// Whether a folded word is spelled correctly, even if no record contains it.
pub(super) fn is_right(folded: &str) -> bool {
    english::is_common(folded) || english::is_name(folded)
}

impl<L: TermLookup> Expander<'_, L> {
    /// Corrects a word that no product contains, or hardly any products do. If another word of the
    /// query is misspelled, `is_doubtful` is set, and even a common word may be meant as a different
    /// one: in `passwrd manger`, either both words are corrected or neither.
    pub(super) fn correct(
        &mut self,
        slot: &mut Slot,
        known: Option<WordId>,
        corrected: &mut String,
        is_doubtful: bool,
    ) -> Result<(), L::Error> {
        let lexicon = &self.index.lexicon;
        let absent = slot.alternatives.is_empty();
        // Words in synonyms are spelled correctly even if no product contains them.
        let is_very_rare = || slot.document_frequency as usize <= self.index.documents / VERY_RARE;
        let suspicious = if absent { known.is_none() } else { is_very_rare() };
        if !self.options.typo
            || !suspicious
            || self.is_acronym(&slot.word)
            || slot.in_phrase
            || self.corrections == MOST_WORDS
        {
            return Ok(());
        }
        let is_right = if is_doubtful { english::is_name } else { is_right };
        if is_right(&slot.word.folded) || self.is_name_in_sentence(&slot.word) || !self.budget.allows_more() {
            return Ok(());
        }
        self.corrections += 1;
        let folded = slot.word.folded.clone();
        let edits = typo::allowed_edits(&folded);
        let is_synonym = |word: &str| !self.index.thesaurus.asked_by(word, &self.index.stems).is_empty();
        let mut candidates = Vec::new();
        for candidate in typo::candidates(lexicon, &is_synonym, &folded, edits, self.budget) {
            if lexicon.document_frequency(candidate.word) > 0 || self.finds_synonym(&candidate.folded)? {
                candidates.push(candidate);
            }
        }
        let least = candidates.first().map_or(0.0, |best| best.cost);
        for candidate in &candidates {
            let weight = if absent && candidate.cost <= least { 1.0 } else { self.index.ranking.loose };
            let term = Term::Word(lexicon.stem_of(candidate.word));
            if !slot.alternatives.iter().any(|alternative| alternative.term == term) {
                slot.alternatives.push(Alternative::new(MatchKind::Correction, term, weight));
            }
        }
        if absent && let Some(best) = candidates.first() {
            corrected.clone_from(&best.folded);
            self.report.corrected.push(Correction { from: self.written(&slot.word), to: best.folded.clone() });
        }
        self.weigh(slot)
    }

    /// Whether a word's capitals suggest that it's an acronym. They don't if the whole query has them.
    pub(super) fn is_acronym(&self, word: &Word) -> bool {
        let words = &self.query.words;
        word.is_acronym(self.text) && (words.len() == 1 || !words.iter().all(|word| word.is_capitals(self.text)))
    }

    /// Whether a word's capital letter suggests that the word is a name in a sentence.
    fn is_name_in_sentence(&self, word: &Word) -> bool {
        let is_capitalised = |word: &Word| self.text[word.start..].starts_with(char::is_uppercase);
        let words = &self.query.words;
        let inside = words.iter().skip(1);
        words.len() >= LONG_QUERY
            && word.start > words[0].start
            && is_capitalised(word)
            && inside.filter(|word| is_capitalised(word)).count() * 2 < words.len()
    }

    pub(super) fn correct_prefix(&mut self, slot: &mut Slot) -> Result<(), L::Error> {
        let folded = slot.word.folded.as_str();
        let is_right = is_right(folded) || self.is_acronym(&slot.word) || self.index.lexicon.word(folded).is_some();
        if !self.options.typo || is_right || slot.prefix.is_none() || !self.budget.allows_more() {
            return Ok(());
        }
        let candidates = typo::prefix_candidates(&self.index.lexicon, folded, typo::allowed_edits(folded), self.budget);
        if let Some(best) = candidates.first() {
            self.report.corrected.push(Correction { from: self.written(&slot.word), to: best.folded.clone() });
        }
        slot.alternatives.extend(candidates.into_iter().map(|candidate| {
            Alternative::new(
                MatchKind::Correction,
                Term::Word(self.index.lexicon.stem_of(candidate.word)),
                self.index.ranking.loose,
            )
        }));
        self.weigh(slot)
    }
}

/// The minimum number of letters in each word, unless the word also has a digit: `3d`.
const LETTERS: usize = 3;

impl<L: TermLookup> Expander<'_, L> {
    /// The query with each word that's still unknown split into two: `scorewriter` becomes
    /// `score writer`. Also returns the corrections to report. `None` if nothing can be split, and
    /// for sentences, which have enough other words.
    pub(super) fn split(&self, report: &QueryReport) -> Result<Option<(ParsedQuery, Vec<Correction>)>, L::Error> {
        let is_sentence = self.query.words.len() >= LONG_QUERY;
        // Splitting a word would change the indices that phrases use.
        if !self.options.typo || is_sentence || !self.query.phrases.is_empty() {
            return Ok(None);
        }
        let mut query = ParsedQuery { words: Vec::new(), ..self.query.clone() };
        let mut corrected = Vec::new();
        for word in &self.query.words {
            let from = self.written(word);
            let halves = if report.is_unknown(&from) { self.halves(word)? } else { None };
            let Some(halves) = halves else {
                query.words.push(word.clone());
                continue;
            };
            let to = halves.each_ref().map(|half| half.folded.as_str()).join(" ");
            corrected.push(Correction { from, to });
            query.words.extend(halves);
        }
        Ok((!corrected.is_empty()).then_some((query, corrected)))
    }

    /// The two words that a word consists of. Some product must have both (`Photoshop` isn't
    /// `photo shop`), unless both are words of a language with compounds. If there are several such
    /// pairs, returns the one whose rarer word is the most frequent.
    fn halves(&self, word: &Word) -> Result<Option<[Word; 2]>, L::Error> {
        if is_right(&word.folded) || self.is_acronym(word) {
            return Ok(None);
        }
        let lexicon = &self.index.lexicon;
        let known = |half: &Word| lexicon.word(&half.folded).filter(|word| lexicon.document_frequency(*word) > 0);
        let places = self.text[word.start..word.end].char_indices().map(|(at, _)| word.start + at);
        let pairs = places.filter_map(|place| {
            let halves = [self.half(word.start..place, word.gap)?, self.half(place..word.end, Gap::Space)?];
            let numbers = [known(&halves[0])?, known(&halves[1])?];
            Some((numbers.map(|word| lexicon.document_frequency(word)).into_iter().min(), numbers, halves))
        });
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_by_key(|(rarer, ..)| std::cmp::Reverse(*rarer));
        for (_, numbers, halves) in pairs {
            let terms = numbers.map(|word| Term::Word(lexicon.stem_of(word)));
            let is_of = |language: &Inflected, half: &Word| {
                !lexicon.related(Relation::Form, *language, &language.stem(half.spelling())).is_empty()
            };
            let mut compounding = lexicon.inflected().iter().filter(|language| language.has_compounds());
            let is_compound = compounding.any(|language| halves.iter().all(|half| is_of(language, half)));
            if is_compound || self.lookup.has_all(&terms, self.budget)? {
                return Ok(Some(halves));
            }
        }
        Ok(None)
    }

    /// The only word in a part of the query's text, if it's long enough.
    fn half(&self, part: Range<usize>, gap: Gap) -> Option<Word> {
        let [word] = <[Word; 1]>::try_from(words(&self.text[part.clone()])).ok()?;
        let letters = word.folded.chars().filter(|c| c.is_alphabetic()).count();
        let has_digit = word.folded.bytes().any(|byte| byte.is_ascii_digit());
        let is_long = letters >= LETTERS || (letters > 0 && has_digit);
        is_long.then_some(Word { start: part.start, end: part.end, gap, ..word })
    }
}
