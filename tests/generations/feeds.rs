//! Feeds of searches: how the products that match changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use software_directory::generation::Snapshot;
use software_directory::record::{CalendarDate, EvidenceStatus, OfferingType};
use software_directory::search::expand::Prefix;
use software_directory::service::{
    AttributeCondition, FeedKind, PageRequest, SearchSoftware, SoftwareFilter, Stop, list_feed, search_software,
};

use crate::common::place::Place;
use crate::generations::history::{document, product, served};

/// Kind, id and the changed properties of each entry.
type Entries = Vec<(FeedKind, String, Vec<String>)>;

fn feed(snapshot: &Snapshot, q: &str, filter: &SoftwareFilter) -> Entries {
    let entries = list_feed(snapshot, Some(q).filter(|q| !q.is_empty()), filter, &Stop::default()).expect("read");
    entries.into_iter().map(|entry| (entry.kind, entry.id, entry.changed)).collect()
}

fn kinds(snapshot: &Snapshot, q: &str) -> Vec<FeedKind> {
    feed(snapshot, q, &SoftwareFilter::default()).into_iter().map(|(kind, ..)| kind).collect()
}

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        // Knuth's MMIX generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(u32::try_from(of.len()).expect("few")) as usize]
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) == 0).then(|| value(self))
    }
}

/// Words that have nothing in common.
const WORDS: [&str; 6] = ["kestrel", "walnut", "copper", "lagoon", "timber", "velvet"];
const CATEGORIES: [&str; 3] = ["Audits", "Permits", "Waste & water"];
const DAYS: [&str; 3] = ["2026-01-10", "2026-02-10", "2026-03-10"];
const VENDORS: [&str; 2] = ["Acme", "Orbit"];

fn record(numbers: &mut Numbers, id: u32) -> Value {
    let mut words = |count| (0..count).map(|_| numbers.one_of(&WORDS)).collect::<Vec<_>>();
    let (name, tags, tagline) = (words(2).join(" "), words(1), words(2).join(" "));
    product(
        &format!("p{id}"),
        &json!({
            "name": name, "tags": tags, "tagline": tagline, "category": numbers.one_of(&CATEGORIES),
            "vendor": numbers.one_of(&VENDORS), "rating": f64::from(numbers.below(11)) / 2.0, "seats": numbers.below(4),
            "offering_type": numbers.one_of(&["software", "document-templates"]),
            "evidence_status": numbers.one_of(&["pending-review", "vendor-sources-reviewed"]),
            "evidence_checked_on": numbers.one_of(&DAYS), "sources": [["Site", "https://example.org/"]],
        }),
    )
}

/// A search, and whether a record matches it, decided from the record alone.
fn search(numbers: &mut Numbers) -> (String, SoftwareFilter) {
    let mut q = String::new();
    for _ in 0..numbers.below(3) {
        write!(q, "{} ", numbers.one_of(&WORDS)).expect("a string");
    }
    if numbers.below(5) == 0 {
        write!(q, "-{}", numbers.one_of(&WORDS)).expect("a string");
    }
    let day = |numbers: &mut Numbers| CalendarDate::parse(numbers.one_of(&DAYS)).expect("a day");
    let seats = numbers.maybe(|numbers| ("seats", format!("{}..2", numbers.below(3))));
    let vendor = numbers.maybe(|numbers| ("vendor", numbers.one_of(&VENDORS).to_owned()));
    let filter = SoftwareFilter {
        ids: numbers.maybe(|numbers| (0..6).map(|_| format!("p{}", numbers.below(12))).collect()).unwrap_or_default(),
        except_id: numbers.maybe(|numbers| format!("p{}", numbers.below(12))),
        categories: numbers.maybe(|numbers| vec![numbers.one_of(&CATEGORIES).to_owned()]).unwrap_or_default(),
        exports: numbers
            .maybe(|numbers| vec![numbers.one_of(&["tools", "tools", "none"]).to_owned()])
            .unwrap_or_default(),
        offering_type: numbers.maybe(|numbers| numbers.one_of(&OfferingType::ALL)),
        evidence_status: numbers.maybe(|numbers| numbers.one_of(&EvidenceStatus::ALL)),
        min_rating: numbers.maybe(|numbers| f64::from(numbers.below(4))),
        evidence_checked_before: numbers.maybe(day),
        evidence_checked_after: numbers.maybe(day),
        any_evidence_before: numbers.maybe(day),
        attributes: seats.into_iter().chain(vendor).map(|(of, value)| AttributeCondition::new(of, &value)).collect(),
    };
    (q.trim().to_owned(), filter)
}

