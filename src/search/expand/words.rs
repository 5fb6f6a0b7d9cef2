//! Creates slots for words, and for names of products that the query asks for alternatives to.

use std::ops::Range;

use fst::{IntoStreamer, Streamer};

use super::slot::Slot;
use super::{ENOUGH, Expander, Prefix};
use crate::search::intent::Subject;
use crate::search::lexicon::{Relation, StemId, WordId};
use crate::search::pieces;
use crate::search::plan::{Alternative, INDEXED_PREFIX, MatchKind, Phrase, PhraseForm, Term, TermLookup};
use crate::text::analyse::{Gap, Word, compound, is_conjunction};
use crate::text::{english, language};

/// A query of up to this many words may be a name that has several parts, so more than two words
/// may be joined.
const JOINED_WITHIN: usize = 6;

/// The maximum number of query words that are joined into one.
const MOST_JOINED: usize = 4;

/// The maximum number of words that a stem expands to. Words from the best records come first.
const MOST_INFLECTIONS: usize = 50;

/// The number of budget units per word with the typed prefix.
const LISTED: usize = 10;

impl<L: TermLookup> Expander<'_, L> {
    /// Creates a word's slot: the word itself, its compounds with its neighbours, and its
    /// completions.
    pub(super) fn slot(&mut self, at: usize, known: Option<WordId>, joined: &[(Range<usize>, WordId)]) -> Slot {
        let words = &self.query.words;
        let word = &words[at];
        let lexicon = &self.index.lexicon;
        let mut alternatives = Vec::new();
        let by_stem = || lexicon.stem(&self.index.stems.of(&word.folded)).filter(|_| !self.is_acronym(word));
        let stem = known.map(|word| lexicon.stem_of(word)).or_else(by_stem);
        if let Some(stem) = stem {
            let kind = if known.is_some() { MatchKind::Exact } else { MatchKind::Stem };
            alternatives.push(Alternative::new(kind, Term::Word(stem), 1.0));
        }
        let mut slot = Slot {
            spelling: word.accented.as_ref().map_or(known, |accented| lexicon.accented(accented)),
            is_function_word: self.is_function_word(word),
            in_phrase: self.query.is_in_phrase(at),
            ..Slot::new(word.clone(), alternatives)
        };
        if slot.in_phrase {
            slot.alternatives.extend(self.other_forms(at, known));
            return slot;
        }
        slot.alternatives.push(Alternative::new(
            MatchKind::Compound,
            Term::Compound(self.index.stems.of(&word.folded).into()),
            self.index.ranking.near,
        ));
        let joined = joined.iter().filter(|(range, _)| range.contains(&at));
        slot.alternatives.extend(joined.map(|(_, joined)| {
            Alternative::new(MatchKind::Compound, Term::Word(lexicon.stem_of(*joined)), self.index.ranking.near)
        }));
        if let Some(spelled) = word.spelled_out()
            && let Some(spelled) = lexicon.stem(&self.index.stems.of(&spelled))
        {
            slot.alternatives.push(Alternative::new(MatchKind::Stem, Term::Word(spelled), 1.0));
        }
        self.push_inflections(&mut slot);
        slot.alternatives.push(Alternative::new(
            MatchKind::Inner,
            pieces::inner(&word.folded, &self.index.stems),
            self.index.ranking.loose,
        ));
        let bare = word.folded.trim_matches(['+', '#', '.']);
        if bare != word.folded
            && let Some(part) = lexicon.word(bare)
        {
            slot.alternatives.push(Alternative::new(
                MatchKind::Part,
                Term::Word(lexicon.stem_of(part)),
                self.index.ranking.near,
            ));
        }
        if at + 1 == words.len() && self.query.last_is_open {
            self.push_prefix(&mut slot, known);
        }
        slot
    }

    /// Whether a word is a function word in English, or in another language if that word isn't common
    /// in English or the query has other function words that aren't.
    fn is_function_word(&self, word: &Word) -> bool {
        let is_only_foreign =
            |word: &Word| language::is_foreign_function_word(&word.folded) && !english::is_common(&word.folded);
        english::is_function_word(&word.folded)
            || language::is_foreign_function_word(&word.folded)
                && (is_only_foreign(word) || self.query.words.iter().any(is_only_foreign))
    }

    /// Creates the slot for the name of a product that the query asks for alternatives to.
    pub(super) fn subject_slot(&self, subject: &Subject) -> Result<Slot, L::Error> {
        let words = &self.query.words[subject.words.clone()];
        let lexicon = &self.index.lexicon;
        let stem = |word: &Word| lexicon.word(&word.folded).map(|word| lexicon.stem_of(word));
        let mut slot = Slot::new(words[0].clone(), subject.alternatives.clone());
        slot.others = words.iter().filter_map(stem).collect();
        self.weigh(&mut slot)?;
        Ok(slot)
    }

    /// Removes alternatives that no product contains, and records the highest document frequency.
    pub(super) fn weigh(&self, slot: &mut Slot) -> Result<(), L::Error> {
        let mut frequencies = Vec::with_capacity(slot.alternatives.len());
        for alternative in &slot.alternatives {
            frequencies.push(self.lookup.document_frequency(&alternative.term)?);
        }
        let mut at = 0;
        slot.alternatives.retain(|_| {
            at += 1;
            frequencies[at - 1] > 0
        });
        slot.document_frequency = frequencies.into_iter().max().unwrap_or(0);
        Ok(())
    }

    /// The words in the lexicon that consist of several neighbouring query words, each with its
    /// range of query words. A conjunction between two words may be omitted: `r and d` is `rd`.
    pub(super) fn joined(&self) -> Vec<(Range<usize>, WordId)> {
        let words = &self.query.words;
        let most = if words.len() <= JOINED_WITHIN { MOST_JOINED } else { 2 };
        let mut found = Vec::new();
        for start in 0..words.len() {
            let mut joined = words[start].folded.clone();
            for (at, word) in words.iter().enumerate().skip(start + 1).take(most - 1) {
                if !matches!(word.gap, Gap::Joined | Gap::Space) {
                    break;
                }
                if at == start + 1
                    && is_conjunction(&word.folded)
                    && let Some(behind) = words.get(at + 1)
                {
                    let around = self.index.lexicon.word(&compound(&words[start], behind));
                    found.extend(around.map(|around| (start..at + 2, around)));
                }
                joined.push_str(&word.folded);
                found.extend(self.index.lexicon.word(&joined).map(|joined| (start..at + 1, joined)));
            }
        }
        found
    }

    /// Adds the words that share a stem with the slot's word in any language, and the compounds
    /// that contain it, because a query doesn't say which language it's in. A common English word
    /// only has forms in a language if it's also a word in records in that language.
    fn push_inflections(&self, slot: &mut Slot) {
        let (lexicon, ranking) = (&self.index.lexicon, &self.index.ranking);
        if lexicon.inflected().is_empty() {
            return;
        }
        let own = lexicon.word(&slot.word.folded).map(|word| lexicon.stem_of(word));
        let is_english = english::is_common(&slot.word.folded);
        for language in lexicon.inflected() {
            let stem = language.stem(slot.word.spelling());
            let forms = lexicon.related(Relation::Form, *language, &stem);
            if is_english && !own.is_some_and(|own| forms.contains(&own)) {
                continue;
            }
            let compounds = lexicon.related(Relation::Compound, *language, &stem);
            for (words, kind, weight) in
                [(forms, MatchKind::Stem, ranking.near), (compounds, MatchKind::Inner, ranking.loose)]
            {
                for word in words.into_iter().take(MOST_INFLECTIONS) {
                    let term = Term::Word(word);
                    if !slot.alternatives.iter().any(|alternative| alternative.term == term) {
                        slot.alternatives.push(Alternative::new(kind, term, weight));
                    }
                }
            }
        }
    }

    /// Adds the last word's completions, unless it's taken for a complete word. Words of up to
    /// three letters that are known or in capitals aren't completed: `VA` isn't a prefix of
    /// Vanguard. A single letter only completes names.
    pub(super) fn push_prefix(&mut self, slot: &mut Slot, known: Option<WordId>) {
        let letters = slot.word.folded.chars().count();
        if letters == 1 && self.query.words.len() == 1 && self.options.prefix != Prefix::Never {
            slot.prefix = Some(slot.word.folded.clone());
            let term = Term::NamePrefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative::new(MatchKind::Prefix, term, self.index.ranking.near));
            return;
        }
        let products = known.map_or(0, |word| self.index.lexicon.document_frequency(word) as usize);
        if letters <= 3 && (products > 0 || slot.word.is_capitals(self.text)) {
            return;
        }
        let is_complete = match self.options.prefix {
            Prefix::Never => true,
            Prefix::Auto => products >= ENOUGH,
            Prefix::Always => false,
        };
        if is_complete {
            return;
        }
        slot.prefix = Some(slot.word.folded.clone());
        if letters <= INDEXED_PREFIX {
            let term = Term::Prefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative::new(MatchKind::Prefix, term, self.index.ranking.near));
            return;
        }
        self.push_longer(slot, &slot.word.folded.clone(), self.index.ranking.near);
    }

    fn push_longer(&self, slot: &mut Slot, prefix: &str, weight: f32) {
        let lexicon = &self.index.lexicon;
        let (mut stems, mut concepts) = (Vec::<StemId>::new(), Vec::<u32>::new());
        // Search a range, because an automaton would open every branch off the path to the prefix.
        let mut stream = lexicon.words().range().ge(prefix).into_stream();
        while let Some((text, word)) = stream.next() {
            self.budget.spend(LISTED);
            if !text.starts_with(prefix.as_bytes()) || !self.budget.allows_more() {
                break;
            }
            let Ok(word) = WordId::try_from(word) else { continue };
            stems.push(lexicon.stem_of(word));
            // A synonym that no product contains.
            if lexicon.document_frequency(word) == 0
                && let Ok(text) = std::str::from_utf8(text)
            {
                concepts.extend(self.index.thesaurus.asked_by(text, &self.index.stems));
            }
        }
        stems.sort_unstable();
        stems.dedup();
        stems.retain(|stem| !slot.alternatives.iter().any(|alternative| alternative.term == Term::Word(*stem)));
        concepts.sort_unstable();
        concepts.dedup();
        let terms = stems.into_iter().map(Term::Word).chain(concepts.into_iter().map(Term::Concept));
        slot.alternatives.extend(terms.map(|term| Alternative::new(MatchKind::Prefix, term, weight)));
    }

    /// The phrases, rarest first. `None` if every form of a phrase contains an unknown word, so
    /// nothing matches.
    pub(super) fn planned_phrases(&self) -> Option<Vec<Phrase>> {
        let mut phrases = self.phrases.iter().cloned().collect::<Option<Vec<_>>>()?;
        let frequency =
            |spellings: &Vec<WordId>| spellings.first().map(|word| self.index.lexicon.document_frequency(*word));
        let rarest = |form: &PhraseForm| form.iter().filter_map(frequency).min();
        phrases.sort_by_cached_key(|phrase| (phrase.iter().map(rarest).max(), phrase.clone()));
        phrases.dedup();
        Some(phrases)
    }

    /// For a word in a phrase, the first word of each form that doesn't contain it.
    fn other_forms(&self, at: usize, known: Option<WordId>) -> Vec<Alternative> {
        let number = self.query.phrases.iter().position(|phrase| phrase.contains(&at));
        let Some(phrase) = number.and_then(|number| self.phrases[number].as_ref()) else { return Vec::new() };
        let has_word = |form: &PhraseForm| form.iter().flatten().any(|word| Some(*word) == known);
        let others = phrase.iter().filter(|form| !has_word(form)).filter_map(|form| form.first()?.first());
        let alternative = |word: &WordId| {
            Alternative::new(
                MatchKind::Compound,
                Term::Word(self.index.lexicon.stem_of(*word)),
                self.index.ranking.near,
            )
        };
        others.map(alternative).collect()
    }
}
