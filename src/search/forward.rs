//! The forward index: each document's words in order. It's read to rerank a query's best hits and
//! to verify phrases: whether a value in a document contains certain words in a row.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;
use serde::Deserialize;

use super::budget::Budget;
use super::lexicon::{StemId, WordId};
use super::plan::{Phrase, PhraseForm};
use crate::catalogue::{Ordinal, fetch};
use crate::record::Section;

/// Separates two values, so that a phrase can't match across them.
pub const VALUE_END: WordId = 0;
/// Follows the last value of a section.
pub const SECTION_END: WordId = 1;

/// The bit that's set in every byte of a word except the last.
const CONTINUES: u8 = 0x80;

/// Encodes words the way documents store them.
pub fn encode(words: impl Iterator<Item = WordId>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.size_hint().0 * 2);
    words.for_each(|word| write(word, &mut bytes));
    bytes
}

/// Appends a word's number as LEB128.
fn write(mut word: WordId, bytes: &mut Vec<u8>) {
    loop {
        let [low, ..] = (word & 0x7f).to_le_bytes();
        word >>= 7;
        bytes.push(if word > 0 { low | CONTINUES } else { low });
        if word == 0 {
            break;
        }
    }
}

/// Words in a row, encoded the way documents store them, for substring search.
#[derive(Debug, Clone)]
pub struct Sequence(memmem::Finder<'static>);

impl Sequence {
    pub fn new(words: &[WordId]) -> Self {
        Self(memmem::Finder::new(&encode(words.iter().copied())).into_owned())
    }
}

/// All documents' words. A document consists of three sections, each a sequence of word numbers
/// (LEB128, so that frequent words take one byte) with [`VALUE_END`] between values and
/// [`SECTION_END`] at the end.
#[derive(Debug, Default, Deserialize)]
pub struct Forward {
    /// Where each document begins, and where the last one ends; empty if there are no documents.
    bounds: Vec<u32>,
    // `serde_bytes` decodes these as one block rather than byte by byte.
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    /// Each word's stem; stored in the lexicon.
    #[serde(skip)]
    stems: Arc<[StemId]>,
}

impl Forward {
    #[must_use]
    pub fn with_stems(self, stems: Arc<[StemId]>) -> Self {
        Self { stems, ..self }
    }

    pub fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Whether the bounds are consistent.
    pub fn is_sound(&self) -> bool {
        self.bounds.is_sorted() && self.bounds.last().copied().unwrap_or(0) as usize == self.bytes.len()
    }

    /// A document's encoded words; see [`DocumentWords::encoded`].
    pub fn of(&self, ordinal: Ordinal) -> &[u8] {
        let at = ordinal as usize;
        &self.bytes[self.bounds[at] as usize..self.bounds[at + 1] as usize]
    }

    pub fn size_bytes(&self, ordinal: Ordinal) -> usize {
        self.of(ordinal).len()
    }

    /// Whether a document contains these words in a row. Compares encoded bytes without decoding
    /// them.
    pub fn has(&self, ordinal: Ordinal, sequence: &Sequence) -> bool {
        let bytes = self.of(ordinal);
        let mut from = 0;
        while let Some(found) = sequence.0.find(&bytes[from..]) {
            let start = from + found;
            // The match is at the start of a word unless the byte before it belongs to the same
            // word.
            if start == 0 || bytes[start - 1] & CONTINUES == 0 {
                return true;
            }
            from = start + 1;
        }
        false
    }

    #[inline]
    pub fn stem_of(&self, word: WordId) -> StemId {
        self.stems[word as usize]
    }

    /// Prefetches the beginnings of these documents into the processor's cache.
    pub fn fetch(&self, ordinals: impl Iterator<Item = Ordinal>) {
        /// Names and short fields rarely take more bytes than this.
        const BEGINNING: usize = 64;
        fetch(ordinals.map(|ordinal| {
            let bytes = self.of(ordinal);
            &bytes[..bytes.len().min(BEGINNING)]
        }));
    }

    pub fn words(&self, ordinal: Ordinal) -> impl Iterator<Item = WordId> + '_ {
        decode(self.of(ordinal))
    }

    pub fn words_until(&self, ordinal: Ordinal, section: Section) -> impl Iterator<Item = WordId> + '_ {
        until(self.words(ordinal), section)
    }
}

/// A document's words up to the end of a section.
pub fn until(words: impl Iterator<Item = WordId>, section: Section) -> impl Iterator<Item = WordId> {
    let mut left = section as usize + 1;
    words.take_while(move |word| {
        if *word == SECTION_END {
            left -= 1;
        }
        left > 0
    })
}

/// One document's words, with [`VALUE_END`] between values and [`SECTION_END`] after each section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentWords(Bytes);

impl DocumentWords {
    pub const fn encoded(bytes: Bytes) -> Self {
        Self(bytes)
    }

    pub fn iter(&self) -> impl Iterator<Item = WordId> + '_ {
        decode(&self.0)
    }

    pub const fn size_bytes(&self) -> usize {
        self.0.len()
    }
}

/// A document's words.
pub fn decode(mut bytes: &[u8]) -> impl Iterator<Item = WordId> + '_ {
    std::iter::from_fn(move || {
        let (word, rest) = match *bytes {
            // Nearly all words take one or two bytes. Which of the two is unpredictable, so this
            // doesn't branch on it.
            [one, two, ..] if one & two & CONTINUES == 0 => {
                let has_two = one >> 7;
                (u32::from(one & !CONTINUES) | u32::from(two * has_two) << 7, &bytes[1 + usize::from(has_two)..])
            }
            _ => long_word(bytes)?,
        };
        bytes = rest;
        Some(word)
    })
}

