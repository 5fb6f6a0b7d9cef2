//! Engines that keep the index and records in memory. They differ in how they search, but read
//! records the same way.

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};

use super::{
    CATEGORY_EXAMPLES, Engine, EngineError, Explain, Hit, HitTexts, MAX_TEXT_BYTES, Record, ReviewHits, ReviewsRequest,
    SearchHits, SearchRequest,
};
use crate::catalogue::{Filter, Records, SoftwareFilter, SortedBy};
use crate::record::{AttributeNumber, KeyRange};
use crate::search::budget::Budget;
use crate::search::collect::{Candidate, Tier};
use crate::search::forward::{DocumentWords, Forward};
use crate::search::{Alternative, Group, Kind, Plan, Term};

/// An engine in this process. Its futures are always ready.
pub(super) trait Embedded: Explain + std::fmt::Debug + Send + Sync {
    fn records(&self) -> &Records;

    /// Returns the number of documents that contain a term.
    fn frequency(&self, term: &Term) -> Result<u32, EngineError>;

    fn search_now(&self, request: &SearchRequest<'_>) -> Result<SearchHits, EngineError>;
}

impl<E: Embedded> Engine for E {
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError> {
        self.frequency(term)
    }

    fn categories(&self, term: &Term) -> Result<Vec<u32>, EngineError> {
        let alternatives = vec![Alternative { kind: Kind::Category, term: term.clone(), weight: 1.0 }];
        let group = Group { alternatives, required: true, indispensable: false };
        let found = self.search_now(&SearchRequest {
            plan: &Plan { groups: vec![group], ..Plan::default() },
            filter: &SoftwareFilter::default(),
            order: None,
            page: 0..CATEGORY_EXAMPLES,
            facets: None,
            texts: false,
            budget: &Budget::for_documents(self.records().len()),
        })?;
        let columns = &self.records().columns;
        let mut categories: Vec<_> =
            found.hits.iter().flat_map(|hit| columns.categories_of(hit.ordinal)).copied().collect();
        categories.sort_unstable();
        categories.dedup();
        Ok(categories)
    }

    fn has_values<'a>(
        &'a self,
        attribute: AttributeNumber,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<bool>, EngineError>> {
        let column = self.records().columns.attribute(attribute);
        Box::pin(ready(Ok(keys.iter().map(|key| !column.find(&KeyRange::one(key)).is_empty()).collect())))
    }

    fn detail_hash<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<u64>, EngineError>> {
        let records = self.records();
        Box::pin(ready(Ok(records.find(id).map(|ordinal| records.detail_hash(ordinal)))))
    }

    fn is_large(&self, id: &str) -> bool {
        let records = self.records();
        records.find(id).is_some_and(|ordinal| records.detail_len(ordinal) > LARGE_BYTES)
    }

    fn search<'a>(&'a self, request: &'a SearchRequest<'_>) -> BoxFuture<'a, Result<SearchHits, EngineError>> {
        Box::pin(ready(self.search_now(request)))
    }

    fn record<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Record>, EngineError>> {
        let records = self.records();
        let record = |ordinal| {
            let detail_hash = records.detail_hash(ordinal);
            Ok(Record { ordinal, detail_hash, body: records.detail(ordinal)? })
        };
        Box::pin(ready(records.find(id).map(record).transpose()))
    }

    fn reviews<'a>(
        &'a self,
        id: &'a str,
        request: &'a ReviewsRequest,
    ) -> BoxFuture<'a, Result<Option<ReviewHits>, EngineError>> {
        let records = self.records();
        let window = |ordinal| {
            let reviews = records.reviews.of(ordinal);
            let (page, total) = reviews.page(&request.filter, request.sort, &request.page);
            ReviewHits {
                reviews: page.into_iter().map(|review| records.object(review.object)).collect(),
                total: total as u64,
                summary: reviews.summary.clone(),
            }
        };
        Box::pin(ready(Ok(records.find(id).map(window))))
    }

    fn explainer(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

/// Turns candidates into hits.
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

/// The size in bytes of a product's detail that takes a tenth of a millisecond to decompress.
const LARGE_BYTES: usize = 128 * 1024;

/// The expected size of a hit's text in bytes.
const TEXT_BYTES: usize = 2048;

/// Text up to this size in bytes is read even if the budget is spent, so that a page is in the
/// request's language.
const USUAL_TEXT_BYTES: usize = 1 << 20;

/// How many bytes of text are decompressed per budget unit.
const READ_AT_ONCE: usize = 16;

/// Highlighting text takes about this many times as long as reading it.
const HIGHLIGHTING: usize = 2;

/// The hits' text, up to [`MAX_TEXT_BYTES`], and as much as the budget allows reading and
/// highlighting. If there's more, marks the search as incomplete.
pub(super) fn texts(
    records: &Records,
    forward: &Forward,
    hits: &[Hit],
    budget: &Budget,
) -> Result<Vec<HitTexts>, EngineError> {
    let ordinals = hits.iter().map(|hit| hit.ordinal);
    records.prefetch(ordinals.clone());
    forward.fetch(ordinals.clone());
    // One buffer for all hits, because allocating one per hit would take as long as the copying.
    let (mut buffer, mut bounds) = (Vec::with_capacity(hits.len() * TEXT_BYTES), Vec::with_capacity(hits.len()));
    for ordinal in ordinals {
        let bytes = records.detail_len(ordinal) + forward.size_bytes(ordinal);
        let (size, units) = (buffer.len() + bytes, bytes / READ_AT_ONCE);
        let is_allowed = size <= USUAL_TEXT_BYTES || budget.allows(units * (1 + HIGHLIGHTING));
        if buffer.len() > MAX_TEXT_BYTES || !is_allowed {
            budget.exceed();
            break;
        }
        budget.spend(units);
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

/// A page of all products in a stored order, if that's all the request asks for.
pub(super) fn list(records: &Records, request: &SearchRequest<'_>, filter: &Filter) -> Option<SearchHits> {
    let Some(SortedBy::Stored(order)) = request.order else { return None };
    if !request.plan.finds_all() || request.facets.is_some() {
        return None;
    }
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
