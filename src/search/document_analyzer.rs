//! Finds the words and terms of documents.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::alternatives::replaced;
use super::document_text::{Text, translated_values, values};
use super::forward::{SECTION_END, VALUE_END};
use super::lexicon::{FIRST_WORD, LexiconBuilder, LexiconError, LexiconParts, WordId, next_number};
use super::meaning::{MeaningAnalyzer, record_topics};
use super::pins::Pins;
use super::plan::{INDEXED_PREFIX, Term};
use super::score::{Lengths, Occurrences};
use super::synonym::Thesaurus;
use super::{identity, pieces};
use crate::catalogue::resource::CategoryResource;
use crate::record::{AttributeNumber, Attributes, Language, Pin, Software, SynonymGroup};
use crate::record::{Field, Section};
use crate::text::analyse::{Gap, Word, compound, is_conjunction, name_key, words};
use crate::text::meaning::{Reference, Vector};
use crate::text::stem::Stems;

/// Increment this whenever a change makes any text yield different terms. It's part of a
/// generation's name.
pub const ANALYZER_VERSION: u32 = 5;

/// Analyses documents one at a time. Words have provisional numbers until all documents have been
/// analysed.
#[derive(Debug)]
pub struct DocumentAnalyzer {
    lexicon: LexiconBuilder,
    thesaurus: Thesaurus,
    pins: Pins,
    /// The pin terms of each pinned product, by product id.
    pinned: foldhash::HashMap<Box<str>, Vec<Term>>,
    attributes: Attributes,
    /// The attributes that queries can name values of.
    understood: Vec<AttributeNumber>,
    stems: Stems,
    documents: u32,
    /// The current document's words, as provisional numbers plus [`FIRST_WORD`].
    sequence: Vec<u32>,
    lengths: Lengths,
    /// Each stem's occurrences in the current document's own text.
    stems_found: Tally,
    /// Each stem's occurrences in the current document's translations.
    translated: Tally,
    /// Each word prefix's occurrences in the current document, by prefix number.
    prefixes_found: Tally,
    prefixes: foldhash::HashMap<Box<str>, u32>,
    /// The numbers of each word's shortest prefixes, by the word's provisional number; `None` until
    /// the word first occurs.
    prefixes_of: Vec<Option<[u32; INDEXED_PREFIX]>>,
    /// The current document's other terms, in the same order in every build.
    terms: HashMap<Term, Occurrences, FixedState>,
    /// `None` if documents shouldn't get meanings.
    meaning: Option<MeaningAnalyzer>,
}

/// All documents' words and synonyms, the words' final numbers, and the pinned queries.
#[derive(Debug)]
pub struct Vocabulary {
    pub lexicon: LexiconParts,
    pub thesaurus: Thesaurus,
    pub pins: Pins,
    pub numbering: Numbering,
}

/// Maps provisional word numbers to final ones.
#[derive(Debug)]
pub struct Numbering(Vec<WordId>);

impl Numbering {
    /// Translates a document's words to their final numbers; boundaries are kept.
    pub fn of(&self, provisional: impl Iterator<Item = u32>) -> impl Iterator<Item = WordId> {
        provisional.map(|word| match word.checked_sub(FIRST_WORD) {
            Some(number) => self.0.get(number as usize).copied().unwrap_or(FIRST_WORD),
            None => word,
        })
    }
}

/// Stands for a prefix that doesn't exist because the word is too short.
const NO_PREFIX: u32 = u32::MAX;

