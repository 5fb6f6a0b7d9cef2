//! Searches glossary terms and categories. There are only a few hundred, so every entry is
//! compared.

use crate::catalogue::GlossaryEntry;
use crate::catalogue::resource::CategoryResource;
use crate::text::analyse::{Word, name_key, words};
use crate::text::stem::Stems;

/// The words of entries with a heading and a text: terms and their definitions, categories and
/// their descriptions.
#[derive(Debug, Default)]
pub struct HeadingIndex {
    entries: Vec<Entry>,
    stems: Stems,
}

#[derive(Debug, Default)]
struct Entry {
    /// Keys of the name, abbreviations and synonyms, in this order.
    names: Vec<String>,
    /// How many of `names` aren't synonyms.
    exact: usize,
    /// The words of all `names`.
    heading: Vec<Token>,
    text: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    folded: Box<str>,
    stem: Box<str>,
}

/// How well an entry matches a query; greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// All words occur, some of them only in the text.
    Text,
    /// All words are in the name, an abbreviation or a synonym.
    Heading,
    /// The same, and the name, an abbreviation or a synonym begins with the query.
    Beginning,
    /// The query is a synonym.
    Synonym,
    /// The query is the name or an abbreviation.
    Exact,
}

impl HeadingIndex {
    pub fn glossary(glossary: &[GlossaryEntry]) -> Self {
        let mut index = Self::default();
        for GlossaryEntry { term, .. } in glossary {
            let exact = std::iter::once(&term.term).chain(&term.abbreviations).map(String::as_str);
            index.push(exact, term.synonyms.iter().map(String::as_str), &term.definition);
        }
        index
    }

    pub fn categories(categories: &[CategoryResource]) -> Self {
        let mut index = Self::default();
        for category in categories {
            let description = category.description.as_deref().unwrap_or_default();
            index.push(std::iter::once(&*category.name), std::iter::empty(), description);
        }
        index
    }

    fn push<'t>(&mut self, exact: impl Iterator<Item = &'t str>, synonyms: impl Iterator<Item = &'t str>, text: &str) {
        let tokens = |text: &str| {
            let token = |word: Word| Token { stem: self.stems.of(&word.folded).into(), folded: word.folded.into() };
            words(text).into_iter().map(token).collect::<Vec<_>>()
        };
        let mut headings: Vec<_> = exact.collect();
        let exact = headings.len();
        headings.extend(synonyms);
        let names = headings.iter().map(|heading| name_key(&words(heading))).collect();
        let heading = headings.iter().flat_map(|heading| tokens(heading)).collect();
        let entry = Entry { names, exact, heading, text: tokens(text) };
        self.entries.push(entry);
    }

    /// Indices of the entries that have every word of the query (the last as a prefix), best first:
    /// exact names and abbreviations, then names that have the words, then texts. On a tie, in the
    /// order of the entries.
    pub fn search(&self, text: &str) -> Vec<usize> {
        self.search_ranked(text, Rank::Text)
    }

    /// Like [`search`](Self::search), but considers only names: completions of a name that's being
    /// typed.
    pub fn complete(&self, text: &str) -> Vec<usize> {
        self.search_ranked(text, Rank::Heading)
    }

    fn search_ranked(&self, text: &str, least: Rank) -> Vec<usize> {
        let query = words(text);
        if query.is_empty() {
            return Vec::new();
        }
        let key = name_key(&query);
        let query: Vec<_> = query.iter().map(|word: &Word| (word, self.stems.of(&word.folded))).collect();
        let has = |tokens: &[Token], at: usize| {
            let (word, stem) = &query[at];
            let is_last = at + 1 == query.len();
            tokens
                .iter()
                .any(|token| *token.stem == **stem || (is_last && token.folded.starts_with(word.folded.as_str())))
        };
        let rank = |entry: &Entry| {
            if let Some(at) = entry.names.iter().position(|name| *name == key) {
                return Some(if at < entry.exact { Rank::Exact } else { Rank::Synonym });
            }
            if (0..query.len()).all(|at| has(&entry.heading, at)) {
                let begins = entry.names.iter().any(|name| name.starts_with(&key));
                return Some(if begins { Rank::Beginning } else { Rank::Heading });
            }
            (0..query.len()).all(|at| has(&entry.heading, at) || has(&entry.text, at)).then_some(Rank::Text)
        };
        let ranked = self.entries.iter().enumerate().filter_map(|(at, entry)| Some((rank(entry)?, at)));
        let mut found: Vec<_> = ranked.filter(|(rank, _)| *rank >= least).collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, at)| at).collect()
    }
}
