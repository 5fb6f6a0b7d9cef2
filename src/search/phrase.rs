//! Verifies phrases: checks whether a value in a document contains certain words in a row.

use super::budget::Budget;
use super::forward::{Forward, Sequence};
use super::lexicon::WordId;
use super::plan::{Phrase, PhraseForm};
use crate::catalogue::Ordinal;

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
