//! The terms of a generation that understanding a query looks up: how many documents have each, and the categories of the best
//! documents with a name. API servers hold it in memory.

use bytes::Bytes;
use fst::Map;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Columns, Ordinal};
use crate::engine::{CATEGORY_EXAMPLES, EngineError};
use crate::search::Term;
use crate::search::score::{Occurrences, Scorer};

/// The terms, opened.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// Terms → the number of documents.
    frequencies: Map<Bytes>,
    /// Names → their set of categories.
    categories: Map<Bytes>,
    sets: Vec<Box<[u32]>>,
}

/// The terms, encoded.
#[derive(Debug, Serialize, Deserialize)]
struct DictionaryParts {
    #[serde(with = "serde_bytes")]
    frequencies: Vec<u8>,
    #[serde(with = "serde_bytes")]
    categories: Vec<u8>,
    sets: Vec<Box<[u32]>>,
}

impl Dictionary {
    /// Opens an encoded dictionary.
    ///
    /// # Errors
    /// Where it is damaged.
    pub(super) fn open(encoded: &[u8]) -> Result<Self, EngineError> {
        let parts: DictionaryParts = postcard::from_bytes(encoded).map_err(EngineError::index("opened"))?;
        let map = |bytes: Vec<u8>| Map::new(Bytes::from(bytes)).map_err(EngineError::index("opened"));
        Ok(Self { frequencies: map(parts.frequencies)?, categories: map(parts.categories)?, sets: parts.sets })
    }

    /// The number of documents with a term.
    pub(super) fn frequency(&self, term: &Term) -> u32 {
        let count = self.frequencies.get(written(term)).unwrap_or_default();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The categories of the best documents with a name, sorted; none for other terms.
    pub(super) fn categories(&self, term: &Term) -> &[u32] {
        let set = self.categories.get(written(term)).and_then(|set| usize::try_from(set).ok());
        set.and_then(|set| self.sets.get(set)).map_or(&[], |set| set)
    }
}

fn written(term: &Term) -> String {
    let mut text = String::with_capacity(24);
    term.write(&mut text);
    text
}

/// A dictionary being filled; documents come in the order of ordinals.
#[derive(Debug, Default)]
pub(super) struct DictionaryBuilder {
    frequencies: FxHashMap<Term, u32>,
    /// The best documents with each name.
    named: FxHashMap<Term, Vec<Example>>,
}

/// A document with a name: a demo record is behind all real ones, then the score counts.
#[derive(Debug, Clone, Copy)]
struct Example {
    is_demo: bool,
    score: f32,
    ordinal: Ordinal,
}

impl DictionaryBuilder {
    /// Adds a document's term.
    pub(super) fn push(
        &mut self,
        columns: &Columns,
        scorer: &Scorer,
        ordinal: Ordinal,
        term: &Term,
        occurrences: Occurrences,
    ) {
        match self.frequencies.get_mut(term) {
            Some(count) => *count += 1,
            None => drop(self.frequencies.insert(term.clone(), 1)),
        }
        if !matches!(term, Term::Title(_) | Term::AlternativeTo(_)) {
            return;
        }
        let example =
            Example { is_demo: columns.is_demo(ordinal), score: scorer.score(occurrences.packed(), ordinal), ordinal };
        let examples = match self.named.get_mut(term) {
            Some(examples) => examples,
            None => self.named.entry(term.clone()).or_default(),
        };
        examples.push(example);
        if examples.len() >= 4 * CATEGORY_EXAMPLES {
            keep_best(examples);
        }
    }

    /// Encodes the dictionary.
    ///
    /// # Errors
    /// Where it can't be encoded.
    pub(super) fn finish(self, columns: &Columns) -> Result<Vec<u8>, EngineError> {
        let frequencies = self.frequencies.iter().map(|(term, count)| (written(term), u64::from(*count))).collect();
        let (mut sets, mut numbers) = (Vec::new(), FxHashMap::default());
        let mut names = Vec::with_capacity(self.named.len());
        for (term, mut examples) in self.named {
            keep_best(&mut examples);
            let mut categories: Vec<u32> =
                examples.iter().flat_map(|example| columns.categories_of(example.ordinal)).copied().collect();
            categories.sort_unstable();
            categories.dedup();
            let set: Box<[u32]> = categories.into();
            let number = *numbers.entry(set.clone()).or_insert_with(|| {
                sets.push(set);
                sets.len() as u64 - 1
            });
            names.push((written(&term), number));
        }
        let parts = DictionaryParts { frequencies: sorted_map(frequencies)?, categories: sorted_map(names)?, sets };
        postcard::to_stdvec(&parts).map_err(EngineError::index("written"))
    }
}

fn keep_best(examples: &mut Vec<Example>) {
    examples.sort_by(|a, b| {
        a.is_demo.cmp(&b.is_demo).then_with(|| b.score.total_cmp(&a.score)).then_with(|| a.ordinal.cmp(&b.ordinal))
    });
    examples.truncate(CATEGORY_EXAMPLES);
}

/// A map of terms, from its entries in any order.
fn sorted_map(mut entries: Vec<(String, u64)>) -> Result<Vec<u8>, EngineError> {
    entries.sort_unstable();
    let map = Map::from_iter(entries).map_err(EngineError::index("written"))?;
    Ok(map.into_fst().into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_by_name_and_others_have_nothing() {
        let encoded = postcard::to_stdvec(&DictionaryParts {
            frequencies: sorted_map(vec![("w7b".to_owned(), 3), ("tacme".to_owned(), 1)]).expect("a map"),
            categories: sorted_map(vec![("tacme".to_owned(), 1)]).expect("a map"),
            sets: vec![[].into(), [2, 5].into()],
        });
        let dictionary = Dictionary::open(&encoded.expect("encoded")).expect("opened");
        assert_eq!(dictionary.frequency(&Term::Word(0x7b)), 3);
        assert_eq!(dictionary.frequency(&Term::Word(0x7c)), 0);
        assert_eq!(dictionary.categories(&Term::Title("acme".into())), [2, 5]);
        assert_eq!(dictionary.categories(&Term::AlternativeTo("acme".into())), [0; 0]);
    }
}
