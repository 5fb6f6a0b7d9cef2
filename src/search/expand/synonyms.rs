//! The synonym groups that a query asks for.

use std::collections::HashSet;

use super::Expander;
use crate::catalogue::resource::Correction;
use crate::search::Documents;
use crate::search::plan::{Alternative, Kind, Term};
use crate::text::analyse::written;

impl<D: Documents> Expander<'_, D> {
    /// For each word, the synonym groups that the query's terms ask for.
    pub(super) fn synonyms(&mut self) -> Result<Vec<Vec<Alternative>>, D::Error> {
        let words = &self.query.words;
        let mut by_word = vec![Vec::new(); words.len()];
        let thesaurus = &self.index.thesaurus;
        let mut reported = HashSet::new();
        for mention in thesaurus.mentions(self.text, words, &self.index.stems, true) {
            if (mention.start..mention.end).any(|at| self.query.is_in_phrase(at)) {
                continue;
            }
            for concept in mention.asks {
                let term = Term::Concept(*concept);
                if self.documents.document_frequency(&term)? == 0 {
                    continue;
                }
                let ranking = &self.index.ranking;
                let (kind, weight) = if mention.means.contains(concept) {
                    (Kind::Synonym, ranking.synonym)
                } else {
                    (Kind::Wider, ranking.wider)
                };
                for of_word in &mut by_word[mention.start..mention.end] {
                    of_word.push(Alternative { kind, term: term.clone(), weight });
                }
                self.concepts.push(*concept);
                let from = written(self.text, &words[mention.start..mention.end]);
                for to in thesaurus.terms_of(*concept).iter().filter(|to| &***to != mention.term) {
                    if reported.insert((from, to)) {
                        self.report.synonyms.push(Correction { from: from.to_owned(), to: to.to_string() });
                    }
                }
            }
        }
        Ok(by_word)
    }
}
