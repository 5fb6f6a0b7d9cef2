//! Records in a generation: details, ratings, categories, sorting by quality, downloads.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::export::{self, Limits, SourceFile};
use software_directory::generation::Snapshot;
use software_directory::record::CalendarDate;
use software_directory::service::{
    PageRequest, SearchSoftware, get_export, get_software, list_categories, search_software,
};

use crate::common::place::product;

const ALL: PageRequest = PageRequest { limit: 100, offset: 0 };

fn snapshot(files: &[(&str, String)]) -> Arc<Snapshot> {
    let sources =
        files.iter().map(|(name, text)| SourceFile::from_bytes(Path::new(name), text.clone().into())).collect();
    let today = CalendarDate::parse("2026-01-01").expect("a date");
    let report = export::examine(sources, &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    Snapshot::build(report.exports).expect("a generation")
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it inline")]
fn document(members: Value) -> String {
    let mut document = json!({"name": "N", "license": "https://example.org/licence", "software": []});
    document.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    document.to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it inline")]
fn with(mut product: Value, members: Value) -> Value {
    product.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    product
}

fn parsed(item: &[u8]) -> Value {
    serde_json::from_slice(item).expect("JSON")
}

fn detail(snapshot: &Snapshot, id: &str) -> Value {
    let record = get_software(snapshot, id, None).expect("intact").expect("a product").0;
    serde_json::from_slice::<Value>(&record.body).expect("JSON")["data"].take()
}

#[test]
fn a_rating_comes_from_the_reviews_unless_the_product_has_its_own() {
    let review = |id: &str, of: &str, rating: u8| json!({"id": id, "software_id": of, "rating": rating});
    let snapshot = snapshot(&[(
        "a.json",
        document(json!({
            "software": [product("reviewed"), with(product("stated"), json!({"rating": 1.50, "review_count": 9})),
                         product("neither")],
            "reviews": [review("1", "reviewed", 5), review("2", "reviewed", 4), review("3", "reviewed", 4),
                        review("4", "stated", 5)]
        })),
    )]);
    let shown = |id| {
        let detail = detail(&snapshot, id);
        [detail["rating"].clone(), detail["review_count"].clone(), detail["rating_source"].clone()]
    };
    assert_eq!(shown("reviewed"), [json!(4.33), json!(3), json!("reviews")]);
    assert_eq!(shown("stated"), [json!(1.5), json!(9), json!("stated")]);
    assert_eq!(shown("neither"), [Value::Null, Value::Null, Value::Null]);
}

#[test]
fn browsing_puts_the_best_products_first_and_demo_records_last() {
    let reviewed = json!({"evidence_status": "vendor-sources-reviewed", "evidence_checked_on": "2025-01-01",
        "sources": [["Site", "https://a.example.org/"]]});
    let demo = json!({"url": "https://demo.example/", "rating": 5, "review_count": 1000});
    let snapshot = snapshot(&[(
        "a.json",
        document(json!({"software": [
            with(product("demo"), demo), product("plain-b"), product("plain-a"),
            with(product("told"), json!({"tagline": "Says more"})), with(product("reviewed"), reviewed),
            with(product("one-star"), json!({"rating": 1, "review_count": 500})),
            with(product("one-vote"), json!({"rating": 5, "review_count": 1})),
            with(product("many-votes"), json!({"rating": 4.9, "review_count": 500})),
        ]})),
    )]);
    let browse = SearchSoftware { page: ALL, ..SearchSoftware::new("") };
    let page = search_software(&snapshot, &browse).expect("it answers");
    let ids: Vec<_> = page.data.iter().map(|hit| parsed(&hit.item)["id"].take()).collect();
    assert_eq!(
        ids,
        ["many-votes", "one-vote", "reviewed", "told", "plain-a", "plain-b", "one-star", "demo"].map(|id| json!(id))
    );
}

#[test]
fn categories_with_the_same_slug_are_merged_and_the_first_name_and_description_win() {
    let snapshot = snapshot(&[
        (
            "b.json",
            document(json!({
                "categories": [{"name": "SAFETY!", "description": "Later"}],
                "software": [with(product("b"), json!({"categories": ["safety", "Safety"]}))]
            })),
        ),
        (
            "a.json",
            document(json!({
                "categories": [{"name": "Safety"}, {"name": "safety", "description": "First"}, {"name": "Empty"}],
                "software": [with(product("a"), json!({"category": "sáfety"}))]
            })),
        ),
    ]);
    let page = list_categories(&snapshot.catalogue, ALL, None).expect("JSON");
    let categories: Vec<_> = page.data.into_iter().map(|item| parsed(&item)).collect();
    assert_eq!(
        categories,
        [
            json!({"id": "empty", "name": "Empty", "description": null, "software_count": 0}),
            json!({"id": "safety", "name": "Safety", "description": "First", "software_count": 2}),
        ]
    );
}

#[test]
fn unknown_properties_come_back_unchanged_with_every_digit() {
    let text = r#"{"name": "N", "license": "https://example.org/", "software": [{"id": "a", "name": "A",
        "url": "https://a.example.org/", "evidence_status": "pending-review", "rating": 4.50,
        "serial": 123456789012345678901234567890.10, "tiny": 1e-400, "nested": {"z": [1.0, -0, 2E+3], "a": "ü"}}]}"#;
    let snapshot = snapshot(&[("a.json", text.to_owned())]);
    let answer =
        String::from_utf8(get_software(&snapshot, "a", None).expect("intact").expect("a product").0.body.to_vec())
            .expect("text");
    for part in [
        r#""rating":4.50,"#,
        r#""serial":123456789012345678901234567890.10"#,
        r#""tiny":1e-400"#,
        r#""nested":{"z":[1.0,-0,2E+3],"a":"ü"}"#,
    ] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
    let download = get_export(&snapshot, "a").expect("an export");
    let document = download.open().and_then(|stored| io::read_to_string(stored.json()?));
    assert_eq!(document.expect("intact"), text);
}

