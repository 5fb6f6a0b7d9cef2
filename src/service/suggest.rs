//! Suggests products, categories and glossary terms while a query is being typed. Responses are
//! kept small.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::search::find_software_within;
use super::software::search_names;
use super::{PageRequest, Prefix, SearchSoftware, ServiceError, Translator};
use crate::catalogue::resource::{
    CategoryResource, CategorySuggestion, SoftwareItem, SoftwareRef, Suggestions, TermSuggestion,
};
use crate::catalogue::{Catalogue, SoftwareFilter};
use crate::generation::Snapshot;
use crate::record::Language;
use crate::search::budget::{Budget, Stop};
use crate::search::headings::HeadingIndex;

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
    if products.len() < few && !q.trim().is_empty() {
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
        products.truncate(few);
    }
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
