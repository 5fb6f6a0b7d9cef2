//! Cross-origin requests: what a browser asks and what it may read.

use axum::http::Method;

use crate::service::Service;

#[tokio::test]
async fn a_preflight_needs_no_key() {
    let service = Service::empty();
    for path in ["/v1/software", "/v1/software/a%2Fb", "/v1/nowhere", "/readyz"] {
        let headers = [
            ("origin", "https://shop.example"),
            ("access-control-request-method", "GET"),
            ("access-control-request-headers", "authorization,if-none-match"),
        ];
        let answer = service.send(Method::OPTIONS, path, &headers).await;
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.header("access-control-allow-methods"), "GET, HEAD, OPTIONS");
        assert_eq!(answer.header("access-control-max-age"), "86400");
        let allowed = answer.header("access-control-allow-headers").to_lowercase();
        for header in ["authorization", "if-none-match", "x-request-id"] {
            assert!(allowed.contains(header), "{header} in {allowed}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-credentials"));
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn errors_can_be_read_by_a_page_too() {
    let service = Service::empty();
    let origin = [("origin", "https://shop.example")];
    for (path, status) in [("/v1/software", 401), ("/nowhere", 404), ("/readyz", 503), ("/healthz", 200)] {
        let answer = service.send(Method::GET, path, &origin).await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        assert_eq!(
            answer.header("access-control-expose-headers"),
            "ETag, Link, X-Request-Id, X-Generation, RateLimit, RateLimit-Policy, Retry-After"
        );
    }
}

#[tokio::test]
async fn without_an_origin_nothing_is_said_of_it() {
    let answer = Service::empty().send(Method::GET, "/healthz", &[]).await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
}
