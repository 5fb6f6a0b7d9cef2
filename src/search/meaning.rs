//! The meanings of records and queries, as vectors: which words count, and how records' vectors are
//! stored.

use serde::Deserialize;

use super::score::Occurrences;
use crate::catalogue::{Ordinal, fetch};
use crate::record::Field;
use crate::text::analyse::words;
use crate::text::english::is_common;
use crate::text::meaning::{DIMENSIONS, Reference, Sum, TABLE, Vector, nearest_topics, pieces, vector_of};

/// How many of a record's words count, in [`Field`] order. The first ones say what the product is.
const WORDS: usize = 32;

/// A record has a vector if at least this percentage of those words are common in English, the only
/// language that the table knows. English records have 50% or more, German ones 30% or less.
const ENGLISH: usize = 40;

/// How many of a record's topics become terms. Twice as many would find 2% more of the nearest
/// records, but postings would take up twice the memory.
const TOPICS: usize = 8;

/// A record is compared with the topics in this many groups. With four groups, about 3% of the
/// nearest records are missed; eight groups don't find any more than six.
const GROUPS: usize = 6;

/// Computes records' vectors, one record at a time.
#[derive(Debug, Default)]
pub(super) struct MeaningAnalyzer {
    words: usize,
    english: usize,
    /// The pieces of the current record's words.
    of_record: Vec<u16>,
    sum: Sum,
    /// Indexed by a word's provisional number; `None` until the word first occurs.
    known: Vec<Option<KnownWord>>,
    /// The pieces of all known words.
    pieces: Vec<u16>,
}

#[derive(Debug, Clone, Copy)]
struct KnownWord {
    is_english: bool,
    /// Where the word's range of pieces starts.
    start: usize,
    end: usize,
}

impl MeaningAnalyzer {
    pub(super) fn clear(&mut self) {
        (self.words, self.english) = (0, 0);
        self.of_record.clear();
    }

    /// Whether a field contributes to a record's meaning. Tags don't, because many are codes.
    pub(super) const fn reads(field: Field) -> bool {
        matches!(field, Field::Name | Field::Tagline | Field::Category | Field::Description)
    }

    /// Adds a word, given its provisional number.
    pub(super) fn push(&mut self, number: u32, folded: &str) {
        if self.words == WORDS {
            return;
        }
        self.words += 1;
        let at = number as usize;
        if self.known.len() <= at {
            self.known.resize(at + 1, None);
        }
        let word = *self.known[at].get_or_insert_with(|| {
            let start = self.pieces.len();
            pieces(folded, &mut self.pieces);
            KnownWord { is_english: is_common(folded), start, end: self.pieces.len() }
        });
        self.english += usize::from(word.is_english);
        self.of_record.extend_from_slice(&self.pieces[word.start..word.end]);
    }

    /// Completes the record, so that its meaning can be read.
    pub(super) fn finish(&mut self) {
        fetch(self.of_record.iter().map(|piece| &vector_of(*piece)[..]));
        self.sum = Sum::of(&self.of_record);
    }

    /// The current record's vector; [`Vector::NONE`] if it isn't in English.
    pub(super) fn vector(&self) -> Vector {
        if self.is_english() { self.sum.vector() } else { Vector::NONE }
    }

    /// The current record's meaning; `None` if the record isn't in English.
    pub(super) fn reference(&self) -> Option<Reference> {
        if self.is_english() { self.sum.reference() } else { None }
    }

    const fn is_english(&self) -> bool {
        self.english * 100 >= self.words * ENGLISH
    }
}

/// The topics that become terms of a record with this meaning, and how they occur in it: once, in
/// the description.
pub fn record_topics(reference: &Reference) -> impl Iterator<Item = (u16, Occurrences)> + use<> {
    let occurrences = Occurrences::one(Field::Description);
    nearest_topics(reference, GROUPS, TOPICS).into_iter().map(move |near| (near.topic, occurrences))
}

