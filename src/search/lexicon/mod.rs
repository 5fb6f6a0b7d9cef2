//! A generation's words: which spellings occur, how often, and which share a stem.

mod builder;
mod forms;

use std::sync::Arc;

use bytes::Bytes;
use fst::Map;
use serde::{Deserialize, Serialize};

pub use self::builder::LexiconBuilder;
use self::forms::Forms;
pub use self::forms::Relation;
use crate::scratch::decode;
use crate::text::stem::Inflected;

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
    /// Each word's stem.
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

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The map of folded words, to search with automata.
    pub fn words(&self) -> &Map<Bytes> {
        &self.words
    }
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
    fn an_accented_word_is_also_known_by_its_folded_form() {
        let lexicon = lexicon(&[&[("zürich", "zurich")]]);
        let plain = lexicon.word("zurich").expect("the folded word");
        let accented = lexicon.accented("zürich").expect("the spelling");
        assert_ne!(plain, accented);
        assert_eq!(lexicon.stem_of(plain), lexicon.stem_of(accented));
        assert_eq!(lexicon.document_frequency(plain), 1);
        assert_eq!(lexicon.word("zürich"), None);
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

    #[test]
    fn forms_of_a_word_share_a_stem() {
        let lexicon = lexicon(&[&[("permits", "permits"), ("permit", "permit")]]);
        let stem = |text| lexicon.stem_of(lexicon.word(text).expect("a word"));
        assert_eq!(stem("permits"), stem("permit"));
        assert_eq!(lexicon.stem("permit"), Some(stem("permit")));
    }
}
