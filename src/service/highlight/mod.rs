//! Highlights: the matches of a query in a hit's texts.

mod html;
mod scratch;
mod spans;
mod texts;

use std::ops::Range;

use rustc_hash::FxHashMap;

use self::scratch::Scratch;
use self::texts::{Category, DetailTexts, ItemTexts, Text};
use crate::engine::{Hit, HitTexts};
use crate::record::slug;
use crate::search::Term;
use crate::search::analyse::{self, words};
use crate::search::budget::Budget;
use crate::search::collect::Tier;
use crate::search::expand::{Expansion, slot::Slot};
use crate::search::forward::{SECTION_END, VALUE_END};
use crate::search::lexicon::WordId;
use crate::service::ServiceError;
use crate::snapshot::Snapshot;

/// The units of the budget for highlighting a hit, in addition to those for its words.
const HIT: usize = 100;

/// Highlights the matches of one query.
pub(super) struct Highlighter<'s> {
    snapshot: &'s Snapshot,
    expansion: &'s Expansion,
    budget: &'s Budget,
    /// The last word as a prefix, if it is short enough to be a term of its own; a longer one is expanded to stems.
    prefix: Option<&'s str>,
    /// The last word as a prefix of names alone.
    name_prefix: Option<&'s str>,
    /// The ids of the categories that are searched for as such.
    categories: Vec<&'s str>,
    /// The two words of each compound that is written apart, and the slot that it stands for.
    compounds: Vec<([WordId; 2], Slots)>,
    /// The matched words of descriptions of categories, each with its slots: many hits are in the same ones.
    described: FxHashMap<String, Description<'s>>,
    scratch: Scratch,
}

/// The description of a category and its matched words.
#[derive(Default)]
struct Description<'s> {
    text: &'s str,
    matches: Vec<(Range<usize>, Slots)>,
}

/// Slots of the query, a bit each.
type Slots = u32;

impl<'s> Highlighter<'s> {
    /// A highlighter for the hits of a query.
    pub(super) fn new(snapshot: &'s Snapshot, expansion: &'s Expansion, budget: &'s Budget) -> Self {
        let has = |slot: &Slot, kind: fn(&Term) -> bool| slot.alternatives.iter().any(|of| kind(&of.term));
        let prefix = |kind: fn(&Term) -> bool| {
            expansion.slots.iter().find(|slot| has(slot, kind)).and_then(|slot| slot.prefix.as_deref())
        };
        let mut categories = Vec::new();
        let mut compounds = Vec::new();
        for (at, slot) in expansion.slots.iter().enumerate() {
            for term in slot.alternatives.iter().map(|alternative| &alternative.term) {
                if let Term::Category(id) = term {
                    categories.push(&**id);
                }
                let Term::Compound(stem) = term else { continue };
                let halves = snapshot.search.lexicon.halves(&slot.word.folded);
                let halves = halves.into_iter().chain(snapshot.search.lexicon.halves(stem));
                compounds.extend(halves.map(|halves| (halves, 1 << at)));
            }
        }
        Self {
            snapshot,
            expansion,
            budget,
            prefix: prefix(|term| matches!(term, Term::Prefix(_))),
            name_prefix: prefix(|term| matches!(term, Term::NamePrefix(_))),
            categories,
            compounds,
            described: FxHashMap::default(),
            scratch: Scratch::default(),
        }
    }

    /// The fields of a product that the query matched, in the order of their weight; of a list each value that has a match. A
    /// JSON array of [`Highlight`](crate::resource::Highlight), empty for a hit without texts.
    ///
    /// # Errors
    /// Where the product's text is damaged, or a highlight can't be written as JSON.
    pub(super) fn highlights(&mut self, hit: &Hit, texts: Option<&HitTexts>) -> Result<Vec<u8>, ServiceError> {
        self.scratch.json.clear();
        self.scratch.json.push(b'[');
        self.scratch.found = 0;
        if let Some(texts) = texts.filter(|_| self.budget.allows_more()) {
            self.budget.spend(HIT + texts.words.size_bytes());
            let item: ItemTexts<'_> = serde_json::from_str(text(&hit.item)?)?;
            let detail: DetailTexts<'_> = serde_json::from_str(text(&texts.fields)?)?;
            let mut words = texts.words.iter();
            // The values in the order in which the index has their words, so that no word has to be looked up.
            self.mark(&mut words);
            self.title(&item, &detail)?;
            self.mark(&mut words);
            self.summary(&item, &detail)?;
            self.mark(&mut words);
            self.body(&detail)?;
            // A product with some of the words is explained by those that it has.
            if hit.tier >= Tier::Demo || self.scratch.found == 0 {
                self.category_descriptions(&item.categories)?;
            }
        }
        self.scratch.json.push(b']');
        Ok(self.scratch.json.clone())
    }

