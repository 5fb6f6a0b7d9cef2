//! Feeds of a directory that has changed.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use software_directory::export::IdPrefixes;
use software_directory::generation::source::Source;
use software_directory::generation::{MeaningOption, Settings, Unobserved};
use software_directory::http::HttpConfig;
use software_directory::key::Rate;
use software_directory::update::files::ExportFiles;
use software_directory::update::{Directory, Updater};

use crate::api::service::{Answer, Service, Setup};

fn product(id: &str, category: &str, day: Option<&str>) -> Value {
    let mut product = json!({
        "id": id, "name": format!("{id} <b>&"), "url": "https://example.org/", "categories": [category],
        "evidence_status": "pending-review"
    });
    if let Some(day) = day {
        product["evidence_checked_on"] = day.into();
    }
    product
}

fn export(software: &[Value; 2]) -> String {
    json!({"name": "N", "license": "https://example.org/licence", "software": software}).to_string()
}

/// A directory with two generations. The second one added `new` in the category Audits, and has
/// newer evidence for `old`. Also returns the first generation's name.
pub(crate) fn changed() -> (Arc<Directory>, String) {
    let sets = [
        [product("old", "Permits", Some("2026-01-01")), product("gone", "Permits", None)],
        [product("old", "Permits", Some("2026-02-01")), product("new", "Audits", None)],
    ]
    .map(|software| export(&software));
    published(&sets)
}

/// A directory that changed between the first export and the second. Also returns the first
/// generation's name.
pub(crate) fn published(sets: &[String]) -> (Arc<Directory>, String) {
    let directory = Arc::<Directory>::default();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tools.json");
    let settings = Settings {
        id_prefixes: IdPrefixes::default(),
        meaning: MeaningOption::On,
        source: Source::Folder(folder.path().to_owned()),
        index: None,
        read_only: false,
        skip_invalid: false,
        max_removed: 100,
        limits: software_directory::export::Limits::default(),
        process: None,
    };
    let mut updater = Updater::new(ExportFiles::new(settings, Box::new(Unobserved)), Arc::clone(&directory));
    std::fs::write(&file, &sets[0]).expect("written");
    updater.start().expect("it serves");
    let first = directory.current().expect("a generation").generation().to_owned();
    for set in &sets[1..] {
        std::fs::write(&file, set).expect("written");
        updater.refresh().expect("it serves");
    }
    (directory, first)
}

fn service(public_page: Option<Rate>) -> Service {
    Setup { directory: changed().0, config: HttpConfig { public_page, ..HttpConfig::default() }, ..Setup::default() }
        .start()
}

fn entries(answer: &Answer) -> usize {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().matches("<entry>").count()
}

#[tokio::test]
async fn feed_lists_added_changed_and_removed_products() {
    let answer = service(None).get("/feed.atom").await;
    assert_eq!(answer.header("content-type"), "application/atom+xml; charset=utf-8");
    let text = answer.text();
    assert!(text.contains("<title>new &lt;b&gt;&amp;</title>"), "{text}");
    assert!(text.contains("<title>old &lt;b&gt;&amp;: evidence checked on 2026-02-01</title>"), "{text}");
    assert!(text.contains("<content>Changed: evidence_checked_on</content>"), "{text}");
    assert!(text.contains("<rights>https://example.org/licence</rights>"), "{text}");
    assert!(text.contains("<title>gone &lt;b&gt;&amp;: removed</title>"), "{text}");
    assert!(text.contains("<subtitle>Complete since 2"), "{text}");
    assert_eq!(entries(&answer), 3);
    let again = service(None);
    let tag = again.get("/feed.atom").await.header("etag").to_owned();
    assert_eq!(again.get_with("/feed.atom", &[("if-none-match", &tag)]).await.status, 304);
}

