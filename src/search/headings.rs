//! Searches glossary terms and categories through an inverted index, so a query reads only the
//! entries that contain its words.

use std::ops::Range;

use foldhash::HashMap;

use crate::catalogue::resource::CategoryResource;
use crate::catalogue::{GlossaryEntry, read_while};
use crate::record::Translations;
use crate::search::budget::Stop;
use crate::search::collect::{BITS, ones};
use crate::text::analyse::{Word, name_key, words};
use crate::text::stem::{Inflected, Stems};

/// An index of entries that have a heading and text: terms with definitions, and categories with
/// descriptions.
#[derive(Debug, Default)]
pub struct HeadingIndex {
    len: usize,
    /// All entries' folded words, sorted.
    words: Vec<Box<str>>,
    /// For each word, the entries that contain it.
    entries: Vec<Entries>,
    /// The words with each stem, in English or another language.
    stems: HashMap<Stem, Vec<usize>>,
    /// The keys of all names, abbreviations and synonyms, sorted.
    names: Vec<HeadingName>,
}

/// The entries that contain a word, in ascending order: first the ones with the word in a name, an
/// abbreviation or a synonym, then the ones with the word in their text.
type Entries = [Vec<u32>; 2];

/// A stem in a language other than English, or in English.
type Stem = (Option<Inflected>, Box<str>);

#[derive(Debug)]
struct HeadingName {
    key: Box<str>,
    entry: u32,
    is_synonym: bool,
}

/// The entries that match a query, as one bit set per rank, best first:
///
/// 1. The query is the name or an abbreviation.
/// 2. The query is a synonym or a translated name.
/// 3. All the words are in headings (names, abbreviations and synonyms), one of which starts with
///    the query.
/// 4. All the words are in headings.
/// 5. Some of the words are only in the text.
#[derive(Debug, Default)]
pub struct HeadingHits([Vec<u64>; 5]);

impl HeadingHits {
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// The entries' indices, best match first; on a tie, in entry order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().flat_map(|bits| ones(bits))
    }
}

#[derive(Debug, Default)]
struct HeadingBuilder {
    len: u32,
    words: HashMap<Box<str>, (Entries, Vec<Stem>)>,
    names: Vec<HeadingName>,
    stems: Stems,
}

impl HeadingBuilder {
    /// Adds translations of the last entry's heading and text.
    fn push_translations(&mut self, translations: &Translations, heading: &str, text: &str) {
        for (language, of, translation) in translations.iter() {
            let names = std::iter::once(translation).filter(|_| of == heading);
            let text = if of == text { translation } else { "" };
            self.push(Inflected::of(language.primary()), std::iter::empty(), names, text);
        }
    }

    /// Adds text to the last entry. Its language is `None` for English and for languages without a
    /// stemmer.
    fn push<'t>(
        &mut self,
        language: Option<Inflected>,
        exact: impl Iterator<Item = &'t str>,
        synonyms: impl Iterator<Item = &'t str>,
        text: &str,
    ) {
        let entry = self.len - 1;
        for (heading, is_synonym) in exact.map(|name| (name, false)).chain(synonyms.map(|name| (name, true))) {
            let words = words(heading);
            self.names.push(HeadingName { key: name_key(&words).into(), entry, is_synonym });
            for word in &words {
                self.push_word(word, 0, language);
            }
        }
        for word in words(text) {
            self.push_word(&word, 1, language);
        }
    }

    fn push_word(&mut self, word: &Word, part: usize, language: Option<Inflected>) {
        let (folded, entry) = (word.folded.as_str(), self.len - 1);
        if !self.words.contains_key(folded) {
            let english = (None, self.stems.of(folded).into());
            self.words.insert(folded.into(), (Entries::default(), vec![english]));
        }
        let Some((entries, stems)) = self.words.get_mut(folded) else { return };
        if entries[part].last() != Some(&entry) {
            entries[part].push(entry);
        }
        let inflected = language.map(|language| (Some(language), language.stem(word.spelling()).into()));
        stems.extend(inflected.filter(|stem| !stems.contains(stem)));
    }

    fn finish(mut self) -> HeadingIndex {
        self.names.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        let mut index = HeadingIndex { len: self.len as usize, names: self.names, ..HeadingIndex::default() };
        let mut words: Vec<_> = self.words.into_iter().collect();
        words.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (number, (word, (entries, stems))) in words.into_iter().enumerate() {
            index.words.push(word);
            index.entries.push(entries);
            for stem in stems {
                index.stems.entry(stem).or_default().push(number);
            }
        }
        index
    }
}

