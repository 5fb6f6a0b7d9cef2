//! Builds a lexicon.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use fst::Set;

use super::forms::{Relation, stem_key};
use super::{FIRST_WORD, LexiconError, LexiconParts, StemId, Tables, WordId};
use crate::text::stem::{Inflected, Stems};

/// Builds a lexicon. Words get provisional numbers in the order in which they first occur.
#[derive(Debug, Default)]
pub struct LexiconBuilder {
    /// Spelling → provisional number.
    numbers: HashMap<Box<str>, u32>,
    words: Vec<WordEntry>,
    stems: HashMap<Box<str>, StemId>,
    /// For each language, the numbers of the words that are inflected in it.
    inflected: [Vec<u32>; Inflected::ALL.len()],
    analyzer: Stems,
}

/// What's known about a word.
#[derive(Debug)]
struct WordEntry {
    spelling: Box<str>,
    folded: Box<str>,
    stem: StemId,
    document_frequency: u32,
    last_document: u32,
    /// One bit for each language that the word is inflected in.
    inflected: u8,
}

impl LexiconBuilder {
    /// Records an occurrence of a word and returns the word's provisional number. Documents are
    /// numbered from 1; 0 stands for an occurrence outside of documents.
    pub fn note(&mut self, spelling: &str, folded: &str, document: u32) -> u32 {
        let number = self.number(spelling, folded);
        self.count(number, document);
        if spelling != folded {
            // The folded form of an accented word counts as a word too, so that it's found when
            // typed without accents.
            let folded = self.number(folded, folded);
            self.count(folded, document);
        }
        number
    }

    fn count(&mut self, number: u32, document: u32) {
        let word = &mut self.words[number as usize];
        if document > word.last_document {
            word.last_document = document;
            word.document_frequency += 1;
        }
    }

    fn number(&mut self, spelling: &str, folded: &str) -> u32 {
        if let Some(number) = self.numbers.get(spelling) {
            return *number;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let stem = self.analyzer.of(folded);
        let next = StemId::try_from(self.stems.len()).unwrap_or(StemId::MAX);
        let stem = match self.stems.get(&*stem) {
            Some(stem) => *stem,
            None => *self.stems.entry(stem.into()).or_insert(next),
        };
        self.numbers.insert(spelling.into(), number);
        self.words.push(WordEntry {
            spelling: spelling.into(),
            folded: folded.into(),
            stem,
            document_frequency: 0,
            last_document: 0,
            inflected: 0,
        });
        number
    }

    /// Records that a word, given by its provisional number, belongs to a language.
    pub fn inflect(&mut self, number: u32, language: Inflected) {
        let word = &mut self.words[number as usize];
        let bit = 1 << language as u8;
        if word.inflected & bit == 0 {
            word.inflected |= bit;
            self.inflected[language as usize].push(number);
        }
    }

    /// A word's stem, given the word's provisional number. Stem numbers are final.
    pub fn stem(&self, number: u32) -> StemId {
        self.words[number as usize].stem
    }

    /// Returns a predicate for whether any document contains a folded word in any form.
    pub fn words_of_documents(&self) -> impl Fn(&str) -> bool + '_ {
        let mut found = vec![false; self.stems.len()];
        for word in &self.words {
            found[word.stem as usize] |= word.document_frequency > 0;
        }
        move |folded| self.stems.get(&*self.analyzer.of(folded)).is_some_and(|stem| found[*stem as usize])
    }

    /// Numbers the words by descending frequency, then by spelling. Also returns the final number
    /// for each provisional number.
    pub fn finish(&self) -> Result<(LexiconParts, Vec<WordId>), LexiconError> {
        let mut order: Vec<usize> = (0..self.words.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&self.words[*a], &self.words[*b]);
            b.document_frequency.cmp(&a.document_frequency).then_with(|| a.spelling.cmp(&b.spelling))
        });
        let mut tables =
            Tables { document_frequency: vec![0; FIRST_WORD as usize], stem: Arc::default(), folded: Vec::new() };
        let mut stems = vec![0; FIRST_WORD as usize];
        let mut numbering = vec![0; self.words.len()];
        for (word, at) in (FIRST_WORD..).zip(order) {
            numbering[at] = word;
            tables.document_frequency.push(self.words[at].document_frequency);
            stems.push(self.words[at].stem);
        }
        tables.stem = stems.into();
        let (mut words, mut accented) = (Vec::new(), Vec::new());
        for (indexed, word) in self.words.iter().zip(&numbering) {
            let entry = (&*indexed.spelling, u64::from(*word));
            if indexed.spelling == indexed.folded {
                words.push(entry);
            } else {
                accented.push(entry);
                if let Some(folded) = self.numbers.get(&indexed.folded) {
                    tables.folded.push((*word, numbering[*folded as usize]));
                }
            }
        }
        tables.folded.sort_unstable();
        let stems: Vec<_> = self.stems.iter().map(|(stem, number)| (&**stem, u64::from(*number))).collect();
        let parts = LexiconParts {
            words: sorted_map(words)?,
            accented: sorted_map(accented)?,
            stems: sorted_map(stems)?,
            inflected: self.forms()?,
            tables: postcard::to_stdvec(&tables)?,
        };
        Ok((parts, numbering))
    }
}

impl LexiconBuilder {
    /// Encodes the [`Forms`](super::forms::Forms).
    fn forms(&self) -> Result<Vec<u8>, fst::Error> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for (language, numbers) in Inflected::ALL.into_iter().zip(&self.inflected) {
            let words = || numbers.iter().map(|number| &self.words[*number as usize]);
            let stems: Vec<_> = words().map(|word| language.stem(&word.spelling)).collect();
            let mut push = |relation, stem: &str, word: &WordEntry| {
                keys.push([&stem_key(relation, language, stem)[..], &word.stem.to_be_bytes()].concat());
            };
            words().zip(&stems).for_each(|(word, stem)| push(Relation::Form, stem, word));
            if language.has_compounds() {
                let known: HashSet<&str> = stems.iter().map(String::as_str).collect();
                for word in words() {
                    for part in compound_parts(&word.spelling, language, &known).into_iter().flatten() {
                        push(Relation::Compound, &part, word);
                    }
                }
            }
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(Set::from_iter(keys)?.into_fst().into_inner())
    }
}

/// Minimum number of letters in a part of a compound.
const PART_LETTERS: usize = 4;

/// The stems of a word's two parts, if both are words in the directory. If there are several ways
/// to split the word, the second part is as long as possible, because that's the compound's head.
fn compound_parts(word: &str, language: Inflected, known: &HashSet<&str>) -> Option<[String; 2]> {
    let ends: Vec<_> = word.char_indices().map(|(at, _)| at).collect();
    let places = ends.get(PART_LETTERS..(ends.len() + 1).saturating_sub(PART_LETTERS))?;
    places.iter().find_map(|at| {
        let (first, second) = word.split_at(*at);
        let second = Some(language.stem(second)).filter(|stem| known.contains(stem.as_str()))?;
        let first = Some(language.stem(first)).filter(|stem| known.contains(stem.as_str()))?;
        Some([first, second])
    })
}

fn sorted_map(mut entries: Vec<(&str, u64)>) -> Result<Vec<u8>, fst::Error> {
    entries.sort_unstable();
    Ok(fst::Map::from_iter(entries)?.into_fst().into_inner())
}
