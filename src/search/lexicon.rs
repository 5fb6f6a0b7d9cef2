//! A generation's words: which spellings occur, how often, and which share a stem.

use std::sync::Arc;

use bytes::Bytes;
use foldhash::{HashMap, HashSet};
use fst::{IntoStreamer as _, Map, Set, Streamer as _};
use serde::{Deserialize, Serialize};

use crate::scratch::decode;
use crate::text::stem::{Inflected, Stems};

/// The number of a spelling, which is a folded word or one of its accented variants. Frequent
/// spellings have small numbers.
pub type WordId = u32;

pub type StemId = u32;

/// Lower numbers mark boundaries within a document; see `forward`.
pub const FIRST_WORD: WordId = 2;

#[derive(Debug)]
pub struct Lexicon {
    /// Folded word → number.
    words: Map<Bytes>,
    /// Accented spelling → number.
    accented: Map<Bytes>,
    /// Stem → number.
    stems: Map<Bytes>,
    /// The [forms](Forms) of words in languages other than English; `None` if there are none.
    inflected: Option<Forms>,
    tables: Tables,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Tables {
    /// The number of products that each word occurs in. An accented variant has its own count.
    document_frequency: Vec<u32>,
    /// Each word's stem.
    stem: Arc<[StemId]>,
    /// Pairs of an accented variant and its folded word, sorted by folded word once they're in memory.
    folded: Vec<(WordId, WordId)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct LexiconParts {
    #[serde(with = "serde_bytes")]
    words: Vec<u8>,
    #[serde(with = "serde_bytes")]
    accented: Vec<u8>,
    #[serde(with = "serde_bytes")]
    stems: Vec<u8>,
    #[serde(with = "serde_bytes")]
    inflected: Vec<u8>,
    #[serde(with = "serde_bytes")]
    tables: Vec<u8>,
}

impl LexiconParts {
    pub fn stems(&self) -> Result<Arc<[StemId]>, LexiconError> {
        Ok(decode::<Tables>(&self.tables)?.stem)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LexiconError {
    #[error("a word map can't be read or written")]
    Map(#[from] fst::Error),
    #[error("the word tables can't be read or written")]
    Tables(#[from] postcard::Error),
    #[error("the word tables don't match each other")]
    Misfit,
    #[error("the exports have more than four billion different words")]
    TooManyWords,
}

impl Lexicon {
    pub fn open(parts: LexiconParts) -> Result<Self, LexiconError> {
        let mut tables: Tables = decode(&parts.tables)?;
        tables.folded.sort_unstable_by_key(|(variant, folded)| (*folded, *variant));
        let lexicon = Self {
            words: Map::new(Bytes::from(parts.words))?,
            accented: Map::new(Bytes::from(parts.accented))?,
            stems: Map::new(Bytes::from(parts.stems))?,
            inflected: Forms::open(parts.inflected)?,
            tables,
        };
        for map in [&lexicon.words, &lexicon.accented, &lexicon.stems] {
            map.as_fst().verify()?;
        }
        let tables = &lexicon.tables;
        let count = lexicon.words.len() + lexicon.accented.len() + FIRST_WORD as usize;
        let fits = tables.stem.len() == count
            && tables.document_frequency.len() == count
            && tables.folded.iter().all(|(variant, folded)| (*variant.max(folded) as usize) < count)
            && tables.stem.iter().all(|stem| (*stem as usize) < lexicon.stems.len().max(1));
        if fits { Ok(lexicon) } else { Err(LexiconError::Misfit) }
    }

    /// The languages other than English that words are stemmed in.
    pub fn inflected(&self) -> &[Inflected] {
        self.inflected.as_ref().map_or(&[], |forms| &forms.languages)
    }

    /// The stems of the words related to a stem in a language other than English.
    pub fn related(&self, relation: Relation, language: Inflected, stem: &str) -> Vec<StemId> {
        let forms = self.inflected.iter().flat_map(|forms| forms.of(relation, language, stem));
        forms.filter(|stem| (*stem as usize) < self.stems.len()).collect()
    }

    pub fn word(&self, folded: &str) -> Option<WordId> {
        self.words.get(folded).and_then(|id| WordId::try_from(id).ok())
    }

    pub fn accented(&self, spelling: &str) -> Option<WordId> {
        self.accented.get(spelling).and_then(|id| WordId::try_from(id).ok())
    }

    pub fn stem(&self, stem: &str) -> Option<StemId> {
        self.stems.get(stem).and_then(|id| StemId::try_from(id).ok())
    }

    pub fn stem_of(&self, word: WordId) -> StemId {
        self.tables.stem[word as usize]
    }

    /// Each word's stem, by word number.
    pub fn stems(&self) -> Arc<[StemId]> {
        Arc::clone(&self.tables.stem)
    }

    /// All of a folded word's spellings: the word itself and its accented variants.
    pub fn spellings(&self, word: WordId) -> Vec<WordId> {
        let all = &self.tables.folded;
        let variants = &all[all.partition_point(|(_, folded)| *folded < word)..];
        let variants = variants.iter().take_while(|(_, folded)| *folded == word).map(|(variant, _)| *variant);
        std::iter::once(word).chain(variants).collect()
    }

    /// All pairs of spellings that produce this folded word when written together.
    pub fn halves(&self, folded: &str) -> impl Iterator<Item = [WordId; 2]> {
        let halves = folded.char_indices().skip(1).filter_map(|(at, _)| {
            let (first, second) = folded.split_at(at);
            Some((self.spellings(self.word(first)?), self.spellings(self.word(second)?)))
        });
        halves.flat_map(|(firsts, seconds)| {
            let pairs_of = move |first| seconds.clone().into_iter().map(move |second| [first, second]);
            firsts.into_iter().flat_map(pairs_of)
        })
    }

    /// The number of products that a folded word occurs in, including accented variants; 0 if only
    /// synonyms use the word.
    pub fn document_frequency(&self, word: WordId) -> u32 {
        self.tables.document_frequency[word as usize]
    }

    /// The map of folded words, to search with automata.
    pub fn words(&self) -> &Map<Bytes> {
        &self.words
    }
}

/// Finds words by their stem in a language other than English, and compounds by the stems of their
/// parts. Each key consists of a [`Relation`], a language code, a stem in that language, a zero
/// byte, and the number of the word's English stem, which is its term in the index.
#[derive(Debug)]
struct Forms {
    keys: Set<Bytes>,
    languages: Vec<Inflected>,
}

/// Terminates the stem in a key.
const STEM_END: u8 = 0;

/// How a word is related to a stem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The stem is the word's own.
    Form,
    /// The stem belongs to one of the word's parts: `farb` in `Farbwähler`.
    Compound,
}

impl Relation {
    const fn letter(self) -> u8 {
        match self {
            Self::Form => b'f',
            Self::Compound => b'p',
        }
    }
}

/// The key prefix shared by all words with a stem.
fn stem_key(relation: Relation, language: Inflected, stem: &str) -> Vec<u8> {
    [&[relation.letter()], language.code().as_bytes(), stem.as_bytes(), &[STEM_END]].concat()
}

impl Forms {
    /// Opens the forms; `None` if `bytes` is empty.
    fn open(bytes: Vec<u8>) -> Result<Option<Self>, fst::Error> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let keys = Set::new(Bytes::from(bytes))?;
        keys.as_fst().verify()?;
        let has_any = |language: &Inflected| {
            let beginning = [&[Relation::Form.letter()], language.code().as_bytes()].concat();
            let mut keys = keys.range().ge(&beginning).into_stream();
            keys.next().is_some_and(|key| key.starts_with(&beginning))
        };
        let languages = Inflected::ALL.into_iter().filter(has_any).collect();
        Ok(Some(Self { keys, languages }))
    }

    /// The English stem numbers of the words related to this stem.
    fn of(&self, relation: Relation, language: Inflected, stem: &str) -> Vec<StemId> {
        let beginning = stem_key(relation, language, stem);
        let (mut keys, mut numbers) = (self.keys.range().ge(&beginning).into_stream(), Vec::new());
        while let Some(number) = keys.next().and_then(|key| key.strip_prefix(&*beginning)) {
            numbers.extend(number.try_into().map(StemId::from_be_bytes));
        }
        numbers
    }
}

/// The number of the next entry in a table. [`LexiconBuilder::finish`] fails if there are more words
/// than numbers.
#[expect(clippy::cast_possible_truncation, reason = "no other table has as many entries as words")]
pub(super) const fn next_number(len: usize) -> u32 {
    len as u32
}

/// Builds a lexicon. Words get provisional numbers in the order in which they first occur.
#[derive(Debug, Default)]
pub struct LexiconBuilder {
    /// Spelling → provisional number.
    numbers: HashMap<Box<str>, u32>,
    words: Vec<WordEntry>,
    stems: HashMap<Box<str>, StemId>,
    /// For each language, the numbers of the words that are inflected in it.
    inflected: [Vec<u32>; Inflected::ALL.len()],
    analyzer: Stems,
}

/// What's known about a word.
#[derive(Debug)]
struct WordEntry {
    spelling: Box<str>,
    folded: Box<str>,
    stem: StemId,
    document_frequency: u32,
    last_document: u32,
    /// One bit for each language that the word is inflected in.
    inflected: u8,
}

impl LexiconBuilder {
    /// Records an occurrence of a word and returns the word's provisional number. Documents are
    /// numbered from 1; 0 stands for an occurrence outside of documents.
    pub fn note(&mut self, spelling: &str, folded: &str, document: u32) -> u32 {
        let number = self.number(spelling, folded);
        self.count(number, document);
        if spelling != folded {
            // The folded form of an accented word counts as a word too, so that it's found when
            // typed without accents.
            let folded = self.number(folded, folded);
            self.count(folded, document);
        }
        number
    }

    fn count(&mut self, number: u32, document: u32) {
        let word = &mut self.words[number as usize];
        if document > word.last_document {
            word.last_document = document;
            word.document_frequency += 1;
        }
    }

    fn number(&mut self, spelling: &str, folded: &str) -> u32 {
        if let Some(number) = self.numbers.get(spelling) {
            return *number;
        }
        let number = next_number(self.words.len());
        let stem = self.analyzer.of(folded);
        let next = next_number(self.stems.len());
        let stem = match self.stems.get(&*stem) {
            Some(stem) => *stem,
            None => *self.stems.entry(stem.into()).or_insert(next),
        };
        self.numbers.insert(spelling.into(), number);
        self.words.push(WordEntry {
            spelling: spelling.into(),
            folded: folded.into(),
            stem,
            document_frequency: 0,
            last_document: 0,
            inflected: 0,
        });
        number
    }

    /// Records that a word, given by its provisional number, belongs to a language.
    pub fn inflect(&mut self, number: u32, language: Inflected) {
        let word = &mut self.words[number as usize];
        let bit = 1 << language as u8;
        if word.inflected & bit == 0 {
            word.inflected |= bit;
            self.inflected[language as usize].push(number);
        }
    }

    /// A word's stem, given the word's provisional number. Stem numbers are final.
    pub fn stem(&self, number: u32) -> StemId {
        self.words[number as usize].stem
    }

    /// Returns a predicate for whether any document contains a folded word in any form.
    pub fn words_of_documents(&self) -> impl Fn(&str) -> bool + '_ {
        let mut found = vec![false; self.stems.len()];
        for word in &self.words {
            found[word.stem as usize] |= word.document_frequency > 0;
        }
        move |folded| self.stems.get(&*self.analyzer.of(folded)).is_some_and(|stem| found[*stem as usize])
    }

    /// Numbers the words by descending frequency, then by spelling. Also returns the final number
    /// for each provisional number.
    pub fn finish(&self) -> Result<(LexiconParts, Vec<WordId>), LexiconError> {
        if u32::try_from(self.words.len() + FIRST_WORD as usize).is_err() {
            return Err(LexiconError::TooManyWords);
        }
        let mut order: Vec<usize> = (0..self.words.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&self.words[*a], &self.words[*b]);
            b.document_frequency.cmp(&a.document_frequency).then_with(|| a.spelling.cmp(&b.spelling))
        });
        let mut tables =
            Tables { document_frequency: vec![0; FIRST_WORD as usize], stem: Arc::default(), folded: Vec::new() };
        let mut stems = vec![0; FIRST_WORD as usize];
        let mut numbering = vec![0; self.words.len()];
        for (word, at) in (FIRST_WORD..).zip(order) {
            numbering[at] = word;
            tables.document_frequency.push(self.words[at].document_frequency);
            stems.push(self.words[at].stem);
        }
        tables.stem = stems.into();
        let (mut words, mut accented) = (Vec::new(), Vec::new());
        for (indexed, word) in self.words.iter().zip(&numbering) {
            let entry = (&*indexed.spelling, u64::from(*word));
            if indexed.spelling == indexed.folded {
                words.push(entry);
            } else {
                accented.push(entry);
                if let Some(folded) = self.numbers.get(&indexed.folded) {
                    tables.folded.push((*word, numbering[*folded as usize]));
                }
            }
        }
        tables.folded.sort_unstable();
        let stems: Vec<_> = self.stems.iter().map(|(stem, number)| (&**stem, u64::from(*number))).collect();
        let parts = LexiconParts {
            words: sorted_map(words)?,
            accented: sorted_map(accented)?,
            stems: sorted_map(stems)?,
            inflected: self.forms()?,
            tables: postcard::to_stdvec(&tables)?,
        };
        Ok((parts, numbering))
    }

    /// Encodes the [`Forms`].
    fn forms(&self) -> Result<Vec<u8>, fst::Error> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for (language, numbers) in Inflected::ALL.into_iter().zip(&self.inflected) {
            let words = || numbers.iter().map(|number| &self.words[*number as usize]);
            let stems: Vec<_> = words().map(|word| language.stem(&word.spelling)).collect();
            let mut push = |relation, stem: &str, word: &WordEntry| {
                keys.push([&stem_key(relation, language, stem)[..], &word.stem.to_be_bytes()].concat());
            };
            words().zip(&stems).for_each(|(word, stem)| push(Relation::Form, stem, word));
            if language.has_compounds() {
                let known: HashSet<&str> = stems.iter().map(String::as_str).collect();
                for word in words() {
                    for part in compound_parts(&word.spelling, language, &known).into_iter().flatten() {
                        push(Relation::Compound, &part, word);
                    }
                }
            }
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(Set::from_iter(keys)?.into_fst().into_inner())
    }
}

/// Minimum number of letters in a part of a compound.
const PART_LETTERS: usize = 4;

/// The stems of a word's two parts, if both are words in the directory. If there are several ways
/// to split the word, the second part is as long as possible, because that's the compound's head.
fn compound_parts(word: &str, language: Inflected, known: &HashSet<&str>) -> Option<[String; 2]> {
    let ends: Vec<_> = word.char_indices().map(|(at, _)| at).collect();
    let places = ends.get(PART_LETTERS..(ends.len() + 1).saturating_sub(PART_LETTERS))?;
    places.iter().find_map(|at| {
        let (first, second) = word.split_at(*at);
        let second = Some(language.stem(second)).filter(|stem| known.contains(stem.as_str()))?;
        let first = Some(language.stem(first)).filter(|stem| known.contains(stem.as_str()))?;
        Some([first, second])
    })
}

fn sorted_map(mut entries: Vec<(&str, u64)>) -> Result<Vec<u8>, fst::Error> {
    entries.sort_unstable();
    Ok(fst::Map::from_iter(entries)?.into_fst().into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexicon(documents: &[&[(&str, &str)]]) -> Lexicon {
        let mut builder = LexiconBuilder::default();
        for (document, words) in (1..).zip(documents) {
            for (spelling, folded) in *words {
                builder.note(spelling, folded, document);
            }
        }
        let (parts, _) = builder.finish().expect("a lexicon");
        Lexicon::open(parts).expect("it opens")
    }

    #[test]
    fn a_word_that_occurs_twice_in_a_document_counts_once() {
        let lexicon =
            lexicon(&[&[("audit", "audit"), ("audit", "audit")], &[("audit", "audit"), ("permit", "permit")]]);
        let word = |text| lexicon.word(text).expect("a word");
        assert_eq!(lexicon.document_frequency(word("audit")), 2);
        assert_eq!(lexicon.document_frequency(word("permit")), 1);
        assert!(word("audit") < word("permit"), "frequent words have small numbers");
    }

    #[test]
    fn a_word_is_split_wherever_both_halves_are_spellings_of_known_words() {
        let lexicon =
            lexicon(&[&[("über", "uber"), ("sicht", "sicht"), ("ub", "ub"), ("er", "er"), ("ersicht", "ersicht")]]);
        let word = |text| lexicon.word(text).expect("a word");
        let accented = lexicon.accented("über").expect("the spelling");
        let halves = [[word("ub"), word("ersicht")], [word("uber"), word("sicht")], [accented, word("sicht")]];
        let found = |folded| lexicon.halves(folded).collect::<Vec<_>>();
        assert_eq!(found("ubersicht"), halves);
        assert_eq!(found("uber"), [[word("ub"), word("er")]]);
        assert_eq!(found("sicht"), [[0; 2]; 0]);
        assert_eq!(found("安全"), [[0; 2]; 0], "a letter may take several bytes");
    }

    /// A lexicon that contains these German words and `audits`.
    fn german(words: &[(&str, &str)]) -> Lexicon {
        let mut builder = LexiconBuilder::default();
        for (spelling, folded) in words {
            let word = builder.note(spelling, folded, 1);
            builder.inflect(word, Inflected::German);
            builder.inflect(word, Inflected::German);
        }
        builder.note("audits", "audits", 1);
        Lexicon::open(builder.finish().expect("a lexicon").0).expect("it opens")
    }

    fn stems(lexicon: &Lexicon, words: &[&str]) -> Vec<StemId> {
        let mut stems: Vec<_> = words.iter().map(|word| lexicon.stem_of(lexicon.word(word).expect("a word"))).collect();
        stems.sort_unstable();
        stems
    }

    #[test]
    fn words_are_found_by_their_stem_in_their_own_language() {
        let lexicon = german(&[("prüfung", "prufung"), ("prüfungen", "prufungen")]);
        let forms = |language, stem: &str| lexicon.related(Relation::Form, language, stem);
        let stem = Inflected::German.stem("prüfungen");
        assert_eq!(forms(Inflected::German, &stem), stems(&lexicon, &["prufung", "prufungen"]));
        assert_eq!(forms(Inflected::German, "audit"), [0; 0], "not noted as German");
        assert_eq!(forms(Inflected::French, &stem), [0; 0]);
        assert_eq!(lexicon.inflected(), [Inflected::German]);
    }

    #[test]
    fn compounds_are_found_by_parts_that_are_words() {
        let words = [("farbe", "farbe"), ("wähler", "wahler"), ("farbwähler", "farbwahler"), ("farbton", "farbton")];
        let more = [("arbeiten", "arbeiten"), ("schutz", "schutz"), ("arbeitsschutz", "arbeitsschutz")];
        let lexicon = german(&[&words[..], &more].concat());
        let parts = |word: &str| lexicon.related(Relation::Compound, Inflected::German, &Inflected::German.stem(word));
        assert_eq!(parts("Farben".to_lowercase().as_str()), stems(&lexicon, &["farbwahler"]), "ton isn't a word here");
        assert_eq!(parts("wähler"), stems(&lexicon, &["farbwahler"]));
        assert_eq!(parts("arbeit"), stems(&lexicon, &["arbeitsschutz"]));
        assert_eq!(parts("farbwähler"), [0; 0]);
    }
}
