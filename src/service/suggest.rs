//! Suggestions while a query is being typed: products, categories and glossary terms, kept small.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::Deserialize;

use super::search::find_software;
use super::software::search_names;
use super::{PageRequest, Prefix, SearchSoftware, ServiceError};
use crate::catalogue::SoftwareFilter;
use crate::catalogue::resource::{CategoryResource, CategorySuggestion, SoftwareRef, Suggestions, TermSuggestion};
use crate::generation::Snapshot;

/// Suggests up to `limit` each of products, categories and glossary terms. Products whose names
/// match come first, then others that a search finds; categories and terms are matched by name.
pub async fn suggest<'s>(snapshot: &'s Snapshot, q: &str, limit: u32) -> Result<Suggestions<'s>, ServiceError> {
    let few = limit as usize;
    let tables = &snapshot.catalogue.tables;
    let page = PageRequest { limit, offset: 0 };
    let named = search_names(snapshot, q, &SoftwareFilter::default(), None, page).await?;
    let mut products: Vec<_> = named.hits.into_iter().map(|hit| (hit.ordinal, hit.item)).collect();
    let mut q = Cow::Borrowed(q);
    if products.len() < few && !q.trim().is_empty() {
        let search = SearchSoftware { prefix: Prefix::Always, page, ..SearchSoftware::new(&q) };
        let found = find_software(snapshot, &search).await?;
        // Categories and terms aren't spell-checked, so they're looked up by the corrected query.
        for correction in &found.query.corrected {
            q = Cow::Owned(q.replace(&correction.from, &correction.to));
        }
        let others = found.hits.into_iter().map(|hit| (hit.ordinal, hit.item));
        let others: Vec<_> = others.filter(|(other, _)| products.iter().all(|(ordinal, _)| ordinal != other)).collect();
        products.extend(others);
        products.truncate(few);
    }
    let completed = snapshot.categories.complete(&q);
    let mut categories: Vec<_> =
        (0..).zip(completed.iter()).map(|(place, at): (u32, _)| (place, &tables.categories[at])).collect();
    let order = |(place, category): &(u32, &CategoryResource)| (Reverse(category.software_count), *place);
    if categories.len() > few {
        categories.select_nth_unstable_by_key(few, order);
        categories.truncate(few);
    }
    categories.sort_unstable_by_key(order);
    let terms = snapshot.glossary.complete(&q);
    let terms = terms.iter().take(few).map(|at| &tables.glossary[at].term);
    Ok(Suggestions {
        software: products.iter().map(|(_, item)| software_ref(item)).collect::<Result<_, _>>()?,
        categories: categories
            .into_iter()
            .map(|(_, category)| CategorySuggestion {
                id: &category.id,
                name: &category.name,
                software_count: category.software_count,
            })
            .collect(),
        glossary: terms.map(|term| TermSuggestion { id: &term.id, term: &term.term }).collect(),
    })
}

fn software_ref(item: &[u8]) -> Result<SoftwareRef, ServiceError> {
    Ok(SoftwareRef::deserialize(&mut serde_json::Deserializer::from_slice(item))?)
}
