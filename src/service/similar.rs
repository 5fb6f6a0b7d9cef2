//! Finds products similar to a given product, i.e. those that share its categories, words or
//! meaning.

use foldhash::HashSet;

use super::page::scaled_score;
use super::{ListSimilar, ServiceError, SimilarHit, SimilarPage, Translator};
use crate::catalogue::resource::{CategoryResource, SoftwareDetail, SoftwareItem};
use crate::catalogue::{Ordinal, SoftwareFilter};
use crate::generation::Snapshot;
use crate::index::{HitTexts, SearchRequest};
use crate::search::budget::Budget;
use crate::search::expand::Expansion;
use crate::search::forward::SECTION_END;
use crate::search::meaning::record_reference;
use crate::search::score::group_weight;
use crate::search::{Alternative, MatchKind, Meaning, Plan, Signals, StemId, StemSlots, Term, WordGroup};
use crate::text::analyse::words;
use crate::text::english::is_function_word;
use crate::text::meaning::{NearTopic, Reference, nearest_topics};

/// Budget units for finding what a page of 100 hits shares with the product. They don't depend on the
/// page's size, so all pages come from the same result.
const SHARED: usize = 20_000;

/// Lists similar products, most similar first, each with what it has in common with the given one.
/// Returns `None` if the id is unknown.
pub fn similar_software<'s>(
    snapshot: &'s Snapshot,
    id: &str,
    query: &ListSimilar,
    budget: &Budget,
) -> Result<Option<SimilarPage<'s>>, ServiceError> {
    let ListSimilar { filter, page, language } = query;
    let Some(ordinal) = snapshot.records.find(id) else { return Ok(None) };
    let features = Features::of(snapshot, ordinal, budget)?;
    let group = |(_, alternatives)| WordGroup { alternatives, ..WordGroup::default() };
    let groups: Vec<_> = features.shared().map(group).collect();
    if groups.is_empty() {
        // A plan without groups would match all products.
        return Ok(Some(SimilarPage { data: Vec::new(), pagination: page.pagination(0), is_in_language: false }));
    }
    budget.spend(SHARED);
    let signals = features.signals(snapshot, groups.iter().map(|group| &group.alternatives[..]))?;
    let plan = Plan { groups, signals, ..Plan::default() };
    let request = SearchRequest {
        plan: &plan,
        filter: &SoftwareFilter { except_id: Some(id.to_owned()), ..filter.clone() },
        order: None,
        page: page.range(),
        facets: None,
        texts: true,
        budget,
    };
    let found = snapshot.index.search(&request)?;
    let texts = found.texts.iter().map(Some).chain(std::iter::repeat(None));
    let mut translator = Translator::new(&snapshot.catalogue, language.as_ref());
    let data = found.hits.iter().zip(texts).map(|(hit, texts)| {
        Ok::<_, ServiceError>(SimilarHit {
            item: translator.item(hit.item.clone(), texts)?,
            score: scaled_score(hit.score),
            categories: features.shared_categories(&hit.item)?,
            words: texts.map(|texts| features.shared_words(snapshot, texts)).unwrap_or_default(),
        })
    });
    let (data, pagination) = (data.collect::<Result<_, _>>()?, page.pagination(found.total));
    Ok(Some(SimilarPage { data, pagination, is_in_language: translator.is_any() }))
}

/// The maximum number of a product's words to compare, starting with the rarest.
const MAX_WORDS: usize = 20;

/// The maximum number of words to read per product. There's a limit because a record may have
/// megabytes of text.
const MAX_WORDS_READ: usize = 5000;

/// The maximum size in bytes of the text to take a product's own words from.
const MAX_BYTES_READ: usize = 8 * 1024;

/// Budget units for looking up a word.
const LOOKED_UP: usize = 40;

/// The maximum number of categories to compare. The main category comes first.
const MAX_CATEGORIES: usize = 8;

/// A word's weight; a category's weight is 1. Words are numerous and often incidental, while
/// categories are few and deliberately chosen.
const WORD_WEIGHT: f32 = 0.5;

/// The number of topics to look for, starting with those nearest to the product's meaning. A
/// product with any of these topics is found even if it shares nothing else.
const TOPICS: usize = 8;

/// The number of topic groups to search for these topics.
const TOPIC_GROUPS: usize = 16;

/// A product with the same meaning gains this share of the distance between its score and the
/// highest possible score.
const MEANING_WEIGHT: f32 = 0.5;

/// What a product may have in common with others.
pub(super) struct Features<'s> {
    categories: Vec<&'s CategoryResource>,
    words: Vec<ProductWord>,
    /// The words' stems.
    stems: StemSlots,
    /// The product's meaning; `None` if the generation ignores meaning or the product isn't in
    /// English.
    reference: Option<Reference>,
}