impl DocumentAnalyzer {
    pub fn new<'g>(
        synonyms: impl IntoIterator<Item = &'g SynonymGroup>,
        pins: impl IntoIterator<Item = &'g Pin>,
        attributes: &Attributes,
    ) -> Self {
        let pins = Pins::new(pins);
        let thesaurus = Thesaurus::new(synonyms);
        let mut lexicon = LexiconBuilder::default();
        // A query can contain a synonym's words even if no document does.
        for word in thesaurus.vocabulary() {
            lexicon.note(word.spelling(), &word.folded, 0);
        }
        Self {
            lexicon,
            thesaurus,
            pinned: pins.terms(),
            pins,
            attributes: attributes.clone(),
            understood: attributes.understood().map(|(number, _)| number).collect(),
            stems: Stems::default(),
            documents: 0,
            sequence: Vec::new(),
            lengths: Lengths::default(),
            stems_found: Tally::default(),
            translated: Tally::default(),
            prefixes_found: Tally::default(),
            prefixes: foldhash::HashMap::default(),
            prefixes_of: Vec::new(),
            terms: HashMap::default(),
            meaning: None,
        }
    }

    /// Makes the analyzer find the documents' meanings too.
    #[must_use]
    pub fn with_meanings(self) -> Self {
        Self { meaning: Some(MeaningAnalyzer::default()), ..self }
    }

    /// Analyses a product, which becomes the current document. `language` is the language of its
    /// own text, unless that's English.
    pub fn analyse<'c>(
        &mut self,
        software: &Software,
        language: Option<&Language>,
        categories: impl Iterator<Item = &'c CategoryResource>,
    ) {
        self.terms.clear();
        self.stems_found.clear();
        self.translated.clear();
        self.prefixes_found.clear();
        if let Some(meaning) = &mut self.meaning {
            meaning.clear();
        }
        self.documents = self.documents.saturating_add(1);
        let document = self.documents;
        let categories: Vec<_> = categories.collect();
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.clear();
        let (mut lengths, mut names) = (Lengths::default(), 0);
        let attributes = std::mem::take(&mut self.attributes);
        let declared: Vec<_> = attributes.searched().map(|attribute| attribute.values_of(software)).collect();
        for (length, section) in lengths.iter_mut().zip(Section::ALL) {
            let own = values(software, section, language, &categories, &attributes, &declared);
            for text in own.chain(translated_values(software, section, &categories)) {
                let words = self.push_value(&text, document, &mut sequence);
                // Translations don't count towards the length.
                *length += if text.is_own { words } else { 0 };
                names += u32::from(text.is_own && section == Section::Name);
            }
            sequence.push(SECTION_END);
        }
        for number in &self.understood {
            let attribute = attributes.get(*number);
            let values = attribute.values_of(software);
            for key in values.iter().filter_map(|value| attribute.kind.key(value)).filter(|key| key != "false") {
                add_once(&mut self.terms, Term::attribute_value(*number, &key), Occurrences::one(Field::Name));
            }
        }
        self.attributes = attributes;
        if let Some(meaning) = &mut self.meaning {
            meaning.finish();
        }
        self.add_translated();
        for category in categories {
            self.add_once(Term::Category(category.id.as_str().into()), Occurrences::one(Field::Category));
        }
        self.sequence = sequence;
        let here = Occurrences::one(Field::Name);
        identity::add_product(software, |term| self.add_once(term, here));
        for term in self.pinned.get(&software.id).into_iter().flatten() {
            add_once(&mut self.terms, term.clone(), here);
        }
        // A second name doesn't make the first one longer, so the length is the mean of all names'
        // lengths.
        lengths[Section::Name as usize] = lengths[Section::Name as usize].div_ceil(names.max(1));
        self.lengths = lengths;
    }

    /// All terms, including topics.
    pub fn terms(&self) -> impl Iterator<Item = (Term, Occurrences)> {
        let topics = self.reference().into_iter().flat_map(|reference| record_topics(&reference));
        let terms = self.numbered_terms().map(|(_, term, occurrences)| (term.clone(), occurrences));
        terms.chain(topics.map(|(topic, occurrences)| (Term::Topic(topic), occurrences)))
    }

    /// The terms except topics, with numbers for words and prefixes. Topics take a while to find,
    /// so they can be found on another thread, given the [`Self::reference`].
    pub fn numbered_terms(&self) -> impl Iterator<Item = (Option<u32>, &Term, Occurrences)> {
        let others = self.terms.iter().map(|(term, occurrences)| (None, term, *occurrences));
        let numbered = self.stems_found.iter().chain(self.prefixes_found.iter());
        let numbered = numbered.map(|(number, term, occurrences)| (Some(number), term, occurrences));
        numbered.chain(others)
    }

    /// The current document's words by provisional number, with boundaries.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.sequence.iter().copied()
    }

    pub const fn lengths(&self) -> Lengths {
        self.lengths
    }

    pub const fn has_meanings(&self) -> bool {
        self.meaning.is_some()
    }

    /// The current document's meaning; `None` if the document isn't in English, or if documents
    /// don't have meanings.
    pub fn reference(&self) -> Option<Reference> {
        self.meaning.as_ref().and_then(MeaningAnalyzer::reference)
    }

    /// The current document's vector; `None` if documents don't have meanings.
    pub fn meaning(&self) -> Option<Vector> {
        self.meaning.as_ref().map(MeaningAnalyzer::vector)
    }

    /// Returns what's needed to understand queries. Documents analysed later may only use these
    /// words.
    pub fn vocabulary(&self) -> Result<Vocabulary, LexiconError> {
        let mut thesaurus = self.thesaurus.clone();
        thesaurus.retain_terms_of(self.lexicon.words_of_documents());
        let (lexicon, numbering) = self.lexicon.finish()?;
        Ok(Vocabulary { lexicon, thesaurus, pins: self.pins.clone(), numbering: Numbering(numbering) })
    }

    /// Adds one value's terms. Returns how many words were added to its section.
    fn push_value(&mut self, value: &Text<'_>, document: u32, sequence: &mut Vec<u32>) -> u32 {
        let Text { field, content: text, .. } = *value;
        let inflected = value.inflected();
        let words = words(text);
        let here = Occurrences::one(field);
        let mut length = 0;
        for (at, word) in words.iter().enumerate() {
            let number = self.lexicon.note(word.spelling(), &word.folded, document);
            if let Some(language) = inflected {
                self.lexicon.inflect(number, language);
            }
            if MeaningAnalyzer::reads(field)
                && value.is_english()
                && let Some(meaning) = &mut self.meaning
            {
                meaning.push(number, &word.folded);
            }
            self.add_word(number, here, value.is_own);
            for part in parts(&word.folded) {
                let number = self.lexicon.note(part, part, document);
                self.add_word(number, here, value.is_own);
            }
            self.add_prefixes(number, &word.folded, here);
            if let Some(spelled) = word.spelled_out() {
                let number = self.lexicon.note(&spelled, &spelled, document);
                if let Some(language) = inflected {
                    self.lexicon.inflect(number, language);
                }
                self.add_word(number, here, value.is_own);
                self.add_prefixes(number, &spelled, here);
            }
            pieces::add_later_parts(word, &self.stems, |term| add_once(&mut self.terms, term, here));
            if field != Field::CategoryDescription {
                sequence.push(number + FIRST_WORD);
                length += 1;
            }
            if let Some(next) = words.get(at + 1)
                && is_compound(field, word, next)
            {
                let joined = compound(word, next);
                self.add_once(Term::Compound(self.stems.of(&joined).into()), here);
            }
            if field.section() != Section::Body
                && let [next, behind, ..] = &words[at + 1..]
                && is_conjunction(&next.folded)
            {
                let joined = compound(word, behind);
                self.add_once(Term::Compound(self.stems.of(&joined).into()), here);
            }
        }
        match field {
            Field::Name | Field::Alias => self.push_name(text, &words),
            Field::AlternativeTo => self.add_once(Term::AlternativeTo(name_key(&words).into()), here),
            Field::Tagline | Field::Description => {
                for key in replaced(text, &words) {
                    self.add_once(Term::AlternativeTo(key.into()), here);
                }
            }
            _ => {}
        }
        for mention in self.thesaurus.mentions(text, &words, &self.stems, false) {
            for concept in mention.means {
                let occurrences = self.terms.entry(Term::Concept(*concept)).or_default();
                if value.is_own { occurrences.add(here) } else { occurrences.most(here) }
            }
        }
        if field == Field::CategoryDescription {
            return 0;
        }
        sequence.push(VALUE_END);
        length
    }

    /// Adds the terms that let queries find a name as a whole and by the beginnings of its words.
    fn push_name(&mut self, text: &str, words: &[Word]) {
        let here = Occurrences::one(Field::Name);
        identity::add_name(text, words, |term| add_once(&mut self.terms, term, here));
        pieces::add_runs(text, words, &self.stems, |term| add_once(&mut self.terms, term, here));
        for (at, word) in words.iter().enumerate() {
            let joined = words.get(at + 1).map(|next| compound(word, next));
            for written in [Some(word.folded.as_str()), joined.as_deref()].into_iter().flatten() {
                self.add_once(Term::NameWord(written.into()), here);
                for prefix in prefixes(written) {
                    self.add_once(Term::NamePrefix(prefix.into()), here);
                }
            }
        }
    }

    /// Adds a word's stem, given the word's provisional number.
    fn add_word(&mut self, number: u32, here: Occurrences, is_own: bool) {
        let stem = self.lexicon.stem(number);
        let found = if is_own { &mut self.stems_found } else { &mut self.translated };
        found.reach(stem, Term::Word);
        found.of(stem).add(here);
    }

    /// Adds translated words. A word that's also in the document's own text gets the higher of the
    /// two counts in each section.
    fn add_translated(&mut self) {
        for (stem, _, occurrences) in self.translated.iter() {
            self.stems_found.reach(stem, Term::Word);
            self.stems_found.of(stem).most(occurrences);
        }
    }

    fn add_prefixes(&mut self, number: u32, folded: &str, here: Occurrences) {
        for prefix in self.prefixes_of(number, folded).into_iter().filter(|prefix| *prefix != NO_PREFIX) {
            self.prefixes_found.of(prefix).best(here);
        }
    }

    fn prefixes_of(&mut self, number: u32, folded: &str) -> [u32; INDEXED_PREFIX] {
        let at = number as usize;
        if self.prefixes_of.len() <= at {
            self.prefixes_of.resize(at + 1, None);
        }
        if let Some(numbers) = self.prefixes_of[at] {
            return numbers;
        }
        let mut numbers = [NO_PREFIX; INDEXED_PREFIX];
        for (number, prefix) in numbers.iter_mut().zip(prefixes(folded)) {
            let next = next_number(self.prefixes.len());
            *number = match self.prefixes.get(prefix) {
                Some(known) => *known,
                None => *self.prefixes.entry(prefix.into()).or_insert(next),
            };
            self.prefixes_found.reach(*number, |_| Term::Prefix(prefix.into()));
        }
        self.prefixes_of[at] = Some(numbers);
        numbers
    }

    fn add_once(&mut self, term: Term, occurrence: Occurrences) {
        add_once(&mut self.terms, term, occurrence);
    }
}

