//! Products that the curator puts first for a query.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::Term;
use crate::record::{MAX_PINNED, Pin};
use crate::text::analyse::key_without_conjunctions;

/// For each query's key, the ids of the products pinned to it, best first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Pins(BTreeMap<Box<str>, Vec<Box<str>>>);

impl Pins {
    /// Collects the pins. If a query has two pins, the first pin's products come first.
    pub fn new<'p>(pins: impl IntoIterator<Item = &'p Pin>) -> Self {
        let mut by_query: BTreeMap<_, Vec<Box<str>>> = BTreeMap::new();
        for Pin { queries, software } in pins {
            for query in queries {
                let pinned = by_query.entry(Pin::key(query).into()).or_default();
                for id in software {
                    if pinned.len() < MAX_PINNED && !pinned.contains(id) {
                        pinned.push(id.clone());
                    }
                }
            }
        }
        Self(by_query)
    }

    /// The products pinned to a query, given its folded words.
    pub fn of<'w>(&self, words: impl Iterator<Item = &'w str> + Clone) -> Vec<(Term, &str)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let key = key_without_conjunctions(words);
        let pinned = self.0.get(&*key).map_or(&[][..], Vec::as_slice);
        (0..).zip(pinned).map(|(place, id)| (Term::Pinned { place, query: key.as_str().into() }, &**id)).collect()
    }

    /// Each product's terms, by product id.
    pub(super) fn terms(&self) -> foldhash::HashMap<Box<str>, Vec<Term>> {
        let mut terms: foldhash::HashMap<_, Vec<_>> = foldhash::HashMap::default();
        for (query, pinned) in &self.0 {
            for (place, id) in (0..).zip(pinned) {
                terms.entry(id.clone()).or_default().push(Term::Pinned { place, query: query.clone() });
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analyse::words;

    fn pin(queries: &[&str], software: &[&str]) -> Pin {
        let boxed = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
        Pin { queries: boxed(queries), software: boxed(software) }
    }

    fn pinned<'p>(pins: &'p Pins, query: &str) -> Vec<&'p str> {
        let words = words(query);
        pins.of(words.iter().map(|word| word.folded.as_str())).into_iter().map(|(_, id)| id).collect()
    }

    #[test]
    fn pins_apply_to_the_query_in_any_spelling_but_only_as_a_whole() {
        let pins = Pins::new(&[pin(&["Permit to work", "PTW"], &["b", "a"]), pin(&["R & D"], &["c"])]);
        for query in ["permit to work", "Permit-to-Work", "ptw", " PTW ", "permitto work"] {
            assert_eq!(pinned(&pins, query), ["b", "a"], "{query}");
        }
        for query in ["r&d", "R and D", "R und D"] {
            assert_eq!(pinned(&pins, query), ["c"], "{query}");
        }
        for query in ["permit", "permit to work software", "", "work to permit"] {
            assert!(pinned(&pins, query).is_empty(), "{query}");
        }
    }

    #[test]
    fn a_query_with_two_pins_gets_the_products_from_both() {
        let pins = Pins::new(&[pin(&["ptw"], &["b", "a"]), pin(&["PTW"], &["c", "b"])]);
        assert_eq!(pinned(&pins, "ptw"), ["b", "a", "c"]);
        let many: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(pinned(&Pins::new(&[pin(&["ptw"], &many)]), "ptw").len(), MAX_PINNED);
    }
}
