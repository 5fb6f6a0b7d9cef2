//! Proposes synonyms for queries without hits.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::EmptyQuery;
use crate::generation::Snapshot;
use crate::service::{Facet, PageRequest, SearchSoftware, ServiceError, Stop, search_software};
use crate::text::analyse::{is_dash, is_quote};

const MAX_NEAR: usize = 5;
const MAX_TERMS: usize = 20_000;
/// How similar a term must be to a query (0 to 1) to count as a different spelling of it.
const SIMILAR: f64 = 0.65;
/// Minimum length of the words compared by spelling, in characters.
const SHORTEST: usize = 4;

#[derive(Debug, Serialize)]
pub struct Proposal {
    #[serde(flatten)]
    pub query: EmptyQuery,
    /// How many products the query finds now.
    pub found: u64,
    /// The words of a longer query that match something on their own, each with the number of
    /// products it finds.
    pub words: Vec<(String, u64)>,
    /// The nearest terms, best first.
    pub near: Vec<NearTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearTerm {
    pub term: String,
    pub kind: NearKind,
    pub found: u64,
}

/// Why a term is near, best reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NearKind {
    /// A glossary term whose name, abbreviations or synonyms contain the words.
    GlossaryTerm,
    /// A category whose name contains the words.
    Category,
    Spelling,
    /// A category whose description contains the words.
    CategoryDescription,
    /// A glossary term whose definition contains the words.
    GlossaryDefinition,
}

/// A one-way entry for an export's `synonyms`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Synonym {
    pub from: Vec<String>,
    /// The term that the queries should also find.
    pub to: String,
}

impl Proposal {
    /// The term to propose as the query's meaning: the nearest one that finds something. `None` if
    /// the query itself finds something now.
    pub fn meaning(&self) -> Option<&NearTerm> {
        self.near.iter().find(|near| near.found > 0 && self.found == 0)
    }
}

/// The proposed synonyms, one entry per meaning.
pub fn synonyms(proposals: &[Proposal]) -> Vec<Synonym> {
    let mut of_meaning: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (proposal, near) in proposals.iter().filter_map(|proposal| Some((proposal, proposal.meaning()?))) {
        of_meaning.entry(&near.term).or_default().push(plain(&proposal.query.query));
    }
    of_meaning.into_iter().map(|(to, from)| Synonym { from, to: to.to_owned() }).collect()
}

/// Removes quotation marks and leading minus signs, leaving only the query's words.
fn plain(query: &str) -> String {
    query
        .replace(is_quote, "")
        .split_whitespace()
        .map(|word| word.trim_start_matches(is_dash))
        .collect::<Vec<_>>()
        .join(" ")
}

#[derive(Debug)]
pub struct Proposer<'s> {
    snapshot: &'s Snapshot,
    /// Categories, glossary terms with their other names, and the most frequent standards and tags;
    /// as written and in lower case.
    terms: Vec<(String, String)>,
}

impl<'s> Proposer<'s> {
    pub fn new(snapshot: &'s Snapshot) -> Result<Self, ServiceError> {
        let tables = &snapshot.catalogue.tables;
        let categories = tables.categories.iter().map(|category| &*category.name);
        let glossary = tables.glossary.iter().flat_map(|entry| {
            let others = entry.term.abbreviations.iter().chain(&entry.term.synonyms);
            std::iter::once(&entry.term.term).chain(others).map(String::as_str)
        });
        let facets = ["standards", "tags"].map(|property| Facet::Attribute(property.to_owned())).to_vec();
        let all = SearchSoftware { q: None, facets, ..SearchSoftware::new("") };
        let facets = search_software(snapshot, &all)?.facets;
        let attributes = facets.iter().flat_map(|(_, values)| values.iter().map(|value| &*value.label));
        let mut seen = HashSet::new();
        let terms = categories.chain(glossary).chain(attributes).map(|term| (term.to_owned(), term.to_lowercase()));
        let terms = terms.filter(|(_, lower)| seen.insert(lower.clone())).take(MAX_TERMS).collect();
        Ok(Self { snapshot, terms })
    }

