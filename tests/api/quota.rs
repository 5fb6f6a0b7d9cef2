//! Quotas, and the headers that report them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use serde_json::json;
use software_directory::http::HttpConfig;
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

#[tokio::test]
async fn the_quota_counts_down_and_then_the_caller_has_to_wait() {
    let service = Setup { directory: fixture::directory(), rate: 3, ..Setup::default() }.start();
    for (path, left) in [("/v1/software", 2), ("/v1/software?limit=0", 1), ("/v1/nowhere", 0)] {
        let answer = service.get(path).await;
        assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=3;w=60", "{path}");
        assert!(answer.header("ratelimit").starts_with(&format!("\"default\";r={left};t=")), "{path}: {answer:?}");
    }
    let refused = service.get("/v1/software").await;
    assert_eq!(refused.problem(), (429, "rate_limited".to_owned()));
    let wait = refused.json()["retry_after_seconds"].as_u64().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait}");
    assert!(refused.header("ratelimit").contains("r=0;"));
}

#[tokio::test]
async fn requests_that_need_no_key_cost_nothing() {
    let service = Setup { directory: fixture::directory(), rate: 1, ..Setup::default() }.start();
    let preflight = [("origin", "https://shop.example"), ("access-control-request-method", "GET")];
    for _ in 0..3 {
        assert_eq!(service.send(Method::OPTIONS, "/v1/software", &preflight).await.status, 204);
        assert_eq!(
            service.send(Method::OPTIONS, "/v1/software", &[("authorization", &service.bearer())]).await.status,
            204
        );
        assert_eq!(service.get("/readyz").await.status, 200);
    }
    assert_eq!(service.get("/v1/software").await.status, 200);
}

/// A pool without threads sheds every search.
#[tokio::test]
async fn shed_search_gets_503_and_costs_nothing_while_lookups_and_health_checks_work() {
    const RATE: u64 = 10;
    let config = HttpConfig { search_threads: 0, ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, rate: RATE, ..Setup::default() }.start();
    let searches = [
        "/v1/search?q=permit",
        "/v1/search",
        "/v1/software?q=tool",
        "/v1/software?category=tools",
        "/v1/software/tool-01/similar",
        "/v1/software/tool-01/history",
        "/v1/suggest?q=too",
        "/v1/glossary?q=near",
        "/v1/reviews/tool-reviewed?sort=rating",
        "/v1/reviews/tool-reviewed?verified=true",
        "/v1/changes?since=fedcba9876543210",
        "/feed.atom?category=tools",
        "/feed.json?q=tools",
    ];
    for path in searches {
        let shed = service.get(path).await;
        assert_eq!(shed.problem(), (503, "overloaded".to_owned()), "{path}");
        assert_eq!(shed.header("retry-after"), "1");
        assert!(shed.header("ratelimit").starts_with(&format!("\"default\";r={RATE};")), "{path}: {shed:?}");
    }
    let metrics = service.send_to_metrics(Method::GET, "/metrics").await;
    assert!(metrics.text().contains("software_directory_http_requests_shed_total 13\n"));
    let served = [
        "/v1/software/tool-01",
        "/v1/software",
        "/v1/categories",
        "/v1/categories/safety",
        "/v1/glossary",
        "/v1/glossary/near-miss",
        "/v1/reviews/tool-reviewed",
        "/v1/exports",
        "/healthz",
        "/readyz",
    ];
    for path in served {
        assert_eq!(service.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn only_large_products_are_read_in_the_pool() {
    let product = |id: &str, length: usize| {
        json!({
            "id": id, "name": id, "url": "https://example.org/", "description": "long ".repeat(length / 5),
            "evidence_status": "pending-review"
        })
    };
    let software = [product("small", 1000), product("large", 500_000)];
    let export = json!({"name": "N", "license": "https://example.org/licence", "software": software});
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("tools", &export.to_string())]));
    let config = HttpConfig { search_threads: 0, ..HttpConfig::default() };
    let service = Setup { directory: Arc::new(directory), config, ..Setup::default() }.start();
    assert_eq!(service.get("/v1/software/small").await.status, 200);
    let tag = service.get("/v1/software/small").await.header("etag").to_owned();
    assert_eq!(service.get_with("/v1/software/small", &[("if-none-match", &tag)]).await.status, 304);
    assert_eq!(service.get("/v1/software/large").await.problem(), (503, "overloaded".to_owned()));
}

#[tokio::test]
async fn every_tool_call_is_shed_if_searches_are() {
    let config = HttpConfig { search_threads: 0, ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
    let calls = [
        ("search_software", json!({"q": "tool"})),
        ("get_software", json!({"id": "tool-01"})),
        ("list_categories", json!({})),
        ("search_glossary", json!({"q": "near"})),
        ("list_reviews", json!({"id": "tool-reviewed"})),
    ];
    for (name, arguments) in calls {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}
        });
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("authorization", service.bearer())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Body::from(call.to_string()))
            .expect("a request");
        assert_eq!(service.call(request).await.problem(), (503, "overloaded".to_owned()), "{name}");
    }
}

#[tokio::test]
async fn responses_say_how_they_may_be_cached() {
    let service = Service::with_directory();
    for path in ["/v1/software", "/v1/software/nowhere", "/v1/software?limit=0"] {
        let answer = service.get(path).await;
        assert_eq!(answer.header("cache-control"), "private, no-cache", "{path}");
        assert_eq!(answer.header("vary"), "Authorization, Accept-Encoding, Origin", "{path}");
        assert!(!answer.header("x-generation").is_empty(), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    }
    let compressed = service.get_with("/v1/software?limit=100", &[("accept-encoding", "gzip")]).await;
    assert_eq!(compressed.header("content-encoding"), "gzip");
    assert_eq!(compressed.headers.get_all("vary").iter().count(), 1);
}
