//! The opened search side of a generation.

use super::SearchParts;
use super::forward::Forward;
use super::lexicon::{Lexicon, LexiconError};
use super::pins::Pins;
use super::ranking::Ranking;
use super::score::Scorer;
use super::synonym::Thesaurus;
use crate::scratch::decode;
use crate::text::stem::Stems;

/// The search tables that accompany the engine's index.
#[derive(Debug)]
pub struct SearchIndex {
    pub lexicon: Lexicon,
    pub thesaurus: Thesaurus,
    pub pins: Pins,
    pub ranking: Ranking,
    pub stems: Stems,
    pub documents: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum SearchIndexError {
    #[error(transparent)]
    Lexicon(#[from] LexiconError),
    #[error("the search tables can't be decoded")]
    Decode(#[from] postcard::Error),
    #[error("the search tables don't fit each other")]
    Misfit,
}

impl SearchIndex {
    /// Opens the search tables. Also returns what the engine needs: the scorer and the documents'
    /// words.
    pub fn open(
        encoded: &[u8],
        documents: usize,
        ranking: Ranking,
    ) -> Result<(Self, Scorer, Forward), SearchIndexError> {
        let parts: SearchParts = decode(encoded)?;
        if parts.forward.len() != documents || parts.lengths.len() != documents || !parts.forward.is_sound() {
            return Err(SearchIndexError::Misfit);
        }
        let scorer = Scorer::new(&parts.lengths, &ranking);
        let lexicon = Lexicon::open(parts.lexicon)?;
        let forward = parts.forward.with_stems(lexicon.stems());
        let (thesaurus, pins) = (parts.thesaurus, parts.pins);
        let index = Self { lexicon, thesaurus, pins, ranking, stems: Stems::default(), documents };
        Ok((index, scorer, forward))
    }

    /// Reads all words. Opening compares only what is quick.
    pub fn verify(&self) -> Result<(), SearchIndexError> {
        if self.lexicon.verify() { Ok(()) } else { Err(SearchIndexError::Misfit) }
    }

    /// Opens only the lexicon and thesaurus, for an engine that keeps the documents' words and
    /// lengths itself.
    pub fn open_words(encoded: &[u8], documents: usize) -> Result<Self, SearchIndexError> {
        let SearchParts { lexicon, thesaurus, pins, .. } = decode(encoded)?;
        let (lexicon, ranking) = (Lexicon::open(lexicon)?, Ranking::default());
        Ok(Self { lexicon, thesaurus, pins, ranking, stems: Stems::default(), documents })
    }
}
