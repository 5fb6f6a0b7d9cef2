//! Suggests products, categories and glossary terms while a query is being typed, queries similar to
//! one that found nothing, and example queries.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::search::find_software_within;
use super::software::search_names;
use super::{
    ListSoftware, PageRequest, Prefix, SearchSoftware, ServiceError, Translator, list_software, search_software,
};
use crate::catalogue::resource::{
    CategoryResource, CategorySuggestion, SoftwareItem, SoftwareRef, Suggestions, TermSuggestion,
};
use crate::catalogue::{Catalogue, Ordinal, SoftwareFilter};
use crate::generation::Snapshot;
use crate::record::Language;
use crate::search::budget::{Budget, Stop};
use crate::search::headings::HeadingIndex;
use crate::search::typo::{allowed_edits, candidates};
use crate::service::MAX_QUERY_CHARACTERS;
use crate::text::analyse::words;
use crate::text::shorten::is_longer;
use crate::text::stem::Inflected;

/// Suggests up to `limit` products, and up to as many categories and glossary terms each. Products
/// whose names match come first, then other products that a search finds. Categories and terms are
/// found by name only.
pub fn suggest<'s>(
    snapshot: &'s Snapshot,
    q: &str,
    limit: u32,
    language: Option<&Language>,
    budget: &Budget,
) -> Result<Suggestions<'s>, ServiceError> {
    let few = limit as usize;
    let page = PageRequest { limit, offset: 0 };
    let mut translator = Translator::new(&snapshot.catalogue, language);
    let texts = translator.needs_texts();
    let named = search_names(snapshot, q, &SoftwareFilter::default(), None, page, texts, budget)?;
    let texts = named.texts.iter().map(Some).chain(std::iter::repeat(None));
    let named = named.hits.into_iter().zip(texts);
    let named = named.map(|(hit, texts)| Ok::<_, ServiceError>((hit.ordinal, translator.item(hit.item, texts)?)));
    let mut products = named.collect::<Result<Vec<_>, _>>()?;
    let mut q = Cow::Borrowed(q);
    let is_real = |(ordinal, _): &&(Ordinal, _)| !snapshot.records.columns.is_demo(*ordinal);
    if products.iter().filter(is_real).count() < few && !q.trim().is_empty() {
        let language = language.cloned();
        let search = SearchSoftware { prefix: Prefix::Always, page, language, ..SearchSoftware::new(&q) };
        let found = find_software_within(snapshot, &search, budget)?;
        // Spelling is corrected only for products, so look up categories and terms by the corrected
        // query.
        for correction in &found.query.corrected {
            q = Cow::Owned(q.replace(&correction.from, &correction.to));
        }
        let others = found.hits.into_iter().map(|hit| (hit.ordinal, hit.item));
        let others: Vec<_> = others.filter(|(other, _)| products.iter().all(|(ordinal, _)| ordinal != other)).collect();
        products.extend(others);
    }
    products.sort_by_key(|(ordinal, _)| snapshot.records.columns.is_demo(*ordinal));
    products.truncate(few);
    let headings = suggest_headings(
        &snapshot.catalogue,
        &snapshot.categories,
        &snapshot.glossary,
        &q,
        few,
        (language, budget.stop()),
    );
    let mut is_in_language = headings.is_in_language;
    let software = products.iter().map(|(_, item)| {
        let item: SoftwareItem<'_> = serde_json::from_slice(item)?;
        is_in_language |= language.is_some() && item.is_translated("name");
        Ok::<_, ServiceError>(SoftwareRef::from(item))
    });
    let software = software.collect::<Result<_, _>>()?;
    Ok(Suggestions { software, is_in_language, ..headings })
}

/// Suggests only categories and glossary terms, up to `few` each, given the indices of both.
pub(crate) fn suggest_headings<'s>(
    catalogue: &'s Catalogue,
    categories: &HeadingIndex,
    glossary: &HeadingIndex,
    q: &str,
    few: usize,
    (language, stop): (Option<&Language>, &Stop),
) -> Suggestions<'s> {
    let tables = &catalogue.tables;
    let completed = categories.complete(q, stop);
    let mut categories: Vec<_> =
        (0..).zip(completed.iter()).map(|(place, at): (u32, _)| (place, &tables.categories[at])).collect();
    let order = |(place, category): &(u32, &CategoryResource)| (Reverse(category.software_count), *place);
    if categories.len() > few {
        categories.select_nth_unstable_by_key(few, order);
        categories.truncate(few);
    }
    categories.sort_unstable_by_key(order);
    let terms = glossary.complete(q, stop);
    let terms = terms.iter().take(few).map(|at| &tables.glossary[at].term);
    let mut is_in_language = false;
    let mut note = |is_found: bool| is_in_language |= is_found && language.is_some();
    let categories = categories.into_iter().map(|(_, category)| {
        let found = language.and_then(|language| category.find_name(language));
        note(found.is_some());
        CategorySuggestion {
            id: &category.id,
            name: found.unwrap_or(&category.name),
            software_count: category.software_count,
        }
    });
    let categories = categories.collect();
    let glossary = terms.map(|term| {
        let found = language.and_then(|language| term.find_term(language));
        note(found.is_some());
        TermSuggestion { id: &term.id, term: found.unwrap_or(&term.term) }
    });
    let glossary = glossary.collect();
    Suggestions { software: Vec::new(), categories, glossary, is_in_language }
}

