//! Searches that were asked before: what is asked often is found once per generation.

use std::mem::size_of;
use std::sync::Arc;

use super::memory::{Memory, Remembered};
use super::operations::{ServiceError, counted_search, pagination};
use super::{SearchHit, SearchPage, SearchSoftware, facet};
use crate::catalogue::Ordinal;
use crate::resource::QueryReport;
use crate::search::collect::FacetCounts;
use crate::snapshot::Snapshot;

/// The most memory that is spent on remembering, in bytes: some 60,000 answers of twenty hits.
const MOST_BYTES: u64 = 24 << 20;

/// About what an answer of twenty hits takes, key and place in the cache included, in bytes.
const USUAL_BYTES: u64 = 400;

/// Answers searches, those that were asked before from memory. What is remembered is which products were found, not their
/// texts, so an answer takes some hundred bytes; with highlights some ten thousand, so those are remembered once they are asked
/// for again.
#[derive(Debug)]
pub struct Searches {
    answers: Memory<Answer>,
}

/// A search's answer without the products' texts.
#[derive(Debug)]
struct Answer {
    hits: Box<[(Ordinal, f32)]>,
    total: u64,
    /// What few answers have.
    rest: Option<Box<Rest>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Rest {
    query: QueryReport,
    counts: Option<FacetCounts>,
    /// Of each hit, where asked for.
    highlights: Vec<Option<Arc<[u8]>>>,
}

impl Default for Searches {
    fn default() -> Self {
        Self::holding(MOST_BYTES)
    }
}

impl Searches {
    /// Remembers as many answers as fit into this many bytes.
    fn holding(room: u64) -> Self {
        Self { answers: Memory::new(room, USUAL_BYTES) }
    }

    /// What was found when the same was asked before, if that is remembered.
    pub fn remembered<'s>(&self, snapshot: &'s Snapshot, query: &SearchSoftware) -> Option<SearchPage<'s>> {
        let answer = self.answers.get(&key(snapshot, query)?)?;
        Some(answer.page(snapshot, query))
    }

    /// Searches products, like [`search_software`](super::search_software), and remembers what is found.
    ///
    /// # Errors
    /// Where that can't.
    pub fn search<'s>(&self, snapshot: &'s Snapshot, query: &SearchSoftware) -> Result<SearchPage<'s>, ServiceError> {
        let (page, counts) = counted_search(snapshot, query)?;
        if let Some(key) = key(snapshot, query) {
            let answer = || Arc::new(Answer::of(&page, counts));
            // Highlights take many times the memory of all else, and what is asked once is the most of what is asked.
            if query.highlight {
                self.answers.keep_if_again(&key, answer);
            } else {
                self.answers.keep(&key, answer());
            }
        }
        Ok(page)
    }

    /// Forgets all answers if nothing was asked since this was last called. To be called now and then.
    pub fn rest(&self) {
        self.answers.rest();
    }
}

/// What tells a search from all others. The same generation has the same products in the same order, from wherever it was
/// opened.
fn key(snapshot: &Snapshot, query: &SearchSoftware) -> Option<Vec<u8>> {
    // The writer is a vector, which takes whatever is written.
    postcard::to_allocvec(&(snapshot.generation(), query)).ok()
}

impl Answer {
    fn of(page: &SearchPage<'_>, counts: Option<FacetCounts>) -> Self {
        let has_highlights = page.data.iter().any(|hit| hit.highlights.is_some());
        let rest = Rest {
            query: page.query.clone(),
            counts,
            highlights: if has_highlights {
                page.data.iter().map(|hit| hit.highlights.clone()).collect()
            } else {
                Vec::new()
            },
        };
        Self {
            hits: page.data.iter().map(|hit| (hit.ordinal, hit.score)).collect(),
            total: page.pagination.total,
            rest: (rest != Rest::default()).then(|| Box::new(rest)),
        }
    }

    fn page<'s>(&self, snapshot: &'s Snapshot, query: &SearchSoftware) -> SearchPage<'s> {
        let rest = self.rest.as_deref();
        let highlights = |at: usize| rest.and_then(|rest| rest.highlights.get(at).cloned()).flatten();
        let items = snapshot.catalogue.items(self.hits.iter().map(|(ordinal, _)| *ordinal));
        let hits = items.zip(&self.hits).enumerate().map(|(at, (item, (ordinal, score)))| SearchHit {
            item,
            ordinal: *ordinal,
            score: *score,
            highlights: highlights(at),
        });
        SearchPage {
            data: hits.collect(),
            pagination: pagination(query.page, self.total),
            query: rest.map(|rest| rest.query.clone()).unwrap_or_default(),
            facets: facet::all(&snapshot.catalogue, &query.facets, rest.and_then(|rest| rest.counts.as_ref())),
        }
    }
}

impl Remembered for Answer {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.hits) + self.rest.as_deref().map_or(0, Rest::bytes)
    }
}

