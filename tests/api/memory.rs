//! The memory budget for large bodies. A body counts against it until the caller has read the body.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use software_directory::http::HttpConfig;
use software_directory::key::Rate;
use software_directory::update::Directory;
use tower::ServiceExt as _;

use crate::api::fixture::snapshot;
use crate::api::service::{Service, Setup};

const MIB: usize = 1 << 20;

/// A service with a small product, and a product called `large` whose record is this many MiB long.
fn with_record(mebibytes: usize, config: HttpConfig) -> Service {
    let mut large = json!({
        "id": "large", "name": "Large", "url": "https://a.example/", "evidence_status": "pending-review"
    });
    let small =
        json!({"id": "small", "name": "Small", "url": "https://b.example/", "evidence_status": "pending-review"});
    for number in 0..mebibytes {
        large[format!("appendix {number}")] = [" ".repeat(MIB / 2), " ".repeat(MIB / 2)].as_slice().into();
    }
    let document = json!({"name": "N", "license": "https://example.org/", "software": [large, small]});
    let directory = Arc::<Directory>::default();
    directory.publish(snapshot(&[("large", &document.to_string())]));
    Setup { directory, config, rate: 10, ..Setup::default() }.start()
}

/// Starts reading the large record, then stops.
async fn begin(service: &Service, caller: (&str, &str)) -> (u16, Body) {
    let request = Request::get("/v1/software/large").header("host", "x").header(caller.0, caller.1);
    let Ok(response) = service.app.clone().oneshot(request.body(Body::empty()).expect("a request")).await;
    (response.status().as_u16(), response.into_body())
}

#[tokio::test]
async fn bodies_waiting_to_be_read_are_bounded() {
    let service = with_record(7, HttpConfig { public_page: Rate::new(100), ..HttpConfig::default() });
    let bearer = service.bearer();
    let key = ("authorization", &*bearer);
    let mut slow = Vec::new();
    for _ in 0..3 {
        let (status, body) = begin(&service, key).await;
        assert_eq!(status, 200);
        slow.push(body);
    }
    let refused = service.get("/v1/software/large").await;
    assert_eq!(refused.problem(), (503, "overloaded".to_owned()));
    assert_eq!(refused.header("retry-after"), "1");
    assert!(refused.header("ratelimit").contains("r=7;"), "counted: {}", refused.header("ratelimit"));
    assert_eq!(service.get("/v1/software/small").await.status, 200);
    // The body is larger than a visitor's share, but it's the only one.
    let (status, visitors) = begin(&service, ("sec-fetch-site", "same-origin")).await;
    assert_eq!(status, 200, "keys can't use up a visitor's share");
    assert_eq!(begin(&service, ("sec-fetch-site", "same-origin")).await.0, 503);
    drop((slow.pop(), visitors));
    let whole = service.get("/v1/software/large").await;
    assert_eq!((whole.status.as_u16(), whole.body.len() > 7 * MIB), (200, true));
    assert_eq!(whole.header("content-length"), whole.body.len().to_string());
    assert_eq!(begin(&service, ("sec-fetch-site", "same-origin")).await.0, 200);
}

#[tokio::test]
async fn body_counts_until_its_last_byte_is_dropped() {
    use http_body_util::BodyExt as _;

    let service = with_record(20, HttpConfig::default());
    let bearer = service.bearer();
    let (_, mut body) = begin(&service, ("authorization", &bearer)).await;
    let bytes = body.frame().await.expect("a frame").expect("bytes").into_data().expect("data");
    drop(body);
    let piece = bytes.slice(1..2);
    drop(bytes);
    assert_eq!(service.get("/v1/software/large").await.status, 503, "part of the body still has to be written");
    drop(piece);
    assert_eq!(service.get("/v1/software/large").await.status, 200);
}
