//! The terms needed to understand a query, with their document frequencies and, for names, the
//! categories of the best documents with that name. API servers keep the dictionary in memory.

use std::cmp::Reverse;
use std::io;

use bytes::Bytes;
use foldhash::HashMap;
use fst::{Map, MapBuilder};
use serde::Deserialize;

use crate::catalogue::Ordinal;
use crate::engine::{CATEGORY_EXAMPLES, EngineError};
use crate::scratch::{Bulk, BulkWriter, Keyed, Scratch, ScratchSorter, decode};
use crate::search::Term;

#[derive(Debug)]
pub(super) struct Dictionary {
    /// Term → number of documents.
    frequencies: Map<Bytes>,
    /// Name → index into `sets`.
    categories: Map<Bytes>,
    sets: Vec<Box<[u32]>>,
}

#[derive(Debug, Deserialize)]
struct DictionaryParts {
    #[serde(with = "serde_bytes")]
    frequencies: Vec<u8>,
    #[serde(with = "serde_bytes")]
    categories: Vec<u8>,
    sets: Vec<Box<[u32]>>,
}

impl Dictionary {
    pub(super) fn open(encoded: &[u8]) -> Result<Self, EngineError> {
        let parts: DictionaryParts = decode(encoded).map_err(EngineError::index("opened"))?;
        let map = |bytes: Vec<u8>| Map::new(Bytes::from(bytes)).map_err(EngineError::index("opened"));
        Ok(Self { frequencies: map(parts.frequencies)?, categories: map(parts.categories)?, sets: parts.sets })
    }

    pub(super) fn frequency(&self, term: &Term) -> u32 {
        let count = self.frequencies.get(written(term)).unwrap_or_default();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The categories of the best documents with this name, sorted; empty for other terms.
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

/// How many terms are counted in memory before the counts are spilled to a sorted scratch file.
const COUNTED_TERMS: usize = 500_000;

/// Builds a dictionary, using scratch files.
#[derive(Debug)]
pub(super) struct DictionaryBuilder {
    scratch: Scratch,
    /// Counts that haven't been spilled yet.
    counts: HashMap<Term, u32>,
    /// Spilled counts; a term may have several rows.
    counted: ScratchSorter<(String, u32)>,
    /// The documents with each name, best first.
    named: ScratchSorter<Keyed<NameKey, Box<[u32]>>>,
}

/// Sort key for a document with a name: the name, whether the document is a demo record (these come
/// last), the bits of its score in descending order, and its ordinal.
type NameKey = (String, bool, Reverse<u32>, Ordinal);

#[derive(Debug, Clone, Copy)]
pub(super) struct Example<'d> {
    pub(super) ordinal: Ordinal,
    pub(super) is_demo: bool,
    /// The name's score.
    pub(super) score: f32,
    pub(super) categories: &'d [u32],
}

impl DictionaryBuilder {
    pub(super) fn new(scratch: &Scratch) -> Self {
        let (counted, named) = (scratch.sorter(), scratch.sorter());
        Self { scratch: scratch.clone(), counts: HashMap::default(), counted, named }
    }

