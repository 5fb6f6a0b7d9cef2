//! Slots: a query's words, with the terms that match each of them.

use super::{ENOUGH, Expander, MOST_WORDS};
use crate::catalogue::resource::UnknownValue;
use crate::search::intent::{is_intent_word, is_kind};
use crate::search::lexicon::{StemId, WordId};
use crate::search::plan::{Alternative, MatchKind, Term, TermLookup, WordGroup};
use crate::text::analyse::{Gap, Word, is_conjunction};

#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub word: Word,
    pub alternatives: Vec<Alternative>,
    /// Whether a product must match this slot to count as having all the words.
    pub required: bool,
    /// Whether the word is a function word in one of the query's languages.
    pub is_function_word: bool,
    pub in_phrase: bool,
    /// The word as spelled in the query, if it's in the lexicon.
    pub spelling: Option<WordId>,
    /// The letters that were typed, if the word is a prefix.
    pub prefix: Option<String>,
    /// The highest document frequency among the alternatives.
    pub document_frequency: u32,
    /// The stems of the name's other words, if the slot stands for a whole name.
    pub others: Vec<StemId>,
}

impl Slot {
    /// A required slot.
    pub(super) const fn new(word: Word, alternatives: Vec<Alternative>) -> Self {
        Self {
            word,
            alternatives,
            required: true,
            is_function_word: false,
            in_phrase: false,
            spelling: None,
            prefix: None,
            document_frequency: 0,
            others: Vec::new(),
        }
    }

    pub(super) fn finds(&self) -> bool {
        !self.alternatives.is_empty()
    }

    /// Whether the word names a value of an attribute.
    pub(super) fn is_value(&self) -> bool {
        self.alternatives.iter().any(|alternative| alternative.kind == MatchKind::Attribute)
    }

    /// Whether a product doesn't need to have the word.
    pub(super) fn is_optional(&self) -> bool {
        self.is_function_word || is_conjunction(&self.word.folded)
    }

    /// The stems that match the slot, with their weights.
    pub(super) fn stems(&self) -> impl Iterator<Item = (StemId, f32)> + '_ {
        let alternatives = self.alternatives.iter().filter_map(|alternative| match alternative.term {
            Term::Word(stem) => Some((stem, alternative.weight)),
            _ => None,
        });
        alternatives.chain(self.others.iter().map(|stem| (*stem, 0.0)))
    }

    pub(super) fn group(&self) -> WordGroup {
        WordGroup { alternatives: self.alternatives.clone(), required: self.required, indispensable: self.in_phrase }
    }
}

/// The upper limit on the number of words searched. Words that are as frequent as the tenth also
/// count, up to this limit.
pub(super) const MOST_SEARCHED: usize = 30;

impl<L: TermLookup> Expander<'_, L> {
    /// Drops the words that no product contains. If more than ten remain, also drops any that are
    /// more frequent than the tenth rarest.
    pub(super) fn drop_words(&mut self, slots: &mut Vec<Slot>) {
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
                dropped.push((slot.word.clone(), !slot.finds() && !self.is_general(slot)));
            }
            keep
        });
        for (word, is_unknown) in dropped {
            let written = self.written(&word);
            if self.report.dropped.contains(&written) {
                continue;
            }
            if is_unknown {
                self.report.unknown.push(UnknownValue::word(&written));
            }
            self.report.dropped.push(written);
        }
    }

    /// Turns slots into groups. Also returns how many products with all the words are
    /// [enough](crate::search::plan::Plan::enough).
    pub(super) fn groups(&self, slots: &[Slot], is_comparison: bool, is_hopeless: bool) -> (Vec<WordGroup>, usize) {
        let is_general = !self.report.unknown.is_empty() && slots.iter().all(|slot| self.is_general(slot));
        if is_general && !is_comparison {
            // No product contains the word that says what the user wants, so only related ones are shown.
            return (vec![WordGroup { required: true, ..WordGroup::default() }], ENOUGH);
        }
        let impossible = is_hopeless.then_some(WordGroup::IMPOSSIBLE);
        (slots.iter().map(Slot::group).chain(impossible).collect(), enough(slots))
    }

    /// Whether a word only says what kind of thing is wanted.
    pub(super) fn is_general(&self, slot: &Slot) -> bool {
        slot.is_optional() || is_kind(&slot.word.folded) || is_intent_word(self.text, &slot.word)
    }
}

/// How many products with all the words are enough. 0 if every required word belongs to a phrase,
/// because then no product contains only some of the words.
fn enough(slots: &[Slot]) -> usize {
    let required = || slots.iter().filter(|slot| slot.required);
    if required().count() > 1 && required().any(|slot| !slot.in_phrase) { ENOUGH } else { 0 }
}

/// Drops the slots that satisfy `drops` and aren't in phrases, if other slots match something.
pub(super) fn drop_where_others_find(slots: &mut Vec<Slot>, drops: impl Fn(&Slot) -> bool) {
    let is_dropped = |slot: &Slot| !slot.in_phrase && drops(slot);
    if slots.iter().any(|slot| slot.finds() && !is_dropped(slot)) {
        slots.retain(|slot| !is_dropped(slot));
    }
}

/// Makes function words, product kinds and edition years optional if another word can be required.
pub(super) fn relax(slots: &mut [Slot]) {
    let is_optional = |slot: &Slot| slot.is_optional() || is_kind(&slot.word.folded) || slot.word.gap == Gap::Edition;
    if slots.iter().any(|slot| !is_optional(slot)) {
        for slot in slots.iter_mut() {
            slot.required = !is_optional(slot);
        }
    }
}