/// Adds a term that counts once per document, in the best field that contains it.
fn add_once(terms: &mut HashMap<Term, Occurrences, FixedState>, term: Term, occurrence: Occurrences) {
    terms.entry(term).or_default().best(occurrence);
}

/// Whether two neighbouring words may be meant as one word. In short fields, any two may be. In
/// running text most neighbours are unrelated, so only a hyphenated pair or a word followed
/// by a number (`ISO 9001`) counts.
fn is_compound(field: Field, word: &Word, next: &Word) -> bool {
    let numbered = || {
        word.folded.bytes().all(|byte| byte.is_ascii_lowercase())
            && next.folded.bytes().all(|byte| byte.is_ascii_digit())
    };
    match next.gap {
        Gap::Break | Gap::Edition => false,
        Gap::Joined => true,
        Gap::Space => field.section() != Section::Body || field == Field::Feature || numbered(),
    }
}

/// The parts of a word that people may search for on their own: `iso` and `9001` in `iso9001`, `c`
/// in `c++`, `net` in `.net`.
fn parts(folded: &str) -> impl Iterator<Item = &str> {
    let bare = folded.trim_matches(['+', '#', '.']);
    let odd = (bare != folded && !bare.is_empty()).then_some(bare);
    let digits = folded
        .find(|c: char| c.is_ascii_digit())
        .filter(|at| *at >= 2 && folded.len() - at >= 2 && folded[..*at].bytes().all(|byte| byte.is_ascii_lowercase()));
    let numbered = digits
        .filter(|at| folded[*at..].bytes().all(|byte| byte.is_ascii_digit()))
        .map(|at| [&folded[..at], &folded[at..]])
        .into_iter()
        .flatten();
    odd.into_iter().chain(numbered)
}

