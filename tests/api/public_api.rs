//! A public API, which anyone may call without a key.

use axum::http::Method;
use serde_json::{Value, json};
use software_directory::http::{HttpConfig, openapi};
use software_directory::key::Rate;

use crate::api::fixture;
use crate::api::service::{Answer, Service, Setup};

const FROM_PAGE: (&str, &str) = ("sec-fetch-site", "same-origin");

fn config(rate: u64) -> HttpConfig {
    HttpConfig { public_api: Rate::new(rate), ..HttpConfig::default() }
}

fn service(config: HttpConfig) -> Service {
    Setup { directory: fixture::directory(), config, ..Setup::default() }.start()
}

fn caching(answer: &Answer) -> (&str, &str, bool) {
    let has_quota = answer.headers.contains_key("ratelimit") || answer.headers.contains_key("ratelimit-policy");
    (answer.header("cache-control"), answer.header("vary"), has_quota)
}

const SHARED: (&str, &str, bool) = ("public, max-age=60", "Authorization, Accept-Encoding", false);
const PRIVATE: (&str, &str) = ("private, no-cache", "Authorization, Accept-Encoding, Origin");

#[tokio::test]
async fn anyone_may_read_the_api_and_caches_may_share_it() {
    let service = service(config(100));
    for path in ["/v1/software", "/v1/search?q=tool", "/v1/categories", "/v1/exports", "/v1/changes"] {
        for headers in [vec![], vec![("origin", "https://anywhere.example")], vec![FROM_PAGE]] {
            let answer = service.send(Method::GET, path, &headers).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            assert_eq!(caching(&answer), SHARED, "{path} with {headers:?}");
            assert_eq!(answer.header("access-control-allow-origin"), "*", "{path} with {headers:?}");
            let again = [headers, vec![("if-none-match", answer.header("etag"))]].concat();
            let again = service.send(Method::GET, path, &again).await;
            assert_eq!((again.status.as_u16(), caching(&again)), (304, SHARED), "{path}");
        }
    }
}

#[tokio::test]
async fn keys_and_errors_are_answered_to_their_caller_alone() {
    let service = service(config(100));
    let answer = service.get("/v1/software").await;
    assert_eq!(caching(&answer), (PRIVATE.0, PRIVATE.1, true));
    assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=100000;w=60", "the key's own quota");
    for (authorization, code) in [("Bearer nonsense", "invalid_api_key"), ("Basic abc", "missing_api_key")] {
        let answer = service.send(Method::GET, "/v1/software", &[("authorization", authorization)]).await;
        assert_eq!(answer.problem(), (401, code.to_owned()));
        assert_eq!(caching(&answer), (PRIVATE.0, PRIVATE.1, false));
    }
    for (path, code) in [("/v1/software/nothing", "software_not_found"), ("/v1/nothing", "route_not_found")] {
        let answer = service.send(Method::GET, path, &[]).await;
        assert_eq!(answer.problem(), (404, code.to_owned()));
        assert_eq!((answer.header("cache-control"), answer.header("vary")), PRIVATE, "{path}");
    }
}

#[tokio::test]
async fn callers_without_a_key_share_their_addresss_quota_with_its_visitors() {
    let service = service(HttpConfig { public_page: Rate::new(2), ..config(2) });
    assert_eq!(service.send(Method::GET, "/v1/software", &[]).await.status, 200);
    assert_eq!(service.send(Method::GET, "/", &[]).await.status, 200);
    for headers in [vec![], vec![FROM_PAGE]] {
        let refused = service.send(Method::GET, "/v1/software", &headers).await;
        assert_eq!(refused.problem(), (429, "rate_limited".to_owned()));
        assert_eq!(caching(&refused), (PRIVATE.0, PRIVATE.1, true));
    }
    assert_eq!(service.get("/v1/software").await.status, 200, "keys aren't affected");
    let metrics = service.send_to_metrics(Method::GET, "/metrics").await;
    assert!(metrics.text().contains("software_directory_page_requests_total 2\n"), "{}", metrics.text());
}

#[tokio::test]
async fn assistants_need_no_key_but_feeds_and_pages_do() {
    let service = service(config(100));
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let answer = service.post("/mcp", &message, &headers).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    for feed in ["/feed.atom", "/feed.json"] {
        assert_eq!(service.send(Method::GET, feed, &[]).await.problem().1, "missing_api_key");
    }
    assert_eq!(service.send(Method::GET, "/", &[]).await.status, 303);
}

#[tokio::test]
async fn documents_say_that_no_key_is_needed() {
    let document: Value = serde_json::from_str(&openapi(&config(100))).expect("JSON");
    assert_eq!(document["security"], json!([{}, {"apiKey": []}]));
    let (open, closed) = (service(config(100)), Service::with_directory());
    for (path, text) in [
        ("/docs", "Get a key"),
        ("/docs", "Bearer $API_KEY"),
        ("/docs", "process.env"),
        ("/docs/reference", "Bearer $API_KEY"),
        ("/llms.txt", "Authorization"),
    ] {
        for (service, has_text) in [(&open, false), (&closed, true)] {
            let page = service.send(Method::GET, path, &[]).await;
            assert_eq!(page.text().contains(text), has_text, "{path}: {text}");
        }
    }
    let with_pages = service(HttpConfig { public_page: Rate::new(100), ..config(100) });
    assert!(!with_pages.send(Method::GET, "/exports", &[]).await.text().contains("API_KEY"));
}
