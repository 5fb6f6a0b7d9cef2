//! Builds the search side of a generation: the words and terms of every document.

use serde::{Deserialize, Serialize};

use super::document_analyzer::DocumentAnalyzer;
use super::forward::Forward;
use super::lexicon::{LexiconError, LexiconParts};
use super::plan::Term;
use super::score::{Lengths, Occurrences};
use super::synonym::Thesaurus;
use crate::catalogue::resource::CategoryResource;
use crate::record::{Software, SynonymGroup};

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
#[derive(Debug)]
pub struct SearchBuilder {
    analyzer: DocumentAnalyzer,
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
    pub fn new<'g>(synonyms: impl IntoIterator<Item = &'g SynonymGroup>) -> Self {
        Self { analyzer: DocumentAnalyzer::new(synonyms), provisional: Forward::default(), lengths: Vec::new() }
    }

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

    pub fn finish(self) -> Result<SearchParts, LexiconError> {
        let (lexicon, thesaurus, numbering) = self.analyzer.lexicon()?;
        // Frees memory before the words are held twice.
        drop(self.analyzer);
        let mut forward = Forward::with_capacity_of(&self.provisional);
        for document in (0..).take(self.provisional.len()) {
            forward.push(numbering.of(self.provisional.words(document)));
        }
        Ok(SearchParts { lexicon, forward, thesaurus, lengths: self.lengths })
    }
}
