//! Finds products similar to another one: in the same categories, with the same words, near in meaning.

use std::borrow::Cow;

use foldhash::HashSet;
use serde::Deserialize;

use super::search::{budget, scaled_score};
use super::{PageRequest, ServiceError, SimilarHit, SimilarPage};
use crate::catalogue::SoftwareFilter;
use crate::catalogue::resource::CategoryResource;
use crate::engine::{HitTexts, SearchRequest};
use crate::generation::Snapshot;
use crate::search::forward::SECTION_END;
use crate::search::meaning::record_reference;
use crate::search::score::group_weight;
use crate::search::{Alternative, Group, Kind, Meaning, Plan, Rerank, Signals, StemId, Term};
use crate::text::analyse::words;
use crate::text::english::is_function_word;
use crate::text::meaning::Reference;
use crate::text::topic;

/// Only a product's rarest words are compared, up to this many.
const MAX_WORDS: usize = 20;

/// Maximum number of words read per product, because a record may have megabytes of text.
const MAX_WORDS_READ: usize = 5000;

/// Maximum number of categories compared; the main one comes first.
const MAX_CATEGORIES: usize = 8;

/// The weight of a word; a category has 1. Words are many and often incidental, categories few and
/// chosen.
const WORD_WEIGHT: f32 = 0.5;

/// Products with one of this many topics nearest to the product's meaning are found even if they share nothing else.
const TOPICS: usize = 8;

/// The groups that are searched for these topics.
const TOPIC_GROUPS: usize = 16;

/// The share of a score's distance to the highest possible one that a product of the same meaning gets.
const MEANING_WEIGHT: f32 = 0.5;

/// The descriptive texts that words are taken from. The name identifies the product, so it isn't
/// one of them.
#[derive(Debug, Deserialize)]
struct Texts<'a> {
    #[serde(borrow, default)]
    tagline: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tags: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    features: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    standards: Vec<Cow<'a, str>>,
}

/// The texts that a product's meaning is taken from.
#[derive(Debug, Deserialize)]
struct MeaningTexts<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    tagline: Option<Cow<'a, str>>,
    #[serde(borrow)]
    categories: Vec<CategoryName<'a>>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
struct CategoryName<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// A product's detail as a response body.
#[derive(Debug, Deserialize)]
struct Detail<T> {
    data: T,
}

#[derive(Debug, Deserialize)]
struct Categories<'a> {
    #[serde(borrow)]
    categories: Vec<CategoryId<'a>>,
}

#[derive(Debug, Deserialize)]
struct CategoryId<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

impl Texts<'_> {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let many = self.tags.iter().chain(&self.features).chain(&self.standards);
        self.tagline.iter().chain(many).map(AsRef::as_ref)
    }
}

struct ProductWord {
    stem: StemId,
    written: String,
    document_frequency: u32,
}

/// Lists similar products, most similar first, each with what both share. Returns `None` if the id
/// is unknown.
pub async fn similar_software<'s>(
    snapshot: &'s Snapshot,
    id: &str,
    page: PageRequest,
) -> Result<Option<SimilarPage<'s>>, ServiceError> {
    let Some(record) = snapshot.engine.record(id).await? else { return Ok(None) };
    let Detail { data: Categories { categories } } = serde_json::from_slice(&record.body)?;
    let of_product = categories.iter().take(MAX_CATEGORIES).filter_map(|category| {
        let at = snapshot.catalogue.find_category(&category.id)?;
        Some(&snapshot.catalogue.tables.categories[at as usize])
    });
    let categories: Vec<_> = of_product.collect();
    let words = rarest_words(snapshot, &record.body)?;
    let reference = reference(snapshot, &record.body)?;
    let one = |kind: Kind, term: Term, weight: f32| vec![Alternative { kind, term, weight }];
    let of_categories =
        categories.iter().map(|category| one(Kind::Category, Term::Category(category.id.as_str().into()), 1.0));
    let of_words = words.iter().map(|word| one(Kind::Exact, Term::Word(word.stem), WORD_WEIGHT));
    // A product counts by its nearest topic alone.
    let of_topics = reference.iter().map(|reference| {
        let topics = topic::nearest(reference, TOPIC_GROUPS, TOPICS).into_iter();
        topics.map(|of| Alternative { kind: Kind::Topic, term: Term::Topic(of.topic), weight: of.likeness }).collect()
    });
    let groups: Vec<_> = of_categories
        .chain(of_words)
        .chain(of_topics)
        .map(|alternatives| Group { alternatives, ..Group::default() })
        .collect();
    if groups.is_empty() {
        // A plan without groups would find all products.
        return Ok(Some(SimilarPage { data: Vec::new(), pagination: page.pagination(0) }));
    }
    let rerank = match reference {
        Some(reference) => {
            let meaning = Meaning { reference, weight: MEANING_WEIGHT, bound: bound(snapshot, &groups)? };
            Rerank::Signals(Signals { meaning: Some(meaning), ..Signals::default() })
        }
        None => Rerank::None,
    };
    let plan = Plan { groups, rerank, ..Plan::default() };
    let request = SearchRequest {
        plan: &plan,
        filter: &SoftwareFilter { except_id: Some(id.to_owned()), ..SoftwareFilter::default() },
        order: None,
        page: page.range(),
        facets: None,
        texts: true,
        budget: &budget(snapshot),
    };
    let found = snapshot.engine.search(&request).await?;
    let texts = found.texts.iter().map(Some).chain(std::iter::repeat(None));
    let data = found.hits.iter().zip(texts).map(|(hit, texts)| {
        Ok::<_, ServiceError>(SimilarHit {
            item: hit.item.clone(),
            score: scaled_score(hit.score),
            categories: shared_categories(&categories, &hit.item)?,
            words: texts.map(|texts| shared_words(snapshot, &words, texts)).unwrap_or_default(),
        })
    });
    Ok(Some(SimilarPage { data: data.collect::<Result<_, _>>()?, pagination: page.pagination(found.total) }))
}