impl Rest {
    fn bytes(&self) -> usize {
        let corrections: usize = [&self.query.corrected, &self.query.synonyms]
            .into_iter()
            .flatten()
            .map(|correction| size_of_val(correction) + correction.from.len() + correction.to.len())
            .sum();
        let dropped: usize = self.query.dropped.iter().map(|word| size_of_val(word) + word.len()).sum();
        let counts = self.counts.as_ref().map_or(0, |counts| size_of_val(&*counts.categories));
        let marked: usize = self.highlights.iter().flatten().map(|marked| marked.len()).sum();
        size_of::<Self>() + corrections + dropped + counts + size_of_val(&*self.highlights) + marked
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::export::{self, Limits, SourceFile};
    use crate::record::CalendarDate;
    use crate::service::{Facet, PageRequest, SearchSort, SoftwareFilter, search_software};

    fn snapshot(names: &[&str]) -> Arc<Snapshot> {
        let record = |(at, name): (usize, &&str)| {
            json!({
                "id": format!("id-{at}"), "name": name, "url": "https://a.example/", "category": "Tools",
                "evidence_status": "pending-review"
            })
        };
        let software: Vec<_> = names.iter().enumerate().map(record).collect();
        let document = json!({"name": "Tools", "license": "https://opensource.org/license/mit", "software": software});
        let sources = vec![SourceFile::from_bytes(Path::new("tools.json"), document.to_string().into())];
        let today = CalendarDate::parse("2026-01-01").expect("a date");
        let report = export::examine(sources, &Limits::default(), today, &|_| {});
        assert!(report.is_valid(), "{:?}", report.findings);
        Snapshot::build(&report.exports).expect("a generation")
    }

    /// Answers as the service does.
    fn ask<'s>(searches: &Searches, snapshot: &'s Snapshot, query: &SearchSoftware) -> SearchPage<'s> {
        let remembered = searches.remembered(snapshot, query);
        remembered.unwrap_or_else(|| searches.search(snapshot, query).expect("it answers"))
    }

    #[test]
    fn what_was_asked_before_is_answered_the_same() {
        let snapshot = snapshot(&["Permit Office", "Permits to Work", "Lockout Planner", "Work Planner"]);
        let searches = Searches::default();
        let first_page = SearchSoftware::new("work permit");
        let queries = [
            SearchSoftware { highlight: true, facets: Facet::ALL.to_vec(), ..SearchSoftware::new("permt planner") },
            SearchSoftware { page: PageRequest { limit: 20, offset: 1 }, ..first_page.clone() },
            SearchSoftware { page: PageRequest { limit: 1, offset: 0 }, ..first_page.clone() },
            SearchSoftware { sort: SearchSort::Name, ..first_page.clone() },
            SearchSoftware { typo: false, ..SearchSoftware::new("permt planner") },
            SearchSoftware {
                filter: SoftwareFilter { categories: vec!["nowhere".to_owned()], ..SoftwareFilter::default() },
                ..first_page.clone()
            },
            first_page,
        ];
        for round in 0..3 {
            for query in &queries {
                let answer = ask(&searches, &snapshot, query);
                assert_eq!(answer, search_software(&snapshot, query).expect("it answers"), "{round}: {query:?}");
            }
            let remembered = if round == 0 { queries.len() - 1 } else { queries.len() };
            assert_eq!(searches.answers.size().0, remembered, "that with highlights once it is asked again: {round}");
        }
    }

    #[test]
    fn another_generation_is_asked_anew() {
        let searches = Searches::default();
        for (names, total) in [(vec!["Permit"], 1), (vec!["Permit", "Permits"], 2), (vec!["Other"], 0)] {
            let answer = snapshot(&names);
            assert_eq!(ask(&searches, &answer, &SearchSoftware::new("permit")).pagination.total, total);
        }
    }

    #[test]
    fn no_more_is_remembered_than_there_is_room_for() {
        const ROOM: u64 = 20_000;
        let snapshot = snapshot(&["Permit Office"]);
        let searches = Searches::holding(ROOM);
        for number in 0..1_000 {
            ask(&searches, &snapshot, &SearchSoftware::new(&format!("permit {number}")));
        }
        let (count, bytes) = searches.answers.size();
        assert!(bytes <= ROOM && count > 10, "{count} of {bytes} bytes");
    }

    #[test]
    fn what_was_asked_is_forgotten_once_nothing_is_asked_any_more() {
        let snapshot = snapshot(&["Permit Office"]);
        let searches = Searches::default();
        let ask = || ask(&searches, &snapshot, &SearchSoftware::new("permit"));
        let first = ask();
        searches.rest();
        assert_eq!(searches.answers.size().0, 1, "it was asked a while ago");
        assert_eq!(ask(), first);
        searches.rest();
        assert_eq!(searches.answers.size().0, 1, "and again since");
        searches.rest();
        assert_eq!(searches.answers.size().0, 0);
        assert_eq!(ask(), first);
        assert_eq!(searches.answers.size().0, 1);
    }
}
