//! From records to the search side of a generation: the words and terms of every document.

use serde::{Deserialize, Serialize};

use super::document_analyzer::DocumentAnalyzer;
use super::forward::Forward;
use super::lexicon::{LexiconError, LexiconParts};
use super::plan::Term;
use super::score::{Lengths, Occurrences};
use super::synonym::Thesaurus;
use crate::catalogue::resource::CategoryResource;
use crate::record::{Software, SynonymGroup};

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
#[derive(Debug)]
pub struct SearchBuilder {
    analyzer: DocumentAnalyzer,
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
    /// An empty search side.
    pub fn new<'g>(synonyms: impl IntoIterator<Item = &'g SynonymGroup>) -> Self {
        Self { analyzer: DocumentAnalyzer::new(synonyms), provisional: Forward::default(), lengths: Vec::new() }
    }

    /// Adds the next product and answers its terms with their occurrences.
    pub fn push<'c>(
        &mut self,
        software: &Software,
        categories: impl Iterator<Item = &'c CategoryResource>,
    ) -> impl Iterator<Item = (&Term, Occurrences)> {
        self.analyzer.analyse(software, categories);
        self.provisional.push(self.analyzer.words());
        self.lengths.push(self.analyzer.lengths());
        self.analyzer.terms()
    }

    /// Ends the search side.
    pub fn finish(self) -> Result<SearchParts, LexiconError> {
        let (lexicon, thesaurus, numbering) = self.analyzer.lexicon()?;
        // Out of memory before the words are in it twice.
        drop(self.analyzer);
        let mut forward = Forward::with_capacity_of(&self.provisional);
        for document in (0..).take(self.provisional.len()) {
            forward.push(numbering.of(self.provisional.words(document)));
        }
        Ok(SearchParts { lexicon, forward, thesaurus, lengths: self.lengths })
    }
}
