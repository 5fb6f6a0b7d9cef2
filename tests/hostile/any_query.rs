//! Arbitrary queries with arbitrary options.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use software_directory::record::{CalendarDate, EvidenceStatus, OfferingType};
use software_directory::service::{
    self, AttributeCondition, ListGlossary, ListReviews, ListSimilar, ListSoftware, Order, PageRequest, ReviewSort,
    SearchSoftware, SearchSort, SoftwareFilter, Stop, find_software_within, list_glossary, list_reviews, list_software,
    similar_software, suggest,
};

use crate::common::cases::cases;
use crate::hostile::invariant::query::{check, check_within, search, snapshot};

/// Words that the directory contains or that have a meaning in the query syntax.
const PIECES: &[&str] = &[
    "permit",
    "permt",
    "penguin",
    "work",
    "to",
    "the",
    "iso",
    "9001",
    "45001",
    "ISO-9001",
    "audit",
    "audits",
    "auditing",
    "lock",
    "out",
    "lockout",
    "tagout",
    "ptw",
    "PTW",
    "loto",
    "c++",
    "C#",
    ".net",
    "R",
    "安全",
    "管理",
    "élan",
    "e\u{301}",
    "ﬁre",
    "ß",
    "İ",
    "ǅ",
    "organise",
    "organize",
    "a",
    "p",
    "pe",
    "-",
    "--",
    "-permit",
    "-\"work permit\"",
    "\"",
    "\"\"",
    "\"permit to work\"",
    "\"permit",
    "(",
    ")",
    "+",
    "*",
    "~2",
    "^",
    ":",
    "AND",
    "OR",
    "NOT",
    "/",
    "\\",
    "%",
    "&",
    "<mark>",
    "\u{0}",
    "\u{200d}",
    "\u{202e}",
    "\u{feff}",
    "😀",
    "👩‍🔬",
    "\u{1f1e9}\u{1f1ea}",
    "0",
    "999999999999999999999999",
    "１２",
    "'",
    "’s",
    "don't",
    "_",
    "@",
    "\t",
    "\n",
];

/// A query made up of [`PIECES`] and arbitrary text.
fn any_q() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => any::<char>().prop_map(String::from),
        1 => any::<String>(),
        1 => "[a-z]{1,12}",
        // A word with one letter missing.
        1 => (prop::sample::select(PIECES), any::<prop::sample::Index>()).prop_map(|(word, at)| {
            let without = at.index(word.chars().count());
            word.chars().enumerate().filter(|(at, _)| *at != without).map(|(_, letter)| letter).collect()
        }),
    ];
    let gap = prop::sample::select(&["", " ", "-", "  ", "\u{3000}"][..]);
    prop::collection::vec((piece, gap), 0..16)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, gap)| [piece, gap.to_owned()]).collect())
}

fn any_search() -> impl Strategy<Value = SearchSoftware> {
    let filter = (
        prop::collection::vec(
            prop_oneof![Just("audits".to_owned()), Just("Permit to work".to_owned()), any::<String>()],
            0..3,
        ),
        prop::option::of(prop::sample::select(&[OfferingType::Software, OfferingType::DocumentTemplates][..])),
        prop::option::of(prop::sample::select(
            &[EvidenceStatus::VendorSourcesReviewed, EvidenceStatus::PendingReview][..],
        )),
        prop::option::of(0.0..=5.0),
        prop::option::of(prop::sample::select(&["0000-01-01", "2026-05-01", "9999-12-31"][..])),
    )
        .prop_map(|(categories, offering_type, evidence_status, min_rating, day)| SoftwareFilter {
            offering_type,
            evidence_status,
            min_rating,
            evidence_checked_before: day.and_then(CalendarDate::parse),
            evidence_checked_after: day.and_then(CalendarDate::parse).filter(|_| min_rating.is_none()),
            attributes: (categories.iter().filter(|_| categories.len() == 2))
                .map(|tag| AttributeCondition::new("tags", tag))
                .collect(),
            categories,
            ..SoftwareFilter::default()
        });
    let filter = prop_oneof![2 => Just(SoftwareFilter::default()), 1 => filter];
    let sort = prop::sample::select(
        &[
            SearchSort::Relevance,
            SearchSort::Stored(Order::Rating),
            SearchSort::Stored(Order::LowestRating),
            SearchSort::Stored(Order::ReviewCount),
            SearchSort::Stored(Order::Name),
            SearchSort::Stored(Order::EvidenceCheckedOn),
        ][..],
    );
    let offset = prop_oneof![3 => 0..20_u64, 1 => Just(10_000), 1 => Just((1 << 53) - 1)];
    (any_q(), filter, sort, any::<bool>(), 1..=100_u32, offset).prop_map(|(q, filter, sort, typo, limit, offset)| {
        SearchSoftware { filter, sort, typo, page: PageRequest { limit, offset }, ..search(&q) }
    })
}

