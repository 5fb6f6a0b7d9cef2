//! Search results that can be cached and paged.

use std::mem::size_of;

use bytes::Bytes;

use super::{SearchHit, SearchPage, SearchSoftware, facet};
use crate::catalogue::resource::{Correction, QueryReport};
use crate::generation::Snapshot;
use crate::index::Hit;
use crate::search::facet_counts::FacetCounts;

/// A search's results for one page. The hits' items are slices of the generation's data, not
/// copies, unless they're translated.
#[derive(Debug)]
pub struct SearchResults {
    /// With the scores that are shown.
    pub(super) hits: Box<[Hit]>,
    /// Whether any text is in the query's language.
    pub(super) is_in_language: bool,
    /// Whether the items are translations rather than the generation's own.
    pub(super) are_translated: bool,
    /// Each hit's highlights, if requested.
    pub(super) highlights: Option<Box<[Bytes]>>,
    pub total: u64,
    /// The budget units that the search took.
    pub spent: u64,
    pub(super) query: QueryReport,
    pub(super) counts: Option<Box<FacetCounts>>,
}

impl SearchResults {
    /// Builds the page, given the snapshot and the query that were used for the search.
    pub fn page<'s>(&'s self, snapshot: &'s Snapshot, query: &SearchSoftware) -> SearchPage<'s> {
        let data = self.hits.iter().enumerate().map(|(at, hit)| SearchHit {
            item: hit.item.clone(),
            tier: hit.tier,
            score: hit.score,
            highlights: self.highlights.as_ref().map(|highlights| highlights[at].clone()),
        });
        SearchPage {
            data: data.collect(),
            is_in_language: self.is_in_language,
            pagination: query.page.pagination(self.total),
            query: self.query.clone(),
            facets: facet::all(&snapshot.catalogue, &query.facets, self.counts.as_deref(), query.language.as_ref()),
        }
    }

    pub fn size_bytes(&self) -> usize {
        let correction = |of: &Correction| size_of::<Correction>() + of.from.len() + of.to.len();
        let corrections: usize =
            [&self.query.corrected, &self.query.synonyms].into_iter().flatten().map(correction).sum();
        let query = &self.query;
        let words = query.dropped.iter().chain(&query.excluded).chain(&query.alternatives_to);
        let words = words.chain(&query.unknown).chain(&query.alternatives_to_id);
        let words: usize = words.map(|word| size_of::<String>() + word.len()).sum();
        let highlights: usize =
            self.highlights.iter().flatten().map(|highlights| size_of::<Bytes>() + highlights.len()).sum();
        let counts = self.counts.as_ref().map_or(0, |counts| counts.size_bytes());
        let items = self.hits.iter().filter(|_| self.are_translated).map(|hit| hit.item.len()).sum::<usize>();
        size_of::<Self>() + size_of_val(&*self.hits) + items + corrections + words + highlights + counts
    }
}
