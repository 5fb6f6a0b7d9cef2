//! Recognises the values of attributes in a query: `wiki under AGPL`, `for Android`, `in Spanish`.

use std::ops::Range;

use super::Expander;
use super::slot::Slot;
use crate::catalogue::resource::UnderstoodAttribute;
use crate::record::AttributeType;
use crate::search::alternatives::Words;
use crate::search::intent::Understood;
use crate::search::plan::{Alternative, AttributeValues, MatchKind, Term, TermLookup};
use crate::search::score::group_weight;
use crate::search::synonym::Mention;
use crate::text::analyse::{Word, compound, written};
use crate::text::{is_listed, language};

/// The maximum number of words in a value.
const MOST_WORDS: usize = 3;

/// Words around a value that only say what it's the value of, besides function words and the
/// attribute's name: `written in Rust`, `AGPL licensed`.
const AROUND: Words = "based ecrit escrito geschrieben licence licenced license licensed lizenz runs under written";

/// Values shorter than this are only recognised after a preposition: `in Go`.
const SHORT: usize = 3;

/// Budget units for looking up words in the attributes.
const LOOKED_UP: usize = 20;

/// The values that a part of a query stands for.
#[derive(Debug)]
pub(super) struct Recognised {
    /// The words that name the values.
    words: Range<usize>,
    /// These words, and the ones around them that belong to them.
    all: Range<usize>,
    values: Vec<AttributeValues>,
}

/// A text value's key.
fn key(text: &str) -> String {
    AttributeType::Text.key(text).unwrap_or_default()
}

