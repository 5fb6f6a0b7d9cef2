//! Products close to a query's meaning, which are added if the query's words find few products.

use serde_json::json;

use crate::search::ask::Directory;

fn directory() -> Directory {
    Directory::of(&[
        json!({"id": "album", "name": "Lumen", "tagline": "Album of pictures from your camera", "categories": ["Media"]}),
        json!({"id": "gallery", "name": "Vista", "tagline": "Share images and pictures in a gallery", "categories": ["Web"]}),
        json!({"id": "ledger", "name": "Tally", "tagline": "Accounting ledger for taxes and invoices", "categories": ["Money"]}),
        json!({"id": "rocket", "name": "Apogee", "tagline": "Simulate the engines of rockets in flight", "categories": ["Science"]}),
        json!({"id": "german", "name": "Licht", "tagline": "Album der Bilder deiner Kamera", "categories": ["Media"]}),
    ])
}

#[test]
fn products_close_in_meaning_are_found_if_no_product_contains_the_words() {
    let answer = directory().answer("photography", true);
    assert_eq!(answer.ids, ["album", "gallery"], "only products about this, in the query's language");
    assert_eq!((answer.with_all_words, answer.related), (0, 2));
    assert_eq!(answer.dropped, ["photography"]);
}

#[test]
fn a_weaker_similarity_is_enough_if_no_product_matches_the_words() {
    let rocket = json!({"id": "rocket", "name": "Apogee", "tagline": "Simulate the engines of rockets in flight"});
    assert_eq!(Directory::of(std::slice::from_ref(&rocket)).search("aviation"), ["rocket"]);
    let has_word = json!({"id": "other", "name": "Tally", "tagline": "Accounting ledger for aviation"});
    assert_eq!(Directory::of(&[rocket, has_word]).search("aviation"), ["other"]);
}

#[test]
fn related_products_follow_those_that_match_the_words() {
    let answer = directory().answer("camera photography", true);
    assert_eq!(answer.ids[..2], ["album", "gallery"]);
    assert_eq!((answer.with_all_words, answer.related), (1, 1), "only camera is known");
    assert_eq!(directory().answer("gallery pictures", true).with_all_words, 1);
}

#[test]
fn meaningless_queries_find_nothing() {
    for query in ["xyzzy", "qwrtz plmok", "安全管理", "0xdeadbeef"] {
        let answer = directory().answer(query, true);
        assert!(answer.ids.is_empty(), "{query}: {:?}", answer.ids);
    }
}

#[test]
fn names_and_phrases_find_no_related_products() {
    assert_eq!(directory().search("Vista"), ["gallery"]);
    assert_eq!(directory().answer("\"accounting ledger\"", true).ids, ["ledger"]);
}

#[test]
fn filters_and_exclusions_apply_to_related_products() {
    let directory = directory();
    assert_eq!(directory.search("photography -camera"), ["gallery"]);
    assert_eq!(directory.search("photography -\"in a gallery\""), ["album"]);
    assert_eq!(directory.search_in("photography", "Web"), (vec!["gallery".to_owned()], 1));
    // A facet value's count must be the number of products found when filtering by that value.
    let counts = directory.categories("photography", None);
    assert_eq!(counts, [("media".to_owned(), 1), ("web".to_owned(), 1)]);
}

#[test]
fn related_products_are_paged_after_the_others() {
    let directory = directory();
    let whole = directory.page("camera photography", 100, 0);
    let pages: Vec<_> = (0..whole.1).map(|offset| directory.page("camera photography", 1, offset)).collect();
    assert!(pages.iter().all(|page| page.1 == whole.1));
    let walked: Vec<_> = pages.into_iter().flat_map(|(ids, _)| ids).collect();
    assert_eq!(walked, whole.0);
}

#[test]
fn demo_records_come_last() {
    let product = |id: &str, url: &str| json!({"id": id, "name": id, "tagline": "Album of pictures from your camera", "url": url});
    let directory = Directory::of(&[product("a", "https://acme.example/"), product("b", "https://example.org/")]);
    assert_eq!(directory.search("photography"), ["b", "a"]);
}

#[test]
fn similar_products_are_found_by_meaning() {
    let directory = Directory::of(&[
        json!({"id": "album", "name": "Lumen", "tagline": "Album for pictures of your camera"}),
        json!({"id": "photos", "name": "Vista", "tagline": "Photo manager"}),
        json!({"id": "ledger", "name": "Tally", "tagline": "Accounting ledger"}),
    ]);
    assert_eq!(directory.similar("album").first().map(String::as_str), Some("photos"));
}
