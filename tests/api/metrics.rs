//! What Prometheus reads.

use std::collections::HashMap;

use axum::http::Method;
use serde_json::json;
use software_directory::export::Skipped;
use software_directory::key::{ApiKey, KeyKind};
use software_directory::update::Degraded;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

/// All samples: `name{labels}` and value.
async fn samples(service: &Service) -> HashMap<String, f64> {
    let answer = service.send_to_metrics(Method::GET, "/metrics").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "text/plain; version=0.0.4"));
    let text = answer.text();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a sample");
            (name.strip_prefix("software_directory_").unwrap_or(name).to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

fn requests(route: &str, method: &str, status: u16) -> String {
    format!("http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}}")
}

#[tokio::test]
async fn requests_are_counted_by_route_method_and_status() {
    let service = Service::with_directory();
    for path in ["/v1/software/tool-01", "/v1/software/tool-02/", "/v1/software/a%2Fb"] {
        assert_eq!(service.get(path).await.status, 200);
    }
    service.get("/v1/software/nowhere").await;
    service.send(Method::HEAD, "/v1/software/tool-01", &[("authorization", &service.bearer())]).await;
    service.send(Method::GET, "/v1/search", &[]).await;
    let samples = samples(&service).await;
    for (sample, count) in [
        (requests("/v1/software/{id}", "GET", 200), 3.0),
        (requests("/v1/software/{id}", "GET", 404), 1.0),
        (requests("/v1/software/{id}", "HEAD", 200), 1.0),
        (requests("/v1/search", "GET", 401), 1.0),
        ("http_request_duration_seconds_count{route=\"/v1/software/{id}\"}".to_owned(), 5.0),
        ("http_request_duration_seconds_bucket{route=\"/v1/search\",le=\"10\"}".to_owned(), 1.0),
    ] {
        assert_eq!(samples.get(&sample), Some(&count), "{sample} in {samples:#?}");
    }
}

#[tokio::test]
async fn made_up_requests_add_no_metric_labels() {
    let service = Service::with_directory();
    service.get("/healthz").await;
    let before = samples(&service).await.len();
    for number in 0..50 {
        service.get(&format!("/v1/software/made-up-{number}")).await;
        service.get(&format!("/made/up/{number}")).await;
        let method = Method::from_bytes(format!("MADE{number}").as_bytes()).expect("a method");
        service.send(method, "/made/up", &[]).await;
    }
    let after = samples(&service).await;
    assert_eq!(after.get(&requests("unmatched", "other", 404)), Some(&50.0));
    assert!(after.len() < before + 60, "{} after {before}", after.len());
}

#[tokio::test]
async fn no_existing_path_is_counted_as_unmatched() {
    let service = Service::with_directory();
    let page = service.visit("/").await.text().to_owned();
    let asset = page.split('"').find(|part| part.starts_with("/assets/")).expect("an asset").to_owned();
    for path in [
        "/docs",
        "/docs/errors",
        "/docs/export-example.json",
        "/openapi.json",
        "/schemas/export.json",
        "/llms.txt",
        "/healthz",
        "/readyz",
        "/v1/exports",
        "/v1/glossary",
        "/v1/categories",
        "/v1/reviews/tool-reviewed",
        &asset,
    ] {
        assert_eq!(service.get(path).await.status, 200, "{path}");
    }
    for path in [
        "/",
        "/?q=a",
        "/results?q=a",
        "/suggest?q=a",
        "/categories",
        "/categories/tools",
        "/results/tools",
        "/software/tool-rated",
        "/glossary",
        "/compare",
        "/exports",
        "/exports/tools",
        "/sign-in",
    ] {
        let status = service.visit(path).await.status;
        assert_eq!(status, if path == "/sign-in" { 303 } else { 200 }, "{path}");
    }
    let counted = samples(&service).await;
    assert!(!counted.keys().any(|sample| sample.contains("unmatched")), "{counted:#?}");
}

#[tokio::test]
async fn skipped_exports_and_records_are_counted_everywhere() {
    let service = Service::empty();
    service.directory.publish(fixture::skipping(Skipped { exports: 1, records: 12 }));
    let counts = json!({"export_count": 1, "record_count": 12});
    assert_eq!(service.get("/v1/exports").await.json()["skipped"], counts);
    let ready = service.get("/readyz").await.json();
    let reason = &ready["reasons"][0];
    assert_eq!((&ready["status"], &reason["code"]), (&json!("degraded"), &json!("records_skipped")));
    assert_eq!((&reason["count"], &reason["export_count"]), (&json!(12), &json!(1)));
    assert!(reason["detail"].as_str().is_some_and(|detail| detail.starts_with("1 export and 12 records are invalid")));
    let metrics = samples(&service).await;
    assert_eq!(metrics.get("degraded{reason=\"records_skipped\"}"), Some(&1.0));
    assert_eq!((metrics.get("skipped_exports"), metrics.get("skipped_records")), (Some(&1.0), Some(&12.0)));
}

#[tokio::test]
async fn metrics_include_the_version_and_requests_by_known_key() {
    let service = Service::with_directory();
    for _ in 0..3 {
        assert_eq!(service.get("/v1/categories").await.status, 200);
    }
    let unknown = ApiKey::generate(KeyKind::Live).expect("random numbers");
    let bearer = format!("Bearer {}", unknown.expose());
    let answer = service.send(Method::GET, "/v1/categories", &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 401);
    let samples = samples(&service).await;
    let id = ApiKey::parse(&service.key).expect("a key").id().to_owned();
    assert_eq!(samples.get(&format!("key_requests_total{{key=\"{id}\"}}")), Some(&3.0), "{samples:#?}");
    assert_eq!(samples.keys().filter(|name| name.starts_with("key_requests_total")).count(), 1, "no made-up ids");
    assert_eq!(samples.get(&format!("build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), Some(&1.0));
}

#[tokio::test]
async fn metrics_describe_the_directory() {
    let service = Service::empty();
    let none = samples(&service).await;
    assert_eq!(none.get("generation_records"), Some(&0.0));
    let service = Service::with_directory();
    service.directory.set_degraded(vec![Degraded {
        code: "exports_invalid",
        detail: "oops".to_owned(),
        ..Degraded::default()
    }]);
    let ready = service.get("/readyz").await.json();
    let some = samples(&service).await;
    let generation = format!("generation_info{{generation={}}}", ready["generation"]);
    assert_eq!(some.get(&generation), Some(&1.0), "{some:#?}");
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let products = fixture::PRODUCTS as f64;
    assert_eq!(some.get("generation_records"), Some(&products));
    assert!(some["generation_published_timestamp_seconds"] > 1.7e9);
    assert_eq!(some.get("degraded{reason=\"exports_invalid\"}"), Some(&1.0));
    assert_eq!(some.get("reloads_total{outcome=\"published\"}"), Some(&0.0), "no updater, no reload");
    std::fs::write(service.key_file(), "{").expect("written");
    service.keys.reload_if_changed();
    service.directory.set_degraded(Vec::new());
    let repaired = samples(&service).await;
    assert_eq!(repaired.get("degraded{reason=\"exports_invalid\"}"), None);
    assert_eq!(repaired.get("degraded{reason=\"key_file_invalid\"}"), Some(&1.0));
    #[cfg(target_os = "linux")]
    assert!(repaired["process_open_fds"] > 2.0 && repaired["process_resident_memory_bytes"] > 1e6);
}

#[tokio::test]
async fn searches_and_refusals_are_counted() {
    let service = Setup { directory: fixture::directory(), rate: 4, ..Setup::default() }.start();
    for query in ["q=lockout", "q=xyzzyplugh", "q=%20", ""] {
        assert_eq!(service.get(&format!("/v1/search?{query}")).await.status, 200, "{query}");
    }
    assert_eq!(service.get("/v1/search?q=lockout").await.status, 429);
    let samples = samples(&service).await;
    assert_eq!((samples["searches_total"], samples["searches_without_hits_total"]), (2.0, 1.0));
    assert_eq!(samples.get("http_requests_limited_total{scope=\"key\"}"), Some(&1.0));
    assert_eq!(samples.get("http_requests_shed_total"), Some(&0.0));
}

#[tokio::test]
async fn repeated_searches_are_all_counted() {
    let service = Service::with_directory();
    for count in 1..=8 {
        assert_eq!(service.get("/v1/search?q=lockout").await.status, 200);
        assert_eq!(service.get("/v1/search?q=xyzzyplugh").await.status, 200);
        assert_eq!(service.get("/v1/search").await.status, 200);
        let samples = samples(&service).await;
        let counted = (samples["searches_total"], samples["searches_without_hits_total"]);
        assert_eq!(counted, (f64::from(2 * count), f64::from(count)));
    }
}

#[tokio::test]
async fn the_metrics_listener_serves_nothing_else() {
    let service = Service::with_directory();
    for (method, path, status) in [
        (Method::GET, "/", 404),
        (Method::GET, "/v1/software", 404),
        (Method::GET, "/healthz", 404),
        (Method::HEAD, "/metrics", 200),
        (Method::POST, "/metrics", 405),
    ] {
        assert_eq!(service.send_to_metrics(method, path).await.status, status, "{path}");
    }
}