impl HeadingIndex {
    pub fn glossary(glossary: &[GlossaryEntry]) -> Self {
        let mut index = HeadingBuilder::default();
        for GlossaryEntry { term, .. } in glossary {
            let exact = std::iter::once(&term.term).chain(&term.abbreviations).map(String::as_str);
            let language = term.language.as_ref().and_then(|language| Inflected::of(language.primary()));
            index.len += 1;
            index.push(language, exact, term.synonyms.iter().map(String::as_str), &term.definition);
            index.push_translations(&term.translations, "term", "definition");
        }
        index.finish()
    }

    pub fn categories(categories: &[CategoryResource]) -> Self {
        let mut index = HeadingBuilder::default();
        for category in categories {
            let description = category.description.as_deref().unwrap_or_default();
            let language = category.language.as_ref().and_then(|language| Inflected::of(language.primary()));
            index.len += 1;
            index.push(language, std::iter::once(&*category.name), std::iter::empty(), description);
            index.push_translations(&category.translations, "name", "description");
        }
        index.finish()
    }

    /// The entries that have every word of the query (the last as a prefix): exact names and
    /// abbreviations, then names that contain the words, then text. Reads each posting a few
    /// times at most, which takes about a nanosecond each.
    pub fn search(&self, text: &str, stop: &Stop) -> HeadingHits {
        self.find(text, true, stop)
    }

    /// Like [`search`](Self::search), but considers only names: completions of a name that's being
    /// typed.
    pub fn complete(&self, text: &str, stop: &Stop) -> HeadingHits {
        self.find(text, false, stop)
    }

    fn find(&self, text: &str, with_texts: bool, stop: &Stop) -> HeadingHits {
        let query = words(text);
        let Some((last, before)) = query.split_last() else { return HeadingHits::default() };
        let mut of_words: Vec<_> = before.iter().map(|word| self.with_stem(word)).collect();
        of_words.push([self.with_stem(last), self.with_prefix(&last.folded).collect()].concat());
        // Look up the rarest words first, since the search ends once no entries are left.
        of_words.sort_by_cached_key(|words| self.count(words, with_texts));
        let mut hits = HeadingHits(std::array::from_fn(|_| vec![0; self.len.div_ceil(BITS)]));
        let [exact, synonym, beginning, in_heading, in_text] = &mut hits.0;
        let mut left: Vec<u64> = vec![u64::MAX; in_heading.len()];
        in_heading.clone_from(&left);
        let mut found = left.clone();
        for words in &of_words {
            found.fill(0);
            self.set_entries(&mut found, words, 0, stop);
            intersect(in_heading, &found);
            if with_texts {
                self.set_entries(&mut found, words, 1, stop);
            }
            intersect(&mut left, &found);
            if left.iter().all(|bits| *bits == 0) {
                break;
            }
        }
        in_text.clone_from(&left);
        if !with_texts {
            in_text.fill(0);
        }
        let key = name_key(&query);
        let names = &self.names[self.names.partition_point(|name| *name.key < *key)..];
        for name in names.iter().take_while(|name| name.key.starts_with(&key)) {
            let set = match (name.key.len() == key.len(), name.is_synonym) {
                (false, _) => &mut *beginning,
                (true, false) => &mut *exact,
                (true, true) => &mut *synonym,
            };
            set_all(set, [&name.entry]);
        }
        intersect(beginning, in_heading);
        let mut better = exact.clone();
        for set in [synonym, beginning, in_heading, in_text] {
            for (bits, better) in set.iter_mut().zip(&mut better) {
                *bits &= !*better;
                *better |= *bits;
            }
        }
        hits
    }

    /// The words that share a stem with this one in any language.
    fn with_stem(&self, word: &Word) -> Vec<usize> {
        let english = (None, Stems::default().of(&word.folded).into());
        let stem = |language: Inflected| (Some(language), language.stem(word.spelling()).into());
        let stems = std::iter::once(english).chain(Inflected::ALL.into_iter().map(stem));
        stems.filter_map(|stem| self.stems.get(&stem)).flatten().copied().collect()
    }

