//! Searches the glossary: few hundred terms, so each is looked at.

use super::analyse::{Word, title_key, words};
use super::stem::Stems;
use crate::catalogue::GlossaryEntry;

/// The glossary's words.
#[derive(Debug, Default)]
pub struct GlossaryIndex {
    entries: Vec<Entry>,
    stems: Stems,
}

#[derive(Debug, Default)]
struct Entry {
    /// The whole term, abbreviations and synonyms, as names are compared.
    titles: Vec<String>,
    /// Their words and stems.
    heading: Vec<Token>,
    /// The definition's.
    definition: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    folded: Box<str>,
    stem: Box<str>,
}

/// How well an entry answers a query; the greater is the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// All words are there, some of them in the definition only.
    Definition,
    /// All words are in the term, an abbreviation or a synonym.
    Heading,
    /// The term, an abbreviation or a synonym begins with the query.
    Beginning,
    /// The query is a synonym.
    Synonym,
    /// The query is the term or its abbreviation.
    Exact,
}

impl GlossaryIndex {
    /// The words of a glossary.
    #[must_use]
    pub fn new(glossary: &[GlossaryEntry]) -> Self {
        let stems = Stems::default();
        let tokens = |text: &str| {
            words(text)
                .into_iter()
                .map(|word| Token { stem: stems.of(&word.folded).into(), folded: word.folded.into() })
        };
        let entries = glossary
            .iter()
            .map(|entry| {
                let term = &entry.term;
                let exact = std::iter::once(&term.term).chain(&term.abbreviations);
                let headings: Vec<_> = exact.chain(&term.synonyms).collect();
                Entry {
                    titles: headings.iter().map(|text| title_key(&words(text))).collect(),
                    heading: headings.iter().flat_map(|text| tokens(text)).collect(),
                    definition: tokens(&term.definition).collect(),
                }
            })
            .collect();
        Self { entries, stems }
    }

    /// The entries that have every word of the query (the last as a beginning), best first: the term itself and its
    /// abbreviation, then terms that have the words, then definitions; each in the glossary's order.
    #[must_use]
    pub fn search(&self, text: &str, glossary: &[GlossaryEntry]) -> Vec<usize> {
        let asked = words(text);
        if asked.is_empty() {
            return Vec::new();
        }
        let key = title_key(&asked);
        let asked: Vec<_> = asked.iter().map(|word: &Word| (word, self.stems.of(&word.folded))).collect();
        let has = |tokens: &[Token], at: usize| {
            let (word, stem) = &asked[at];
            let is_last = at + 1 == asked.len();
            tokens
                .iter()
                .any(|token| *token.stem == **stem || (is_last && token.folded.starts_with(word.folded.as_str())))
        };
        let rank = |entry: &Entry, exact: usize| {
            if let Some(at) = entry.titles.iter().position(|title| *title == key) {
                return Some(if at < exact { Rank::Exact } else { Rank::Synonym });
            }
            if (0..asked.len()).all(|at| has(&entry.heading, at)) {
                let begins = entry.titles.iter().any(|title| title.starts_with(&key));
                return Some(if begins { Rank::Beginning } else { Rank::Heading });
            }
            (0..asked.len()).all(|at| has(&entry.heading, at) || has(&entry.definition, at)).then_some(Rank::Definition)
        };
        let mut found: Vec<_> = self
            .entries
            .iter()
            .zip(glossary)
            .enumerate()
            .filter_map(|(at, (entry, shown))| Some((rank(entry, 1 + shown.term.abbreviations.len())?, at)))
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, at)| at).collect()
    }
}
