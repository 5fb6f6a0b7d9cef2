//! Records for engines that have them in memory.

use bytes::Bytes;

use super::{
    CATEGORY_EXAMPLES, EngineError, Hit, HitTexts, MAX_TEXT_BYTES, Record, ReviewHits, ReviewsRequest, SearchHits,
    SearchRequest,
};
use crate::catalogue::{Attribute, Filter, Ordinal, Records, SoftwareFilter};
use crate::search::budget::Budget;
use crate::search::collect::{Candidate, Tier};
use crate::search::forward::{DocumentWords, Forward};
use crate::search::{Alternative, Group, Kind, Plan, Term};

/// The hits of some candidates.
pub(super) fn hits(records: &Records, candidates: &[Candidate]) -> Vec<Hit> {
    let items = records.items(candidates.iter().map(|candidate| candidate.ordinal));
    let hit = |(candidate, item): (&Candidate, Bytes)| Hit {
        ordinal: candidate.ordinal,
        tier: candidate.tier,
        score: candidate.score,
        item,
    };
    candidates.iter().zip(items).map(hit).collect()
}

/// The bytes that a hit's texts are expected to have.
const TEXT_BYTES: usize = 2048;

/// The texts of some hits, up to [`MAX_TEXT_BYTES`]. Where there are more the search is incomplete.
pub(super) fn texts(
    records: &Records,
    forward: &Forward,
    hits: &[Hit],
    budget: &Budget,
) -> Result<Vec<HitTexts>, EngineError> {
    let ordinals = hits.iter().map(|hit| hit.ordinal);
    records.prefetch(ordinals.clone());
    forward.fetch(ordinals.clone());
    // One buffer for all of them: an allocation for each would take as long as the copying.
    let (mut buffer, mut bounds) = (Vec::with_capacity(hits.len() * TEXT_BYTES), Vec::with_capacity(hits.len()));
    for ordinal in ordinals {
        if buffer.len() > MAX_TEXT_BYTES {
            budget.exceed();
            break;
        }
        let start = buffer.len();
        records.append_detail_fields(ordinal, &mut buffer)?;
        let middle = buffer.len();
        buffer.extend_from_slice(forward.of(ordinal));
        bounds.push((start, middle, buffer.len()));
    }
    let buffer = Bytes::from(buffer);
    let texts = bounds.into_iter().map(|(start, middle, end)| HitTexts {
        fields: buffer.slice(start..middle),
        words: DocumentWords::encoded(buffer.slice(middle..end)),
    });
    Ok(texts.collect())
}

/// A page of all products in a stored order, where the request asks for no more than that.
pub(super) fn list(records: &Records, request: &SearchRequest<'_>, filter: &Filter) -> Option<SearchHits> {
    let order = request.order.filter(|_| request.plan.finds_all() && request.facets.is_none())?;
    let columns = &records.columns;
    let (ordinals, total) = columns.page(filter, order, request.page.clone());
    let candidate = |ordinal| {
        let tier = if columns.is_demo(ordinal) { Tier::Demo } else { Tier::All };
        Candidate { tier, score: 0.0, ordinal }
    };
    let candidates: Vec<_> = ordinals.into_iter().map(candidate).collect();
    let unfiltered_total = records.len() as u64;
    let hits = hits(records, &candidates);
    Some(SearchHits { hits, total, complete: total, unfiltered_total, ..SearchHits::default() })
}

/// A product; `None` for an unknown id.
pub(super) fn record(records: &Records, id: &str) -> Result<Option<Record>, EngineError> {
    let record = |ordinal: Ordinal| {
        let content_hash = records.content_hash(ordinal);
        Ok(Record { ordinal, content_hash, body: records.detail(ordinal)? })
    };
    records.find(id).map(record).transpose()
}

/// The hash of a product's content; `None` for an unknown id.
pub(super) fn content_hash(records: &Records, id: &str) -> Option<u64> {
    records.find(id).map(|ordinal| records.content_hash(ordinal))
}

/// A window of a product's reviews; `None` for an unknown id.
pub(super) fn reviews(records: &Records, id: &str, request: &ReviewsRequest) -> Option<ReviewHits> {
    let reviews = records.reviews.of(records.find(id)?);
    let entries = reviews.select(&request.filter, request.sort);
    let page = entries.iter().take(request.page.end).skip(request.page.start);
    Some(ReviewHits {
        reviews: page.map(|review| records.object(review.object)).collect(),
        total: entries.len() as u64,
        summary: reviews.summary.clone(),
    })
}

/// Returns for each value of an attribute whether a product has it.
pub(super) fn has_values(records: &Records, attribute: Attribute, values: &[&str]) -> Vec<bool> {
    let column = records.columns.attribute(attribute);
    values.iter().map(|value| column.find(value).is_some()).collect()
}

/// The categories of the best documents with a term, which `search` finds.
pub(super) fn categories(
    records: &Records,
    term: &Term,
    search: impl FnOnce(&SearchRequest<'_>) -> Result<SearchHits, EngineError>,
) -> Result<Vec<u32>, EngineError> {
    let alternatives = vec![Alternative { kind: Kind::Category, term: term.clone(), weight: 1.0 }];
    let plan = Plan { groups: vec![Group { alternatives, required: true, indispensable: false }], ..Plan::default() };
    let found = search(&SearchRequest {
        plan: &plan,
        filter: &SoftwareFilter::default(),
        order: None,
        page: 0..CATEGORY_EXAMPLES,
        facets: None,
        texts: false,
        budget: &Budget::for_documents(records.len()),
    })?;
    let columns = &records.columns;
    let mut categories: Vec<_> =
        found.hits.iter().flat_map(|hit| columns.categories_of(hit.ordinal)).copied().collect();
    categories.sort_unstable();
    categories.dedup();
    Ok(categories)
}