/// Checks many values from a strategy.
fn for_each<S: Strategy>(values: &S, check: impl Fn(S::Value)) {
    let outcome = TestRunner::new(cases(2_000)).run(values, |value| {
        check(value);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn any_query_gets_a_response() {
    let snapshot = snapshot();
    for_each(&any_search(), |query| check(&snapshot, &query));
}

#[test]
fn pages_within_any_budget_come_from_the_same_result() {
    let snapshot = snapshot();
    for_each(&(any_search(), 0..8_000_u64), |(query, units)| {
        check_within(&snapshot, &query, units);
    });
}

#[test]
fn work_ends_at_its_next_step_once_nobody_waits() {
    let (snapshot, stop) = (snapshot(), Stop::default());
    let query = search("permit audit managment");
    let totals = || {
        let budget = service::budget(&snapshot, &stop);
        let found = find_software_within(&snapshot, &query, &budget).expect("an answer");
        let filter = SoftwareFilter { min_rating: Some(1.0), ..SoftwareFilter::default() };
        let lists = [
            ListSoftware { q: Some("p".to_owned()), ..ListSoftware::default() },
            ListSoftware { filter, ..ListSoftware::default() },
        ];
        let list = |list| list_software(&snapshot, list, &stop).expect("an answer").pagination.total;
        let [named, filtered] = lists.each_ref().map(list);
        let terms = ListGlossary { q: Some("permit".to_owned()), page: PageRequest::default() };
        let terms = list_glossary(&snapshot.catalogue, &snapshot.glossary, &terms, None, &stop).expect("an answer");
        let reviews = ListReviews { sort: ReviewSort::Best, ..ListReviews::all(PageRequest::default()) };
        let reviews = list_reviews(&snapshot, "demo-permit-penguin", &reviews, &stop);
        let reviews = reviews.expect("a product").page.pagination.total;
        let (budget, similar) = (service::budget(&snapshot, &stop), ListSimilar::default());
        let similar = similar_software(&snapshot, "demo-permit-penguin", &similar, &budget);
        let similar = similar.expect("an answer").expect("a product");
        let suggested = suggest(&snapshot, "permit", 20, None, &budget).expect("an answer");
        let suggested = [suggested.software.len() as u64, suggested.glossary.len() as u64];
        let similar = similar.pagination.total;
        let [products, headings] = suggested;
        [found.total, similar, named, filtered, terms.pagination.total, reviews, products, headings]
    };
    assert!(totals().iter().all(|total| *total > 0), "{:?}", totals());
    stop.set();
    assert_eq!(totals(), [0; 8]);
}

#[test]
fn an_exhausted_budget_makes_the_result_incomplete() {
    let snapshot = snapshot();
    let query = search("\"permit to work\" audit management software");
    assert!(!check_within(&snapshot, &query, u64::MAX));
    assert!(check_within(&snapshot, &query, 100));
}
