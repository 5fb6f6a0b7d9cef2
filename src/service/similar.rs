//! Products like another one: in the same categories, with the same words.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::search::{budget, scaled_score};
use super::{PageRequest, ServiceError, SimilarHit, SimilarPage};
use crate::catalogue::{Filter, Ordinal};
use crate::engine::SearchRequest;
use crate::search::analyse::words;
use crate::search::english::is_function_word;
use crate::search::forward::SECTION_END;
use crate::search::{Alternative, Group, Kind, Plan, StemId, Term};
use crate::snapshot::Snapshot;

/// The most words of a product that are compared: the rarest.
const MAX_WORDS: usize = 20;

/// The most words of a product that are read: a record may have megabytes of text.
const MAX_WORDS_READ: usize = 5000;

/// The most categories of a product that are compared, the main one first.
const MAX_CATEGORIES: usize = 8;

/// The weight of a word; that of a category is 1. Words are many and often incidental, categories few and chosen.
const WORD_WEIGHT: f32 = 0.5;

/// The texts that words are taken from: those that describe the product. Its name identifies it and isn't one of them.
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

/// A product's detail as a response body.
#[derive(Debug, Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    data: Texts<'a>,
}

impl Texts<'_> {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let many = self.tags.iter().chain(&self.features).chain(&self.standards);
        self.tagline.iter().chain(many).map(AsRef::as_ref)
    }
}

/// A word of a product, as its texts write it.
struct ProductWord {
    stem: StemId,
    written: String,
    document_frequency: u32,
}

/// Lists products like another one, the most similar first, each with what both share; `None` for an unknown id.
///
/// # Errors
/// Where the engine fails or a stored text is damaged.
pub async fn similar_software<'s>(
    snapshot: &'s Snapshot,
    id: &str,
    page: PageRequest,
) -> Result<Option<SimilarPage<'s>>, ServiceError> {
    let Some(product) = snapshot.catalogue.find(id) else { return Ok(None) };
    let categories = &snapshot.catalogue.tables.columns.categories_of(product);
    let categories = &categories[..categories.len().min(MAX_CATEGORIES)];
    let Some(record) = snapshot.engine.record(id).await? else { return Ok(None) };
    let words = rarest_words(snapshot, &record)?;
    let group = |kind: Kind, term: Term, weight: f32| Group {
        alternatives: vec![Alternative { kind, term, weight }],
        ..Group::default()
    };
    let category_id = |at: &u32| snapshot.catalogue.tables.categories[*at as usize].id.as_str();
    let groups =
        categories.iter().map(|category| group(Kind::Category, Term::Category(category_id(category).into()), 1.0));
    let groups: Vec<_> =
        groups.chain(words.iter().map(|word| group(Kind::Exact, Term::Word(word.stem), WORD_WEIGHT))).collect();
    if groups.is_empty() {
        // A plan without groups would find all products.
        return Ok(Some(SimilarPage { data: Vec::new(), pagination: page.pagination(0) }));
    }
    let plan = Plan { groups, ..Plan::default() };
    let range = page.range();
    let request = SearchRequest {
        plan: &plan,
        filter: &Filter::default(),
        order: None,
        // From the start, and one more, for the product itself is found too.
        page: 0..range.end.saturating_add(1),
        facets: None,
        budget: &budget(snapshot),
    };
    let mut found = snapshot.engine.search(&request).await?;
    found.hits.retain(|hit| hit.ordinal != product);
    let data = page.slice(&found.hits).iter().map(|hit| SimilarHit {
        item: hit.item.clone(),
        score: scaled_score(hit.score),
        categories: shared_categories(snapshot, categories, hit.ordinal),
        words: shared_words(snapshot, &words, hit.ordinal),
    });
    Ok(Some(SimilarPage { data: data.collect(), pagination: page.pagination(found.total.saturating_sub(1)) }))
}

/// The rarest words of a product that another product has too, the rarest first.
fn rarest_words(snapshot: &Snapshot, record: &[u8]) -> Result<Vec<ProductWord>, ServiceError> {
    let texts = serde_json::from_slice::<Record<'_>>(record)?.data;
    let mut found: Vec<ProductWord> = Vec::new();
    let (mut read, mut stems) = (0, FxHashSet::default());
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
    snapshot: &'s Snapshot,
    categories: &[u32],
    hit: Ordinal,
) -> Vec<&'s crate::resource::CategoryResource> {
    let of_hit = snapshot.catalogue.tables.columns.categories_of(hit);
    let shared = categories.iter().filter(|category| of_hit.contains(category));
    shared.map(|category| &snapshot.catalogue.tables.categories[*category as usize]).collect()
}

fn shared_words(snapshot: &Snapshot, words: &[ProductWord], hit: Ordinal) -> Vec<String> {
    let forward = &snapshot.search.forward;
    // Without the marks between values and sections.
    let found = forward.words(hit).filter(|word| *word > SECTION_END).take(MAX_WORDS_READ);
    let stems: FxHashSet<_> = found.map(|word| forward.stem_of(word)).collect();
    words.iter().filter(|word| stems.contains(&word.stem)).map(|word| word.written.clone()).collect()
}