    pub(super) fn count(&mut self, term: &Term) -> io::Result<()> {
        match self.counts.get_mut(term) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(term.clone(), 1)),
        }
        if self.counts.len() >= COUNTED_TERMS { self.sort_counts() } else { Ok(()) }
    }

    pub(super) fn push_example(&mut self, name: &Term, example: Example<'_>) -> io::Result<()> {
        // Scores are positive, so their bits sort in the same order as their values.
        let key = (written(name), example.is_demo, Reverse(example.score.to_bits()), example.ordinal);
        self.named.push(Keyed { key, value: example.categories.into() })
    }

    fn sort_counts(&mut self) -> io::Result<()> {
        self.counts.drain().try_for_each(|(term, count)| self.counted.push((written(&term), count)))
    }

    pub(super) fn finish(mut self) -> io::Result<Bulk> {
        self.sort_counts()?;
        let mut frequencies = MapWriter::new(&self.scratch)?;
        let mut last: Option<(String, u64)> = None;
        for row in self.counted.finish()? {
            let (term, count) = row?;
            match &mut last {
                Some((of, sum)) if *of == term => *sum += u64::from(count),
                _ => {
                    let done = last.replace((term, count.into()));
                    done.map_or(Ok(()), |(term, count)| frequencies.push(&term, count))?;
                }
            }
        }
        last.map_or(Ok(()), |(term, count)| frequencies.push(&term, count))?;

        let (mut sets, mut names) = (Sets::default(), MapWriter::new(&self.scratch)?);
        let mut open: Option<(String, usize, Vec<u32>)> = None;
        for row in self.named.finish()? {
            let Keyed { key: (term, ..), value: categories } = row?;
            match &mut open {
                Some((of, examples, all)) if *of == term => {
                    if *examples < CATEGORY_EXAMPLES {
                        *examples += 1;
                        all.extend_from_slice(&categories);
                    }
                }
                _ => {
                    let done = open.replace((term, 1, categories.into_vec()));
                    done.map_or(Ok(()), |(term, _, all)| names.push(&term, sets.number(all)))?;
                }
            }
        }
        open.map_or(Ok(()), |(term, _, all)| names.push(&term, sets.number(all)))?;

        // Written in the order of `DictionaryParts`' fields.
        let mut parts = self.scratch.bulk();
        frequencies.finish(&mut parts)?;
        names.finish(&mut parts)?;
        parts.push_encoded(&sets.sets)?;
        parts.finish()
    }
}

#[derive(Debug, Default)]
struct Sets {
    sets: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, u64>,
}

impl Sets {
    fn number(&mut self, mut categories: Vec<u32>) -> u64 {
        categories.sort_unstable();
        categories.dedup();
        let set: Box<[u32]> = categories.into();
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u64;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }
}

/// Writes a map of terms, which must be added in sorted order.
struct MapWriter(MapBuilder<BulkWriter>);

impl MapWriter {
    fn new(scratch: &Scratch) -> io::Result<Self> {
        MapBuilder::new(scratch.bulk()).map(Self).map_err(io::Error::other)
    }

    fn push(&mut self, term: &str, value: u64) -> io::Result<()> {
        self.0.insert(term, value).map_err(io::Error::other)
    }

    /// Appends the map in postcard's encoding for bytes.
    fn finish(self, parts: &mut BulkWriter) -> io::Result<()> {
        let map = self.0.into_inner().map_err(io::Error::other)?.finish()?;
        parts.push_encoded(&map.len()?)?;
        parts.copy(&map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_terms_are_found_and_unknown_ones_have_no_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut builder = DictionaryBuilder::new(&Scratch::with_own_bytes(folder.path(), 1));
        let name = Term::Name("acme".into());
        // There are more documents than the dictionary considers. The one with the low score
        // doesn't count, and neither does the demo record, despite its high score.
        let low = u32::try_from(CATEGORY_EXAMPLES).expect("few");
        let demo = low + 1;
        for ordinal in 0..=demo {
            let score = if ordinal == low { 0.25 } else { 0.5 };
            let categories = [ordinal % 2, ordinal / low * 7];
            let is_demo = ordinal == demo;
            builder.count(&Term::Word(0x7b)).expect("written");
            builder.sort_counts().expect("written");
            builder.count(&name).expect("written");
            let score = if is_demo { 0.75 } else { score };
            let example = Example { ordinal, is_demo, score, categories: &categories };
            builder.push_example(&name, example).expect("written");
        }
        let encoded = builder.finish().and_then(|bulk| bulk.read_all()).expect("encoded");
        let dictionary = Dictionary::open(&encoded).expect("opened");
        assert_eq!(dictionary.frequency(&Term::Word(0x7b)), demo + 1);
        assert_eq!(dictionary.frequency(&Term::Word(0x7c)), 0);
        assert_eq!(dictionary.frequency(&name), demo + 1);
        assert_eq!(dictionary.categories(&name), [0, 1]);
        assert_eq!(dictionary.categories(&Term::AlternativeTo("acme".into())), [0; 0]);
    }
}