/// The maximum number of words; any others are left out.
const MAX_WORDS: usize = 10;

/// The maximum number of edits between two similar words. That's one more than a search corrects
/// automatically, because here the reader confirms the correction.
const MAX_EDITS: u8 = 2;

/// Returns up to `most` queries, best first. Words that no product contains are replaced with
/// similar words, or left out if there are none. Returns nothing if there are no similar words at
/// all.
pub fn similar_queries(snapshot: &Snapshot, q: &str, most: usize, budget: &Budget) -> Vec<String> {
    let search = &snapshot.search;
    let lexicon = &search.lexicon;
    let is_synonym = |word: &str| !search.thesaurus.asked_by(word, &search.stems).is_empty();
    let mut is_changed = false;
    let choices = words(q).into_iter().take(MAX_WORDS).map(|word| {
        let known = lexicon.word(&word.folded).filter(|known| lexicon.document_frequency(*known) > 0);
        if known.is_some() || !word.folded.chars().all(char::is_alphabetic) {
            return vec![q[word.start..word.end].to_owned()];
        }
        let edits = MAX_EDITS.min(allowed_edits(&word.folded) + 1);
        let similar = candidates(lexicon, &is_synonym, &word.folded, edits, budget);
        is_changed |= !similar.is_empty();
        similar.into_iter().map(|similar| similar.folded).collect()
    });
    let mut choices: Vec<Vec<String>> = choices.collect();
    choices.retain(|choices| !choices.is_empty());
    if !is_changed {
        return Vec::new();
    }
    let variants = choices.iter().map(Vec::len).max().unwrap_or_default().min(most);
    let query = |variant: usize| {
        let words = choices.iter().map(|choices| &*choices[variant.min(choices.len() - 1)]);
        words.collect::<Vec<_>>().join(" ")
    };
    (0..variants).map(query).filter(|query| !is_longer(query, MAX_QUERY_CHARACTERS)).collect()
}

/// The maximum number of names to suggest instead of one that no product has.
const MAX_NEAREST: usize = 3;

/// Queries by name that find products, similar to one that finds none.
pub fn similar_names(snapshot: &Snapshot, q: &str, budget: &Budget) -> Result<Vec<String>, ServiceError> {
    let page = PageRequest { limit: 1, offset: 0 };
    let names = similar_queries(snapshot, q, MAX_WORDS, budget);
    let finds = |name: &String| {
        let hits = search_names(snapshot, name, &SoftwareFilter::default(), None, page, false, budget)?;
        Ok::<_, ServiceError>(hits.total > 0)
    };
    let found = names.into_iter().filter_map(|name| finds(&name).map(|finds| finds.then_some(name)).transpose());
    found.take(MAX_NEAREST).collect()
}

/// The maximum length of a name that's used as a query, in characters.
const MAX_LENGTH: usize = 40;

/// Returns up to `most` queries that find products: names of the largest categories, in a language
/// if they have one, or a product's name if there are none.
pub fn example_queries(
    snapshot: &Snapshot,
    language: Option<&Language>,
    most: usize,
) -> Result<Vec<String>, ServiceError> {
    let mut categories: Vec<&CategoryResource> = snapshot.catalogue.tables.categories.iter().collect();
    categories.retain(|category| category.software_count > 0);
    categories.sort_by_key(|category| Reverse(category.software_count));
    // German nouns are written with a capital.
    let is_german = language.is_some_and(|language| Inflected::of(language.as_str()) == Some(Inflected::German));
    let written = |name: &str| if is_german { name.to_owned() } else { name.to_lowercase() };
    let names = categories.into_iter().take(2 * most).map(|category| written(category.name_in(language)));
    let mut names: Vec<String> = names.collect();
    if names.is_empty() {
        let page = PageRequest { limit: 1, offset: 0 };
        let first = list_software(snapshot, &ListSoftware { page, ..ListSoftware::default() }, &Stop::default())?;
        names = first
            .data
            .iter()
            .map(|item| Ok(serde_json::from_slice::<SoftwareItem<'_>>(item)?.name.into_owned()))
            .collect::<Result<_, ServiceError>>()?;
    }
    let mut queries = Vec::new();
    for name in names.into_iter().filter(|name| name.chars().count() <= MAX_LENGTH) {
        let search = SearchSoftware { page: PageRequest { limit: 1, offset: 0 }, ..SearchSoftware::new(&name) };
        if queries.len() < most && search_software(snapshot, &search)?.pagination.total > 0 {
            queries.push(name);
        }
    }
    Ok(queries)
}
