//! Cross-origin requests: what a browser may send and read.

use axum::http::Method;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

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
        for header in
            ["authorization", "if-none-match", "if-range", "x-request-id", "traceparent", "tracestate", "baggage"]
        {
            assert!(allowed.contains(header), "{header} in {allowed}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-credentials"));
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn pages_can_also_read_errors() {
    let service = Service::empty();
    let origin = [("origin", "https://shop.example")];
    for (path, status) in [("/v1/software", 401), ("/nowhere", 404), ("/readyz", 503), ("/healthz", 200)] {
        let answer = service.send(Method::GET, path, &origin).await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        assert_eq!(
            answer.header("access-control-expose-headers"),
            "ETag, Link, X-Request-Id, X-Generation, RateLimit, RateLimit-Policy, Retry-After, Accept-Ranges, \
             Content-Disposition, Content-Range"
        );
    }
}

#[tokio::test]
async fn without_an_origin_there_are_no_cors_headers() {
    let answer = Service::empty().send(Method::GET, "/healthz", &[]).await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    assert_eq!(answer.header("vary"), "Origin", "the headers differ with an origin");
}

#[tokio::test]
async fn origin_is_never_reflected_and_credentials_are_never_allowed() {
    let open = Service::with_directory();
    let shop = Setup { directory: fixture::directory(), origins: &["https://shop.example"], ..Setup::default() };
    let restricted = shop.start();
    let preflight = [("access-control-request-method", "GET"), ("access-control-request-headers", "authorization")];
    for (origin, status_where_restricted) in [
        ("https://shop.example", 200),
        ("https://SHOP.example", 200),
        ("https://shop.example:443", 200),
        ("null", 403),
        ("https://evil.example", 403),
        ("https://shop.example.evil.example", 403),
        ("https://evilshop.example", 403),
        ("http://shop.example", 403),
        ("https://shop.example:8443", 403),
        ("file://", 403),
        ("*", 403),
    ] {
        for (service, status) in [(&open, 200), (&restricted, status_where_restricted)] {
            let bearer = service.bearer();
            let asked: Vec<_> = preflight.iter().copied().chain([("origin", origin)]).collect();
            let with_key = [("origin", origin), ("authorization", bearer.as_str()), ("cookie", "a=b")];
            for (method, headers, expected) in [
                (Method::OPTIONS, &asked[..], 204),
                (Method::GET, &with_key[..], status),
                (Method::GET, &[("origin", origin)][..], 401),
            ] {
                let answer = service.send(method.clone(), "/v1/software", headers).await;
                assert_eq!(answer.status, expected, "{method} from {origin}: {answer:?}");
                assert_eq!(answer.header("access-control-allow-origin"), "*", "{method} from {origin}");
                assert_eq!(answer.headers.get_all("access-control-allow-origin").iter().count(), 1);
                assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{method} from {origin}");
                assert!(!answer.headers.contains_key("set-cookie"));
                assert!(answer.header("vary").contains("Origin") || method == Method::OPTIONS);
            }
        }
    }
}