/// The descriptive text that words are taken from. The name identifies the product rather than
/// describing it, so it's excluded.
fn descriptive_texts<'p>(SoftwareDetail { item, detail }: &'p SoftwareDetail<'_>) -> impl Iterator<Item = &'p str> {
    let many = detail.tags.iter().chain(&detail.features).chain(&detail.standards);
    item.tagline.iter().chain(many).map(AsRef::as_ref)
}

/// The text that the product's meaning is taken from.
fn meaning_texts<'p>(SoftwareDetail { item, detail }: &'p SoftwareDetail<'_>) -> impl Iterator<Item = &'p str> {
    let categories = item.categories.iter().map(|category| &*category.name);
    std::iter::once(&*item.name).chain(item.tagline.as_deref()).chain(categories).chain(detail.description.as_deref())
}

struct ProductWord {
    stem: StemId,
    written: String,
    document_frequency: u32,
}

impl<'s> Features<'s> {
    /// Reads a product's features.
    pub(super) fn of(snapshot: &'s Snapshot, ordinal: Ordinal, budget: &Budget) -> Result<Self, ServiceError> {
        let stored = snapshot.records.stored(ordinal)?;
        let product = stored.read()?;
        let categories = product.item.categories.iter().take(MAX_CATEGORIES);
        let categories = categories.filter_map(|category| snapshot.catalogue.category_by_id(&category.id));
        let reference = snapshot.search.has_meanings.then(|| record_reference(meaning_texts(&product))).flatten();
        let words = rarest_words(snapshot, &product, budget)?;
        let stems = StemSlots::new(words.iter().map(|word| std::iter::once((word.stem, WORD_WEIGHT))));
        Ok(Self { categories: categories.collect(), words, stems, reference })
    }

    /// Each feature as written, with the alternatives to search for.
    pub(super) fn shared(&self) -> impl Iterator<Item = (String, Vec<Alternative>)> {
        let category = |category: &&CategoryResource| {
            let term = Term::Category(category.id.as_str().into());
            (category.name.clone(), vec![Alternative::new(MatchKind::Category, term, 1.0)])
        };
        let word = |word: &ProductWord| {
            let term = Term::Word(word.stem);
            (word.written.clone(), vec![Alternative::new(MatchKind::Exact, term, WORD_WEIGHT)])
        };
        // Only the nearest of a product's topics counts.
        let meaning = |reference: &Reference| {
            let topics = nearest_topics(reference, TOPIC_GROUPS, TOPICS).into_iter();
            let topic = |of: NearTopic| (Term::Topic(of.topic), of.likeness);
            let topics = topics.map(topic).map(|(term, weight)| Alternative::new(MatchKind::Topic, term, weight));
            ("meaning".to_owned(), topics.collect())
        };
        let (categories, words) = (self.categories.iter().map(category), self.words.iter().map(word));
        categories.chain(words).chain(self.reference.iter().map(meaning))
    }

    /// What a plan's hits are reranked by: these features' meaning.
    pub(super) fn signals<'g>(
        &self,
        snapshot: &Snapshot,
        groups: impl Iterator<Item = &'g [Alternative]>,
    ) -> Result<Signals, ServiceError> {
        let Some(reference) = self.reference.clone() else { return Ok(Signals::default()) };
        let meaning = Meaning { reference, weight: MEANING_WEIGHT, bound: bound(snapshot, groups)? };
        Ok(Signals { meaning: Some(meaning), ..Signals::default() })
    }

    /// The categories that a hit shares.
    pub(super) fn shared_categories(&self, item: &[u8]) -> Result<Vec<&'s CategoryResource>, ServiceError> {
        let SoftwareItem { categories, .. } = serde_json::from_slice(item)?;
        let is_shared = |category: &&&CategoryResource| categories.iter().any(|of| of.id == category.id);
        Ok(self.categories.iter().filter(is_shared).copied().collect())
    }

    /// The words that a hit shares.
    pub(super) fn shared_words(&self, snapshot: &Snapshot, texts: &HitTexts) -> Vec<String> {
        let mut shared = 0;
        // Skip the separators between values and sections.
        for word in texts.words.iter().filter(|word| *word > SECTION_END).take(MAX_WORDS_READ) {
            shared |= self.stems.of(snapshot.search.lexicon.stem_of(word)).unwrap_or(0);
            if shared.count_ones() as usize == self.words.len() {
                break;
            }
        }
        let is_shared = |(at, _): &(usize, &ProductWord)| shared >> at & 1 == 1;
        self.words.iter().enumerate().filter(is_shared).map(|(_, word)| word.written.clone()).collect()
    }
}