/// What a product means; `None` if the generation has no meanings.
fn reference(snapshot: &Snapshot, record: &[u8]) -> Result<Option<Reference>, ServiceError> {
    if !snapshot.search.has_meanings {
        return Ok(None);
    }
    let Detail::<MeaningTexts<'_>> { data } = serde_json::from_slice(record)?;
    let MeaningTexts { name, tagline, categories, description } = &data;
    let categories = categories.iter().map(|category| &*category.name);
    let texts = std::iter::once(&**name).chain(tagline.as_deref()).chain(categories).chain(description.as_deref());
    Ok(record_reference(texts))
}

/// The score that no product exceeds.
fn bound(snapshot: &Snapshot, groups: &[Group]) -> Result<f32, ServiceError> {
    let mut bound = 0.0;
    for Group { alternatives, .. } in groups {
        let (mut frequency, mut weight) = (0, 0.0_f32);
        for alternative in alternatives {
            frequency = snapshot.engine.document_frequency(&alternative.term)?.max(frequency);
            weight = weight.max(alternative.weight);
        }
        bound += weight * group_weight(frequency, snapshot.software_count());
    }
    Ok(bound)
}

/// A product's rarest words that occur in at least one other product, rarest first.
fn rarest_words(snapshot: &Snapshot, record: &[u8]) -> Result<Vec<ProductWord>, ServiceError> {
    let Detail::<Texts<'_>> { data: texts } = serde_json::from_slice(record)?;
    let mut found: Vec<ProductWord> = Vec::new();
    let (mut read, mut stems) = (0, HashSet::default());
    for text in texts.iter() {
        let words = words(text);
        let left = MAX_WORDS_READ - read;
        read += words.len().min(left);
        for word in words.into_iter().take(left).filter(|word| !is_function_word(&word.folded)) {
            let Some(number) = snapshot.search.lexicon.word(&word.folded) else { continue };
            let stem = snapshot.search.lexicon.stem_of(number);
            if !stems.insert(stem) {
                continue;
            }
            let document_frequency = snapshot.engine.document_frequency(&Term::Word(stem))?;
            if document_frequency > 1 {
                found.push(ProductWord { stem, written: text[word.start..word.end].to_owned(), document_frequency });
            }
        }
        if read == MAX_WORDS_READ {
            break;
        }
    }
    found.sort_by_key(|word| word.document_frequency);
    found.truncate(MAX_WORDS);
    Ok(found)
}

fn shared_categories<'s>(
    categories: &[&'s CategoryResource],
    item: &[u8],
) -> Result<Vec<&'s CategoryResource>, ServiceError> {
    let Categories { categories: of_hit } = serde_json::from_slice(item)?;
    let is_shared = |category: &&&CategoryResource| of_hit.iter().any(|of| of.id == category.id);
    Ok(categories.iter().filter(is_shared).copied().collect())
}

fn shared_words(snapshot: &Snapshot, words: &[ProductWord], texts: &HitTexts) -> Vec<String> {
    let mut missing: Vec<_> = words.iter().map(|word| word.stem).collect();
    // Skips the marks between values and sections.
    for word in texts.words.iter().filter(|word| *word > SECTION_END).take(MAX_WORDS_READ) {
        let stem = snapshot.search.lexicon.stem_of(word);
        if let Some(at) = missing.iter().position(|other| *other == stem) {
            missing.swap_remove(at);
        }
        if missing.is_empty() {
            break;
        }
    }
    words.iter().filter(|word| !missing.contains(&word.stem)).map(|word| word.written.clone()).collect()
}
