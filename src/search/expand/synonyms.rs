//! Finds the synonym groups that a query asks for.

use std::collections::HashSet;

use super::Expander;
use super::slot::Slot;
use crate::catalogue::resource::Correction;
use crate::search::plan::{Alternative, MatchKind, Term, TermLookup};
use crate::search::synonym::Mention;
use crate::text::analyse::{Word, written};

impl<L: TermLookup> Expander<'_, L> {
    /// For each word, the synonym groups that the query's terms ask for.
    pub(super) fn synonyms(&mut self) -> Result<Vec<Vec<Alternative>>, L::Error> {
        self.synonyms_of(&self.query.words, |_| true)
    }

    /// Adds the synonym groups that only the corrected query asks for.
    pub(super) fn add_synonyms_of(&mut self, corrected: &[String], slots: &mut [Slot]) -> Result<(), L::Error> {
        let query = self.query;
        let is_corrected = |at: usize| corrected[at] != query.words[at].folded;
        if self.index.thesaurus.is_empty() || !(0..corrected.len()).any(is_corrected) {
            return Ok(());
        }
        let corrected_word = |(word, folded): (&Word, &String)| Word { folded: folded.clone(), ..word.clone() };
        let words: Vec<_> = query.words.iter().zip(corrected).map(corrected_word).collect();
        let synonyms = self.synonyms_of(&words, |mention| (mention.start..mention.end).any(is_corrected))?;
        for (word, synonyms) in words.iter().zip(synonyms) {
            let Some(slot) = slots.iter_mut().find(|slot| slot.word.start == word.start) else { continue };
            if !synonyms.is_empty() {
                slot.alternatives.extend(synonyms);
                self.weigh(slot)?;
            }
        }
        Ok(())
    }

    fn synonyms_of(
        &mut self,
        words: &[Word],
        is_wanted: impl Fn(&Mention<'_>) -> bool,
    ) -> Result<Vec<Vec<Alternative>>, L::Error> {
        let mut by_word = vec![Vec::new(); words.len()];
        let thesaurus = &self.index.thesaurus;
        let mut reported = HashSet::new();
        for mention in thesaurus.mentions(self.text, words, &self.index.stems, true) {
            if (mention.start..mention.end).any(|at| self.query.is_in_phrase(at)) || !is_wanted(&mention) {
                continue;
            }
            for concept in mention.asks {
                let term = Term::Concept(*concept);
                if self.lookup.document_frequency(&term)? == 0 {
                    continue;
                }
                let ranking = &self.index.ranking;
                let (kind, weight) = if mention.means.contains(concept) {
                    (MatchKind::Synonym, ranking.near)
                } else {
                    (MatchKind::Wider, ranking.loose)
                };
                for of_word in &mut by_word[mention.start..mention.end] {
                    of_word.push(Alternative::new(kind, term.clone(), weight));
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

    /// Whether any product contains a synonym for a word on its own.
    pub(super) fn finds_synonym(&self, folded: &str) -> Result<bool, L::Error> {
        for concept in self.index.thesaurus.asked_by(folded, &self.index.stems) {
            if self.lookup.document_frequency(&Term::Concept(*concept))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
