//! Arbitrary lines as a request: the target, then headers, as they arrive on the wire. The bundled
//! directory responds.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/hostile/invariant/mod.rs"]
mod invariant;

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt as _;
use software_directory::http::{self, AppState, HttpConfig};
use software_directory::key::{ApiKey, KeyKind, KeyStore};
use software_directory::update::Directory;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;

struct Service {
    app: BoxCloneSyncService<Request, Response, Infallible>,
    bearer: String,
    runtime: Runtime,
}

static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let directory = Directory::default();
    directory.publish(invariant::query::snapshot());
    let key = ApiKey::generate(KeyKind::Development).expect("a key");
    let keys = Arc::new(KeyStore::development(&key, Path::new("no-key-file.json")));
    let state = AppState::new(Arc::new(directory), None, keys, HttpConfig::default()).expect("the state");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    Service { app: BoxCloneSyncService::new(http::service(state)), bearer: format!("Bearer {}", key.expose()), runtime }
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let service = &*SERVICE;
    let target = lines.next().unwrap_or_default();
    let mut request = Request::builder().uri(target).header("host", "x").header("authorization", &service.bearer);
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        request = request.header(&line[..colon], &line[colon + 1..]);
    }
    // Bytes that aren't a request don't get past the parser either.
    let Ok(request) = request.body(Body::empty()) else { return };
    service.runtime.block_on(async {
        let Ok(response) = service.app.clone().oneshot(request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        assert!(!parts.status.is_server_error(), "{parts:?}");
        assert!(parts.headers.contains_key("x-request-id"));
        let header = |name| parts.headers.get(name).map(|value| value.to_str().expect("ASCII"));
        if header("content-encoding").is_none()
            && header("content-type").is_some_and(|kind| kind == "application/json" || kind == "application/problem+json")
        {
            assert!(invariant::export::is_json(&body), "{parts:?}");
        }
    });
});