fn matches(record: &Value, q: &str, filter: &SoftwareFilter) -> bool {
    let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let words = [text("name"), text("tagline"), record["tags"][0].as_str().unwrap_or_default().to_owned()].join(" ");
    let has = |word: &str| words.split(' ').any(|of| of == word);
    let day = CalendarDate::parse(&text("evidence_checked_on")).expect("a day");
    let only = |values: &[String], value: &str| values.is_empty() || values.iter().any(|of| of == value);
    let seats = record["seats"].as_f64().expect("a number");
    let has_attribute = |of: &AttributeCondition| match of.value.split_once("..") {
        Some((from, to)) => (from.parse().expect("a number")..=to.parse().expect("a number")).contains(&seats),
        None => text(&of.property) == of.value,
    };
    q.split_whitespace().all(|word| word.strip_prefix('-').map_or_else(|| has(word), |word| !has(word)))
        && only(&filter.ids, &text("id"))
        && filter.except_id.as_ref().is_none_or(|id| *id != text("id"))
        && only(&filter.categories, &text("category"))
        && only(&filter.exports, "tools")
        && filter.offering_type.is_none_or(|of| of.as_str() == text("offering_type"))
        && filter.evidence_status.is_none_or(|of| of.as_str() == text("evidence_status"))
        && filter.min_rating.is_none_or(|of| record["rating"].as_f64() >= Some(of))
        && filter.evidence_checked_before.is_none_or(|of| day < of)
        && filter.evidence_checked_after.is_none_or(|of| day > of)
        && filter.any_evidence_before.is_none_or(|of| day < of)
        && filter.attributes.iter().all(has_attribute)
}

/// What the change of one record is for those who follow a search.
fn expected(before: Option<&Value>, after: Option<&Value>, is_match: impl Fn(&Value) -> bool) -> Option<FeedKind> {
    let day = |of: Option<&Value>| of.and_then(|of| of["evidence_checked_on"].as_str().map(str::to_owned));
    match [before, after].map(|of| of.is_some_and(&is_match)) {
        [false, true] => Some(if before.is_none() { FeedKind::Added } else { FeedKind::Started }),
        [true, false] => Some(if after.is_none() { FeedKind::Removed } else { FeedKind::Stopped }),
        [true, true] if day(after) > day(before) => Some(FeedKind::EvidenceRenewed),
        [true, true] => Some(FeedKind::Changed),
        [false, false] => None,
    }
}

