//! Builds the search side of a generation: the words and terms of every document.

use serde::{Deserialize, Serialize};

use super::document_analyzer::DocumentAnalyzer;
use super::forward::Forward;
use super::lexicon::{LexiconError, LexiconParts};
use super::score::Lengths;
use super::synonym::Thesaurus;

/// The search tables that accompany the engine's index, in serialisable form.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchParts {
    pub lexicon: LexiconParts,
    pub forward: Forward,
    pub thesaurus: Thesaurus,
    /// By document: the number of words in each section.
    pub lengths: Vec<Lengths>,
}

/// Builds the search side of a generation. Documents are added in ordinal order.
#[derive(Debug, Default)]
pub struct SearchBuilder {
    /// All documents' words by provisional number.
    provisional: Forward,
    lengths: Vec<Lengths>,
}

impl SearchParts {
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        // The documents' words make up most of it. A large vector that grows would be in memory
        // twice.
        let bytes = Vec::with_capacity(self.forward.byte_len() / 4 * 5);
        postcard::to_extend(self, bytes)
    }
}

impl SearchBuilder {
    /// Adds the document that was just analysed.
    pub fn push(&mut self, analyzer: &DocumentAnalyzer) {
        self.provisional.push(analyzer.words());
        self.lengths.push(analyzer.lengths());
    }

    pub fn finish(self, analyzer: DocumentAnalyzer) -> Result<SearchParts, LexiconError> {
        let (lexicon, thesaurus, numbering) = analyzer.lexicon()?;
        // Frees memory before the words are held twice.
        drop(analyzer);
        let mut forward = Forward::with_capacity_of(&self.provisional);
        for document in (0..).take(self.provisional.len()) {
            forward.push(numbering.of(self.provisional.words(document)));
        }
        Ok(SearchParts { lexicon, forward, thesaurus, lengths: self.lengths })
    }
}