/// If no record is listed as an alternative to the product in question, searches for similar
/// products instead.
pub(super) fn seek_similar(
    snapshot: &Snapshot,
    expansion: &mut Expansion,
    budget: &Budget,
) -> Result<(), ServiceError> {
    let Some(name) = &expansion.similar_to else { return Ok(()) };
    let named = Alternative::new(MatchKind::Name, name.clone(), 1.0);
    let group = WordGroup { alternatives: vec![named], required: true, indispensable: false };
    let plan = Plan { groups: vec![group], ..Plan::default() };
    let filter = SoftwareFilter::default();
    let search =
        SearchRequest { plan: &plan, filter: &filter, order: None, page: 0..1, facets: None, texts: false, budget };
    let found = snapshot.index.search(&search)?;
    let Some(hit) = found.hits.first() else { return Ok(()) };
    let SoftwareItem { id, .. } = serde_json::from_slice(&hit.item)?;
    let features = Features::of(snapshot, hit.ordinal, budget)?;
    let shared: Vec<_> = features.shared().collect();
    let signals = features.signals(snapshot, shared.iter().map(|(_, alternatives)| &alternatives[..]))?;
    expansion.seek_similar(id.into_owned(), shared, signals);
    Ok(())
}

/// The maximum number of products that count as alternatives to another one, and the share of the
/// best one's score that the others have.
const MAX_ALIKE: usize = 10;
const LEAST_ALIKE: f32 = 0.6;

/// Restricts a filter to the products that are most like another one. The plan finds all that share
/// anything with it.
pub(super) fn only_alike(
    snapshot: &Snapshot,
    filter: &SoftwareFilter,
    plan: &Plan,
    id: &str,
    budget: &Budget,
) -> Result<SoftwareFilter, ServiceError> {
    let others = SoftwareFilter { except_id: Some(id.to_owned()), ..SoftwareFilter::default() };
    let (page, facets) = (0..MAX_ALIKE, None);
    let search = SearchRequest { plan, filter: &others, order: None, page, facets, texts: false, budget };
    let hits = snapshot.index.search(&search)?.hits;
    let least = hits.first().map_or(0.0, |best| best.score * LEAST_ALIKE);
    let mut ids = Vec::new();
    for hit in hits.iter().take_while(|hit| hit.score >= least) {
        let SoftwareItem { id, .. } = serde_json::from_slice(&hit.item)?;
        if filter.ids.is_empty() || filter.ids.iter().any(|of| *of == *id) {
            ids.push(id.into_owned());
        }
    }
    if ids.is_empty() {
        // No product has this id.
        ids.push(String::new());
    }
    Ok(SoftwareFilter { ids, ..filter.clone() })
}

/// Upper bound on all products' scores.
fn bound<'g>(snapshot: &Snapshot, groups: impl Iterator<Item = &'g [Alternative]>) -> Result<f32, ServiceError> {
    let mut bound = 0.0;
    for alternatives in groups {
        let (mut frequency, mut weight) = (0, 0.0_f32);
        for alternative in alternatives {
            frequency = snapshot.index.document_frequency(&alternative.term)?.max(frequency);
            weight = weight.max(alternative.weight);
        }
        bound += weight * group_weight(frequency, snapshot.software_count());
    }
    Ok(bound)
}

/// A product's rarest words that occur in at least one other product, rarest first.
fn rarest_words(
    snapshot: &Snapshot,
    product: &SoftwareDetail<'_>,
    budget: &Budget,
) -> Result<Vec<ProductWord>, ServiceError> {
    let mut found: Vec<ProductWord> = Vec::new();
    let (mut left, mut stems) = (MAX_BYTES_READ, HashSet::default());
    for text in descriptive_texts(product) {
        let text = &text[..text.floor_char_boundary(left)];
        left -= text.len();
        for word in words(text).into_iter().filter(|word| !is_function_word(&word.folded)) {
            let Some(number) = snapshot.search.lexicon.word(&word.folded) else { continue };
            let stem = snapshot.search.lexicon.stem_of(number);
            if !stems.insert(stem) {
                continue;
            }
            budget.spend(LOOKED_UP);
            let document_frequency = snapshot.index.document_frequency(&Term::Word(stem))?;
            if document_frequency > 1 {
                found.push(ProductWord { stem, written: text[word.start..word.end].to_owned(), document_frequency });
            }
        }
    }
    found.sort_by_key(|word| word.document_frequency);
    found.truncate(MAX_WORDS);
    Ok(found)
}
