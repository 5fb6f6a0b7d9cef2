//! The selection of the words that count: which are dropped, which are optional, how many hits are enough.

use super::slot::Slot;
use super::{ENOUGH, Expander, MOST_WORDS};
use crate::search::intent::is_kind;
use crate::search::understand::Documents;
use crate::text::analyse::Gap;

/// The most words that are searched: words as frequent as the tenth count too, but not any number of them.
const MOST_SEARCHED: usize = 30;

impl<D: Documents> Expander<'_, D> {
    /// Drops the words that no product has; of more than ten the most frequent, except those as frequent as the tenth.
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
}

/// How many products with all words are enough. Where every required word is one of a phrase, no product has only some.
pub(super) fn enough(slots: &[Slot]) -> usize {
    let required = || slots.iter().filter(|slot| slot.required);
    if required().count() > 1 && required().any(|slot| !slot.in_phrase) { ENOUGH } else { 0 }
}

/// Drops slots, but for those of phrases, if others find something.
pub(super) fn drop_where_others_find(slots: &mut Vec<Slot>, drops: impl Fn(&Slot) -> bool) {
    let is_dropped = |slot: &Slot| !slot.in_phrase && drops(slot);
    if slots.iter().any(|slot| slot.finds() && !is_dropped(slot)) {
        slots.retain(|slot| !is_dropped(slot));
    }
}

/// Function words, kinds of products and edition years needn't be there, as long as another word must.
pub(super) fn relax(slots: &mut [Slot]) {
    let is_optional =
        |slot: &Slot| slot.is_function_word() || is_kind(&slot.word.folded) || slot.word.gap == Gap::Edition;
    if slots.iter().any(|slot| !is_optional(slot)) {
        for slot in slots.iter_mut() {
            slot.required = !is_optional(slot);
        }
    }
}
