//! Finds products similar to another one: in the same categories, with the same words.

use super::features::Features;
use super::search::{budget, scaled_score};
use super::{PageRequest, ServiceError, SimilarHit, SimilarPage};
use crate::catalogue::SoftwareFilter;
use crate::engine::SearchRequest;
use crate::generation::Snapshot;
use crate::search::{Group, Plan};

/// Lists similar products, most similar first, each with what both share. Returns `None` if the id
/// is unknown.
pub async fn similar_software<'s>(
    snapshot: &'s Snapshot,
    id: &str,
    page: PageRequest,
) -> Result<Option<SimilarPage<'s>>, ServiceError> {
    let Some(record) = snapshot.engine.record(id).await? else { return Ok(None) };
    let features = Features::of(snapshot, &record.body)?;
    let group = |(_, alternative)| Group { alternatives: vec![alternative], ..Group::default() };
    let groups: Vec<_> = features.shared().map(group).collect();
    if groups.is_empty() {
        // A plan without groups would find all products.
        return Ok(Some(SimilarPage { data: Vec::new(), pagination: page.pagination(0) }));
    }
    let plan = Plan { groups, ..Plan::default() };
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
            categories: features.shared_categories(&hit.item)?,
            words: texts.map(|texts| features.shared_words(snapshot, texts)).unwrap_or_default(),
        })
    });
    Ok(Some(SimilarPage { data: data.collect::<Result<_, _>>()?, pagination: page.pagination(found.total) }))
}