#[test]
fn entries_are_the_difference_between_the_results_before_and_after_each_edit() {
    let mut numbers = Numbers(7);
    let attributes = json!([{"property": "seats", "label": "Seats", "type": "number"}]);
    let mut sets: Vec<BTreeMap<String, Value>> =
        vec![(0..9).map(|id| (format!("p{id}"), record(&mut numbers, id))).collect()];
    let mut edited = Vec::new();
    while edited.len() < 50 {
        let mut set = sets.last().expect("a set").clone();
        let number = numbers.below(12);
        let id = format!("p{number}");
        if numbers.below(4) > 0 || !set.contains_key(&id) {
            let new = record(&mut numbers, number);
            match set.get_mut(&id) {
                // A single property.
                Some(old) if numbers.below(2) == 0 => {
                    let name =
                        numbers.one_of(&["name", "rating", "seats", "category", "evidence_checked_on", "vendor"]);
                    old[name] = new[name].clone();
                }
                _ => drop(set.insert(id.clone(), new)),
            }
        } else {
            set.remove(&id);
        }
        if set != *sets.last().expect("a set") {
            edited.push(id);
            sets.push(set);
        }
    }
    let documents: Vec<_> =
        sets.iter().map(|set| document(&set.values().cloned().collect::<Vec<_>>(), &attributes)).collect();
    let place = Place::with(&["x"]);
    let (_, snapshots) = served(&place, &documents);
    // The past survives a restart.
    let last = place.started().snapshot();
    assert_eq!(last.past.changes(&last.changes).count(), 50);
    let mut total = 0;
    for _ in 0..1000 {
        let (q, filter) = search(&mut numbers);
        let is_match = |record: &Value| matches(record, &q, &filter);
        let mut entries = Vec::new();
        for (at, id) in edited.iter().enumerate().rev() {
            let (before, after) = (sets[at].get(id), sets[at + 1].get(id));
            let Some(kind) = expected(before, after, is_match) else { continue };
            let names = |of: Option<&Value>| of.and_then(Value::as_object).cloned().unwrap_or_default();
            let (before, after) = (names(before), names(after));
            let mut changed: Vec<_> =
                after.keys().filter(|name| before.get(*name) != after.get(*name)).cloned().collect();
            if before.is_empty() || after.is_empty() {
                changed.clear();
            }
            for name in &mut changed {
                *name = name.replace("category", "categories");
            }
            changed.sort();
            entries.push((kind, id.clone(), changed));
        }
        assert_eq!(feed(&last, &q, &filter), entries, "{q:?} {filter:?}");
        total += entries.len();
        // The search agrees about what matches today.
        let today: Vec<_> = sets[50].values().filter(|record| is_match(record)).collect();
        let search = SearchSoftware {
            q: Some(q.clone()).filter(|q| !q.is_empty()),
            filter,
            typo: false,
            prefix: Prefix::Never,
            ..SearchSoftware::new("")
        };
        let page =
            search_software(&snapshots[50], &SearchSoftware { page: PageRequest { limit: 100, offset: 0 }, ..search });
        let found = page.expect("searched").query;
        if found.dropped.is_empty() {
            assert_eq!(found.with_all_words, today.len() as u64, "{q:?}");
        }
    }
    assert!(total > 1000, "{total}");
}

#[test]
fn an_edited_synonym_makes_no_entries() {
    let place = Place::with(&["x"]);
    let set = |tagline: &str, synonyms: Value| {
        let software = [product("a", &json!({"tagline": tagline}))];
        let mut set: Value = serde_json::from_str(&document(&software, &json!([]))).expect("JSON");
        set["synonyms"] = synonyms;
        set.to_string()
    };
    let synonyms = json!([{"terms": ["k8s", "kubernetes"]}]);
    let (_, snapshots) = served(&place, &[set("kubernetes", json!([])), set("for kubernetes", synonyms)]);
    assert_eq!((kinds(&snapshots[1], "k8s"), kinds(&snapshots[1], "kubernetes")), (vec![], vec![FeedKind::Changed]));
}

#[test]
fn words_match_by_the_same_rule_before_and_after() {
    let place = Place::with(&["x"]);
    let set = |tagline: &str, others: &[Value]| {
        document(&[&[product("a", &json!({"tagline": tagline}))], others].concat(), &json!([]))
    };
    let other = product("b", &json!({"tagline": "permit permitted audits and the kestrels"}));
    let (_, snapshots) = served(&place, &[set("kestrels audited", &[]), set("kestrels auditing", &[other])]);
    let changed = [FeedKind::Changed];
    assert_eq!(kinds(&snapshots[1], "audit kestrel -permit"), changed);
    assert_eq!(kinds(&snapshots[1], "best kestrel software"), [FeedKind::Changed, FeedKind::Added]);
    assert_eq!(kinds(&snapshots[1], "auditing NOT permitted"), changed);
    for nothing in ["kestral", "kest", "kestrel unheard", "\"auditing kestrels\"", "?!"] {
        assert_eq!(kinds(&snapshots[1], nothing), [], "{nothing}");
    }
}

