//! The search side of a generation: the words and terms of every document, built and opened.

use std::io::{self, BufReader, Read as _};

use serde::Deserialize;

use super::document_analyzer::{DocumentAnalyzer, Vocabulary};
use super::forward::{self, Forward};
use super::lexicon::{Lexicon, LexiconError, LexiconParts};
use super::meaning::Meanings;
use super::pins::Pins;
use super::ranking::Ranking;
use super::score::{Lengths, Scorer};
use super::synonym::Thesaurus;
use crate::scratch::{Bulk, BulkWriter, Scratch, Span, decode};
use crate::text::meaning::TABLE;
use crate::text::stem::Stems;

/// The search tables that accompany the index, as [`SearchBuilder`] writes them.
#[derive(Debug, Deserialize)]
pub struct SearchParts {
    pub lexicon: LexiconParts,
    pub forward: Forward,
    pub thesaurus: Thesaurus,
    /// The number of words in each section of each document.
    pub lengths: Vec<Lengths>,
    pub pins: Pins,
    /// Whether the documents have meaning vectors.
    pub has_meanings: bool,
    pub meanings: Meanings,
}

/// Builds the search side of a generation. Documents are added in ordinal order.
#[derive(Debug)]
pub struct SearchBuilder {
    scratch: Scratch,
    /// All documents' words by provisional number, and each document's size in bytes.
    provisional: BulkWriter,
    bytes: Vec<u32>,
    lengths: Vec<Lengths>,
    has_meanings: bool,
    /// All documents' vectors; empty if they have none.
    meanings: BulkWriter,
}

impl SearchBuilder {
    pub fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            provisional: scratch.bulk(),
            bytes: Vec::new(),
            lengths: Vec::new(),
            has_meanings: false,
            meanings: scratch.bulk(),
        }
    }

    pub fn push(&mut self, analyzer: &DocumentAnalyzer) -> io::Result<()> {
        let words = forward::encode(analyzer.words());
        self.bytes.push(u32::try_from(words.len()).map_err(io::Error::other)?);
        self.lengths.push(analyzer.lengths());
        if let Some(meaning) = analyzer.meaning() {
            self.has_meanings = true;
            self.meanings.push(&meaning.bytes())?;
        }
        self.provisional.push(&words).map(drop)
    }

    /// Writes the [`SearchParts`], postcard-encoded one after the other. The documents' words get
    /// their final numbers.
    pub fn finish(self, vocabulary: &Vocabulary) -> io::Result<Bulk> {
        let Vocabulary { lexicon, thesaurus, pins, numbering } = vocabulary;
        let (provisional, mut words) = (self.provisional.finish()?, self.scratch.bulk());
        let mut reader = BufReader::new(provisional.reader(Span { start: 0, length: provisional.len()? })?);
        let (mut bounds, mut document) = (Vec::with_capacity(self.bytes.len() + 1), Vec::new());
        bounds.extend(self.bytes.first().map(|_| 0));
        for bytes in self.bytes {
            document.resize(bytes as usize, 0);
            reader.read_exact(&mut document)?;
            let document = forward::encode(numbering.of(forward::decode(&document)));
            words.push(&document)?;
            bounds.push(u32::try_from(words.len()).map_err(io::Error::other)?);
        }
        drop((reader, provisional));
        let words = words.finish()?;
        let mut parts = self.scratch.bulk();
        parts.push_encoded(lexicon)?;
        parts.push_encoded(&(bounds, words.len()?))?;
        parts.copy(&words)?;
        let meanings = self.meanings.finish()?;
        parts.push_encoded(&(thesaurus, self.lengths, pins, self.has_meanings, TABLE, meanings.len()?))?;
        parts.copy(&meanings)?;
        parts.finish()
    }
}

#[derive(Debug)]
pub struct SearchIndex {
    pub lexicon: Lexicon,
    pub thesaurus: Thesaurus,
    pub pins: Pins,
    pub ranking: Ranking,
    pub stems: Stems,
    pub documents: usize,
    pub has_meanings: bool,
}

/// What the index needs to know about documents, apart from their postings.
#[derive(Debug)]
pub struct DocumentTables {
    pub scorer: Scorer,
    pub forward: Forward,
    pub meanings: Meanings,
}

#[derive(Debug, thiserror::Error)]
pub enum SearchIndexError {
    #[error(transparent)]
    Lexicon(#[from] LexiconError),
    #[error("the search tables can't be decoded")]
    Decode(#[from] postcard::Error),
    #[error("the search tables don't match each other")]
    Misfit,
    #[error(
        "the records' meanings were computed with a different word table; rebuild the generation with this version"
    )]
    OtherTable,
}

impl SearchIndex {
    pub fn open(
        encoded: &[u8],
        documents: usize,
        ranking: Ranking,
    ) -> Result<(Self, DocumentTables), SearchIndexError> {
        let parts: SearchParts = decode(encoded)?;
        if parts.forward.len() != documents || parts.lengths.len() != documents || !parts.forward.is_sound() {
            return Err(SearchIndexError::Misfit);
        }
        let (meanings, has_meanings) = (parts.meanings, parts.has_meanings);
        if !meanings.fits(documents) || has_meanings == meanings.is_empty() {
            return Err(SearchIndexError::Misfit);
        }
        if has_meanings && !meanings.is_of_this_table() {
            return Err(SearchIndexError::OtherTable);
        }
        let scorer = Scorer::new(&parts.lengths, &ranking);
        let lexicon = Lexicon::open(parts.lexicon)?;
        let forward = parts.forward.with_stems(lexicon.stems());
        let (thesaurus, pins, stems) = (parts.thesaurus, parts.pins, Stems::default());
        let index = Self { lexicon, thesaurus, pins, ranking, stems, documents, has_meanings };
        Ok((index, DocumentTables { scorer, forward, meanings }))
    }
}