    /// The words that start with this one.
    fn with_prefix(&self, folded: &str) -> Range<usize> {
        let start = self.words.partition_point(|word| **word < *folded);
        start..start + self.words[start..].partition_point(|word| word.starts_with(folded))
    }

    /// The total length of these words' posting lists. An entry counts once for each word it
    /// contains.
    fn count(&self, words: &[usize], with_texts: bool) -> usize {
        let texts = |word: usize| if with_texts { self.entries[word][1].len() } else { 0 };
        words.iter().map(|word| self.entries[*word][0].len() + texts(*word)).sum()
    }

    /// Sets the bits of the entries that have any of these words in one of their [parts](Entries).
    fn set_entries(&self, bits: &mut [u64], words: &[usize], part: usize, stop: &Stop) {
        for word in words {
            set_all(bits, read_while(&self.entries[*word][part], |_| !stop.is_set()));
        }
    }
}

fn set_all<'e>(bits: &mut [u64], entries: impl IntoIterator<Item = &'e u32>) {
    for entry in entries {
        bits[*entry as usize / BITS] |= 1 << (*entry as usize % BITS);
    }
}

fn intersect(bits: &mut [u64], others: &[u64]) {
    bits.iter_mut().zip(others).for_each(|(bits, others)| *bits &= others);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An entry's name, synonym and text.
    type Entry = (String, String, String);

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Rank {
        Exact,
        Synonym,
        Beginning,
        Heading,
        Text,
    }

    /// A brute-force search, which compares every entry with the query.
    fn scan(entries: &[Entry], text: &str, least: Rank) -> Vec<usize> {
        let query = words(text);
        let (key, stems) = (name_key(&query), Stems::default());
        let has = |tokens: &[Word], at: usize| {
            let (word, is_last) = (&query[at].folded, at + 1 == query.len());
            let is_same = |token: &Word| stems.of(&token.folded) == stems.of(word);
            tokens.iter().any(|token| is_same(token) || (is_last && token.folded.starts_with(word.as_str())))
        };
        let rank = |(name, synonym, text): &Entry| {
            let keys = [name, synonym].map(|name| name_key(&words(name)));
            if let Some(at) = keys.iter().position(|other| *other == key) {
                return Some(if at == 0 { Rank::Exact } else { Rank::Synonym });
            }
            let heading = [words(name), words(synonym)].concat();
            if (0..query.len()).all(|at| has(&heading, at)) {
                let begins = keys.iter().any(|name| name.starts_with(&key));
                return Some(if begins { Rank::Beginning } else { Rank::Heading });
            }
            let text = words(text);
            (0..query.len()).all(|at| has(&heading, at) || has(&text, at)).then_some(Rank::Text)
        };
        let ranked = entries.iter().enumerate().filter_map(|(at, entry)| Some((rank(entry)?, at)));
        let mut found: Vec<_> = ranked.filter(|(rank, _)| !query.is_empty() && *rank <= least).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, at)| at).collect()
    }

    fn index(entries: &[Entry]) -> HeadingIndex {
        let mut index = HeadingBuilder::default();
        for (name, synonym, text) in entries {
            index.len += 1;
            index.push(None, std::iter::once(&**name), std::iter::once(&**synonym), text);
        }
        index.finish()
    }

    fn text(most: usize) -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec!["permit", "permits", "per", "work", "works", "lock-out", "a", "é", ""]);
        prop::collection::vec(word, 0..=most).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_scan_finds(
            entries in prop::collection::vec((text(3), text(2), text(5)), 0..150),
            query in text(3),
        ) {
            let index = index(&entries);
            let list = |hits: &HeadingHits| hits.iter().collect::<Vec<_>>();
            let (all, named) = (index.search(&query, &Stop::default()), index.complete(&query, &Stop::default()));
            prop_assert_eq!(list(&all), scan(&entries, &query, Rank::Text));
            prop_assert_eq!(list(&named), scan(&entries, &query, Rank::Heading));
            prop_assert_eq!(all.total(), list(&all).len() as u64);
        }
    }
}
