//! Highlights a query's matches in hits' text.

use std::ops::Range;

use bytes::Bytes;
use foldhash::HashMap;

use self::marks::Scratch;
use self::matches::{ALIASES, CATEGORIES, NAME, slots};
use crate::catalogue::resource::{CategoryRef, DetailFields, SoftwareDetail, SoftwareItem};
use crate::generation::Snapshot;
use crate::index::{Hit, HitTexts, SearchHits};
use crate::record::{Language, Section, Translations, searched};
use crate::search::Term;
use crate::search::budget::Budget;
use crate::search::expand::{Expansion, Slot};
use crate::search::forward::{SECTION_END, VALUE_END};
use crate::search::lexicon::WordId;
use crate::service::ServiceError;
use crate::text::analyse::{self, words};

mod marks;
mod matches;

/// How many budget units it costs to highlight a hit, in addition to the units for its text.
const HIT: usize = 100;

/// How many bytes of a hit's encoded words are compared with the query per budget unit.
const COMPARED_AT_ONCE: usize = 4;

/// How many bytes of a hit's JSON are parsed per budget unit.
const PARSED_AT_ONCE: usize = 12;

/// How many bytes of plain text are searched for words per budget unit. Other bytes take a unit
/// each, and the word that they're in takes the slow path.
const SCANNED_AT_ONCE: usize = 16;
const SLOW_WORD: usize = 8;

/// The maximum number of pairs of words to recognise as one of the query's compounds.
const MAX_HALVES: usize = 64;

/// Expected size of a hit's highlights in bytes.
const HIGHLIGHT_BYTES: usize = 768;

pub(super) struct Highlighter<'s> {
    snapshot: &'s Snapshot,
    expansion: &'s Expansion,
    budget: &'s Budget,
    /// The response's language.
    language: Option<&'s Language>,
    /// The last word as a prefix, if it's short enough to be a term itself. Longer prefixes are
    /// expanded to stems.
    prefix: Option<&'s str>,
    /// The last word as a prefix that only matches names.
    name_prefix: Option<&'s str>,
    /// Ids of the categories that the query searches for.
    categories: Vec<&'s str>,
    words: Slots,
    /// Whether word numbers alone find every match.
    is_found_by_word_numbers: bool,
    /// The two halves of each compound written as two words, with the compound's slots.
    compounds: HashMap<[WordId; 2], Slots>,
    /// The matched words in category descriptions, by category id. Cached because many hits share
    /// categories.
    described: HashMap<String, Vec<Description<'s>>>,
    scratch: Scratch,
}

struct Description<'s> {
    text: &'s str,
    /// The translation's language; `None` for the category's own description.
    language: Option<&'s Language>,
    matches: Vec<(Range<usize>, Slots)>,
}

/// A bitmap of the query's slots.
type Slots = u32;

