//! Synonyms, which are applied both at index time and at query time.
//!
//! Synonyms are whole terms of one or more words. Each group is a numbered *concept*. A document
//! that contains one of the group's terms is also indexed under the concept, and a query that
//! contains a term gets the concept as an alternative. So a multi-word term is never split, and
//! doesn't match if it's incomplete or misspelled.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};

use super::lexicon::next_number;
use crate::record::SynonymGroup;
use crate::text::analyse::{Gap, Word, words};
use crate::text::stem::Stems;

/// A map that iterates in the same order in each build, because the index is written in that order.
type StemMap<K, V> = HashMap<K, V, FixedState>;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Thesaurus {
    /// For each stem, the terms that begin with it, longest first.
    terms: StemMap<Box<str>, Vec<ThesaurusTerm>>,
    /// Each concept's terms as written.
    concepts: Vec<Vec<Box<str>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ThesaurusTerm {
    /// The stems after the first one, excluding `and`.
    rest: Vec<Box<str>>,
    written: Box<str>,
    /// The concepts that text with this term is about.
    means: Vec<u32>,
    /// The concepts that a query with this term asks for.
    asks: Vec<u32>,
    /// Whether the term counts only in capitals or as the whole query.
    ambiguous: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention<'t> {
    /// The index of the term's first word.
    pub start: usize,
    /// The index after the term's last word.
    pub end: usize,
    /// The term as written in its synonym group.
    pub term: &'t str,
    /// The concepts that text with this term is about.
    pub means: &'t [u32],
    /// The concepts that are alternatives to this term in a query.
    pub asks: &'t [u32],
}

/// Whether a word is ignored inside a term: `environment, health and safety` is the same as
/// `environment health safety`.
fn is_skipped(folded: &str) -> bool {
    folded == "and"
}

impl Thesaurus {
    pub fn new<'g>(groups: impl IntoIterator<Item = &'g SynonymGroup>) -> Self {
        let mut builder = ThesaurusBuilder::default();
        let groups: Vec<_> = groups.into_iter().collect();
        for group in &groups {
            if let SynonymGroup::Equivalent(terms) = group {
                let concept = builder.concept(terms.first().map_or("", |term| term));
                for term in terms {
                    builder.meaning(term, concept);
                }
            }
        }
        for group in &groups {
            match group {
                SynonymGroup::Equivalent(_) => {}
                SynonymGroup::OneWay { from, to } => {
                    let concepts = builder.concepts_of(to);
                    for term in from {
                        builder.asking(term, &concepts);
                    }
                }
                SynonymGroup::Ambiguous(terms) => terms.iter().for_each(|term| builder.ambiguous(term)),
            }
        }
        builder.finish()
    }

    pub fn is_empty(&self) -> bool {
        self.concepts.is_empty()
    }

    /// A concept's terms as written. After [`retain_terms_of`](Self::retain_terms_of), these are
    /// only terms that documents can contain.
    pub fn terms_of(&self, concept: u32) -> &[Box<str>] {
        self.concepts.get(concept as usize).map_or(&[], Vec::as_slice)
    }

    /// Removes terms with a word that no document contains, so that queries aren't expanded with
    /// such terms.
    pub fn retain_terms_of(&mut self, has_word: impl Fn(&str) -> bool) {
        for terms in &mut self.concepts {
            terms.retain(|term| words(term).iter().all(|word| has_word(&word.folded)));
        }
    }

    /// The concepts that a folded word on its own asks for, wherever it appears.
    pub fn asked_by(&self, folded: &str, stems: &Stems) -> &[u32] {
        let terms = self.terms.get(&*stems.of(folded)).map_or(&[][..], Vec::as_slice);
        terms.iter().find(|term| term.rest.is_empty() && !term.ambiguous).map_or(&[], |term| term.asks.as_slice())
    }

    pub fn vocabulary(&self) -> impl Iterator<Item = Word> + '_ {
        self.concepts
            .iter()
            .flatten()
            .flat_map(|term| words(term))
            .chain(self.terms.values().flatten().flat_map(|term| words(&term.written)))
    }

    /// Finds the terms in text, including overlapping and nested ones: text about `permit to work
    /// software` is also about `permit to work`.
    ///
    /// An ambiguous term counts only in capitals, or if `whole` is set and it's the whole text.
    pub fn mentions(&self, text: &str, words: &[Word], stems: &Stems, whole: bool) -> Vec<Mention<'_>> {
        if self.terms.is_empty() {
            return Vec::new();
        }
        let stemmed: Vec<_> = words.iter().map(|word| stems.of(&word.folded)).collect();
        let mut found: Vec<Mention<'_>> = Vec::new();
        for start in 0..words.len() {
            let Some(candidates) = self.terms.get(&*stemmed[start]) else { continue };
            found.extend(candidates.iter().filter_map(|term| {
                let end = matched_until(&term.rest, start, words, &stemmed)?;
                let certain = !term.ambiguous
                    || words[start..end].iter().all(|word| word.is_capitals(text))
                    || (whole && start == 0 && end == words.len());
                certain.then_some(Mention { start, end, term: &term.written, means: &term.means, asks: &term.asks })
            }));
        }
        found
    }
}

