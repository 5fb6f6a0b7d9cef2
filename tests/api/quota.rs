//! Quotas and the headers that state them.

use axum::http::Method;
use software_directory::http::HttpConfig;

use crate::fixture;
use crate::service::{Service, Setup};

#[tokio::test]
async fn the_quota_counts_down_and_then_asks_to_wait() {
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
async fn requests_without_a_key_cost_nothing() {
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
async fn shed_search_is_503_and_costs_nothing_while_lookups_and_health_are_served() {
    const RATE: u64 = 10;
    let config = HttpConfig { search_threads: 0, ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, rate: RATE, ..Setup::default() }.start();
    for path in ["/v1/search?q=permit", "/v1/search", "/v1/software?q=tool", "/v1/software?category=tools"] {
        let shed = service.get(path).await;
        assert_eq!(shed.problem(), (503, "overloaded".to_owned()), "{path}");
        assert_eq!(shed.header("retry-after"), "1");
        assert!(shed.header("ratelimit").starts_with(&format!("\"default\";r={RATE};")), "{path}: {shed:?}");
    }
    let metrics = service.send_to_metrics(Method::GET, "/metrics").await;
    assert!(metrics.text().contains("software_directory_http_requests_shed_total 4\n"));
    for path in ["/v1/software/tool-01", "/v1/software", "/healthz", "/readyz"] {
        assert_eq!(service.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn answers_from_the_directory_say_how_they_may_be_kept() {
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
