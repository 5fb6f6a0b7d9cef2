//! Every response has an id: the caller's own if it's valid.

use axum::http::Method;

use crate::api::service::Service;

#[tokio::test]
async fn every_response_has_an_id() {
    let service = Service::empty();
    for path in ["/healthz", "/nowhere", "/v1/software", "/openapi.json", "/v1/software/%FF"] {
        for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::POST] {
            let answer = service.send(method.clone(), path, &[]).await;
            assert!(!answer.header("x-request-id").is_empty(), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_callers_own_id_is_returned_if_it_is_well_formed() {
    let service = Service::empty();
    let longest = "x".repeat(64);
    for own in ["abc", "A-b_9", &longest] {
        let answer = service.send(Method::GET, "/nowhere", &[("x-request-id", own)]).await;
        assert_eq!(answer.header("x-request-id"), own);
        assert_eq!(answer.json()["request_id"], own);
    }
    let too_long = "x".repeat(65);
    for wrong in ["", "a b", "a/b", "<script>", &too_long] {
        let answer = service.send(Method::GET, "/nowhere", &[("x-request-id", wrong)]).await;
        assert_ne!(answer.header("x-request-id"), wrong);
    }
}
