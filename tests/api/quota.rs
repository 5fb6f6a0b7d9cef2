//! Quotas and the headers that tell of them.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use software_directory::http::ComputePool;
use software_directory::http::server::LongestWait;
use tokio::task::JoinSet;

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
async fn what_needs_no_key_costs_nothing() {
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

/// As nobody may wait here, only the first few of many that come at once are computed.
#[test]
fn a_search_that_comes_to_its_turn_too_late_is_turned_away_and_costs_nothing() {
    const ASKED: usize = 60;
    const RATE: u64 = 1_000;
    let service = Setup { directory: fixture::directory(), rate: RATE, ..Setup::default() }.start();
    let at_once = LongestWait { burst: Duration::ZERO, standing: Duration::ZERO };
    let pool = ComputePool::start(0, at_once).expect("no threads");
    // What a thread belongs to is for good.
    let asking = std::thread::spawn(move || {
        pool.enter();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let service = Arc::new(service);
            let mut asked = JoinSet::new();
            for number in 0..ASKED {
                let service = Arc::clone(&service);
                asked.spawn(async move { service.get(&format!("/v1/search?q=permit+{number}")).await });
            }
            let answers = asked.join_all().await;
            let late: Vec<_> = answers.iter().filter(|answer| answer.status != 200).collect();
            assert!(!late.is_empty() && late.len() < ASKED, "{}", late.len());
            for answer in &late {
                assert_eq!(answer.problem(), (503, "overloaded".to_owned()));
                assert_eq!(answer.header("retry-after"), "1");
            }
            let left = RATE - (ASKED - late.len()) as u64 - 1;
            let next = service.get("/v1/software").await;
            assert!(next.header("ratelimit").starts_with(&format!("\"default\";r={left};")), "{left}: {next:?}");
        });
    });
    asking.join().expect("as it should be");
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
