//! Products with text of any length: lists contain the beginning of each field, and the record
//! contains everything.

use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::update::Directory;

use crate::fixture::snapshot;
use crate::service::{Service, Setup};

/// The maximum size of a product in a list, in bytes (RELIABILITY.md).
const MAX_ITEM_BYTES: usize = 72_000;

/// A character that takes six bytes when escaped in JSON.
const LONGEST_ESCAPE: &str = "\u{1}";

fn words(word: &str) -> String {
    format!("{word} {}", "lorem ipsum ".repeat(2_000))
}

fn long() -> Value {
    let categories: Vec<_> = (0..25).map(|number| format!("Category {number}")).collect();
    json!({
        "id": "long", "name": words("Longname"), "tagline": words("longtag"), "vendor": words("Longvendor"),
        "categories": categories, "tags": ["behind categories"], "features": vec!["lorem lorem"; 500],
        "description": words("described"), "url": "https://long.example/", "evidence_status": "pending-review"
    })
}

/// A product whose list item is as large as possible.
fn largest() -> Value {
    let full = |count: usize| LONGEST_ESCAPE.repeat(count);
    // Four-byte letters, so that the ids are as long as possible too.
    let category = |number: usize| format!("{number:04}{}", "𐐨".repeat(496));
    json!({
        "id": full(500), "name": full(1_000), "tagline": full(1_000), "vendor": full(1_000),
        "categories": (0..20).map(category).collect::<Vec<_>>(), "rating": 4.0,
        "url": format!("https://long.example/{}", "a".repeat(1_979)), "evidence_status": "vendor-sources-reviewed",
        "evidence_checked_on": "2025-01-01", "sources": [["a", "https://a.example/"]], "review_count": u64::MAX,
        "offering_type": "document-templates"
    })
}

fn service() -> Service {
    let document = json!({
        "name": "N", "license": "https://example.org/", "software": [long(), largest()],
        "glossary": [{"term": "Longname", "definition": "A name."}]
    });
    let directory = Arc::<Directory>::default();
    directory.publish(snapshot(&[("long", &document.to_string())]));
    Setup { directory, ..Setup::default() }.start()
}

fn short(text: &Value) -> String {
    format!("{}…", text.as_str().expect("a string").chars().take(500).collect::<String>())
}

#[tokio::test]
async fn lists_contain_the_beginning_of_long_text_and_records_contain_all_of_it() {
    let (service, long) = (service(), long());
    let record = service.get("/v1/software/long").await;
    assert_eq!(record.text().matches(r#""tagline":"#).count(), 1);
    let whole = record.json()["data"].clone();
    for path in ["/v1/software?id=long", "/v1/search?q=longname"] {
        let item = service.get(path).await.json()["data"][0].clone();
        for field in ["name", "tagline", "vendor"] {
            assert_eq!(item[field], short(&long[field]), "{path} {field}");
            assert_eq!(whole[field], long[field]);
        }
        let names = |product: &Value| {
            let categories = product["categories"].as_array().expect("categories").iter();
            categories.map(|category| category["name"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&item), long["categories"].as_array().expect("names")[..10]);
        assert_eq!(names(&whole), long["categories"].as_array().expect("names")[..]);
        let members = whole.as_object().expect("an object");
        assert!(item.as_object().expect("an object").keys().all(|name| name == "score" || members.contains_key(name)));
    }
    let suggested = service.get("/v1/suggest?q=longn").await.json();
    assert_eq!(suggested["data"]["software"][0]["name"], short(&long["name"]));
}

#[tokio::test]
async fn highlights_refer_to_the_returned_text_and_are_bounded() {
    let service = service();
    let found = service.get("/v1/search?q=longname+lorem+behind&highlight=true").await;
    let hit = found.json()["data"][0].clone();
    let highlights = hit["highlights"].as_array().expect("highlights");
    let of = |field: &str| highlights.iter().find(|highlight| highlight["field"] == field);
    for highlight in highlights {
        let ranges = highlight["ranges"].as_array().expect("ranges");
        assert!((1..=100).contains(&ranges.len()), "{highlight}");
        let Some(text) = hit[highlight["field"].as_str().expect("a name")].as_str() else { continue };
        for range in ranges {
            let (start, length) = (range["start"].as_u64(), range["length"].as_u64());
            let at = |number: Option<u64>| usize::try_from(number.expect("a number")).expect("small");
            let marked: String = text.chars().skip(at(start)).take(at(length)).collect();
            assert!(["Longname lorem", "lorem", "lo"].contains(&&*marked), "{marked}");
        }
    }
    assert!(of("name").is_some() && of("tagline").is_some());
    assert!(found.body.len() < 32 * 1024, "{} bytes", found.body.len());
    // Tags come after all categories, only some of which are in the item.
    let behind = service.get("/v1/search?q=behind&highlight=true").await.json();
    assert_eq!(behind["data"][0]["highlights"][0]["html"], "<mark>behind</mark> categories");
}

#[tokio::test]
async fn item_has_a_maximum_size() {
    let service = service();
    let answer = service.get("/v1/software?limit=100&sort=-rating").await;
    let largest = answer.json()["data"][0].to_string();
    assert_eq!(answer.json()["data"][0]["name"], format!("{}…", LONGEST_ESCAPE.repeat(500)));
    assert!((50_000..MAX_ITEM_BYTES).contains(&largest.len()), "{} bytes", largest.len());
}
