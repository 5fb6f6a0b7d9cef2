//! `/v1/changes`.

use serde_json::{Value, json};

use std::sync::Arc;

use crate::api::feed::{changed, published};
use crate::api::fixture;
use crate::api::service::{Service, Setup};
use software_directory::update::Directory;

#[tokio::test]
async fn without_since_there_are_no_changes_and_both_generations_are_the_current_one() {
    let service = Service::with_directory();
    let answer = service.get("/v1/changes").await;
    let generation = answer.header("x-generation").to_owned();
    let expected = json!({
        "data": [], "pagination": {"limit": 100, "offset": 0, "total": 0}, "from": generation, "to": generation
    });
    assert_eq!(answer.json(), expected);
    let same = service.get(&format!("/v1/changes?since={generation}")).await;
    assert_eq!(same.json(), expected);
}

#[tokio::test]
async fn unknown_generation_is_gone_and_points_to_the_exports() {
    let answer = Service::with_directory().get("/v1/changes?since=fedcba9876543210").await;
    assert_eq!(answer.status, 410);
    let problem: Value = answer.json();
    assert_eq!(problem["code"], "generation_gone");
    assert!(problem["detail"].as_str().expect("a string").contains("/v1/exports"), "{problem}");
}

#[tokio::test]
async fn since_must_not_be_empty_or_repeated() {
    for query in ["since=", "since=a&since=b"] {
        let answer = Service::with_directory().get(&format!("/v1/changes?{query}")).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["errors"][0]["param"]), (400, &json!("since")), "{query}");
    }
}

#[tokio::test]
async fn changes_are_listed_by_id_and_paged() {
    let (directory, first) = changed();
    let service = Setup { directory, ..Setup::default() }.start();
    let answer = service.get(&format!("/v1/changes?since={first}")).await.json();
    let hash = |at: usize| answer["data"][at]["content_hash"].as_str().map(str::len);
    let change = |id: &str, change: &str, at: usize, renewed: bool| json!({"id": id, "change": change, "content_hash": answer["data"][at]["content_hash"], "evidence_renewed": renewed});
    let expected =
        [change("gone", "removed", 0, false), change("new", "added", 1, false), change("old", "changed", 2, true)];
    assert_eq!(answer["data"], json!(expected));
    assert_eq!((hash(0), hash(1), hash(2)), (None, Some(16), Some(16)));
    assert_eq!((&answer["from"], answer["to"] == first), (&json!(first), false));
    let page = service.get(&format!("/v1/changes?since={first}&limit=1&offset=1")).await;
    assert_eq!(page.json()["data"], json!([expected[1]]));
    assert_eq!(page.json()["pagination"], json!({"limit": 1, "offset": 1, "total": 3}));
    assert!(page.header("link").contains("offset=2>; rel=\"next\""), "{}", page.header("link"));
}

fn export(license: &str, as_of: &str, tagline: &str) -> String {
    let product = |id: &str, tagline: &str| {
        json!({
            "id": id, "name": id, "url": "https://example.org/", "tagline": tagline, "evidence_status": "pending-review",
            "export": {"id": "own", "name": "of the record"}
        })
    };
    let software = [product("a", "as it was"), product("b", tagline)];
    json!({"name": "N", "license": license, "as_of": as_of, "software": software}).to_string()
}

#[tokio::test]
async fn a_new_export_date_or_licence_changes_only_entity_tags() {
    let before = export("https://example.org/one", "2026-01-01", "as it was");
    for (license, as_of, tagline, changed) in [
        ("https://example.org/one", "2026-02-02", "as it was", 0),
        ("https://example.org/two", "2026-01-01", "as it was", 0),
        ("https://example.org/two", "2026-02-02", "another one", 1),
    ] {
        let sets = [before.clone(), export(license, as_of, tagline)];
        let (directory, first) = published(&sets);
        let after = Setup { directory, ..Setup::default() }.start();
        let changes = after.get(&format!("/v1/changes?since={first}")).await.json();
        assert_eq!((&changes["pagination"]["total"], changes["to"] == first), (&json!(changed), false), "{changes}");
        let old = Arc::<Directory>::default();
        old.publish(fixture::snapshot(&[("tools", &before)]));
        let old = Setup { directory: old, ..Setup::default() }.start();
        let (old, new) = (old.get("/v1/software/a").await, after.get("/v1/software/a").await);
        assert_eq!(new.json()["data"]["export"]["license"], license);
        assert_eq!(new.json()["data"]["export"]["as_of"], as_of);
        assert_ne!(old.header("etag"), new.header("etag"), "{license} {as_of}");
        let condition = [("if-none-match", old.header("etag"))];
        assert_eq!(after.get_with("/v1/software/a", &condition).await.status, 200, "its bytes differ");
    }
}
