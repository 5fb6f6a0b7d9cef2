//! Every failure is a problem document with its own code.

use std::time::Duration;

use axum::Router;
use axum::http::Method;
use axum::routing::get;
use software_directory::http::HttpConfig;

use crate::api::service::{Service, Setup};

#[tokio::test]
async fn unknown_path_is_not_found() {
    let service = Service::empty();
    for path in ["/nowhere", "/v2/software", "/v1software", "//v1/software", "/V1/software", "/healthz/x", "/%2e%2e/"] {
        let answer = service.send(Method::GET, path, &[]).await;
        assert_eq!(answer.problem(), (404, "route_not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn before_the_first_generation_the_caller_is_asked_to_wait() {
    let answer = Service::empty().get("/v1/software").await;
    assert_eq!(answer.problem(), (503, "index_unavailable".to_owned()));
    assert_eq!(answer.json()["retry_after_seconds"], 5);
}

#[tokio::test]
async fn a_url_of_more_than_8_kib_is_too_long() {
    let service = Service::empty();
    let of_length = |length: usize| format!("/nowhere?{}", "(".repeat(length - "/nowhere?".len()));
    let longest = service.send(Method::GET, &of_length(8192), &[]).await;
    assert_eq!(longest.problem(), (404, "route_not_found".to_owned()));
    let too_long = service.send(Method::GET, &of_length(8193), &[]).await;
    assert_eq!(too_long.problem(), (414, "uri_too_long".to_owned()));
}

#[tokio::test]
async fn headers_of_more_than_16_kib_are_too_large() {
    let service = Service::empty();
    let room = 16 * 1024 - "hostlocalhost".len() - "cookie".len();
    let answer = service.send(Method::GET, "/healthz", &[("cookie", &"x".repeat(room))]).await;
    assert_eq!(answer.status, 200);
    let answer = service.send(Method::GET, "/healthz", &[("cookie", &"x".repeat(room + 1))]).await;
    assert_eq!(answer.problem(), (431, "headers_too_large".to_owned()));
}

#[tokio::test]
async fn a_panic_fails_one_request_and_the_next_one_is_fine() {
    let routes = Router::new()
        .route("/panic", get(async || -> &'static str { panic!("an internal secret") }))
        .route("/fine", get(async || "fine"));
    let service = Setup { routes, ..Setup::default() }.start();
    let answer = service.send(Method::GET, "/panic", &[("x-request-id", "p-1")]).await;
    assert_eq!(answer.problem(), (500, "internal_error".to_owned()));
    assert_eq!(answer.json()["request_id"], "p-1");
    assert!(!answer.text().contains("secret"), "the operator's message isn't shown to the caller");
    assert_eq!(service.send(Method::GET, "/fine", &[]).await.text(), "fine");
}

#[tokio::test]
async fn a_response_that_takes_too_long_is_abandoned() {
    let routes = Router::new().route("/never", get(std::future::pending::<&'static str>));
    let config = HttpConfig { request_timeout: Duration::ZERO, ..HttpConfig::default() };
    let service = Setup { config, routes, ..Setup::default() }.start();
    let answer = service.send(Method::GET, "/never", &[]).await;
    assert_eq!(answer.problem(), (408, "request_timeout".to_owned()));
}