/// The index after the last word of a term that begins at `start`.
fn matched_until(
    rest: &[Box<str>],
    start: usize,
    words: &[Word],
    stemmed: &[std::borrow::Cow<'_, str>],
) -> Option<usize> {
    let mut at = start + 1;
    for part in rest {
        while words.get(at).is_some_and(|word| is_skipped(&word.folded)) {
            at += 1;
        }
        if stemmed.get(at)? != &**part || words[at].gap == Gap::Edition {
            return None;
        }
        at += 1;
    }
    Some(at)
}

#[derive(Debug, Default)]
struct ThesaurusBuilder {
    stems: Stems,
    terms: StemMap<Vec<Box<str>>, ThesaurusTerm>,
    concepts: Vec<Vec<Box<str>>>,
}

impl ThesaurusBuilder {
    fn key(&self, term: &str) -> Vec<Box<str>> {
        let words = words(term);
        let kept = words.iter().enumerate().filter(|(at, word)| *at == 0 || !is_skipped(&word.folded));
        kept.map(|(_, word)| self.stems.of(&word.folded).into()).collect()
    }

    fn term(&mut self, written: &str) -> Option<&mut ThesaurusTerm> {
        let key = self.key(written);
        let rest = key.get(1..)?.to_vec();
        Some(self.terms.entry(key).or_insert_with(|| ThesaurusTerm {
            rest,
            written: written.into(),
            means: Vec::new(),
            asks: Vec::new(),
            ambiguous: false,
        }))
    }

    fn concept(&mut self, standing_for: &str) -> u32 {
        let concept = next_number(self.concepts.len());
        self.concepts.push(vec![standing_for.into()]);
        concept
    }

    fn meaning(&mut self, written: &str, concept: u32) {
        if let Some(term) = self.term(written) {
            for concepts in [&mut term.means, &mut term.asks] {
                if !concepts.contains(&concept) {
                    concepts.push(concept);
                }
            }
        }
        if let Some(terms) = self.concepts.get_mut(concept as usize)
            && !terms.iter().any(|term| &**term == written)
        {
            terms.push(written.into());
        }
    }

    /// The concepts that a term stands for. Creates a concept if the term isn't in any group.
    fn concepts_of(&mut self, written: &str) -> Vec<u32> {
        let known = self.term(written).map(|term| term.means.clone()).unwrap_or_default();
        if !known.is_empty() {
            return known;
        }
        let concept = self.concept(written);
        if let Some(term) = self.term(written) {
            term.means.push(concept);
        }
        vec![concept]
    }

    fn asking(&mut self, written: &str, concepts: &[u32]) {
        if let Some(term) = self.term(written) {
            for concept in concepts {
                if !term.asks.contains(concept) {
                    term.asks.push(*concept);
                }
            }
        }
    }

    fn ambiguous(&mut self, written: &str) {
        if let Some(term) = self.term(written) {
            term.ambiguous = true;
        }
    }

    fn finish(self) -> Thesaurus {
        let mut terms: StemMap<Box<str>, Vec<ThesaurusTerm>> = HashMap::default();
        for (key, term) in self.terms {
            if let Some(first) = key.into_iter().next() {
                terms.entry(first).or_default().push(term);
            }
        }
        for candidates in terms.values_mut() {
            candidates.sort_by(|a, b| b.rest.len().cmp(&a.rest.len()).then_with(|| a.rest.cmp(&b.rest)));
        }
        Thesaurus { terms, concepts: self.concepts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equivalent(terms: &[&str]) -> SynonymGroup {
        SynonymGroup::Equivalent(terms.iter().map(|term| (*term).into()).collect())
    }

    fn found(thesaurus: &Thesaurus, text: &str) -> Vec<(String, Vec<u32>, Vec<u32>)> {
        let words = words(text);
        thesaurus
            .mentions(text, &words, &Stems::default(), true)
            .into_iter()
            .map(|m| (m.term.to_owned(), m.means.to_vec(), m.asks.to_vec()))
            .collect()
    }

    #[test]
    fn a_multi_word_term_is_found_whole_or_not_at_all() {
        let thesaurus = Thesaurus::new(&[equivalent(&["permit to work", "ptw"])]);
        assert_eq!(found(&thesaurus, "our permits to work").len(), 1);
        assert_eq!(found(&thesaurus, "PTW app").len(), 1);
        assert_eq!(found(&thesaurus, "permit for work to do"), []);
        assert_eq!(found(&thesaurus, "work permit"), []);
    }

    #[test]
    fn a_term_inside_another_is_also_found() {
        let thesaurus =
            Thesaurus::new(&[equivalent(&["permit to work", "ptw"]), equivalent(&["permit to work software", "eptw"])]);
        let terms: Vec<_> = found(&thesaurus, "permit to work software").into_iter().map(|(term, ..)| term).collect();
        assert_eq!(terms, ["permit to work software", "permit to work"]);
    }

    #[test]
    fn the_word_and_is_ignored_inside_a_term() {
        let thesaurus = Thesaurus::new(&[equivalent(&["environment health and safety", "ehs"])]);
        assert_eq!(found(&thesaurus, "Environment, Health & Safety").len(), 1);
        assert_eq!(found(&thesaurus, "EH&S").len(), 1);
    }

    #[test]
    fn a_one_way_synonym_asks_for_a_concept_but_does_not_mean_it() {
        let one_way = SynonymGroup::OneWay { from: vec!["riddor".into()], to: "incident reporting".into() };
        let thesaurus = Thesaurus::new(&[one_way]);
        assert_eq!(found(&thesaurus, "riddor"), [("riddor".to_owned(), vec![], vec![0])]);
        assert_eq!(found(&thesaurus, "incident reporting"), [("incident reporting".to_owned(), vec![0], vec![])]);
    }

    #[test]
    fn an_ambiguous_term_counts_only_in_capitals_or_as_the_whole_text() {
        let thesaurus =
            Thesaurus::new(&[equivalent(&["corrective action", "car"]), SynonymGroup::Ambiguous(vec!["car".into()])]);
        assert_eq!(found(&thesaurus, "car park"), []);
        assert_eq!(found(&thesaurus, "CAR park").len(), 1);
        assert_eq!(found(&thesaurus, "car").len(), 1);
    }
}