/// All prefixes of a word, shortest first, including the word itself.
fn prefixes(word: &str) -> impl Iterator<Item = &str> {
    word.char_indices().map(|(at, c)| &word[..at + c.len_utf8()])
}

/// Counts the occurrences of numbered terms in a document. Uses arrays, because hashing terms this
/// frequent took longer than the rest of indexing.
#[derive(Debug, Default)]
struct Tally {
    terms: Vec<Term>,
    /// Occurrences in the current document, by term number.
    occurrences: Vec<Occurrences>,
    /// The numbers of the current document's terms.
    found: Vec<u32>,
}

impl Tally {
    /// Makes room for term numbers up to and including `number`.
    fn reach(&mut self, number: u32, term: impl Fn(u32) -> Term) {
        let end = number as usize + 1;
        if self.terms.len() < end {
            self.terms.extend((0..=number).skip(self.terms.len()).map(term));
            self.occurrences.resize(end, Occurrences::default());
        }
    }

    fn of(&mut self, number: u32) -> &mut Occurrences {
        let occurrences = &mut self.occurrences[number as usize];
        if *occurrences == Occurrences::default() {
            self.found.push(number);
        }
        occurrences
    }

    fn clear(&mut self) {
        for number in self.found.drain(..) {
            self.occurrences[number as usize] = Occurrences::default();
        }
    }

    /// The document's terms with their numbers and occurrences.
    fn iter(&self) -> impl Iterator<Item = (u32, &Term, Occurrences)> {
        let of = |number: u32| (number, &self.terms[number as usize], self.occurrences[number as usize]);
        self.found.iter().copied().map(of)
    }
}
