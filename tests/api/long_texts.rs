//! Products with text of any length: lists contain the beginning of each field, and the record
//! contains everything.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use software_directory::http::{HttpConfig, PublicUrl};
use software_directory::key::Rate;
use software_directory::update::Directory;

use crate::api::fixture::snapshot;
use crate::api::service::{BROWSER, Service, Setup};

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

/// The maximum size of a page, in bytes (RELIABILITY.md).
const MAX_PAGE_BYTES: usize = 3 << 19;

/// Text that doesn't fit on a page. Half of its characters take six bytes in HTML.
fn longest() -> String {
    "\" ".repeat(70_000)
}

/// A public directory in which nothing fits on a page.
fn huge() -> Service {
    let many = |count: usize| (0..count).map(|number| format!("{number}")).collect::<Vec<_>>();
    let texts = |count: usize| vec![longest(); count];
    let product = |number: usize| {
        json!({
            "id": format!("huge-{number}"), "name": longest(), "tagline": longest(), "vendor": longest(),
            "description": longest(), "pricing": longest(), "tags": many(1000), "features": texts(1),
            "url": "https://huge.example/", "evidence_status": "pending-review", "attachments": vec![many(5000); 2],
            "notes": longest(), "categories": many(100), "aliases": texts(1), "alternative_to": many(1000)
        })
    };
    let review = |number: usize| json!({"id": format!("{number}"), "software_id": "huge-0", "rating": 4, "title": longest(), "body": longest()});
    let term = |number: usize| {
        json!({
            "term": format!("Term {number}"), "definition": if number < 12 { longest() } else { "Short.".to_owned() },
            "synonyms": many(100), "related": many(100), "source": {"title": "words ".repeat(10_000)}
        })
    };
    let category = |number: usize| json!({"name": format!("Named {number}"), "description": longest()});
    // As much as fits on an ordinary page: 81,380 characters is the longest known text.
    let ordinary = json!({
        "id": "ordinary", "name": "Ordinary", "url": "https://a.example/", "evidence_status": "pending-review",
        "description": "lorem, ".repeat(81_380 / 7), "features": ["One", "Two"], "notes": "word, ".repeat(1000)
    });
    let document = json!({
        "name": longest(), "license": "https://example.org/",
        "software": (0..4).map(product).chain([ordinary]).collect::<Vec<_>>(),
        "reviews": (0..10).map(review).collect::<Vec<_>>(), "glossary": (0..200).map(term).collect::<Vec<_>>(),
        "categories": (0..12).map(category).collect::<Vec<_>>()
    });
    let directory = Arc::<Directory>::default();
    directory.publish(snapshot(&[("huge", &document.to_string())]));
    let public_url = Some(PublicUrl::parse("https://directory.example").expect("a URL"));
    let config = HttpConfig { public_page: Rate::new(10_000), public_url, ..HttpConfig::default() };
    Setup { directory, config, ..Setup::default() }.start()
}

#[tokio::test]
async fn pages_cut_long_text_and_link_to_the_full_record() {
    let service = huge();
    let read = async |path: &str| service.send(Method::GET, path, &[BROWSER]).await;
    for (path, record) in [
        ("/", None),
        ("/?q=", None),
        ("/?q=term+1+named", None),
        ("/exports", None),
        ("/categories", None),
        ("/categories/named-1", Some("/records/categories/named-1")),
        ("/glossary", Some("/records/glossary/term-1")),
        ("/glossary?q=term+1", Some("/records/glossary/term-1")),
        ("/software/huge-0", Some("/records/software/huge-0")),
        ("/software/huge-0", Some("/records/reviews/huge-0")),
        ("/compare?id=huge-0&id=huge-1&id=huge-2&id=huge-3", None),
    ] {
        let page = read(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.body.len() < MAX_PAGE_BYTES, "{path}: {} bytes", page.body.len());
        assert!(page.text().trim_end().ends_with("</html>"), "{path}");
        let Some(record) = record else { continue };
        let link = format!("<a href=\"{record}\" rel=\"nofollow\">Text shortened: see the full record (JSON)</a>");
        assert!(page.text().contains(&link), "{path}: no {link}");
        let full = read(record).await;
        assert_eq!((full.status.as_u16(), full.header("content-type")), (200, "application/json"), "{record}");
        let data = full.json()["data"].to_string();
        assert!(data.contains(&longest().replace('"', "\\\"")), "{record}");
    }
    let page = read("/glossary").await;
    for text in ["Term 199", "Short."] {
        assert!(page.text().contains(text), "there's room for the other terms: {text}");
    }
    let page = read("/software/ordinary").await;
    for text in ["lorem, ".repeat(81_380 / 7).trim(), "word, ".repeat(1000).trim()] {
        assert!(page.text().contains(text), "ordinary text isn't cut");
    }
    assert!(!page.text().contains("Text shortened"));
}
