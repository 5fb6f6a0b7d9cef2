//! Products pinned to queries.

use serde_json::{Value, json};

use crate::search::ask::Directory;

fn directory() -> Directory {
    let product = |id: &str, name: &str, tagline: &str, category: &str| json!({"id": id, "name": name, "tagline": tagline, "category": category});
    let products = [
        product("a", "Alpha", "Permit to work for plants", "Permits"),
        product("b", "Beta", "Permit to work, on paper", "Permits"),
        product("c", "Gamma", "Incidents", "Incidents"),
        product("d", "Delta", "Audits", "Audits"),
        product("ptw", "PTW", "Permits", "Permits"),
    ];
    let pins = json!([
        {"queries": ["permit to work", "PTW"], "software": ["d", "b"]},
        {"queries": ["R&D"], "software": ["c"]},
        {"queries": ["nothing like it"], "software": ["a", "gone"]},
    ]);
    Directory::with(&products, &json!({"pins": pins}))
}

fn pinned(directory: &Directory, query: &str) -> (Vec<String>, Vec<String>) {
    let answer = directory.answer(query, true);
    (answer.pinned, answer.ids)
}

#[test]
fn pinned_products_come_first_in_pin_order() {
    let directory = directory();
    for query in ["permit to work", "Permit-to-Work", "permt to work"] {
        let (pinned, ids) = pinned(&directory, query);
        assert_eq!(
            (&pinned[..], &ids[..2]),
            (&["d".to_owned(), "b".into()][..], &["d".to_owned(), "b".into()][..]),
            "{query}"
        );
        assert!(ids[2..].contains(&"a".to_owned()), "{query}: {ids:?}");
    }
    assert_eq!(pinned(&directory, "r and d").1[0], "c");
    assert_eq!(pinned(&directory, "nothing like it"), (vec!["a".to_owned()], vec!["a".to_owned()]));
}

#[test]
fn an_exact_name_comes_before_pinned_products() {
    let (pinned, ids) = pinned(&directory(), "ptw");
    assert_eq!((pinned.len(), &ids[..3]), (2, &["ptw".to_owned(), "d".into(), "b".into()][..]));
}

#[test]
fn pins_apply_only_to_the_whole_query() {
    let directory = directory();
    for query in ["permit", "permit to work plants", "work permit", "", "alternative to permit to work"] {
        assert!(directory.answer(query, true).pinned.is_empty(), "{query}");
    }
}

#[test]
fn exclusions_and_phrases_apply_to_pinned_products() {
    let directory = directory();
    let (pinned, ids) = pinned(&directory, "permit to work -audits");
    assert_eq!((pinned.len(), &*ids[0]), (2, "b"));
    assert!(!ids.contains(&"d".to_owned()));
    assert!(!directory.answer("\"permit to work\"", true).ids.contains(&"d".to_owned()), "it doesn't have the phrase");
}

#[test]
fn a_pinned_demo_record_ranks_after_real_products() {
    let real = json!({"id": "real", "name": "Real", "tagline": "Permit to work"});
    let demo = json!({"id": "demo", "name": "Demo", "url": "https://acme.example/"});
    let pins = json!([{"queries": ["permit to work"], "software": ["demo"]}]);
    let directory = Directory::with(&[real, demo], &json!({"pins": pins}));
    assert_eq!(directory.search("permit to work"), ["real", "demo"]);
}

#[test]
fn pins_in_an_export_with_a_prefix_may_omit_it() {
    let product = |id: &str| -> Value { json!({"id": id, "name": id.to_uppercase(), "tagline": "permits"}) };
    let pins = json!([{"queries": ["permits"], "software": ["b", "x:a"]}]);
    let envelope = json!({"id_prefix": "x:", "pins": pins});
    let directory = Directory::with(&[product("a"), product("b")], &envelope);
    assert_eq!(directory.search("permits"), ["x:b", "x:a"]);
}
