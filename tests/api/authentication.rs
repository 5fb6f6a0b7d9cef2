//! Keys: which requests are accepted, and that rejected ones reveal nothing.

use std::net::SocketAddr;

use axum::http::Method;

use jiff::Timestamp;
use software_directory::http::HttpConfig;
use software_directory::key::Rate;
use software_directory::key::file::{self, NewKey};

use crate::api::fixture;
use crate::api::service::{Answer, Service, Setup};

/// How many failed authentications an address may have per minute.
const BURST: u32 = 60;

#[tokio::test]
async fn keys_are_checked_before_routes() {
    let service = Service::empty();
    for path in ["/v1", "/v1/", "/v1/software", "/v1/no/such/route", "/v1/software?limit=nonsense", "/v1/software/%FF"]
    {
        for method in [Method::GET, Method::HEAD, Method::POST, Method::DELETE] {
            let answer = service.send(method.clone(), path, &[]).await;
            assert_eq!(answer.status, 401, "{method} {path}");
            assert!(method == Method::HEAD || answer.problem().1 == "missing_api_key");
        }
    }
}

#[tokio::test]
async fn each_reason_for_rejecting_a_key_has_its_own_code() {
    let service = Service::empty();
    let expired = Setup { expires: Some("2020-01-01"), ..Setup::default() }.start();
    let bearer = service.bearer();
    let tampered = {
        let last = if bearer.ends_with('0') { '1' } else { '0' };
        format!("{}{last}", &bearer[..bearer.len() - 1])
    };
    for (authorization, code, challenge) in [
        ("", "missing_api_key", "Bearer realm=\"software-directory\""),
        ("Bearer", "missing_api_key", "Bearer realm=\"software-directory\""),
        ("Basic dXNlcjpwYXNz", "missing_api_key", "Bearer realm=\"software-directory\""),
        ("Bearer nonsense", "invalid_api_key", "error=\"invalid_token\""),
        (&tampered, "invalid_api_key", "error=\"invalid_token\""),
        (&expired.bearer(), "invalid_api_key", "error=\"invalid_token\""),
    ] {
        let answer = service.send(Method::GET, "/v1/software", &[("authorization", authorization)]).await;
        assert_eq!(answer.problem(), (401, code.to_owned()), "{authorization}");
        assert!(answer.header("www-authenticate").ends_with(challenge), "{answer:?}");
        assert!(!answer.text().contains("sd_live_"), "a key is never repeated");
    }
    let answer = expired.get("/v1/software").await;
    assert_eq!(answer.problem(), (401, "expired_api_key".to_owned()));
    assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""));
}

#[tokio::test]
async fn bearer_is_case_insensitive_and_two_keys_count_as_none() {
    let service = Service::empty();
    let lower = format!("bearer  {}", service.key);
    let answer = service.send(Method::GET, "/v1/software", &[("authorization", &lower)]).await;
    assert_eq!(answer.problem().1, "index_unavailable", "the key was accepted, although there's nothing to serve");
    let bearer = service.bearer();
    let both = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    assert_eq!(service.send(Method::GET, "/v1/software", &both).await.problem().1, "invalid_api_key");
}

#[tokio::test]
async fn key_without_bearer_is_rejected_for_that_reason() {
    let service = Service::empty();
    let answer = service.send(Method::GET, "/v1/software", &[("authorization", &service.key)]).await;
    assert_eq!(answer.problem(), (401, "missing_api_key".to_owned()));
    let detail = answer.json()["detail"].as_str().expect("a string").to_owned();
    assert!(
        detail.contains("without the word Bearer") && detail.contains("`Authorization: Bearer YOUR_KEY`"),
        "{detail}"
    );
    assert!(!answer.text().contains(&service.key), "a key is never repeated");
}

