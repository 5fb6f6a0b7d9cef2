//! Invariants for arbitrary queries: there's always a response, and its parts are consistent.

use std::sync::Arc;

use software_directory::catalogue::resource::Highlight;
use software_directory::export::{self, Limits, SourceFile};
use software_directory::generation::Snapshot;
use software_directory::record::CalendarDate;
use software_directory::search::budget::Budget;
use software_directory::service::{
    Facet, ListGlossary, ListSoftware, ListSort, MAX_QUERY_CHARACTERS, Order, PageRequest, SearchSoftware, SearchSort,
    Stop, find_software_within, list_glossary, list_software, search_software,
};

/// A search with facets, highlights and typo tolerance, for as much of the text as fits in a query.
pub(crate) fn search(q: &str) -> SearchSoftware {
    let q: String = q.chars().take(MAX_QUERY_CHARACTERS).collect();
    SearchSoftware {
        facets: vec![Facet::Category, Facet::OfferingType, Facet::EvidenceStatus, Facet::Rating],
        highlight: true,
        page: PageRequest { limit: 100, offset: 0 },
        ..SearchSoftware::new(&q)
    }
}

/// Runs the query, both as a search and in the lists that take a query, and checks the responses.
pub(crate) fn check(snapshot: &Snapshot, query: &SearchSoftware) {
    let count = snapshot.software_count() as u64;
    let answer = search_software(snapshot, query).expect("an answer");
    let is_usual_page = !query.highlight || query.page.limit <= 50;
    assert!(!answer.query.incomplete || !is_usual_page, "a search in a small directory should be complete");
    let total = answer.pagination.total;
    assert!(total <= count, "{total} of {count}");
    let shown = total.saturating_sub(query.page.offset).min(query.page.limit.into());
    assert_eq!(answer.data.len() as u64, shown, "a page is as full as possible");
    for highlights in answer.data.iter().filter_map(|hit| hit.highlights.as_deref()) {
        let highlights: Vec<Highlight<'_>> = serde_json::from_slice(highlights).expect("highlights");
        highlights.iter().for_each(check_highlight);
    }
    for values in answer.facets.iter().map(|(_, values)| values) {
        assert!(values.iter().all(|value| value.count <= count));
    }
    // Every page, whatever its size, must be a slice of the whole result.
    let whole = SearchSoftware { page: PageRequest { limit: 100, offset: 0 }, facets: Vec::new(), ..query.clone() };
    let whole = search_software(snapshot, &whole).expect("an answer");
    assert_eq!(whole.pagination.total, total);
    let start = usize::try_from(query.page.offset).unwrap_or(usize::MAX).min(whole.data.len());
    for (hit, same) in answer.data.iter().zip(&whole.data[start..]) {
        assert_eq!(hit.item, same.item, "the pages tile the result");
    }

    let list = ListSoftware {
        q: query.q.clone(),
        filter: query.filter.clone(),
        include: Vec::new(),
        sort: (query.sort == SearchSort::Stored(Order::Name)).then_some(ListSort::Stored(Order::Name)),
        page: query.page,
        language: None,
    };
    assert!(list_software(snapshot, &list, &Stop::default()).expect("an answer").pagination.total <= count);
    let terms = ListGlossary { q: query.q.clone(), page: query.page };
    let glossary =
        list_glossary(&snapshot.catalogue, &snapshot.glossary, &terms, None, &Stop::default()).expect("JSON");
    assert!(glossary.data.len() as u64 <= glossary.pagination.total);
}

/// Searches within a budget, and compares the response with the complete one and with other pages
/// of the same search. Returns whether it's incomplete.
pub(crate) fn check_within(snapshot: &Snapshot, query: &SearchSoftware, units: u64) -> bool {
    let within = |query: &SearchSoftware, units| {
        let budget = Budget::new(units);
        let results = find_software_within(snapshot, query, &budget).expect("results");
        assert_eq!(results.spent, budget.spent(), "it counts towards a page's budget");
        results.page(snapshot, query).into_owned()
    };
    let answer = within(query, units);
    assert_eq!(answer, within(query, units), "the same query gets the same response");
    let complete = within(query, u64::MAX);
    let total = answer.pagination.total;
    assert!(!complete.query.incomplete && total <= complete.pagination.total);
    if !answer.query.incomplete {
        assert_eq!(answer, complete);
    }
    let shown = total.saturating_sub(query.page.offset).min(query.page.limit.into());
    assert_eq!(answer.data.len() as u64, shown, "a page is as full as possible");
    for ((_, values), (_, all)) in answer.facets.iter().zip(&complete.facets) {
        let count = |of: &str| all.iter().find(|value| value.value == of).map_or(0, |value| value.count);
        assert!(values.iter().all(|value| value.count <= count(&value.value)));
    }
    let whole = SearchSoftware { page: PageRequest { limit: 100, offset: 0 }, ..query.clone() };
    let whole = within(&whole, units);
    assert_eq!(whole.pagination.total, total);
    let start = usize::try_from(query.page.offset).unwrap_or(usize::MAX).min(whole.data.len());
    for (hit, same) in answer.data.iter().zip(&whole.data[start..]) {
        assert_eq!(hit.item, same.item, "the pages tile the result");
    }
    answer.query.incomplete
}

/// Checks that marks are ordered and paired, and that there's no other markup.
fn check_highlight(highlight: &Highlight<'_>) {
    let unmarked = highlight.html.replace("<mark>", "").replace("</mark>", "");
    assert!(!unmarked.contains(['<', '>', '"']), "{highlight:?}");
    assert_eq!(highlight.html.matches("<mark>").count(), highlight.html.matches("</mark>").count());
    assert!(!highlight.ranges.is_empty());
    assert!(highlight.ranges.windows(2).all(|pair| pair[0].start + pair[0].length <= pair[1].start), "{highlight:?}");
    assert!(highlight.ranges.iter().all(|range| range.length > 0), "{highlight:?}");
}

/// The bundled exports, plus an export with one of everything.
pub(crate) fn snapshot() -> Arc<Snapshot> {
    let sources = [
        ("demo.json", include_str!("../../../demo/demo.json")),
        ("qhse.json", include_str!("../../../data/qhse.json")),
        ("everything.json", super::export::EXPORT),
    ];
    let open = |(name, text): (&str, &'static str)| SourceFile::from_bytes(name.as_ref(), text.into());
    let today = CalendarDate::parse("2026-06-01").expect("a date");
    let report = export::examine(sources.into_iter().map(open).collect(), &Limits::default(), today, &|_| {})
        .expect("in memory");
    // The exports may define the same term, but that doesn't matter here.
    Snapshot::build(report.exports).expect("a generation")
}
