//! Finds products similar to a given product, i.e. those that share its categories, words or
//! meaning.

use super::features::Features;
use super::search::scaled_score;
use super::{ListSimilar, ServiceError, SimilarHit, SimilarPage, Translator};
use crate::catalogue::SoftwareFilter;
use crate::generation::Snapshot;
use crate::index::SearchRequest;
use crate::search::budget::Budget;
use crate::search::{Plan, WordGroup};

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
    let Some(record) = snapshot.records.get(id)? else { return Ok(None) };
    let features = Features::of(snapshot, &record.body, budget)?;
    let group = |(_, alternatives)| WordGroup { alternatives, ..WordGroup::default() };
    let groups: Vec<_> = features.shared().map(group).collect();
    if groups.is_empty() {
        // A plan without groups would match all products.
        return Ok(Some(SimilarPage { data: Vec::new(), pagination: page.pagination(0), is_in_language: false }));
    }
    budget.spend(SHARED);
    let rerank = features.rerank(snapshot, groups.iter().map(|group| &group.alternatives[..]))?;
    let plan = Plan { groups, rerank, ..Plan::default() };
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
