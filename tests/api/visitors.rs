//! Visitors to a public page, who have no key.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::json;
use software_directory::http::HttpConfig;
use software_directory::key::Rate;
use software_directory::update::Directory;
use tower::ServiceExt as _;

use crate::api::fixture;
use crate::api::service::{Answer, Service, Setup};

const FROM_PAGE: (&str, &str) = ("sec-fetch-site", "same-origin");

/// A service behind a proxy at 10.0.0.1 whose visitors may send this many requests per minute.
fn public(rate: u64) -> Service {
    let config = HttpConfig {
        public_page: Rate::new(rate),
        trusted_proxies: vec!["10.0.0.0/8".parse().expect("a network")],
        max_downloads_per_key: 1,
        ..HttpConfig::default()
    };
    Setup { directory: fixture::directory(), config, ..Setup::default() }.start()
}

async fn visit(service: &Service, client: &str, path: &str) -> Answer {
    let proxy = SocketAddr::from(([10, 0, 0, 1], 4711));
    service.send_from(Some(proxy), Method::GET, path, &[FROM_PAGE, ("x-forwarded-for", client)]).await
}

#[tokio::test]
async fn private_page_needs_a_key() {
    let service = Service::with_directory();
    assert_eq!(service.send(Method::GET, "/v1/software", &[FROM_PAGE]).await.problem().1, "missing_api_key");
    let page = service.send(Method::GET, "/", &[FROM_PAGE]).await;
    assert_eq!((page.status.as_u16(), page.header("location")), (303, "/sign-in?next=%2F"));
}

#[tokio::test]
async fn only_requests_from_a_public_page_need_no_key() {
    let service = public(100);
    let page = service.send(Method::GET, "/", &[]).await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    for own in [vec![FROM_PAGE], vec![("referer", "http://localhost/")]] {
        let answer = service.send(Method::GET, "/v1/search?q=tool", &own).await;
        assert_eq!(answer.status, 200, "{own:?}");
        assert_eq!(answer.header("ratelimit-policy"), "\"default\";q=100;w=60");
    }
    for other in [
        vec![],
        vec![("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
        vec![("sec-fetch-site", "same-site"), ("referer", "http://localhost/")],
        vec![("sec-fetch-site", "none")],
        vec![("referer", "https://evil.example/")],
        vec![FROM_PAGE, ("authorization", "Basic abc")],
    ] {
        let answer = service.send(Method::GET, "/v1/search?q=tool", &other).await;
        assert_eq!(answer.problem(), (401, "missing_api_key".to_owned()), "{other:?}");
    }
    let wrong = [FROM_PAGE, ("authorization", "Bearer nonsense")];
    assert_eq!(service.send(Method::GET, "/v1/software", &wrong).await.problem().1, "invalid_api_key");
    assert_eq!(service.send(Method::POST, "/v1/software", &[FROM_PAGE]).await.status, 405, "read-only");
    assert_eq!(
        service.get("/v1/software").await.header("ratelimit-policy"),
        "\"default\";q=100000;w=60",
        "a key's own"
    );
}

#[tokio::test]
async fn each_address_has_its_own_quota() {
    let service = public(3);
    let tag = visit(&service, "192.0.2.1", "/v1/software").await.header("etag").to_owned();
    assert_eq!(visit(&service, "192.0.2.1", "/v1/software").await.header("ratelimit"), "\"default\";r=1;t=20");
    let proxy = SocketAddr::from(([10, 0, 0, 1], 4711));
    let conditional = [FROM_PAGE, ("x-forwarded-for", "192.0.2.1"), ("if-none-match", tag.as_str())];
    let again = service.send_from(Some(proxy), Method::GET, "/v1/software", &conditional).await;
    assert_eq!((again.status.as_u16(), again.header("ratelimit")), (304, "\"default\";r=1;t=20"), "a 304 is free");
    assert_eq!(visit(&service, "192.0.2.1", "/v1/software").await.status, 200);
    let refused = visit(&service, "192.0.2.1", "/v1/software").await;
    assert_eq!(refused.problem(), (429, "rate_limited".to_owned()));
    assert!(refused.json()["detail"].as_str().expect("a string").contains("Your address"), "{refused:?}");
    assert_eq!(refused.header("retry-after"), "20");
    for other in ["192.0.2.2", "2001:db8:0:1::1"] {
        assert_eq!(visit(&service, other, "/v1/software").await.status, 200, "{other}");
    }
    for n in 2..=3 {
        assert_eq!(visit(&service, &format!("2001:db8:0:1::{n}"), "/v1/software").await.status, 200);
    }
    assert_eq!(visit(&service, "2001:db8:0:1:ffff::1", "/v1/software").await.status, 429, "one network");
    assert_eq!(service.get("/v1/software").await.status, 200, "keys aren't affected");
    let metrics = service.send_to_metrics(Method::GET, "/metrics").await;
    for line in [
        "software_directory_http_requests_limited_total{scope=\"visitor\"} 2\n",
        "software_directory_http_requests_limited_total{scope=\"key\"} 0\n",
        "software_directory_http_requests_limited_total{scope=\"address\"} 0\n",
        "software_directory_page_requests_total 10\n",
    ] {
        assert!(metrics.text().contains(line), "{line}{}", metrics.text());
    }
}

#[tokio::test]
async fn one_visitors_downloads_leave_room_for_others() {
    let record = |n: usize| {
        json!({
            "id": format!("record-{n}"), "name": "Record", "url": "https://a.example/",
            "evidence_status": "pending-review", "description": format!("word {n} ").repeat(100)
        })
    };
    let software: Vec<_> = (0..3000).map(record).collect();
    let document = json!({"name": "Large", "license": "https://example.org/", "software": software});
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("large", &document.to_string())]));
    let config = HttpConfig { public_page: Rate::new(100), max_downloads_per_key: 1, ..HttpConfig::default() };
    let service = Setup { directory: directory.into(), config, ..Setup::default() }.start();
    let download = async |client: [u8; 4]| {
        let request = Request::get("/v1/exports/large").header("host", "x").header(FROM_PAGE.0, FROM_PAGE.1);
        let request = request.extension(ConnectInfo(SocketAddr::from((client, 4711))));
        let Ok(response) = service.app.clone().oneshot(request.body(Body::empty()).expect("a request")).await;
        response
    };
    let mut slow = download([192, 0, 2, 1]).await.into_body();
    slow.frame().await.expect("a frame").expect("a block");
    assert_eq!(download([192, 0, 2, 1]).await.status(), 429);
    assert_eq!(download([192, 0, 2, 2]).await.status(), 200);
}

#[tokio::test]
async fn visitors_learn_no_more_about_the_services_state_than_anyone_else() {
    let service = public(100);
    let anybody = service.send(Method::GET, "/readyz", &[]).await;
    assert_eq!(service.send(Method::GET, "/readyz", &[FROM_PAGE]).await.json(), anybody.json());
}
