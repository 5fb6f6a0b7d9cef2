//! From records to the search side of a generation: the words and terms of every document.

use serde::{Deserialize, Serialize};

use super::document_analyzer::DocumentAnalyzer;
use super::forward::Forward;
use super::lexicon::{LexiconError, LexiconParts};
use super::score::Lengths;
use super::synonym::Thesaurus;

/// The search tables besides the engine's index, encoded.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchParts {
    /// The words.
    pub lexicon: LexiconParts,
    /// The documents' words.
    pub forward: Forward,
    /// The synonyms.
    pub thesaurus: Thesaurus,
    /// Per document the number of words in each section.
    pub lengths: Vec<Lengths>,
}

/// The search side of a generation being filled, document by document in the order of ordinals.
#[derive(Debug, Default)]
pub struct SearchBuilder {
    /// The words of all documents by their provisional numbers.
    provisional: Forward,
    lengths: Vec<Lengths>,
}

impl SearchParts {
    /// Encodes them.
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        // The words of the documents are most of it. A large vector that grows is in memory twice.
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

    /// Ends the search side.
    pub fn finish(self, analyzer: DocumentAnalyzer) -> Result<SearchParts, LexiconError> {
        let (lexicon, thesaurus, numbering) = analyzer.lexicon()?;
        // Out of memory before the words are in it twice.
        drop(analyzer);
        let mut forward = Forward::with_capacity_of(&self.provisional);
        for document in (0..).take(self.provisional.len()) {
            forward.push(numbering.of(self.provisional.words(document)));
        }
        Ok(SearchParts { lexicon, forward, thesaurus, lengths: self.lengths })
    }
}