/// Decodes a word of any length. Also returns the remaining bytes.
fn long_word(bytes: &[u8]) -> Option<(WordId, &[u8])> {
    let mut word = 0;
    let mut shift = 0;
    for (at, byte) in bytes.iter().enumerate() {
        word |= u32::from(byte & !CONTINUES) << shift;
        if byte & CONTINUES == 0 {
            return Some((word, &bytes[at + 1..]));
        }
        shift = (shift + 7).min(28);
    }
    None
}

/// How many budget units it costs to verify a phrase in a document, in addition to the cost of
/// reading the document's bytes.
const VERIFIED: usize = 8;

/// Bytes compared per budget unit.
const COMPARED_AT_ONCE: usize = 32;

/// The maximum number of spelling combinations to search for as encoded bytes. A phrase with more
/// combinations is verified word by word.
const COMBINATIONS: usize = 16;

#[derive(Debug)]
pub enum PhraseMatcher<'p> {
    /// An encoded sequence for each combination of spellings.
    Bytes(Vec<Sequence>),
    Words(&'p Phrase),
}

impl<'p> PhraseMatcher<'p> {
    pub fn new(phrase: &'p Phrase) -> Self {
        let count = |form: &PhraseForm| form.iter().map(Vec::len).fold(1, usize::saturating_mul);
        if phrase.iter().map(count).fold(0, usize::saturating_add) > COMBINATIONS {
            return Self::Words(phrase);
        }
        Self::Bytes(phrase.iter().flat_map(combinations).map(|words| Sequence::new(&words)).collect())
    }

    pub fn matches(&self, forward: &Forward, ordinal: Ordinal, budget: &Budget) -> bool {
        let bytes = forward.size_bytes(ordinal);
        match self {
            Self::Bytes(combinations) => {
                budget.spend(combinations.len() * (VERIFIED + bytes / COMPARED_AT_ONCE));
                combinations.iter().any(|sequence| forward.has(ordinal, sequence))
            }
            Self::Words(phrase) => {
                budget.spend(VERIFIED + bytes * phrase.iter().map(Vec::len).sum::<usize>());
                has_words(forward, ordinal, phrase)
            }
        }
    }
}

/// All combinations of the spellings of a form's words.
fn combinations(form: &PhraseForm) -> Vec<Vec<WordId>> {
    let mut combinations: Vec<Vec<WordId>> = vec![Vec::new()];
    for spellings in form {
        let longer = |begun: &Vec<WordId>| {
            let begun = begun.clone();
            spellings.iter().map(move |word| [&begun[..], &[*word]].concat())
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    combinations
}

/// Whether any of the phrase's forms occurs in a value in the document, as consecutive words.
pub fn has_words(forward: &Forward, ordinal: Ordinal, phrase: &Phrase) -> bool {
    phrase.iter().any(|form| has_form(forward, ordinal, form))
}

/// Finds consecutive words with the bit-parallel Shift-And algorithm (Baeza-Yates and Gonnet,
/// 1992). Only the form's first 64 words are compared.
fn has_form(forward: &Forward, ordinal: Ordinal, form: &PhraseForm) -> bool {
    // Bit n is set if the last n + 1 words that were read are the form's first n + 1 words.
    let mut prefixes: u64 = 0;
    let whole = 1_u64 << (form.len().clamp(1, 64) - 1);
    for word in forward.words(ordinal) {
        let fits = (0..64).zip(form).fold(0, |bits, (at, spellings)| bits | u64::from(spellings.contains(&word)) << at);
        prefixes = ((prefixes << 1) | 1) & fits;
        if prefixes & whole != 0 {
            return true;
        }
    }
    form.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(documents: &[&[WordId]]) -> Forward {
        let mut forward = Forward { bounds: vec![0], ..Forward::default() };
        for document in documents {
            forward.bytes.extend(encode(document.iter().copied()));
            forward.bounds.push(u32::try_from(forward.bytes.len()).expect("few bytes"));
        }
        forward
    }

    #[test]
    fn a_sequence_is_found_only_at_the_start_of_a_word() {
        // 300 is encoded as two bytes, of which the second is the encoding of 2. So the end of 300
        // and the first 2 look like two 2s, but the real pair is still found.
        let forward = forward(&[&[300, 5, VALUE_END, 7, 300, SECTION_END], &[300, 2, 2, SECTION_END]]);
        assert!(forward.has(1, &Sequence::new(&[2, 2])) && !forward.has(1, &Sequence::new(&[2, 2, 2])));
        let has = |words: &[WordId]| forward.has(0, &Sequence::new(words));
        assert!(has(&[300, 5]) && has(&[7, 300]) && has(&[7]) && has(&[]));
        for none in [&[2, 5][..], &[5, 7], &[2], &[7, 300, 9], &[300, 5, 0, 7, 300, 1, 1]] {
            assert!(!has(none), "{none:?}");
        }
    }

    #[test]
    fn documents_survive_a_round_trip() {
        let documents: [&[WordId]; 4] =
            [&[2, 300, 0, 70_000, 1, 5, 1, 1], &[], &[1, 1, 1], &[u32::MAX >> 4, 127, 128, 1]];
        let forward = forward(&documents);
        assert!(forward.is_sound());
        for (ordinal, document) in (0..).zip(documents) {
            assert_eq!(forward.words(ordinal).collect::<Vec<_>>(), document);
        }
        assert_eq!(forward.words_until(0, Section::Name).collect::<Vec<_>>(), [2, 300, 0, 70_000]);
        assert_eq!(forward.words_until(0, Section::Summary).collect::<Vec<_>>(), [2, 300, 0, 70_000, 1, 5]);
    }
}
