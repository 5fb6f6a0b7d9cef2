//! Lists, filters and facets in small random directories, compared with a scan of the whole list.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use software_directory::export::{self, Limits, SourceFile};
use software_directory::generation::Snapshot;
use software_directory::record::{CalendarDate, EvidenceStatus, OfferingType, slug};
use software_directory::service::{
    AttributeCondition, Facet, ListSoftware, ListSort, Order, PageRequest, SearchSoftware, SearchSort, SoftwareFilter,
    Stop, get_software, list_software, search_software,
};

const NAMES: [&str; 6] = ["Alpha", "alpha", "Álpha 2", "Alpha 10", "Beta", "Gamma tool"];
const CATEGORIES: [&str; 4] = ["Safety", "safety", "Risk & audit", "Quality"];
const TAGS: [&str; 4] = ["ISO 9001", "iso-9001", "C++", "C#"];
const DAYS: [&str; 3] = ["2024-01-31", "2024-02-01", "2025-06-30"];

fn record() -> impl Strategy<Value = Value> {
    let choice = |of: &'static [&'static str]| prop::option::of(prop::sample::select(of));
    (
        prop::sample::select(&NAMES[..]),
        prop::collection::vec(prop::sample::select(&CATEGORIES[..]), 0..3),
        prop::option::of(prop::sample::select(&[0.0, 1.0, 3.5, 3.99, 4.0, 4.5, 5.0][..])),
        prop::option::of(0..4_u64),
        choice(&DAYS),
        any::<bool>(),
        prop::collection::vec(prop::sample::select(&TAGS[..]), 0..4),
        choice(&["Acme", "ACME", "Other"]),
        choice(&DAYS),
    )
        .prop_map(|(name, categories, rating, review_count, day, is_software, tags, vendor, claimed)| {
            // Lists have no evidence, so the address says when the name was checked.
            let url = format!("https://a.example.org/{}", claimed.unwrap_or_default());
            let evidence = json!({"name": {"source": url, "checked_on": claimed}});
            let mut record = json!({"name": name, "url": url, "rating": rating, "evidence": evidence,
                "review_count": review_count, "categories": categories, "tags": tags, "vendor": vendor,
                "offering_type": if is_software { "software" } else { "document-templates" },
                "evidence_status": "pending-review"});
            if let Some(day) = day {
                record["evidence_checked_on"] = json!(day);
                record["sources"] = json!([["Site", "https://a.example.org/"]]);
                record["evidence_status"] = json!("vendor-sources-reviewed");
            }
            record
        })
}

fn filter() -> impl Strategy<Value = SoftwareFilter> {
    (
        prop::collection::vec(prop::sample::select(&["SAFETY", "risk-audit", "Quality", "unknown"][..]), 0..3),
        prop::option::of(prop::sample::select(&OfferingType::ALL[..])),
        prop::option::of(prop::sample::select(&EvidenceStatus::ALL[..])),
        prop::option::of(prop::sample::select(&[0.0, 3.5, 4.0][..])),
        prop::option::of(prop::sample::select(&["2024-02-01", "2026-01-01"][..])),
        prop::option::of(prop::sample::select(&["2024-01-31", "2024-02-01"][..])),
        prop::collection::vec(prop::sample::select(&["Iso 9001", "c#", "unknown"][..]), 0..2),
        prop::option::of(Just("acme")),
        prop::option::of(prop::sample::select(&["2024-02-01", "2025-06-30"][..])),
    )
        .prop_map(|(categories, offering_type, evidence_status, min_rating, before, after, tags, vendor, any)| {
            SoftwareFilter {
                categories: categories.into_iter().map(str::to_owned).collect(),
                offering_type,
                evidence_status,
                min_rating,
                evidence_checked_before: before.and_then(CalendarDate::parse),
                evidence_checked_after: after.and_then(CalendarDate::parse),
                any_evidence_before: any.and_then(CalendarDate::parse),
                attributes: (tags.iter().map(|tag| AttributeCondition::new("tags", tag)))
                    .chain(vendor.map(|vendor| AttributeCondition::new("vendor", vendor)))
                    .collect(),
                ..SoftwareFilter::default()
            }
        })
}

