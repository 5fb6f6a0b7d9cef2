//! Keys: who is let in, and that nobody else learns anything.

use axum::http::Method;

use crate::service::{Service, Setup};

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
async fn each_way_of_not_being_let_in_has_its_code() {
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
async fn the_scheme_is_bearer_in_any_case_and_two_keys_are_none() {
    let service = Service::empty();
    let lower = format!("bearer  {}", service.key);
    let answer = service.send(Method::GET, "/v1/software", &[("authorization", &lower)]).await;
    assert_eq!(answer.problem().1, "index_unavailable", "let in, though there is nothing to serve");
    let bearer = service.bearer();
    let both = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    assert_eq!(service.send(Method::GET, "/v1/software", &both).await.problem().1, "invalid_api_key");
}

#[tokio::test]
async fn a_key_for_certain_origins_is_refused_elsewhere() {
    let service = Setup { origins: &["https://shop.example"], ..Setup::default() }.start();
    for (origin, code) in [
        ("https://shop.example", "index_unavailable"),
        ("https://evil.example", "origin_not_allowed"),
        ("http://shop.example", "origin_not_allowed"),
        ("null", "origin_not_allowed"),
    ] {
        let answer = service.get_with("/v1/software", &[("origin", origin)]).await;
        assert_eq!(answer.problem().1, code, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "a page can read why");
    }
    assert_eq!(service.get("/v1/software").await.problem().1, "index_unavailable", "only browsers send an origin");
}
