//! Search requests, and what they return.

use std::ops::Range;

use bytes::Bytes;

use crate::catalogue::{Ordinal, SoftwareFilter, SortedBy};
use crate::record::AttributeNumber;
use crate::search::Plan;
use crate::search::budget::Budget;
use crate::search::collect::{RankedHit, Tier};
use crate::search::facet_counts::FacetCounts;
use crate::search::forward::DocumentWords;

#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// What to search for and how to rank it.
    pub plan: &'a Plan,
    /// Which hits are allowed.
    pub filter: &'a SoftwareFilter,
    /// The sort order; `None` to sort by ranking.
    pub order: Option<SortedBy>,
    /// The hits to return, by position in the order, from 0.
    pub page: Range<usize>,
    /// The attributes to count in addition to the other facets; `None` counts no facets.
    pub facets: Option<&'a [AttributeNumber]>,
    /// Whether to return the hits' text.
    pub texts: bool,
    /// How much work the search may do.
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
    /// The product's detail fields that aren't in its item, as a JSON object.
    pub fields: Bytes,
    /// All of the product's words, as indexed.
    pub words: DocumentWords,
}

/// A search's result.
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
    /// The facet counts, if requested.
    pub facets: Option<FacetCounts>,
}