fn snapshot(records: &[Value]) -> Arc<Snapshot> {
    let numbered = records.iter().enumerate().map(|(at, record)| {
        let mut record = record.clone();
        record["id"] = json!(format!("p{at}"));
        record
    });
    let document =
        json!({"name": "N", "license": "https://example.org/", "software": numbered.collect::<Vec<_>>()}).to_string();
    let today = CalendarDate::parse("2026-01-01").expect("a date");
    let files = vec![SourceFile::from_bytes(Path::new("tools.json"), document.into())];
    let report = export::examine(files, &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    Snapshot::build(report.exports).expect("a generation")
}

fn parsed(item: &[u8]) -> Value {
    serde_json::from_slice(item).expect("JSON")
}

fn listed(snapshot: &Snapshot, filter: &SoftwareFilter, sort: Order, page: PageRequest) -> (Vec<Value>, u64) {
    let query =
        ListSoftware { filter: filter.clone(), sort: Some(ListSort::Stored(sort)), page, ..ListSoftware::default() };
    let page = list_software(snapshot, &query, &Stop::default()).expect("no engine is asked");
    (page.data.into_iter().map(|item| parsed(&item)).collect(), page.pagination.total)
}

fn searched(snapshot: &Snapshot, filter: &SoftwareFilter, sort: SearchSort, page: PageRequest) -> (Vec<Value>, u64) {
    let query = SearchSoftware { filter: filter.clone(), sort, page, ..SearchSoftware::new("") };
    let page = search_software(snapshot, &query).expect("it answers");
    (page.data.into_iter().map(|hit| parsed(&hit.item)).collect(), page.pagination.total)
}

/// A list in one of its sort orders.
type List = fn(&Snapshot, &SoftwareFilter, usize, PageRequest) -> (Vec<Value>, u64);

const SORTS: [SearchSort; 6] = [
    SearchSort::Relevance,
    SearchSort::Stored(Order::Name),
    SearchSort::Stored(Order::Rating),
    SearchSort::Stored(Order::LowestRating),
    SearchSort::Stored(Order::ReviewCount),
    SearchSort::Stored(Order::EvidenceCheckedOn),
];

const ALL: PageRequest = PageRequest { limit: 100, offset: 0 };

/// A product with all its fields.
fn detail(snapshot: &Snapshot, item: &Value) -> Value {
    let record =
        get_software(snapshot, item["id"].as_str().expect("an id"), None).expect("not damaged").expect("a product").0;
    parsed(&record.body)["data"].take()
}

/// An attribute's value in the form that's compared.
fn attribute_key(value: &str) -> String {
    value.to_lowercase().replace([' ', '-'], "")
}

/// The keys of an attribute's values.
fn attribute_keys(property: &str, detail: &Value) -> Vec<String> {
    let values = match &detail[property] {
        Value::Array(values) => values.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let mut keys: Vec<_> = values.iter().map(|value| attribute_key(value.as_str().expect("text"))).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Whether a product passes the filter, according to its JSON.
fn passes(item: &Value, filter: &SoftwareFilter) -> bool {
    let in_category = filter.categories.is_empty()
        || item["categories"]
            .as_array()
            .expect("an array")
            .iter()
            .any(|category| filter.categories.iter().any(|wanted| category["id"] == slug(wanted)));
    let day = |text: &str| CalendarDate::parse(text).expect("a date");
    let claimed = item["website"].as_str().and_then(|url| url.rsplit('/').next()).filter(|text| !text.is_empty());
    in_category
        && filter.offering_type.is_none_or(|wanted| item["offering_type"] == wanted.as_str())
        && filter.evidence_status.is_none_or(|wanted| item["evidence_status"] == wanted.as_str())
        && filter.min_rating.is_none_or(|least| item["rating"].as_f64().is_some_and(|rating| rating >= least))
        && filter
            .evidence_checked_before
            .is_none_or(|before| item["evidence_checked_on"].as_str().is_some_and(|on| day(on) < before))
        && filter
            .evidence_checked_after
            .is_none_or(|after| item["evidence_checked_on"].as_str().is_some_and(|on| day(on) > after))
        && filter.any_evidence_before.is_none_or(|before| {
            item["evidence_checked_on"].as_str().into_iter().chain(claimed).any(|checked| day(checked) < before)
        })
        && filter.attributes.iter().all(|AttributeCondition { property, .. }| {
            let keys = attribute_keys(property, item);
            let mut wanted = filter.attributes.iter().filter(|of| of.property == *property);
            wanted.any(|wanted| keys.contains(&attribute_key(&wanted.value)))
        })
}

/// The values that a facet counts an item under.
fn values(facet: &Facet, item: &Value) -> Vec<String> {
    let text = |name: &str| item[name].as_str().expect("text").to_owned();
    match facet {
        Facet::Category => item["categories"]
            .as_array()
            .expect("an array")
            .iter()
            .map(|category| category["id"].as_str().expect("text").to_owned())
            .collect(),
        Facet::OfferingType => vec![text("offering_type")],
        Facet::EvidenceStatus => vec![text("evidence_status")],
        Facet::Export => vec!["tools".to_owned()],
        Facet::Rating => {
            let rating = item["rating"].as_f64();
            (1..=5).filter(|stars| rating.is_some_and(|r| r >= f64::from(*stars))).map(|s| s.to_string()).collect()
        }
        Facet::Attribute(attribute) => attribute_keys(attribute, item),
    }
}

fn without_own(facet: &Facet, filter: &SoftwareFilter) -> SoftwareFilter {
    let mut filter = filter.clone();
    match facet {
        Facet::Category => filter.categories.clear(),
        Facet::OfferingType => filter.offering_type = None,
        Facet::EvidenceStatus => filter.evidence_status = None,
        Facet::Export => filter.exports.clear(),
        Facet::Rating => filter.min_rating = None,
        Facet::Attribute(attribute) => filter.attributes.retain(|of| of.property != *attribute),
    }
    filter
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn pages_of_any_size_tile_any_list(
        records in prop::collection::vec(record(), 1..24), filter in filter(), limit in 1..9_u32
    ) {
        let snapshot = snapshot(&records);
        let lists: [List; 2] = [
            |s, f, n, p| listed(s, f, Order::ALL[n % Order::ALL.len()], p),
            |s, f, n, p| searched(s, f, SORTS[n].clone(), p),
        ];
        for list in lists {
            for sort in 0..SORTS.len() {
                let (whole, total) = list(&snapshot, &filter, sort, ALL);
                prop_assert_eq!(whole.len() as u64, total);
                let mut tiled = Vec::new();
                for offset in (0..total + u64::from(limit)).step_by(limit as usize) {
                    let (page, of) = list(&snapshot, &filter, sort, PageRequest { limit, offset });
                    prop_assert_eq!(of, total);
                    tiled.extend(page);
                }
                prop_assert_eq!(tiled, whole);
            }
        }
    }

    #[test]
    fn a_filter_matches_a_scan(
        records in prop::collection::vec(record(), 1..24), filter in filter()
    ) {
        let snapshot = snapshot(&records);
        let (all, total) = listed(&snapshot, &SoftwareFilter::default(), Order::Name, ALL);
        prop_assert_eq!(total, records.len() as u64);
        let expected: Vec<_> = all.into_iter().filter(|item| passes(&detail(&snapshot, item), &filter)).collect();
        prop_assert_eq!(&listed(&snapshot, &filter, Order::Name, ALL).0, &expected);
        prop_assert_eq!(&searched(&snapshot, &filter, SearchSort::Stored(Order::Name), ALL).0, &expected);
    }

    #[test]
    fn each_order_is_the_documented_one(records in prop::collection::vec(record(), 1..24)) {
        let snapshot = snapshot(&records);
        let open = SoftwareFilter::default();
        let (by_name, _) = listed(&snapshot, &open, Order::Name, ALL);
        for (sort, member) in [(Order::Rating, "rating"), (Order::ReviewCount, "review_count")] {
            // Highest first, unknown last, ties by name: a stable sort of the list by name.
            let mut expected = by_name.clone();
            let value = |item: &Value| item[member].as_f64().unwrap_or(f64::NEG_INFINITY);
            expected.sort_by(|a, b| value(b).total_cmp(&value(a)));
            prop_assert_eq!(listed(&snapshot, &open, sort, ALL).0, expected);
        }
        let mut expected = by_name.clone();
        expected.sort_by(|a, b| {
            let value = |item: &Value| item["rating"].as_f64().unwrap_or(f64::INFINITY);
            value(a).total_cmp(&value(b))
        });
        prop_assert_eq!(listed(&snapshot, &open, Order::LowestRating, ALL).0, expected);
        let mut expected = by_name;
        // Dates sort as strings. The newest come first, and unknown ones, which are null, last.
        let day = |item: &Value| item["evidence_checked_on"].as_str().map(str::to_owned);
        expected.sort_by_key(|item| std::cmp::Reverse(day(item)));
        prop_assert_eq!(listed(&snapshot, &open, Order::EvidenceCheckedOn, ALL).0, expected);
    }

    #[test]
    fn facet_counts_match_a_scan_without_the_facets_own_filter(
        records in prop::collection::vec(record(), 1..24), filter in filter()
    ) {
        let snapshot = snapshot(&records);
        let (all, _) = listed(&snapshot, &SoftwareFilter::default(), Order::Name, ALL);
        let all: Vec<_> = all.iter().map(|item| detail(&snapshot, item)).collect();
        let query = SearchSoftware {
            filter: filter.clone(),
            facets: Facet::all().collect(),
            page: PageRequest { limit: 1, offset: 0 },
            ..SearchSoftware::new("")
        };
        let page = search_software(&snapshot, &query).expect("it answers");
        for (facet, counted) in page.facets {
            let others = without_own(&facet, &filter);
            let mut expected = BTreeMap::new();
            for value in all.iter().filter(|item| passes(item, &others)).flat_map(|item| values(&facet, item)) {
                *expected.entry(value).or_insert(0_u64) += 1;
            }
            let counted: BTreeMap<_, _> = counted.into_iter().map(|value| {
                let is_attribute = matches!(facet, Facet::Attribute(_));
                (if is_attribute { attribute_key(&value.value) } else { value.value.into_owned() }, value.count)
            }).collect();
            prop_assert_eq!(counted, expected, "{:?}", facet);
        }
    }
}
