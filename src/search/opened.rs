//! Opens the search side of a generation.

use super::SearchParts;
use super::forward::Forward;
use super::lexicon::{Lexicon, LexiconError};
use super::meaning::Meanings;
use super::pins::Pins;
use super::ranking::Ranking;
use super::score::Scorer;
use super::synonym::Thesaurus;
use crate::scratch::decode;
use crate::text::stem::Stems;

/// The search tables that accompany the index.
#[derive(Debug)]
pub struct SearchIndex {
    pub lexicon: Lexicon,
    pub thesaurus: Thesaurus,
    pub pins: Pins,
    pub ranking: Ranking,
    pub stems: Stems,
    pub documents: usize,
    /// Whether the documents have meanings.
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
    /// Opens the search tables.
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