impl<'s> Highlighter<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot,
        expansion: &'s Expansion,
        budget: &'s Budget,
        language: Option<&'s Language>,
    ) -> Self {
        let has = |slot: &Slot, kind: fn(&Term) -> bool| slot.alternatives.iter().any(|of| kind(&of.term));
        let prefix = |kind: fn(&Term) -> bool| {
            expansion.slots.iter().find(|slot| has(slot, kind)).and_then(|slot| slot.prefix.as_deref())
        };
        let mut categories = Vec::new();
        let mut compounds = HashMap::default();
        for (at, slot) in expansion.slots.iter().enumerate() {
            for term in slot.alternatives.iter().map(|alternative| &alternative.term) {
                if let Term::Category(id) = term {
                    categories.push(&**id);
                }
                let Term::Compound(stem) = term else { continue };
                let halves = snapshot.search.lexicon.halves(&slot.word.folded);
                for halves in halves.chain(snapshot.search.lexicon.halves(stem)).take(MAX_HALVES) {
                    compounds.entry(halves).or_insert(1 << at);
                }
            }
        }
        let (name_prefix, prefix) =
            (prefix(|term| matches!(term, Term::NamePrefix(_))), prefix(|term| matches!(term, Term::Prefix(_))));
        let is_found_by_word_numbers =
            prefix.is_none() && name_prefix.is_none() && categories.is_empty() && expansion.concepts.is_empty();
        Self {
            snapshot,
            expansion,
            budget,
            language,
            prefix,
            name_prefix,
            categories,
            words: slots(expansion, |term| matches!(term, Term::Word(_))),
            is_found_by_word_numbers,
            compounds,
            described: HashMap::default(),
            scratch: Scratch::default(),
        }
    }

    /// For each hit, a JSON array of [`Highlight`](crate::catalogue::resource::Highlight)s: one for
    /// each field that matches, highest weight first, or for each value that matches if the field
    /// is a list. The array is empty for hits without text. Text beyond the budget isn't marked.
    pub(super) fn highlights(mut self, found: &SearchHits) -> Result<Box<[Bytes]>, ServiceError> {
        // All hits share one buffer, because allocating one per hit would take as long as the
        // copying.
        self.scratch.json.reserve(found.hits.len() * HIGHLIGHT_BYTES);
        let mut ends = Vec::with_capacity(found.hits.len());
        let texts = found.texts.iter().map(Some).chain(std::iter::repeat(None));
        for (hit, texts) in found.hits.iter().zip(texts) {
            self.scratch.begin_hit();
            if let Some(texts) = texts.filter(|_| !hit.tier.is_related()) {
                self.append(hit, texts)?;
            }
            self.scratch.json.push(b']');
            ends.push(self.scratch.json.len());
        }
        self.scratch.json.shrink_to_fit();
        let json = Bytes::from(self.scratch.json);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Ok(starts.zip(&ends).map(|(start, end)| json.slice(start..*end)).collect())
    }

    fn append(&mut self, hit: &Hit, texts: &HitTexts) -> Result<(), ServiceError> {
        let compared = texts.words.size_bytes() / COMPARED_AT_ONCE;
        let parsed = (hit.item.len() + texts.detail.len()) / PARSED_AT_ONCE;
        if !self.budget.pay(HIT + compared + parsed) {
            return Ok(());
        }
        self.mark(texts.words.iter());
        let item: SoftwareItem<'_> = serde_json::from_str(text(&hit.item)?)?;
        let json = text(&texts.detail)?;
        let product = SoftwareDetail { item, detail: serde_json::from_str(json)? };
        let all = if texts.is_shortened { Some(serde_json::from_str::<SoftwareItem<'_>>(json)?) } else { None };
        let categories = all.as_ref().map_or(&product.item.categories, |whole| &whole.categories);
        self.append_texts(&product, categories)?;
        self.category_descriptions(&product.item.categories)?;
        Ok(())
    }

    /// Appends a product's text in the order in which the index stores its words, so that no word
    /// has to be looked up.
    ///
    /// `categories` are all of the product's; its item may only have the first few.
    fn append_texts(
        &mut self,
        product: &SoftwareDetail<'_>,
        categories: &[CategoryRef<'_>],
    ) -> Result<(), serde_json::Error> {
        self.title(product)?;
        self.summary(product, categories)?;
        self.body(&product.detail)
    }

    fn title(&mut self, SoftwareDetail { item, detail }: &SoftwareDetail<'_>) -> Result<(), serde_json::Error> {
        let Range { start: mut next, end } = self.scratch.section(Section::Name);
        self.highlight_translations(NAME, &detail.translations, end, Turn::BeforeOwn)?;
        if self.may_match(next..end) {
            next = self.highlight_all(NAME, next, [&item.name])?;
        }
        self.highlight_translations(NAME, &detail.translations, end, Turn::AfterOwn)?;
        if self.may_match(next..end) {
            self.highlight_all(ALIASES, next, &detail.aliases)?;
        }
        Ok(())
    }

    fn summary(
        &mut self,
        product: &SoftwareDetail<'_>,
        categories: &[CategoryRef<'_>],
    ) -> Result<(), serde_json::Error> {
        let SoftwareDetail { item, detail } = product;
        let translations = &detail.translations;
        let Range { start: mut next, end } = self.scratch.section(Section::Summary);
        self.highlight_translations(TAGLINE, translations, end, Turn::BeforeOwn)?;
        if self.may_match(next..end) {
            next = self.highlight_all(TAGLINE, next, &item.tagline)?;
        }
        self.highlight_translations(TAGLINE, translations, end, Turn::AfterOwn)?;
        if self.snapshot.catalogue.tables.languages.are_several() {
            let end = end.saturating_sub(translations.of(TAGLINE).count());
            self.highlight_translated_categories(&item.categories, categories, end)?;
        }
        let attributes = &self.snapshot.catalogue.tables.attributes;
        if self.may_match(next..end) {
            for property in searched(Section::Summary).filter(|property| property.name != TAGLINE) {
                if property.attribute.is_some() && !attributes.is_searchable(property.name) {
                    continue;
                }
                if property.name == CATEGORIES {
                    self.highlight_all(CATEGORIES, next, item.categories.iter().map(|category| &category.name))?;
                    next += categories.len();
                } else {
                    next = self.highlight_all(property.name, next, product.texts(property.name).unwrap_or_default())?;
                }
            }
        }
        if attributes.searched().next().is_none() || !self.may_match(next..end) {
            return Ok(());
        }
        for attribute in attributes.searched() {
            next = self.highlight_all(&attribute.property, next, &product.values(attribute))?;
        }
        Ok(())
    }

    fn body(&mut self, detail: &DetailFields<'_>) -> Result<(), serde_json::Error> {
        let Range { start: first, end } = self.scratch.section(Section::Body);
        let translations = &detail.translations;
        let last = self.description_value(translations);
        // The settings come between the features and the description, but aren't shown.
        if self.may_match(first..last) {
            self.highlight_all("features", first, &detail.features)?;
        }
        self.highlight_translations(DESCRIPTION, translations, end, Turn::BeforeOwn)?;
        self.highlight_all(DESCRIPTION, last, &detail.description)?;
        self.highlight_translations(DESCRIPTION, translations, end, Turn::AfterOwn)
    }

    /// The description is the last value in the body, apart from its translations.
    fn description_value(&self, translations: &Translations) -> usize {
        let body = self.scratch.section(Section::Body);
        body.end.saturating_sub(1 + translations.of(DESCRIPTION).count()).max(body.start)
    }

    /// Appends category descriptions that have query words the product itself doesn't have.
    fn category_descriptions(&mut self, categories: &[CategoryRef<'_>]) -> Result<(), serde_json::Error> {
        let missing = self.words & !self.scratch.found;
        let Self { snapshot: Snapshot { search, catalogue, .. }, expansion, budget, described, scratch, .. } = self;
        if missing == 0 {
            return Ok(());
        }
        for CategoryRef { id, .. } in categories {
            if !described.contains_key(&**id) {
                let category = catalogue.category_by_id(id);
                let own = category.and_then(|category| category.description.as_deref()).map(|text| (None, text));
                let others = category.into_iter().flat_map(|category| category.translations.of(DESCRIPTION));
                let others = others.map(|(language, text)| (Some(language), text));
                let texts =
                    own.into_iter().chain(others).filter(|(_, text)| budget.pay(text.len() * 4 + 8 * scanning(text)));
                let texts = texts.map(|(language, text)| {
                    let slots = |word: &str| expansion.stems.of(search.lexicon.stem(&search.stems.of(word))?);
                    let words = words(text).into_iter();
                    let matches = words.filter_map(|word| Some((word.start..word.end, slots(&word.folded)?))).collect();
                    Description { text, language, matches }
                });
                described.insert(id.to_string(), texts.collect());
            }
            for Description { text, language, matches } in described.get(&**id).into_iter().flatten() {
                if !budget.pay(matches.len() + scanning(text)) {
                    break;
                }
                scratch.places.clear();
                let explaining = matches.iter().filter(|(_, slots)| slots & missing != 0);
                scratch.places.extend(explaining.map(|(place, _)| place.clone()));
                scratch.write("category_description", text, None, *language)?;
            }
        }
        Ok(())
    }

    /// Marks a product's matched words by their numbers in the forward index.
    fn mark(&mut self, words: impl Iterator<Item = WordId>) {
        let Self {
            snapshot: Snapshot { search, .. },
            expansion,
            compounds,
            scratch: Scratch { marked, values, sections, found, .. },
            ..
        } = self;
        marked.clear();
        values.clear();
        sections.clear();
        *found = 0;
        let stems = search.lexicon.stems();
        let (mut number, mut before) = (0, VALUE_END);
        for word in words {
            if word == VALUE_END || word == SECTION_END {
                if word == VALUE_END {
                    values.push(marked.len());
                } else {
                    sections.push(values.len());
                }
                (number, before) = (0, VALUE_END);
                continue;
            }
            let compound = if compounds.is_empty() { None } else { compounds.get(&[before, word]) };
            let is_second = compound.is_some();
            if is_second && marked[values.last().copied().unwrap_or(0)..].last() != Some(&(number - 1)) {
                marked.push(number - 1);
            }
            let slots = expansion.stems.of(stems[word as usize]);
            if is_second || slots.is_some() {
                *found |= slots.unwrap_or(0) | compound.copied().unwrap_or(0);
                marked.push(number);
            }
            (number, before) = (number + 1, word);
        }
    }

    /// Whether there may be a match in any of these values.
    fn may_match(&self, values: Range<usize>) -> bool {
        !values.is_empty() && (!self.is_found_by_word_numbers || !self.scratch.marked(values).is_empty())
    }

    /// Appends a field's values that have matches. `first` is the first value's number. Returns the
    /// number after the last value's.
    fn highlight_all<'t>(
        &mut self,
        field: &str,
        first: usize,
        texts: impl IntoIterator<Item = &'t (impl AsRef<str> + 't)>,
    ) -> Result<usize, serde_json::Error> {
        let mut next = first;
        for text in texts {
            self.highlight(field, next, text.as_ref(), None)?;
            next += 1;
        }
        Ok(next)
    }

    /// Appends text with its matches, if any, as far as the budget allows looking for them. Matches
    /// by word number have already been marked. `language` is set if the text is a translation.
    fn highlight(
        &mut self,
        field: &str,
        value: usize,
        text: &str,
        language: Option<&Language>,
    ) -> Result<(), serde_json::Error> {
        if !self.may_match(value..value + 1) {
            return Ok(());
        }
        let units = text.len() * if self.expansion.concepts.is_empty() { 4 } else { 12 };
        let mut by = None;
        // In languages that aren't shown, only indexed words are marked, because looking for other
        // matches in every translation would multiply the cost.
        let is_other = language.is_some_and(|language| self.turn(language) == Turn::AfterOwn);
        if self.is_found_by_word_numbers || is_other || !self.budget.pay(units) {
            if !self.budget.pay(scanning(text)) {
                return Ok(());
            }
            let mut places = std::mem::take(&mut self.scratch.places);
            analyse::places_of(text, self.scratch.marked(value..value + 1), &mut places);
            self.scratch.places = places;
        } else {
            // Matches without a word number may be in any text.
            let marked = self.all_marked(field, text, self.scratch.marked(value..value + 1));
            self.scratch.found |= marked.slots;
            by = marked.is_synonym.then_some(SYNONYM);
            self.scratch.places = marked.places;
        }
        self.scratch.write(field, text, by, language)
    }
}

/// The fields other than the name that have translations.
const TAGLINE: &str = "tagline";
const DESCRIPTION: &str = "description";

/// The value of [`Highlight::by`](crate::catalogue::resource::Highlight::by) for text that only
/// synonyms match.
const SYNONYM: &str = "synonym";

/// How many budget units it takes to search text for words.
fn scanning(text: &str) -> usize {
    let others = text.bytes().map(|byte| usize::from(byte >> 7)).sum::<usize>();
    let begun = text.as_bytes().windows(2).filter(|pair| pair[0].is_ascii() && !pair[1].is_ascii());
    text.len() / SCANNED_AT_ONCE + others + SLOW_WORD * begun.count()
}

/// Validates UTF-8 for the whole JSON at once, which is faster than string by string.
fn text(json: &[u8]) -> Result<&str, serde_json::Error> {
    std::str::from_utf8(json).map_err(serde::de::Error::custom)
}

/// Whether a translation comes before or after the record's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    BeforeOwn,
    AfterOwn,
}

impl Highlighter<'_> {
    /// Appends a field's translations that have matches. They're the last values of a section,
    /// which ends at `end`.
    fn highlight_translations(
        &mut self,
        field: &str,
        translations: &Translations,
        end: usize,
        turn: Turn,
    ) -> Result<(), serde_json::Error> {
        let texts: Vec<_> = translations.of(field).collect();
        let first = end.saturating_sub(texts.len());
        for (value, (language, text)) in (first..).zip(texts) {
            if self.turn(language) == turn {
                self.highlight(field, value, text, Some(language))?;
            }
        }
        Ok(())
    }

    /// Appends translated category names that have matches. They're the values just before `end`.
    fn highlight_translated_categories(
        &mut self,
        shown: &[CategoryRef<'_>],
        all: &[CategoryRef<'_>],
        end: usize,
    ) -> Result<(), serde_json::Error> {
        let catalogue = &self.snapshot.catalogue;
        let names = |id: &str| {
            let category = catalogue.category_by_id(id);
            category.into_iter().flat_map(|category| category.translations.of("name"))
        };
        let count: usize = all.iter().map(|category| names(&category.id).count()).sum();
        let first = end.saturating_sub(count);
        let shown = shown.iter().flat_map(|category| names(&category.id));
        for (value, (language, name)) in (first..).zip(shown) {
            self.highlight(CATEGORIES, value, name, Some(language))?;
        }
        Ok(())
    }

    /// A translation comes before the record's own text if it's in the response's language.
    fn turn(&self, language: &Language) -> Turn {
        let is_shown = self.language.is_some_and(|shown| shown.is_of(language));
        if is_shown { Turn::BeforeOwn } else { Turn::AfterOwn }
    }
}