#[test]
fn each_line_of_an_ndjson_download_is_a_record_with_its_licence() {
    let first = with(product("a"), json!({"export": "its own", "api_id": 7, "note": "two\nlines"}));
    let products = json!({"id_prefix": "t:", "as_of": "2025-01-01", "software": [first, product("b")]});
    let snapshot = snapshot(&[("tools.json", document(products))]);
    let stored = get_export(&snapshot, "tools").expect("an export").open();
    let text = stored.and_then(|stored| io::read_to_string(stored.ndjson()?)).expect("intact");
    assert!(text.ends_with('\n'));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let export = json!({"id": "tools", "name": "N", "license": "https://example.org/licence", "as_of": "2025-01-01"});
    let expected_first = with(
        product("a"),
        json!({
            "api_id": "t:a", "note": "two\nlines", "additional_properties": {"export": "its own", "api_id": 7},
            "export": export
        }),
    );
    assert_eq!(lines, [expected_first, with(product("b"), json!({"api_id": "t:b", "export": export}))]);
    assert!(get_software(&snapshot, "t:a", None).expect("intact").is_some(), "an id in the API");
}

#[test]
fn products_with_the_same_website_in_two_exports_are_linked() {
    let at = |id: &str, url: &str| with(product(id), json!({"url": url}));
    let one = [at("a", "https://www.one.example/"), at("a2", "https://one.example"), at("b", "https://two.example/")];
    let other = [at("a", "http://one.example?utm_source=x"), at("c", "https://two.example/c")];
    let snapshot = snapshot(&[
        ("one.json", document(json!({"software": one}))),
        ("other.json", document(json!({"id_prefix": "o:", "software": other}))),
    ]);
    let detail = |id| detail(&snapshot, id);
    assert_eq!(detail("a")["same_as"], json!([{"id": "o:a", "name": "Product a", "export": "other"}]));
    assert_eq!(detail("a2")["same_as"], detail("a")["same_as"], "products in the same export shouldn't be linked");
    let of_other: Vec<_> =
        detail("o:a")["same_as"].as_array().expect("a list").iter().map(|of| of["id"].clone()).collect();
    assert_eq!(of_other, ["a", "a2"]);
    assert_eq!((detail("b")["same_as"].clone(), detail("o:c")["same_as"].clone()), (json!([]), json!([])));
    let exports: Vec<_> =
        snapshot.catalogue.tables.exports.iter().map(|export| export.resource.id_prefix.as_deref()).collect();
    assert_eq!(exports, [None, Some("o:")]);
}
