//! Liveness and readiness, without a key.

use axum::http::Method;
use serde_json::json;
use software_directory::update::Degraded;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

#[tokio::test]
async fn alive_does_not_mean_ready() {
    let service = Service::empty();
    let alive = service.send(Method::GET, "/healthz", &[]).await;
    assert_eq!((alive.status.as_u16(), alive.text()), (200, r#"{"status":"ok"}"#));
    let ready = service.send(Method::GET, "/readyz", &[]).await;
    assert_eq!(ready.problem(), (503, "index_unavailable".to_owned()));
    assert_eq!(ready.header("retry-after"), "5");
}

#[tokio::test]
async fn a_ready_service_reports_what_it_serves_and_what_is_wrong() {
    let service = Service::with_directory();
    let ready = service.send(Method::GET, "/readyz", &[]).await.json();
    assert_eq!((ready["status"].as_str(), ready["reasons"].as_array().map(Vec::len)), (Some("ready"), Some(0)));
    let generation = service.get("/v1/software").await.header("x-generation").to_owned();
    assert_eq!(ready["generation"], generation);

    let service = degraded_service(&[]);
    let degraded = service.send(Method::GET, "/readyz", &[]).await;
    assert_eq!((degraded.status.as_u16(), degraded.json()["status"].as_str()), (200, Some("degraded")));
    assert_eq!(degraded.json()["reasons"][0]["code"], "exports_invalid");
}

/// A service with an invalid export. Its key is limited to these origins.
fn degraded_service(origins: &'static [&'static str]) -> Service {
    let service = Setup { directory: fixture::directory(), origins, rate: 1, ..Setup::default() }.start();
    let detail = "/srv/data/tools.json:3:7: a comma is missing".to_owned();
    service.directory.set_degraded(vec![Degraded {
        code: "exports_invalid",
        count: Some(2),
        export_count: None,
        since: None,
        detail,
    }]);
    service
}

#[tokio::test]
async fn only_key_holders_see_the_details_of_reasons() {
    let service = degraded_service(&["https://shop.example"]);
    let bearer = service.bearer();
    let key = ("authorization", bearer.as_str());
    let wrong = ("authorization", "Bearer sd_live_abcdefgh_0000000000000000000000000000");
    for headers in [&[][..], &[wrong], &[key, key], &[key, ("origin", "https://other.example")]] {
        let answer = service.send(Method::GET, "/readyz", headers).await;
        assert_eq!(answer.status, 200, "{headers:?}");
        let reason =
            json!({"code": "exports_invalid", "count": 2, "export_count": null, "since": null, "detail": null});
        assert_eq!(answer.json()["reasons"], json!([reason]), "{headers:?}");
        assert!(!answer.text().contains("/srv"), "{headers:?}");
    }
    for _ in 0..3 {
        let answer = service.send(Method::GET, "/readyz", &[key]).await;
        assert_eq!(answer.json()["reasons"][0]["detail"], "/srv/data/tools.json:3:7: a comma is missing");
    }
    assert_eq!(service.get("/v1/software").await.status, 200, "none of them count against the quota");
}

#[tokio::test]
async fn a_broken_key_file_is_reported_and_the_old_keys_still_work() {
    let service = Service::with_directory();
    std::fs::write(service.key_file(), "{").expect("written");
    service.keys.reload_if_changed();
    let degraded = service.send(Method::GET, "/readyz", &[]).await.json();
    assert_eq!(degraded["reasons"][0]["code"], "key_file_invalid");
    assert_eq!(service.get("/v1/software").await.status, 200, "the last good set of keys should still work");
    assert_eq!(service.send(Method::GET, "/v1/software", &[]).await.status, 401, "a key should still be required");
}