#[tokio::test]
async fn feed_of_a_search_lists_only_products_that_match() {
    let service = service(None);
    for (query, count) in [
        ("category=audits", 1),
        ("category=Audits&category=permits", 3),
        ("category=nowhere", 0),
        ("q=old&category=permits", 1),
        ("q=old+gone", 0),
        ("id=new&id=gone", 2),
        ("evidence_checked_after=2026-01-15", 1),
    ] {
        let answer = service.get(&format!("/feed.atom?{query}")).await;
        assert_eq!(entries(&answer), count, "{query}");
        assert!(answer.text().contains(&format!("/feed.atom?{}\"", query.replace('&', "&amp;"))), "{}", answer.text());
    }
    for feed in ["/feed.atom", "/feed.json"] {
        assert_eq!(service.get(&format!("{feed}?categori=a")).await.problem().1, "unknown_parameter");
        assert_eq!(service.get(&format!("{feed}?attribute=nothing:a")).await.problem().1, "invalid_parameter");
        assert_eq!(service.get(&format!("{feed}?q={}", "a".repeat(257))).await.problem().1, "invalid_parameter");
    }
}

#[tokio::test]
async fn json_feed_has_the_same_entries() {
    let service = service(None);
    let answer = service.get("/feed.json?q=new&evidence_status=pending-review").await;
    assert_eq!(answer.header("content-type"), "application/feed+json");
    let feed: Value = serde_json::from_str(answer.text()).expect("JSON");
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    assert!(feed["title"].as_str().is_some_and(|title| title.ends_with(": new, evidence_status: pending-review")));
    let address = |path: &str| format!("{path}?q=new&evidence_status=pending-review");
    assert!(feed["feed_url"].as_str().is_some_and(|url| url.ends_with(&address("/feed.json"))), "{feed}");
    assert!(feed["home_page_url"].as_str().is_some_and(|url| url.ends_with(&address("/"))), "{feed}");
    let [item] = feed["items"].as_array().expect("items").as_slice() else { panic!("one: {feed}") };
    assert_eq!((&item["title"], &item["content_text"]), (&"new <b>&".into(), &"Added.".into()));
    assert_eq!(item["tags"], json!(["Audits"]));
    let atom = service.get("/feed.atom").await;
    assert!(item["id"].as_str().is_some_and(|id| atom.text().contains(&format!("<id>{id}</id>"))), "{item}");
}

#[tokio::test]
async fn result_pages_link_to_their_feeds() {
    let public = service(Rate::new(1000));
    for (page, feed) in [
        ("/?q=old&vendor=A%26B&page=1&sort=name", "q=old&amp;vendor=A%26B"),
        ("/categories/permits?evidence_status=pending-review", "category=permits&amp;evidence_status=pending-review"),
        ("/?q=nothing-at-all", "q=nothing-at-all"),
    ] {
        let answer = public.visit(page).await;
        let text = answer.text().replace("&#38;", "&amp;");
        for (kind, of) in [("application/atom+xml", "atom"), ("application/feed+json", "json")] {
            assert!(text.contains(&format!("type=\"{kind}\" title=")), "{page}");
            assert!(text.contains(&format!("href=\"/feed.{of}?{feed}\">")), "{page}: {text}");
        }
        assert!(text.contains(">Follow this search</a>"), "{page}");
    }
    assert!(!public.visit("/?q=").await.text().contains("Follow this search"), "that's the news");
    assert!(!service(None).visit("/?q=old").await.text().contains("/feed."));
}

#[tokio::test]
async fn feeds_need_a_key_unless_the_page_is_public() {
    for feed in ["/feed.atom", "/feed.json"] {
        let closed = service(None);
        assert_eq!(closed.send(Method::GET, feed, &[]).await.problem().1, "missing_api_key");
        assert_eq!(closed.get(feed).await.header("cache-control"), "private, no-cache");
        let public = service(Rate::new(100));
        assert_eq!(public.send(Method::GET, feed, &[]).await.status, 200);
        assert_eq!(public.send(Method::GET, "/v1/changes", &[]).await.problem().1, "missing_api_key");
    }
    assert!(!service(None).visit("/").await.text().contains("feed.atom"));
}

#[tokio::test]
async fn feed_of_a_directory_without_changes_is_empty() {
    assert_eq!(entries(&Service::with_directory().get("/feed.atom").await), 0);
}