    pub fn propose(&self, query: &EmptyQuery) -> Result<Proposal, ServiceError> {
        let text = plain(&query.query);
        let mut words = Vec::new();
        if text.contains(' ') {
            for word in text.split(' ') {
                let found = self.found(word)?;
                if found > 0 {
                    words.push((word.to_owned(), found));
                }
            }
        }
        let mut near = Vec::new();
        for (term, kind) in self.candidates(&text) {
            near.push(NearTerm { found: self.found(&term)?, term, kind });
        }
        Ok(Proposal { query: query.clone(), found: self.found(&query.query)?, words, near })
    }

    fn found(&self, text: &str) -> Result<u64, ServiceError> {
        let search = SearchSoftware { page: PageRequest { limit: 1, offset: 0 }, ..SearchSoftware::new(text) };
        Ok(search_software(self.snapshot, &search)?.total_by_words())
    }

    /// The nearest terms, best kind first, without duplicates.
    fn candidates(&self, text: &str) -> Vec<(String, NearKind)> {
        let tables = &self.snapshot.catalogue.tables;
        let term = |at: usize| tables.glossary[at].term.term.clone();
        let category = |at: usize| tables.categories[at].name.clone();
        let mut near = Vec::new();
        let mut add = |kind: NearKind, terms: Vec<String>| {
            for term in terms.into_iter().take(MAX_NEAR) {
                if near.iter().all(|(known, _): &(String, NearKind)| known.to_lowercase() != term.to_lowercase()) {
                    near.push((term, kind));
                }
            }
        };
        let (glossary, categories, stop) = (&self.snapshot.glossary, &self.snapshot.categories, &Stop::default());
        add(NearKind::GlossaryTerm, glossary.complete(text, stop).iter().map(term).collect());
        add(NearKind::Category, categories.complete(text, stop).iter().map(category).collect());
        add(NearKind::Spelling, self.similar(text));
        add(NearKind::CategoryDescription, categories.search(text, stop).iter().map(category).collect());
        add(NearKind::GlossaryDefinition, glossary.search(text, stop).iter().map(term).collect());
        near.truncate(MAX_NEAR);
        near
    }

    /// The terms that are spelled like the query or contain a word that is, most similar first.
    fn similar(&self, text: &str) -> Vec<String> {
        if text.chars().count() < SHORTEST {
            return Vec::new();
        }
        let mut similar: Vec<(f64, &str)> = Vec::new();
        for (term, lower) in &self.terms {
            let words = lower.split(|c: char| !c.is_alphanumeric());
            let words = words.filter(|word| word.chars().count() >= SHORTEST && !text.contains(' '));
            let of = |other: &str| strsim::normalized_damerau_levenshtein(text, other);
            let of_words = words.map(of).fold(0.0, f64::max);
            // A match with one of several words counts less than a match with the whole term.
            let similarity = of(lower).max(of_words * 0.95);
            if similarity >= SIMILAR {
                similar.push((similarity, term));
            }
        }
        similar.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        similar.into_iter().take(MAX_NEAR).map(|(_, term)| term.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn proposal(query: &str, found: u64, near: &[(&str, u64)]) -> Proposal {
        let day = date(2026, 11, 20);
        let near = near.iter().map(|(term, found)| NearTerm {
            term: (*term).to_owned(),
            kind: NearKind::Spelling,
            found: *found,
        });
        let query = EmptyQuery { query: query.to_owned(), count: 3, first_day: day, last_day: day };
        Proposal { query, found, words: Vec::new(), near: near.collect() }
    }

    #[test]
    fn queries_with_the_same_meaning_share_an_entry_and_only_terms_with_hits_are_proposed() {
        let proposals = [
            proposal("\"lock-out\" -paper", 0, &[("nothing", 0), ("Isolation", 3)]),
            proposal("loto", 0, &[("Isolation", 3)]),
            proposal("by now", 2, &[("Isolation", 3)]),
            proposal("xyz", 0, &[("nothing", 0)]),
        ];
        let from = vec!["lock-out paper".to_owned(), "loto".to_owned()];
        assert_eq!(synonyms(&proposals), [Synonym { from, to: "Isolation".to_owned() }]);
    }
}
