//! Finds the matching words in text, for all kinds of terms.

use std::ops::Range;

use super::{Highlighter, Slots};
use crate::generation::Snapshot;
use crate::search::Term;
use crate::search::budget::Budget;
use crate::search::expand::{Expansion, Slot};
use crate::text::analyse::{self, may_begin, words};

/// The fields in which some terms match differently.
pub(super) const NAME: &str = "name";
pub(super) const ALIASES: &str = "aliases";
pub(super) const CATEGORIES: &str = "categories";

pub(super) struct Marked {
    pub(super) places: Vec<Range<usize>>,
    /// The slots of the matches that have no word number.
    pub(super) slots: Slots,
    /// Whether only synonyms match.
    pub(super) is_synonym: bool,
}

impl Highlighter<'_> {
    /// Whether the query means a category with this name.
    fn is_meant(&self, category: &str) -> bool {
        let catalogue = &self.snapshot.catalogue;
        let mut found = catalogue.categories_named(category).iter();
        found.any(|at| self.categories.contains(&&*catalogue.tables.categories[*at as usize].id))
    }

    /// Finds the matching words in text, for all kinds of terms.
    pub(super) fn all_marked(&self, field: &str, text: &str, numbers: &[usize]) -> Marked {
        let Self { snapshot: Snapshot { search, .. }, expansion, categories, budget, .. } = self;
        if field == CATEGORIES && !categories.is_empty() && self.is_meant(text) {
            return Marked {
                places: std::iter::once(0..text.len()).collect(),
                slots: slots(expansion, |term| matches!(term, Term::Category(_))),
                is_synonym: false,
            };
        }
        let is_name = field == NAME || field == ALIASES;
        let prefix = self.prefix.or(self.name_prefix.filter(|_| is_name));
        let places = analyse::places(text);
        let mut marked = vec![false; places.len()];
        let mut found = 0;
        // The numbers always refer to words in this text, because the index was built from it. If
        // they didn't, some words wouldn't be marked.
        numbers.iter().filter(|at| **at < places.len()).for_each(|at| marked[*at] = true);
        if let Some(prefix) = prefix {
            for (at, place) in places.iter().enumerate() {
                marked[at] |= begins(&text[place.clone()], prefix, budget);
            }
            if marked.contains(&true) {
                found |= slots(expansion, |term| matches!(term, Term::Prefix(_) | Term::NamePrefix(_)));
            }
        }
        let has_words = marked.contains(&true);
        if !expansion.concepts.is_empty() {
            for mention in search.thesaurus.mentions(text, &words(text), &search.stems, false) {
                if mention.means.iter().any(|concept| expansion.concepts.contains(concept)) {
                    marked[mention.start..mention.end].fill(true);
                    let is_meant =
                        |term: &Term| matches!(term, Term::Concept(concept) if mention.means.contains(concept));
                    found |= slots(expansion, is_meant);
                }
            }
        }
        let places = places.into_iter().zip(marked).filter_map(|(place, is)| is.then_some(place)).collect();
        Marked { places, slots: found, is_synonym: !has_words }
    }
}

/// The slots that have an alternative of this kind.
pub(super) fn slots(expansion: &Expansion, is_of_kind: impl Fn(&Term) -> bool) -> Slots {
    let has = |slot: &Slot| slot.alternatives.iter().any(|alternative| is_of_kind(&alternative.term));
    expansion.slots.iter().enumerate().filter(|(_, slot)| has(slot)).fold(0, |all, (at, _)| all | 1 << at)
}

/// Budget units per byte of a word that has to be folded.
const FOLDED: usize = 8;

/// Whether a word begins with a folded prefix, given the word as written. Beyond the budget, it
/// doesn't.
fn begins(written: &str, prefix: &str, budget: &Budget) -> bool {
    if is_plain(written) {
        return written.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix));
    }
    may_begin(written, prefix)
        && budget.pay(written.len() * FOLDED)
        && words(written).first().is_some_and(|word| word.folded.starts_with(prefix))
}

/// Whether folding changes only the word's case.
fn is_plain(written: &str) -> bool {
    written.bytes().all(|byte| byte.is_ascii() && !matches!(byte, b'&' | b'.'))
}
