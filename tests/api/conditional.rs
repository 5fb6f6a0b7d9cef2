//! Entity tags, 304 responses, and how much they cost.

use crate::api::fixture;
use crate::api::service::{Service, Setup};

const PATHS: [&str; 9] = [
    "/v1/software",
    "/v1/software?q=tool&limit=3",
    "/v1/software/tool-01",
    "/v1/categories",
    "/v1/reviews/tool-reviewed",
    "/v1/glossary?q=loto",
    "/v1/search?q=tool&facets=category&highlight=true",
    "/v1/exports",
    "/v1/exports/tools?format=ndjson",
];

#[tokio::test]
async fn matching_entity_tag_saves_the_body_and_the_quota() {
    let service = Setup { directory: fixture::directory(), rate: 10, ..Setup::default() }.start();
    let mut left = 10;
    for path in PATHS {
        let answer = service.get(path).await;
        left -= 1;
        let tag = answer.header("etag").to_owned();
        let is_export = path.starts_with("/v1/exports/");
        assert!(tag.starts_with(if is_export { "\"" } else { "W/\"" }) && answer.status == 200, "{path}: {answer:?}");
        for condition in [tag.clone(), tag.replace("W/", ""), format!("\"x\", {tag}")] {
            let again = service.get_with(path, &[("if-none-match", &condition)]).await;
            assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
            assert_eq!(again.header("etag"), tag);
            assert_eq!(again.header("x-generation"), answer.header("x-generation"));
            assert_eq!(again.header("cache-control"), "private, no-cache");
            assert_eq!(again.header("vary"), "Authorization, Accept-Encoding, Origin");
            assert!(again.header("ratelimit").contains(&format!("r={left};")), "{}", again.header("ratelimit"));
        }
    }
}

#[tokio::test]
async fn a_304_is_sent_even_if_the_quota_is_used_up() {
    let service = Setup { directory: fixture::directory(), rate: 2, ..Setup::default() }.start();
    let mut tagged = Vec::new();
    for path in ["/v1/software", "/v1/software/tool-01"] {
        tagged.push((path, service.get(path).await.header("etag").to_owned()));
    }
    for (path, tag) in &tagged {
        assert_eq!(service.get(path).await.problem(), (429, "rate_limited".to_owned()));
        assert_eq!(service.get_with(path, &[("if-none-match", "\"old\"")]).await.status, 429, "{path}");
        assert_eq!(service.get_with(path, &[("if-none-match", tag)]).await.status, 304, "{path}");
    }
}

#[tokio::test]
async fn each_request_has_its_own_tag() {
    let service = Service::with_directory();
    let mut tags = Vec::new();
    for path in PATHS {
        tags.push(service.get(path).await.header("etag").to_owned());
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), PATHS.len());
    let written_otherwise = service.get("/v1/software/?limit=%33&q=too%6C").await;
    let as_before = service.get("/v1/software?q=tool&limit=3").await;
    assert_eq!(written_otherwise.header("etag"), as_before.header("etag"));
}

#[tokio::test]
async fn an_error_has_no_tag_and_is_never_hidden_by_a_condition() {
    let service = Service::with_directory();
    for path in ["/v1/software?limit=0", "/v1/software/nowhere", "/v1/nowhere", "/v1/exports/nowhere"] {
        let answer = service.get_with(path, &[("if-none-match", "*")]).await;
        assert!(answer.problem().0 >= 400, "{path}");
        assert_eq!(answer.header("etag"), "", "{path}");
    }
    assert_eq!(service.get_with("/v1/software", &[("if-none-match", "*")]).await.status, 304);
}

/// Which parts of the directory change when a product changes.
#[tokio::test]
async fn records_are_tagged_by_content_and_lists_by_generation() {
    let service = Service::with_directory();
    let same = [
        "/v1/software/tool-01",
        "/v1/software/%74ool-rated",
        "/v1/categories",
        "/v1/categories/%74ools",
        "/v1/glossary",
        "/v1/glossary?q=loto",
        "/v1/glossary/near-miss",
        "/v1/exports/extra",
    ];
    let changed = [
        "/v1/software/tool-25",
        "/v1/software",
        "/v1/search?q=tool",
        "/v1/suggest?q=tool",
        "/v1/software/tool-01/similar",
        "/v1/software/tool-01/history",
        "/v1/exports",
        "/v1/exports/tools",
        "/v1/exports/tools?format=ndjson",
    ];
    let mut before = Vec::new();
    for path in same.iter().chain(&changed) {
        before.push(service.get(path).await);
    }
    let document = fixture::tools_document().replace("\"Tool 25\"", "\"Tool 26\"");
    service.directory.publish(fixture::snapshot(&[("tools", &document), ("extra", &fixture::extra_document())]));
    for (at, (path, before)) in same.iter().chain(&changed).zip(before).enumerate() {
        let after = service.get_with(path, &[("if-none-match", before.header("etag"))]).await;
        assert_eq!(after.status.as_u16(), if at < same.len() { 304 } else { 200 }, "{path}");
        assert_ne!(after.header("x-generation"), before.header("x-generation"), "{path}");
    }
}

/// A category's name and description also appear in other resources.
#[tokio::test]
async fn renaming_a_category_changes_its_products_tags() {
    let service = Service::with_directory();
    let paths = ["/v1/software/tool-reviewed", "/v1/categories", "/v1/categories/safety"];
    let mut tags = Vec::new();
    for path in paths {
        tags.push(service.get(path).await.header("etag").to_owned());
    }
    let document = fixture::tools_document().replace("\"Safety\"", "\"SAFETY\"");
    service.directory.publish(fixture::snapshot(&[("tools", &document), ("extra", &fixture::extra_document())]));
    for (path, tag) in paths.into_iter().zip(&tags) {
        assert_eq!(service.get_with(path, &[("if-none-match", tag)]).await.status, 200, "{path}");
    }
}
