//! Sets to compare, and what the comparison finds.

use serde_json::{Value, json};
use software_directory::curate::diff::{Difference, Evidence, Set, compare};

/// A set of exports, each given as an id and a document.
pub(crate) fn set(exports: &[(&str, &Value)]) -> Set {
    let documents = exports.iter().map(|(id, document)| Ok((*id, "", document.to_string().into())));
    Set::read(documents).expect("valid exports")
}

pub(crate) fn difference(old: &Value, new: &Value) -> Difference {
    compare(&set(&[("tools", old)]), &set(&[("tools", new)]))
}

pub(crate) fn record(id: &str) -> Value {
    json!({"id": id, "name": format!("Tool {id}"), "url": format!("https://{id}.example/"), "evidence_status": "pending-review"})
}

pub(crate) fn export(software: &[Value]) -> Value {
    json!({"name": "Tools", "license": "https://example.org/", "software": software})
}

fn ids(entries: &[software_directory::curate::diff::Entry]) -> Vec<&str> {
    entries.iter().map(|entry| &*entry.id).collect()
}

#[test]
fn products_are_added_removed_and_changed_by_id() {
    let mut changed = record("b");
    changed["tagline"] = "new".into();
    let new = export(&[record("d"), changed, record("a")]);
    let difference = difference(&export(&[record("a"), record("b"), record("c")]), &new);
    assert_eq!((ids(&difference.software.added), ids(&difference.software.removed)), (vec!["d"], vec!["c"]));
    let [change] = &difference.software.changed[..] else { panic!("{difference:?}") };
    assert_eq!((&*change.id, change.fields.len(), &*change.fields[0].field), ("b", 1, "tagline"));
    assert_eq!(difference.summary.to_string(), "1 product added, 1 removed, 1 changed; in tools");
}

#[test]
fn equal_sets_do_not_differ_whatever_the_order() {
    let (a, b) = (export(&[record("a"), record("b")]), export(&[record("b"), record("a")]));
    assert!(difference(&a, &b).is_empty());
}

#[test]
fn a_product_with_a_new_id_but_the_same_name_and_url_is_renamed() {
    let mut renamed = record("a");
    renamed["id"] = "z".into();
    let software = difference(&export(&[record("a")]), &export(&[renamed.clone()])).software;
    assert_eq!((software.added.len(), software.removed.len()), (0, 0));
    assert_eq!(software.changed[0].former_id.as_deref(), Some("a"));
    renamed["url"] = "https://other.example/".into();
    let software = difference(&export(&[record("a")]), &export(&[renamed])).software;
    assert_eq!((software.added.len(), software.removed.len(), software.changed.len()), (1, 1, 0));
}

#[test]
fn a_product_in_another_file_counts_as_moved_and_file_names_do_not_matter_for_single_files() {
    let (one, two, none) = (export(&[record("a")]), export(&[record("b")]), export(&[]));
    let moved =
        compare(&set(&[("x", &one), ("y", &two)]), &set(&[("x", &none), ("y", &export(&[record("a"), record("b")]))]));
    assert_eq!(moved.software.changed[0].former_export.as_deref(), Some("x"));
    assert_eq!(moved.summary.moved, 1);
    assert!(compare(&set(&[("x", &one)]), &set(&[("y", &one)])).is_empty());
}

#[test]
fn evidence_categories_and_counts_are_reported() {
    let mut reviewed = record("a");
    reviewed["evidence_status"] = "vendor-sources-reviewed".into();
    reviewed["categories"] = json!(["Audits"]);
    let difference = difference(&export(&[record("a")]), &export(&[reviewed]));
    assert_eq!(difference.software.changed[0].evidence, Some(Evidence::Gained));
    assert_eq!((difference.summary.old_reviewed, difference.summary.new_reviewed), (0, 1));
    assert_eq!((difference.category_counts[0].old, difference.category_counts[0].new), (0, 1));
}

#[test]
fn the_envelope_and_other_sections_are_compared() {
    let mut old = export(&[record("a")]);
    let mut new = old.clone();
    old["reviews"] = json!([{"id": "r", "software_id": "a", "rating": 3}]);
    new["reviews"] = json!([{"id": "r", "software_id": "a", "rating": 4}]);
    new["glossary"] = json!([{"term": "Audit", "definition": "A check."}]);
    old["synonyms"] = json!([{"terms": ["a", "b"]}, {"from": ["x"], "to": "y"}]);
    new["synonyms"] = json!([{"from": ["x"], "to": "y"}, {"terms": ["a", "c"]}]);
    new["license"] = "https://other.example/".into();
    let difference = difference(&old, &new);
    assert_eq!(difference.reviews.changed[0].fields[0].field, "rating");
    assert_eq!(ids(&difference.glossary.added), ["audit"]);
    assert_eq!((ids(&difference.synonyms.added), ids(&difference.synonyms.removed)), (vec!["a = c"], vec!["a = b"]));
    assert_eq!(difference.exports.changed[0].fields[0].field, "license");
    assert!(difference.software.is_empty() && difference.categories.is_empty());
}

#[test]
fn a_prefix_tells_products_in_two_exports_apart() {
    let of = |id: &str| {
        let mut export = export(&[record("a")]);
        export["reviews"] =
            json!([{"id": "r", "software_id": "a", "rating": 4}, {"id": "s", "software_id": "x", "rating": 2}]);
        (id.to_owned(), export)
    };
    let prefixed = |prefixes: [&str; 2]| {
        let exports = ["ours", "theirs"].map(of);
        let documents = exports.iter().zip(prefixes);
        Set::read(documents.map(|((id, export), prefix)| Ok((&**id, prefix, export.to_string().into()))))
            .expect("valid exports")
    };
    let (old, new) = (prefixed(["", "t:"]), prefixed(["", "u:"]));
    assert!(compare(&old, &prefixed(["", "t:"])).is_empty());
    let difference = compare(&old, &new);
    let [renamed] = &difference.software.changed[..] else { panic!("{difference:?}") };
    assert_eq!((&*renamed.id, renamed.former_id.as_deref()), ("u:a", Some("t:a")), "the record itself didn't change");
    let reviews: Vec<_> = difference.reviews.added.iter().map(|review| (&*review.id, &*review.name)).collect();
    assert_eq!(reviews, [("u:r", "u:a"), ("u:s", "x")], "a review of a product in another export keeps its id");
}