#[tokio::test]
async fn key_created_a_moment_ago_is_accepted() {
    let service = Service::with_directory();
    let new = NewKey { name: "new".to_owned(), expires: None, rate: Rate::DEFAULT, origins: Vec::new() };
    let (key, _) = file::create(&service.key_file(), new, Timestamp::now(), |_| Ok(())).expect("created");
    let bearer = format!("Bearer {}", key.expose());
    let answer = service.send(Method::GET, "/v1/categories", &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn a_key_limited_to_certain_origins_is_rejected_elsewhere() {
    let service = Setup { origins: &["https://shop.example"], ..Setup::default() }.start();
    for (origin, code) in [
        ("https://shop.example", "index_unavailable"),
        ("https://evil.example", "origin_not_allowed"),
        ("http://shop.example", "origin_not_allowed"),
        ("null", "origin_not_allowed"),
    ] {
        let answer = service.get_with("/v1/software", &[("origin", origin)]).await;
        assert_eq!(answer.problem().1, code, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "web pages must be able to read the reason");
    }
    assert_eq!(service.get("/v1/software").await.problem().1, "index_unavailable", "it also works without an origin");
}

/// A service behind a proxy at 10.0.0.1.
fn behind_a_proxy() -> Service {
    let trusted_proxies = vec!["10.0.0.0/8".parse().expect("a network")];
    let config = HttpConfig { trusted_proxies, ..HttpConfig::default() };
    Setup { directory: fixture::directory(), config, ..Setup::default() }.start()
}

async fn ask(service: &Service, peer: &str, forwarded: &str, authorization: &str) -> Answer {
    let headers = [("authorization", authorization), ("x-forwarded-for", forwarded)];
    let peer = SocketAddr::new(peer.parse().expect("an address"), 4711);
    service.send_from(Some(peer), Method::GET, "/v1/software", &headers).await
}

#[tokio::test]
async fn an_address_with_too_many_bad_keys_has_to_wait_but_a_valid_key_still_works() {
    let service = behind_a_proxy();
    for _ in 0..BURST {
        assert_eq!(ask(&service, "192.0.2.1", "", "Bearer nonsense").await.problem().1, "invalid_api_key");
    }
    let refused = ask(&service, "192.0.2.1", "", "Bearer nonsense").await;
    assert_eq!(refused.problem(), (429, "rate_limited".to_owned()));
    assert!(refused.json()["detail"].as_str().expect("a string").contains("from your address"), "{refused:?}");
    assert!((1..=60).contains(&refused.header("retry-after").parse::<u64>().expect("seconds")));
    assert_eq!(ask(&service, "192.0.2.1", "", &service.bearer()).await.status, 200, "a colleague's key works");
    assert_eq!(ask(&service, "192.0.2.2", "", "Bearer nonsense").await.status, 401, "another address");
    assert_eq!(service.send(Method::GET, "/healthz", &[]).await.status, 200);
    let metrics = service.send_to_metrics(Method::GET, "/metrics").await;
    let text = metrics.text();
    assert!(text.contains("software_directory_http_requests_limited_total{scope=\"address\"} 1\n"), "{text}");
}

#[tokio::test]
async fn callers_behind_a_proxy_are_told_apart_and_forged_addresses_are_ignored() {
    let service = behind_a_proxy();
    for n in 0..=BURST {
        // Addresses that callers add themselves are further to the left.
        ask(&service, "10.0.0.1", &format!("203.0.113.{n}, 198.51.100.7"), "Bearer nonsense").await;
    }
    assert_eq!(ask(&service, "10.0.0.1", "198.51.100.7", "Bearer nonsense").await.status, 429);
    assert_eq!(ask(&service, "10.0.0.1", "198.51.100.8", "Bearer nonsense").await.status, 401);
    assert_eq!(ask(&service, "192.0.2.1", "198.51.100.7", "Bearer nonsense").await.status, 401, "not a trusted proxy");
}

#[tokio::test]
async fn ipv6_callers_are_counted_by_network() {
    let service = behind_a_proxy();
    for n in 0..=BURST {
        ask(&service, "10.0.0.1", &format!("2001:db8:0:1::{n:x}"), "Bearer nonsense").await;
    }
    assert_eq!(ask(&service, "10.0.0.1", "2001:db8:0:1:ffff::1", "Bearer nonsense").await.status, 429);
    assert_eq!(ask(&service, "10.0.0.1", "2001:db8:0:2::1", "Bearer nonsense").await.status, 401);
}

#[tokio::test]
async fn a_missing_key_does_not_count_as_a_failed_attempt() {
    let service = behind_a_proxy();
    for _ in 0..=BURST {
        assert_eq!(ask(&service, "192.0.2.1", "", "").await.status, 401);
    }
    assert_eq!(ask(&service, "192.0.2.1", "", "Bearer nonsense").await.problem().1, "invalid_api_key");
}