    fn title(&mut self, item: &ItemTexts<'_>, detail: &DetailTexts<'_>) -> Result<(), serde_json::Error> {
        let mut next = 0;
        if self.may_match_from(next) {
            next = self.highlight_all(NAME, next, [&item.name])?;
        }
        if self.may_match_from(next) {
            self.highlight_all(ALIASES, next, &detail.aliases)?;
        }
        Ok(())
    }

    fn summary(&mut self, item: &ItemTexts<'_>, detail: &DetailTexts<'_>) -> Result<(), serde_json::Error> {
        let mut next = 0;
        if self.may_match_from(next) {
            next = self.highlight_all("tagline", next, &item.tagline)?;
        }
        if self.may_match_from(next) {
            next = self.highlight_all(CATEGORIES, next, item.categories.iter().map(|category| &category.name))?;
            next = self.highlight_all("tags", next, &detail.tags)?;
            next = self.highlight_all("vendor", next, &item.vendor)?;
            next = self.highlight_all("standards", next, &detail.standards)?;
            self.highlight_all("alternative_to", next, &detail.alternative_to)?;
        }
        Ok(())
    }

    fn body(&mut self, detail: &DetailTexts<'_>) -> Result<(), serde_json::Error> {
        // Between features and description are the settings, which aren't shown.
        let last = self.scratch.values.len().saturating_sub(1);
        if self.may_match(0..last) {
            self.highlight_all("features", 0, &detail.features)?;
        }
        if self.may_match_from(last) {
            let description: Option<Text<'_>> =
                detail.description.map(|text| serde_json::from_str(text.get())).transpose()?;
            self.highlight_all("description", last, &description)?;
        }
        Ok(())
    }

    /// Appends the descriptions of categories with words that the product itself doesn't have.
    fn category_descriptions(&mut self, categories: &[Category<'_>]) -> Result<(), serde_json::Error> {
        let missing = self.slots(|term| matches!(term, Term::Word(_))) & !self.scratch.found;
        let Self { snapshot: Snapshot { search, catalogue, .. }, expansion, budget, described, scratch, .. } = self;
        if missing == 0 {
            return Ok(());
        }
        for Category { id, .. } in categories {
            if !described.contains_key(&**id) {
                let category = catalogue.tables.categories.iter().find(|category| category.id == *id);
                let text = category.and_then(|category| category.description.as_deref()).unwrap_or_default();
                budget.spend(text.len() * 4);
                let slots = |word: &str| expansion.stems.of(search.lexicon.stem(&search.stems.of(word))?);
                let words = words(text).into_iter();
                let matches = words.filter_map(|word| Some((word.start..word.end, slots(&word.folded)?))).collect();
                described.insert(id.to_string(), Description { text, matches });
            }
            let Some(Description { text, matches }) = described.get(&**id) else { continue };
            scratch.places.clear();
            let explaining = matches.iter().filter(|(_, slots)| slots & missing != 0);
            scratch.places.extend(explaining.map(|(place, _)| place.clone()));
            scratch.write("category_description", text, None)?;
        }
        Ok(())
    }

    /// Marks the matched words of the next section, by their numbers in the forward index.
    fn mark(&mut self, words: impl Iterator<Item = WordId>) {
        let Self {
            snapshot: Snapshot { search, .. },
            expansion,
            compounds,
            scratch: Scratch { marked, values, found, .. },
            ..
        } = self;
        marked.clear();
        values.clear();
        let (mut number, mut before) = (0, VALUE_END);
        for word in words.take_while(|word| *word != SECTION_END) {
            if word == VALUE_END {
                values.push(marked.len());
                (number, before) = (0, VALUE_END);
                continue;
            }
            let compound = compounds.iter().find(|(halves, _)| *halves == [before, word]);
            let is_second = compound.is_some();
            if is_second && marked[values.last().copied().unwrap_or(0)..].last() != Some(&(number - 1)) {
                marked.push(number - 1);
            }
            let slots = expansion.stems.of(search.lexicon.stem_of(word));
            if is_second || slots.is_some() {
                *found |= slots.unwrap_or(0) | compound.map_or(0, |(_, slots)| *slots);
                marked.push(number);
            }
            (number, before) = (number + 1, word);
        }
    }

    /// Whether this or a later value of the section may have a match.
    fn may_match_from(&self, value: usize) -> bool {
        self.may_match(value..self.scratch.values.len())
    }

    /// Whether any of these values of the section may have a match.
    fn may_match(&self, values: Range<usize>) -> bool {
        !values.is_empty() && (!self.is_found_by_word_numbers() || !self.scratch.marked(values).is_empty())
    }

    /// Whether word numbers find every match of the query.
    fn is_found_by_word_numbers(&self) -> bool {
        self.prefix.is_none()
            && self.name_prefix.is_none()
            && self.categories.is_empty()
            && self.expansion.concepts.is_empty()
    }

    /// Appends the texts of a field that have matches; `first` is the section's value of the first text. Returns the value after
    /// the last one.
    fn highlight_all<'t>(
        &mut self,
        field: &str,
        first: usize,
        texts: impl IntoIterator<Item = &'t Text<'t>>,
    ) -> Result<usize, serde_json::Error> {
        let mut next = first;
        for text in texts {
            self.highlight(field, next, text)?;
            next += 1;
        }
        Ok(next)
    }

