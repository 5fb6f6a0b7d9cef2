//! The search side of a generation, opened.

use super::SearchParts;
use super::forward::Forward;
use super::lexicon::{Lexicon, LexiconError};
use super::ranking::Ranking;
use super::score::Scorer;
use super::synonym::Thesaurus;
use crate::text::stem::Stems;

/// The search tables besides the engine's index.
#[derive(Debug)]
pub struct SearchIndex {
    /// The words.
    pub lexicon: Lexicon,
    /// The synonyms.
    pub thesaurus: Thesaurus,
    /// The weights.
    pub ranking: Ranking,
    /// The stemmer.
    pub stems: Stems,
    /// The number of documents.
    pub documents: usize,
}

/// Why the search side can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum SearchIndexError {
    /// The words can't be read.
    #[error(transparent)]
    Lexicon(#[from] LexiconError),
    #[error("the search tables can't be decoded")]
    Decode(#[from] postcard::Error),
    #[error("the search tables don't fit each other")]
    Misfit,
}

impl SearchIndex {
    /// Opens the search tables of that many documents. Returns what the engine needs too: the scorer and the documents' words.
    pub fn open(
        encoded: &[u8],
        documents: usize,
        ranking: Ranking,
    ) -> Result<(Self, Scorer, Forward), SearchIndexError> {
        let parts: SearchParts = postcard::from_bytes(encoded)?;
        if parts.forward.len() != documents || parts.lengths.len() != documents || !parts.forward.is_sound() {
            return Err(SearchIndexError::Misfit);
        }
        let scorer = Scorer::new(&parts.lengths, &ranking);
        let lexicon = Lexicon::open(parts.lexicon)?;
        let forward = parts.forward.with_stems(lexicon.stems());
        let index = Self { lexicon, thesaurus: parts.thesaurus, ranking, stems: Stems::default(), documents };
        Ok((index, scorer, forward))
    }

    /// Opens the search tables of that many documents; their words and lengths are elsewhere.
    pub fn open_words(encoded: &[u8], documents: usize) -> Result<Self, SearchIndexError> {
        let SearchParts { lexicon, thesaurus, .. } = postcard::from_bytes(encoded)?;
        let (lexicon, ranking) = (Lexicon::open(lexicon)?, Ranking::default());
        Ok(Self { lexicon, thesaurus, ranking, stems: Stems::default(), documents })
    }
}
