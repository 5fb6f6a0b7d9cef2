//! Search requests and the hits that they return: how the records of a page of hits are read.

use std::ops::Range;

use bytes::Bytes;

use super::IndexError;
use crate::catalogue::{Filter, Ordinal, Records, SoftwareFilter, SortedBy};
use crate::record::AttributeNumber;
use crate::search::Plan;
use crate::search::budget::Budget;
use crate::search::collect::{RankedHit, Tier};
use crate::search::facet_counts::FacetCounts;
use crate::search::forward::{DocumentWords, Forward};

/// Adds the products' items to ranked hits.
pub(super) fn with_items(records: &Records, ranked: &[RankedHit]) -> Vec<Hit> {
    let items = records.items(ranked.iter().map(|of| of.ordinal));
    let hit = |(of, item): (&RankedHit, Bytes)| Hit { ordinal: of.ordinal, tier: of.tier, score: of.score, item };
    ranked.iter().zip(items).map(hit).collect()
}

/// The maximum size in bytes of the text that comes with a page of hits. A single hit may exceed
/// it, since a record can contain megabytes of text.
const MAX_TEXT_BYTES: usize = 16 << 20;

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
) -> Result<Vec<HitTexts>, IndexError> {
    let ordinals = hits.iter().map(|hit| hit.ordinal);
    records.prefetch(ordinals.clone());
    forward.fetch(ordinals.clone());
    // One buffer for all hits, because allocating one per hit would take as long as the copying.
    let (mut buffer, mut bounds) = (Vec::with_capacity(hits.len() * TEXT_BYTES), Vec::with_capacity(hits.len()));
    for ordinal in ordinals {
        let bytes = records.len_of(ordinal) + forward.size_bytes(ordinal);
        let (size, units) = (buffer.len() + bytes, bytes / READ_AT_ONCE);
        let is_allowed = size <= USUAL_TEXT_BYTES || budget.allows(units * (1 + HIGHLIGHTING));
        if buffer.len() > MAX_TEXT_BYTES || !is_allowed {
            budget.exceed();
            break;
        }
        budget.spend(units);
        let start = buffer.len();
        records.append_detail(ordinal, &mut buffer)?;
        let middle = buffer.len();
        buffer.extend_from_slice(forward.of(ordinal));
        bounds.push((records.is_shortened(ordinal), start, middle, buffer.len()));
    }
    let buffer = Bytes::from(buffer);
    let texts = bounds.into_iter().map(|(is_shortened, start, middle, end)| HitTexts {
        detail: buffer.slice(start..middle),
        is_shortened,
        words: DocumentWords::encoded(buffer.slice(middle..end)),
    });
    Ok(texts.collect())
}

/// Budget units for checking whether a product passes a filter.
const FILTERED: usize = 2;

/// A page of all products in a stored order, if that's all the request asks for.
pub(super) fn list(records: &Records, request: &SearchRequest<'_>, filter: &Filter) -> Option<SearchHits> {
    let Some(SortedBy::Stored(order)) = request.order else { return None };
    if !request.plan.finds_all() || request.facets.is_some() {
        return None;
    }
    let columns = &records.columns;
    let pays = |products| request.budget.pay(products * FILTERED);
    let (ordinals, total) = columns.page(filter, order, request.page.clone(), pays);
    let hit = |ordinal| {
        let tier = if columns.is_demo(ordinal) { Tier::Demo } else { Tier::Words };
        RankedHit { tier, score: 0.0, ordinal }
    };
    let ranked: Vec<_> = ordinals.into_iter().map(hit).collect();
    let unfiltered_total = records.len() as u64;
    let hits = with_items(records, &ranked);
    Some(SearchHits { hits, total, complete: total, unfiltered_total, ..SearchHits::default() })
}

#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// What to search for and how to rank it.
    pub plan: &'a Plan,
    pub filter: &'a SoftwareFilter,
    /// The sort order; `None` to sort by ranking.
    pub order: Option<SortedBy>,
    /// The hits to return, by position in the order, from 0.
    pub page: Range<usize>,
    /// The attributes to count in addition to the other facets; `None` counts no facets.
    pub facets: Option<&'a [AttributeNumber]>,
    /// Whether to return the hits' text.
    pub texts: bool,
    pub budget: &'a Budget,
}

impl SearchRequest<'_> {
    /// The hits on the page; empty past the end.
    pub(super) fn page_of<'h>(&self, hits: &'h [RankedHit]) -> &'h [RankedHit] {
        let end = self.page.end.min(hits.len());
        &hits[self.page.start.min(end)..end]
    }
}

/// A document that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub ordinal: Ordinal,
    pub tier: Tier,
    /// The score within the tier; never negative.
    pub score: f32,
    /// The product as shown in lists, as a JSON object.
    pub item: Bytes,
}

/// A hit's text beyond what's in its item.
#[derive(Debug, Clone, PartialEq)]
pub struct HitTexts {
    /// The product's members that aren't in its item, as a JSON object.
    pub detail: Bytes,
    /// Whether the item is shortened, and `detail` has all of the product's members.
    pub is_shortened: bool,
    /// All of the product's words, as indexed.
    pub words: DocumentWords,
}

#[derive(Debug, Clone, Default)]
pub struct SearchHits {
    /// The hits on the page, in order.
    pub hits: Vec<Hit>,
    /// Each hit's text, if requested. The last hits' text is missing if it would take too much
    /// memory.
    pub texts: Vec<HitTexts>,
    /// How many documents were found in total.
    pub total: u64,
    /// How many documents have all the words. Those with only some of the words come after them.
    pub complete: u64,
    /// How many documents have none of the words, but are close in meaning. They come last.
    pub related: u64,
    /// How many documents the words would have matched without the filter.
    pub unfiltered_total: u64,
    pub facets: Option<FacetCounts>,
}