    /// Appends a text with its matches, if it has any. Matches by word numbers are marked already.
    fn highlight(&mut self, field: &str, value: usize, Text(text): &Text<'_>) -> Result<(), serde_json::Error> {
        let units = text.len() * if self.expansion.concepts.is_empty() { 4 } else { 12 };
        let mut by = None;
        if self.is_found_by_word_numbers() || !self.budget.allows(units) {
            let mut places = std::mem::take(&mut self.scratch.places);
            analyse::places_of(text, self.scratch.marked(value..value + 1), &mut places);
            self.scratch.places = places;
        } else {
            self.budget.spend(units);
            // Matches that have no word number may be in any text.
            let marked = self.all_marked(field, text, self.scratch.marked(value..value + 1));
            self.scratch.found |= marked.slots;
            by = marked.is_synonym.then_some(SYNONYM);
            self.scratch.places = marked.places;
        }
        self.scratch.write(field, text, by)
    }

    /// Finds the words of a text that the query matched, by any kind of term.
    fn all_marked(&self, field: &str, text: &str, numbers: &[usize]) -> Marked {
        let Self { snapshot: Snapshot { search, .. }, expansion, categories, .. } = self;
        if field == CATEGORIES && !categories.is_empty() && categories.contains(&slug(text).as_str()) {
            return Marked {
                places: std::iter::once(0..text.len()).collect(),
                slots: self.slots(|term| matches!(term, Term::Category(_))),
                is_synonym: false,
            };
        }
        let is_name = field == NAME || field == ALIASES;
        let prefix = self.prefix.or(self.name_prefix.filter(|_| is_name));
        let places = analyse::places(text);
        let mut marked = vec![false; places.len()];
        let mut slots = 0;
        // They fit, for the index has the words of this very text; were it otherwise, some would not be marked.
        numbers.iter().filter(|at| **at < places.len()).for_each(|at| marked[*at] = true);
        if let Some(prefix) = prefix {
            for (at, place) in places.iter().enumerate() {
                marked[at] |= begins(&text[place.clone()], prefix);
            }
            if marked.contains(&true) {
                slots |= self.slots(|term| matches!(term, Term::Prefix(_) | Term::NamePrefix(_)));
            }
        }
        let has_words = marked.contains(&true);
        if !expansion.concepts.is_empty() {
            for mention in search.thesaurus.mentions(text, &words(text), &search.stems, false) {
                if mention.means.iter().any(|concept| expansion.concepts.contains(concept)) {
                    marked[mention.start..mention.end].fill(true);
                    slots |=
                        self.slots(|term| matches!(term, Term::Concept(concept) if mention.means.contains(concept)));
                }
            }
        }
        let places = places.into_iter().zip(marked).filter_map(|(place, is)| is.then_some(place)).collect();
        Marked { places, slots, is_synonym: !has_words }
    }

    /// The slots with a term of some kind among their alternatives.
    fn slots(&self, is_of_kind: impl Fn(&Term) -> bool) -> Slots {
        let has = |slot: &Slot| slot.alternatives.iter().any(|alternative| is_of_kind(&alternative.term));
        self.expansion.slots.iter().enumerate().filter(|(_, slot)| has(slot)).fold(0, |all, (at, _)| all | 1 << at)
    }
}

/// The matches in a text.
struct Marked {
    places: Vec<Range<usize>>,
    /// The slots that the matches without a word number are of.
    slots: Slots,
    /// Whether there is none of a word of the query.
    is_synonym: bool,
}

/// Fields with matches of their own kind.
const NAME: &str = "name";
const ALIASES: &str = "aliases";
const CATEGORIES: &str = "categories";

/// The [`Highlight::by`](crate::resource::Highlight::by) of a text with matches of synonyms only.
const SYNONYM: &str = "synonym";

/// JSON as text: verified as a whole, which is faster than by string.
fn text(json: &[u8]) -> Result<&str, serde_json::Error> {
    std::str::from_utf8(json).map_err(serde::de::Error::custom)
}

/// Whether a word as written begins with these letters, folded.
fn begins(written: &str, prefix: &str) -> bool {
    if is_plain(written) {
        return written.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix));
    }
    words(written).first().is_some_and(|word| word.folded.starts_with(prefix))
}

/// Whether folding a word changes nothing but its case.
fn is_plain(written: &str) -> bool {
    written.bytes().all(|byte| byte.is_ascii() && byte != b'&')
}