/// A record's meaning, given its text in [`Field`] order; `None` if the record isn't in English.
/// Long text is cut off, because only the first words count.
pub fn record_reference<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Reference> {
    const LONGEST: usize = 1024;
    let mut analyzer = MeaningAnalyzer::default();
    let words = texts.flat_map(|text| words(&text[..text.floor_char_boundary(LONGEST)]));
    for (number, word) in (0..).zip(words) {
        analyzer.push(number, &word.folded);
    }
    analyzer.finish();
    analyzer.reference()
}

/// The meaning of a query with these words. `None` if more than half of them aren't in the table,
/// because they're names or in another language.
pub(super) fn reference<'w>(words: impl Iterator<Item = &'w str>) -> Option<Reference> {
    let (mut numbers, mut count, mut whole) = (Vec::new(), 0, 0);
    for word in words {
        let before = numbers.len();
        pieces(word, &mut numbers);
        count += 1;
        whole += usize::from(numbers.len() - before == 1);
    }
    if whole * 2 >= count { Sum::of(&numbers).reference() } else { None }
}

/// All records' vectors; empty if records have none.
#[derive(Debug, Default, Deserialize)]
pub struct Meanings {
    /// Identifies the table that the vectors were computed with.
    table: u64,
    #[serde(with = "serde_bytes")]
    vectors: Vec<u8>,
}

impl Meanings {
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Whether there's one vector for each of this many records, or no vectors at all.
    pub fn fits(&self, records: usize) -> bool {
        self.vectors.is_empty() || self.vectors.len() == records * DIMENSIONS
    }

    /// Whether the vectors can be compared with a query's vector.
    pub const fn is_of_this_table(&self) -> bool {
        self.table == TABLE
    }

    pub fn of(&self, ordinal: Ordinal) -> &[u8; DIMENSIONS] {
        self.vectors.as_chunks().0.get(ordinal as usize).unwrap_or(&[0; DIMENSIONS])
    }

    pub fn likeness(&self, reference: &Reference, ordinal: Ordinal) -> f32 {
        reference.likeness(self.of(ordinal))
    }

    /// Prefetches these records' vectors into the processor's cache.
    pub fn fetch(&self, ordinals: impl Iterator<Item = Ordinal>) {
        fetch(ordinals.map(|ordinal| &self.of(ordinal)[..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(text: &str) -> Vector {
        let mut analyzer = MeaningAnalyzer::default();
        // The previous record must not affect this one's vector.
        for word in ["guitar", "orchestra"] {
            analyzer.push(0, word);
        }
        analyzer.clear();
        for (number, word) in (1..).zip(words(text)) {
            analyzer.push(number, &word.folded);
        }
        analyzer.finish();
        analyzer.vector()
    }

    #[test]
    fn records_in_other_languages_have_no_vector() {
        for text in [
            "Verwaltung von Fotos und Alben: Bilder sortieren, in der Cloud sichern und mit Freunden teilen",
            "Gestion des photos et des albums, avec partage entre amis et sauvegarde dans le nuage",
            "写真管理",
        ] {
            assert_eq!(vector(text), Vector::NONE, "{text}");
        }
        for text in
            ["Photo album manager: sort pictures, and share them with friends", "PhotoPrism: browse your photos"]
        {
            assert_ne!(vector(text), Vector::NONE, "{text}");
        }
    }

    #[test]
    fn only_a_records_first_words_count() {
        let first = "a photo manager ".repeat(11);
        assert_eq!(vector(&first), vector(&format!("{first} and an accounting ledger for taxes")));
        assert_ne!(vector("a photo manager"), vector("a photo manager and an accounting ledger for taxes"));
    }

    #[test]
    fn queries_that_are_names_or_in_other_languages_have_no_meaning() {
        let is_meant = |query: &str| reference(query.split(' ')).is_some();
        for query in ["photography", "webmail clients", "kubernetes monitoring"] {
            assert!(is_meant(query), "{query}");
        }
        for query in ["nextcloud", "fehlermoglichkeits und einflussanalyse", "安全管理", "a1b2c3"] {
            assert!(!is_meant(query), "{query}");
        }
    }
}