#[test]
fn hidden_attributes_never_make_entries() {
    let place = Place::with(&["x"]);
    let attribute = |hidden: bool| json!([{"property": "margin", "label": "Margin", "hidden": hidden}]);
    let set = |margin: &str, tagline: &str, hidden| {
        document(&[product("a", &json!({"margin": margin, "tagline": tagline}))], &attribute(hidden))
    };
    let (_, snapshots) = served(&place, &[set("low", "one", true), set("high", "one", true), set("high", "two", true)]);
    let margin = |value| SoftwareFilter {
        attributes: vec![AttributeCondition::new("margin", value)],
        ..SoftwareFilter::default()
    };
    assert_eq!(kinds(&snapshots[2], ""), [FeedKind::Changed]);
    assert_eq!((feed(&snapshots[2], "", &margin("high")), feed(&snapshots[2], "", &margin("low"))), (vec![], vec![]));
    // Hidden only later.
    let place = Place::with(&["x"]);
    let (_, snapshots) =
        served(&place, &[set("low", "one", false), set("high", "one", false), set("high", "two", true)]);
    let started = vec![(FeedKind::Started, "a".to_owned(), vec!["margin".to_owned()])];
    assert_eq!((feed(&snapshots[1], "", &margin("high")), feed(&snapshots[2], "", &margin("high"))), (started, vec![]));
}

#[test]
fn a_rating_that_reviews_change_starts_or_ends_a_match() {
    let place = Place::with(&["x"]);
    let set = |ratings: &[u8]| {
        let review = |(at, rating): (usize, &u8)| {
            json!({
                "id": format!("r{at}"), "software_id": "a", "rating": rating, "created_at": "2026-01-01T00:00:00Z"
            })
        };
        let mut set: Value = serde_json::from_str(&document(&[product("a", &json!({}))], &json!([]))).expect("JSON");
        set["reviews"] = ratings.iter().enumerate().map(review).collect();
        set.to_string()
    };
    let (_, snapshots) = served(&place, &[set(&[2]), set(&[5]), set(&[5, 5])]);
    let filter = SoftwareFilter { min_rating: Some(4.0), ..SoftwareFilter::default() };
    assert_eq!(feed(&snapshots[2], "", &filter), [(FeedKind::Started, "a".to_owned(), vec![])]);
}

#[test]
fn a_feed_says_since_when_it_is_complete() {
    let place = Place::with(&["x"]);
    let set = |name: &str, tagline: &str| {
        let many =
            (0..60).map(|id| product(&format!("p{id:02}"), &json!({"name": name, "description": "- ".repeat(25_000)})));
        document(&many.chain([product("q", &json!({"tagline": tagline}))]).collect::<Vec<_>>(), &json!([]))
    };
    let (_, snapshots) =
        served(&place, &[set("one", "kestrel"), set("one", "walnut"), set("two", "walnut"), set("two", "copper")]);
    let snapshot = snapshots.last().expect("a snapshot");
    let since = |snapshot: &Snapshot| snapshot.past.since(&snapshot.changes).to_owned();
    assert_eq!(since(&snapshots[1]), snapshots[1].changes.begun_at());
    assert!(since(snapshot) > since(&snapshots[1]), "3 MB of former records have been dropped");
    let changed = feed(snapshot, "two", &SoftwareFilter::default());
    assert!((20..60).contains(&changed.len()), "{}", changed.len());
    assert_eq!(kinds(snapshot, "copper"), [FeedKind::Started], "newer entries are complete");
    assert_eq!(kinds(snapshot, "kestrel"), [], "the oldest went first");
}

#[test]
fn a_record_that_is_too_long_has_no_entries() {
    let place = Place::with(&["x"]);
    let set = |pricing: &str| {
        let long = json!({"description": "- ".repeat(50_000), "pricing": pricing});
        document(&[product("a", &long), product("b", &json!({"pricing": pricing}))], &json!([]))
    };
    let (_, snapshots) = served(&place, &[set("1"), set("2")]);
    let entries = feed(&snapshots[1], "", &SoftwareFilter::default());
    assert_eq!(entries, [(FeedKind::Changed, "b".to_owned(), vec!["pricing".to_owned()])]);
}