impl<L: TermLookup> Expander<'_, L> {
    /// The values that the query names, except in its subject, in phrases and after a `without`.
    pub(super) fn recognise(&self, understood: &Understood) -> Vec<Recognised> {
        let words = &self.query.words;
        let mut recognised: Vec<Recognised> = Vec::new();
        let is_taken = |at: usize| {
            let is_subject = understood.subject.as_ref().is_some_and(|subject| subject.words.contains(&at));
            let is_unwanted = understood.unwanted.as_ref().is_some_and(|unwanted| unwanted.contains(&at));
            is_subject || is_unwanted || understood.is_comparison || self.query.is_in_phrase(at)
        };
        let mentions = self.index.thesaurus.mentions(self.text, words, &self.index.stems, false);
        let mut at = 0;
        while at < words.len() && self.budget.allows_more() {
            let free = (at..words.len()).take(MOST_WORDS).take_while(|at| !is_taken(*at)).count();
            let found = (1..=free).rev().find_map(|length| {
                let values = self.values_of(at..at + length, &mentions);
                (!values.is_empty()).then_some((at..at + length, values))
            });
            let Some((range, values)) = found else {
                at += 1;
                continue;
            };
            let is_around = |word: &Word| {
                is_listed(AROUND, &word.folded)
                    || language::is_function_word(&word.folded)
                    || values.iter().any(|of| *of.property == *word.folded)
            };
            let before = words[..range.start].iter().rev().take_while(|word| is_around(word)).count();
            let after = words[range.end..].iter().take_while(|word| is_around(word)).count();
            at = range.end;
            recognised.push(Recognised { all: range.start - before..range.end + after, words: range, values });
        }
        recognised
    }

    /// The values that some words stand for, as written or by a synonym among the query's.
    fn values_of(&self, range: Range<usize>, mentions: &[Mention<'_>]) -> Vec<AttributeValues> {
        let words = &self.query.words[range.clone()];
        let is_short = words.iter().map(|word| word.folded.len()).sum::<usize>() < SHORT;
        let before = range.start.checked_sub(1).map(|at| &self.query.words[at]);
        let is_function_word = |word: &Word| language::is_function_word(&word.folded) && !word.is_capitals(self.text);
        if words.iter().all(is_function_word) || is_short && !before.is_some_and(is_function_word) {
            return Vec::new();
        }
        self.budget.spend(LOOKED_UP);
        let own = key(written(self.text, words));
        let spelled = std::iter::once(own.clone()).chain(own.contains('.').then(|| own.replace('.', "")));
        let of_term = mentions.iter().filter(|mention| (mention.start, mention.end) == (range.start, range.end));
        let concepts = of_term.flat_map(|mention| mention.asks);
        let terms = concepts.flat_map(|concept| self.index.thesaurus.terms_of(*concept)).map(|term| key(term));
        let mut values = spelled.chain(terms).map(|key| self.lookup.attribute_values(&key));
        values.find(|of| !of.is_empty()).unwrap_or_default()
    }

    /// The values that a word is part of, as alternatives to it.
    pub(super) fn value_alternatives(recognised: &[Recognised], at: usize) -> impl Iterator<Item = Alternative> {
        let of_word = recognised.iter().filter(move |of| of.words.contains(&at));
        let terms = of_word.flat_map(|of| &of.values).flat_map(AttributeValues::terms);
        terms.map(|term| Alternative::new(MatchKind::Attribute, term, 1.0))
    }

    /// Makes recognised values optional if another word can be required, and weighs them: they count
    /// as a share of what the other words count. Drops the words around them.
    pub(super) fn weigh_values(&mut self, recognised: Vec<Recognised>, slots: &mut Vec<Slot>) {
        if recognised.is_empty() {
            return;
        }
        let words = &self.query.words;
        let at = |slot: &Slot| words.iter().position(|word| word.start == slot.word.start);
        let is_in = |slot: &Slot, of: &Range<usize>| at(slot).is_some_and(|at| of.contains(&at));
        slots.retain(|slot| recognised.iter().all(|of| is_in(slot, &of.words) || !is_in(slot, &of.all)));
        let weight = |slot: &Slot| group_weight(slot.document_frequency, self.index.documents);
        let others = slots.iter().filter(|slot| slot.finds() && !self.is_general(slot) && !slot.is_value());
        let others: f32 = others.map(weight).sum();
        for slot in slots.iter_mut().filter(|slot| slot.is_value()) {
            let share = self.index.ranking.attribute * others / weight(slot).max(f32::EPSILON);
            for alternative in slot.alternatives.iter_mut().filter(|of| of.kind == MatchKind::Attribute) {
                alternative.weight = share.max(self.index.ranking.near);
            }
            slot.required &= others == 0.0;
        }
        for Recognised { words: of, values, .. } in recognised {
            self.report.understood.extend(values.into_iter().map(|AttributeValues { property, values, .. }| {
                UnderstoodAttribute {
                    words: written(self.text, &words[of.clone()]).to_owned(),
                    attribute: property.into(),
                    values: values.into_iter().map(|(_, label)| label.into()).collect(),
                }
            }));
        }
    }

    /// The terms for the words after a `without`: every form of each word or, if records have several of
    /// them side by side, only the combination.
    pub(super) fn unwanted(&self, range: &Range<usize>) -> Result<Vec<Term>, L::Error> {
        let (words, lexicon) = (&self.query.words[range.clone()], &self.index.lexicon);
        let values = self.lookup.attribute_values(&key(written(self.text, words)));
        let mut terms: Vec<_> = values.iter().flat_map(AttributeValues::terms).collect();
        for pair in words.windows(2) {
            terms.push(Term::Compound(self.index.stems.of(&compound(&pair[0], &pair[1])).into()));
        }
        let mut known = Vec::new();
        for term in terms {
            known.extend((self.lookup.document_frequency(&term)? > 0).then_some(term));
        }
        if !known.is_empty() && words.len() > 1 {
            return Ok(known);
        }
        for word in words {
            known.extend(lexicon.word(&word.folded).map(|word| Term::Word(lexicon.stem_of(word))));
            let concepts = self.index.thesaurus.asked_by(&word.folded, &self.index.stems);
            known.extend(concepts.iter().map(|concept| Term::Concept(*concept)));
        }
        Ok(known)
    }
}
