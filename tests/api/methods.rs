//! Methods other than GET.

use std::sync::Arc;

use axum::http::Method;
use software_directory::http::{HttpConfig, Preview};

use crate::api::service::{Service, Setup};

const KNOWN: [&str; 5] = ["/healthz", "/readyz", "/", "/openapi.json", "/docs/errors/"];

#[tokio::test]
async fn other_methods_are_refused_with_a_list_of_allowed_ones() {
    let service = Service::empty();
    for path in KNOWN {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            let answer = service.send(method.clone(), path, &[]).await;
            assert_eq!(answer.problem(), (405, "method_not_allowed".to_owned()), "{method} {path}");
            assert_eq!(answer.header("allow"), "GET, HEAD, OPTIONS");
        }
    }
    let unknown = service.send(Method::POST, "/nowhere", &[]).await;
    assert_eq!(unknown.problem(), (404, "route_not_found".to_owned()));
}

#[tokio::test]
async fn preview_state_is_read_only() {
    let preview = Some(Arc::new(Preview::new("candidate", "published")));
    let service = Setup { config: HttpConfig { preview, ..HttpConfig::default() }, ..Setup::default() }.start();
    for path in ["/preview/status", "/preview"] {
        let answer = service.send(Method::POST, path, &[("authorization", &service.bearer())]).await;
        assert_eq!(answer.problem(), (405, "method_not_allowed".to_owned()), "{path}");
        assert_eq!(answer.header("allow"), "GET, HEAD, OPTIONS");
    }
}

#[tokio::test]
async fn options_lists_the_methods_of_existing_routes() {
    let service = Service::empty();
    for path in KNOWN.into_iter().chain(["/v1/software", "/v1/reviews/x", "/v1/exports/", "*"]) {
        let answer = service.send(Method::OPTIONS, path, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (204, "GET, HEAD, OPTIONS"), "{path}");
    }
    for path in ["/nowhere", "/v1/nowhere", "/v1/software/a/b"] {
        assert_eq!(service.send(Method::OPTIONS, path, &[]).await.problem().0, 404, "{path}");
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let service = Service::empty();
    for path in KNOWN.into_iter().chain(["/nowhere", "/v1/software"]) {
        let headers = [("x-request-id", "same"), ("origin", "https://shop.example")];
        let mut get = service.send(Method::GET, path, &headers).await;
        let mut head = service.send(Method::HEAD, path, &headers).await;
        assert_eq!(head.status, get.status, "{path}");
        assert!(head.body.is_empty(), "{path}");
        let length = head.headers.remove("content-length");
        assert_eq!(length.expect("a length"), get.body.len().to_string().as_str(), "{path}");
        // hyper adds the length to a GET when it writes the response.
        get.headers.remove("content-length");
        assert_eq!(head.headers, get.headers, "{path}");
    }
}
