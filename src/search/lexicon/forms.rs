//! Finds words in languages other than English by stem.

use bytes::Bytes;
use fst::{IntoStreamer as _, Set, Streamer as _};

use super::StemId;
use crate::text::stem::Inflected;

/// Finds words by their stem in a language other than English, and compounds by the stems of their
/// parts. Each key consists of a [`Relation`], a language code, a stem in that language, a zero
/// byte, and the number of the word's English stem, which is its term in the index.
#[derive(Debug)]
pub(super) struct Forms {
    keys: Set<Bytes>,
    pub(super) languages: Vec<Inflected>,
}

/// Terminates the stem in a key.
const STEM_END: u8 = 0;

/// How a word is related to a stem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The stem is the word's own.
    Form,
    /// The stem belongs to one of the word's parts: `farb` in `Farbwähler`.
    Compound,
}

impl Relation {
    const fn letter(self) -> u8 {
        match self {
            Self::Form => b'f',
            Self::Compound => b'p',
        }
    }
}

/// The key prefix shared by all words with a stem.
pub(super) fn stem_key(relation: Relation, language: Inflected, stem: &str) -> Vec<u8> {
    [&[relation.letter()], language.code().as_bytes(), stem.as_bytes(), &[STEM_END]].concat()
}

impl Forms {
    /// Opens the forms; `None` if `bytes` is empty.
    pub(super) fn open(bytes: Vec<u8>) -> Result<Option<Self>, fst::Error> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let keys = Set::new(Bytes::from(bytes))?;
        keys.as_fst().verify()?;
        let has_any = |language: &Inflected| {
            let beginning = [&[Relation::Form.letter()], language.code().as_bytes()].concat();
            let mut keys = keys.range().ge(&beginning).into_stream();
            keys.next().is_some_and(|key| key.starts_with(&beginning))
        };
        let languages = Inflected::ALL.into_iter().filter(has_any).collect();
        Ok(Some(Self { keys, languages }))
    }

    /// The English stem numbers of the words related to this stem.
    pub(super) fn of(&self, relation: Relation, language: Inflected, stem: &str) -> Vec<StemId> {
        let beginning = stem_key(relation, language, stem);
        let (mut keys, mut numbers) = (self.keys.range().ge(&beginning).into_stream(), Vec::new());
        while let Some(number) = keys.next().and_then(|key| key.strip_prefix(&*beginning)) {
            numbers.extend(number.try_into().map(StemId::from_be_bytes));
        }
        numbers
    }
}
