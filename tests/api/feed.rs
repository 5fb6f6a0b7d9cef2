//! The Atom feed of a directory that has changed.

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

use crate::service::{Answer, Service, Setup};

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
async fn feed_lists_added_products_and_updated_evidence() {
    let answer = service(None).get("/feed.atom").await;
    assert_eq!(answer.header("content-type"), "application/atom+xml; charset=utf-8");
    let text = answer.text();
    assert!(text.contains("<title>new &lt;b&gt;&amp;</title>"), "{text}");
    assert!(text.contains("<title>old &lt;b&gt;&amp;: evidence checked on 2026-02-01</title>"), "{text}");
    assert!(text.contains("<content>Changed: evidence_checked_on</content>"), "{text}");
    assert!(text.contains("<rights>https://example.org/licence</rights>"), "{text}");
    assert_eq!((entries(&answer), text.contains("gone")), (2, false));
    let again = service(None);
    let tag = again.get("/feed.atom").await.header("etag").to_owned();
    assert_eq!(again.get_with("/feed.atom", &[("if-none-match", &tag)]).await.status, 304);
}

#[tokio::test]
async fn category_feed_lists_only_products_in_that_category() {
    let service = service(None);
    for (query, count) in [("category=audits", 1), ("category=Audits&category=permits", 2), ("category=nowhere", 0)] {
        let answer = service.get(&format!("/feed.atom?{query}")).await;
        assert_eq!(entries(&answer), count, "{query}");
        assert!(answer.text().contains(&format!("/feed.atom?{}\"", query.replace('&', "&amp;"))), "{}", answer.text());
    }
    assert_eq!(service.get("/feed.atom?categori=a").await.problem().1, "unknown_parameter");
}

#[tokio::test]
async fn feed_needs_a_key_unless_the_page_is_public() {
    let closed = service(None);
    assert_eq!(closed.send(Method::GET, "/feed.atom", &[]).await.problem().1, "missing_api_key");
    assert!(!closed.visit("/").await.text().contains("feed.atom"));
    let public = service(Rate::new(100));
    assert_eq!(entries(&public.send(Method::GET, "/feed.atom", &[]).await), 2);
    assert!(public.send(Method::GET, "/", &[]).await.text().contains("type=\"application/atom+xml\""));
    assert_eq!(public.send(Method::GET, "/v1/changes", &[]).await.problem().1, "missing_api_key");
}

#[tokio::test]
async fn feed_of_a_directory_without_changes_is_empty() {
    assert_eq!(entries(&Service::with_directory().get("/feed.atom").await), 0);
}
