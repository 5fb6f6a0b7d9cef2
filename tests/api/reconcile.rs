//! The W3C Reconciliation Service API, as `OpenRefine` uses it.

use axum::http::Method;
use serde_json::{Value, json};
use software_directory::http::{HttpConfig, PublicUrl};
use software_directory::key::Rate;

use crate::api::fixture;
use crate::api::service::{Answer, Service, Setup};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded; charset=UTF-8");

fn service(rate: u64) -> Service {
    let config = HttpConfig { public_api: Rate::new(rate), ..HttpConfig::default() };
    Setup { directory: fixture::directory(), config, ..Setup::default() }.start()
}

fn form(name: &str, value: &Value) -> String {
    form_urlencoded::Serializer::new(String::new()).append_pair(name, &value.to_string()).finish()
}

async fn post(service: &Service, name: &str, value: &Value) -> Answer {
    service.post("/reconcile", &form(name, value), &[FORM]).await
}

async fn get(service: &Service, path: &str) -> Answer {
    service.send(Method::GET, path, &[]).await
}

/// The ids, scores and decisions for a query's candidates.
fn candidates(answer: &Answer, key: &str) -> Vec<(String, f64, bool)> {
    let result = answer.json()[key]["result"].clone();
    let candidate = |found: &Value| {
        let id = found["id"].as_str().expect("an id").to_owned();
        (id, found["score"].as_f64().expect("a score"), found["match"].as_bool().expect("a decision"))
    };
    result.as_array().unwrap_or_else(|| panic!("{answer:?}")).iter().map(candidate).collect()
}

#[tokio::test]
async fn the_manifest_says_where_everything_is() {
    let answer = get(&service(100), "/reconcile").await;
    let manifest = answer.json();
    assert_eq!(manifest["versions"], json!(["0.1", "0.2"]));
    assert_eq!((&manifest["batchSize"], &manifest["name"]), (&json!(10), &json!("Software Directory")));
    assert_eq!(manifest["view"]["url"], "http://localhost/software/{{id}}", "as addressed by the caller");
    let public_url = Some(PublicUrl::parse("https://directory.example/software").expect("an address"));
    let config = HttpConfig { public_api: Rate::new(100), public_url, ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
    let manifest = service.send(Method::GET, "/reconcile", &[("host", "directory.example")]).await.json();
    assert_eq!(manifest["identifierSpace"], "https://directory.example/software/software/");
    for of in
        [&manifest["suggest"]["entity"], &manifest["suggest"]["property"], &manifest["extend"]["propose_properties"]]
    {
        assert_eq!(of["service_url"], "https://directory.example/software");
        let path = of["service_path"].as_str().expect("a path");
        let answer = service.send(Method::GET, path, &[("host", "directory.example")]).await;
        assert_eq!(answer.status, 200, "{path}");
    }
}

#[tokio::test]
async fn batches_are_answered_by_get_and_by_form() {
    let service = service(1000);
    let queries = json!({
        "a": {"query": "Rated Gauge 2.1", "limit": 3, "type": "software", "type_strict": "should"},
        "b": {"query": "Rated Guage"},
        "c": {"query": "tool-rated"},
        "d": {"query": "Rated Gauge", "properties": [{"pid": "vendor", "v": {"id": "x", "name": "Someone Else"}}]},
        "h": {"query": "Rated Gauge", "properties": [{"pid": "url", "v": "http://www.rated.example/start"}]},
        "k": {"query": "Rated Gauge", "properties": [{"pid": "url", "v": "WWW.Rated.Example:443/a"}]},
        "i": {"query": "Rated Gauge", "properties": [{"pid": "url", "v": "https://other.example/"}]},
        "e": {"query": "Zymurgy"},
        "f": {"properties": [{"pid": "vendor", "v": ["Gauge Makers"]}]},
        "g": {"query": "Tool 7", "limit": 1},
    });
    let posted = post(&service, "queries", &queries).await;
    let sent = get(&service, &format!("/reconcile?{}&callback=x", form("queries", &queries))).await;
    assert_eq!((posted.status, posted.text()), (sent.status, sent.text()));
    let first = |key: &str| candidates(&posted, key).into_iter().next().unwrap_or_default();
    for (key, least, is_match) in [
        ("a", 99.0, true),
        ("b", 90.0, true),
        ("c", 100.0, true),
        ("d", 75.0, false),
        ("h", 100.0, true),
        ("k", 100.0, true),
        ("i", 75.0, false),
    ] {
        let (id, score, decision) = first(key);
        assert_eq!((id.as_str(), decision), ("tool-rated", is_match), "{key}: {posted:?}");
        assert!((least..=100.0).contains(&score), "{key}: {score}");
    }
    assert_eq!((candidates(&posted, "e"), candidates(&posted, "f")), (vec![], vec![]));
    assert_eq!(candidates(&posted, "g"), [("tool-07".to_owned(), 100.0, true)]);
    let found = &posted.json()["a"]["result"][0];
    assert_eq!(found["description"], "Measures things");
    assert_eq!(found["type"], json!([{"id": "software", "name": "Software"}]));
    assert_eq!(found["features"][0]["id"], "base_name");
}

#[tokio::test]
async fn each_query_and_every_ten_products_count_against_the_quota() {
    let service = service(20);
    let batch = |size: usize| (0..size).map(|at| (at.to_string(), json!({"query": "Tool"}))).collect::<Value>();
    let ids: Vec<_> = (1..=21).map(|at| format!("tool-{at:02}")).collect();
    let ids = json!({"ids": ids, "properties": [{"id": "vendor"}]});
    assert_eq!(post(&service, "queries", &batch(10)).await.status, 200);
    assert_eq!(post(&service, "extend", &ids).await.status, 200);
    assert_eq!(post(&service, "queries", &batch(7)).await.status, 200);
    assert_eq!(post(&service, "queries", &batch(1)).await.problem(), (429, "rate_limited".to_owned()));
}

#[tokio::test]
async fn products_are_extended_with_properties_and_attributes() {
    let service = service(1000);
    let properties = json!([{"id": "vendor"}, {"id": "rating"}, {"id": "review_count"}, {"id": "standards"}, {"id": "categories"}, {"id": "serial"}, {"id": "shoe_size"}, {"id": "vendor"}]);
    let answer =
        post(&service, "extend", &json!({"ids": ["tool-rated", "a/b", "nothing"], "properties": properties})).await;
    let found = answer.json();
    let meta = [
        ("vendor", "Vendor"),
        ("rating", "Rating"),
        ("review_count", "Number of reviews"),
        ("standards", "Standards"),
        ("categories", "Categories"),
        ("serial", "serial"),
        ("shoe_size", "shoe_size"),
    ];
    assert_eq!(found["meta"], meta.map(|(id, name)| json!({"id": id, "name": name})).into_iter().collect::<Value>());
    assert_eq!(
        found["rows"]["tool-rated"],
        json!({
            "vendor": [{"str": "Gauge Makers"}], "rating": [{"float": 4.5}], "review_count": [{"int": 7}],
            "standards": [{"str": "ISO 9001"}], "categories": [{"str": "Measuring"}],
            "serial": [{"int": 12_345_678_901_234_567_890_u64}], "shoe_size": []
        })
    );
    for id in ["a/b", "nothing"] {
        assert_eq!(found["rows"][id], meta.map(|(id, _)| (id, json!([]))).into_iter().collect::<Value>(), "{id}");
    }
}

#[tokio::test]
async fn products_and_properties_are_suggested() {
    let service = service(1000);
    let ids = |answer: &Answer| -> Vec<String> {
        let result = answer.json()["result"].clone();
        result.as_array().expect("a list").iter().map(|found| found["id"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(ids(&get(&service, "/reconcile/suggest/entity?prefix=rat").await), ["tool-rated"]);
    assert_eq!(ids(&get(&service, "/reconcile/suggest/entity?prefix=tool-rated").await)[0], "tool-rated");
    let all = get(&service, "/reconcile/suggest/entity?prefix=tool").await;
    let more = get(&service, "/reconcile/suggest/entity?prefix=tool&cursor=10").await;
    let (all, more) = (ids(&all), ids(&more));
    assert_eq!((all.len(), more.len()), (10, 10));
    assert!(!all.iter().any(|id| more.contains(id)), "{all:?} {more:?}");
    assert_eq!(ids(&get(&service, "/reconcile/suggest/property?prefix=Sta").await), ["evidence_status", "standards"]);
    assert_eq!(ids(&get(&service, "/reconcile/suggest/property?prefix=reviews").await), ["review_count"]);
    let proposed = get(&service, "/reconcile/properties?type=software").await.json();
    assert!(proposed["properties"].as_array().is_some_and(|all| all.len() > 12), "{proposed}");
}

#[tokio::test]
async fn whatever_cannot_be_answered_is_refused_with_a_reason() {
    let service = service(1000);
    let eleven: Value = (0..11).map(|at| (at.to_string(), json!({"query": "a"}))).collect();
    let ids: Vec<_> = (0..1001).map(|at| at.to_string()).collect();
    let properties: Vec<_> = (0..101).map(|at| json!({"id": at.to_string()})).collect();
    let refused = [
        ("queries", eleven, "11 queries; a request may have at most 10"),
        ("queries", json!([]), "isn't valid: invalid type: sequence"),
        ("queries", json!({"a": {"query": 1}}), "expected a string"),
        ("extend", json!({"ids": ids, "properties": []}), "1001 ids; a request may have at most 1000"),
        ("extend", json!({"ids": ["a"], "properties": properties}), "101 properties"),
        ("extend", json!({"ids": ["a"]}), "missing field `properties`"),
        ("nothing", json!({}), "is required unless there's `extend`"),
    ];
    for (name, value, reason) in refused {
        let answer = post(&service, name, &value).await;
        assert_eq!(answer.problem().0, 400, "{value}");
        assert!(answer.text().contains(reason), "{reason}: {}", answer.text());
    }
    let cursor = get(&service, "/reconcile/suggest/entity?prefix=t&cursor=91").await;
    assert_eq!(cursor.problem().0, 400);
    let large = json!({"a": {"query": "x".repeat(64 * 1024)}});
    assert_eq!(post(&service, "queries", &large).await.problem(), (413, "content_too_large".to_owned()));
    let text = service.post("/reconcile", "queries={}", &[("content-type", "text/plain")]).await;
    assert_eq!(text.problem(), (415, "unsupported_media_type".to_owned()));
    assert_eq!(service.send(Method::PUT, "/reconcile", &[]).await.problem().0, 405);
}

#[tokio::test]
async fn other_sites_may_call_it_and_without_a_public_api_it_needs_a_key() {
    let origin = ("origin", "https://refine.example");
    let preflight = [origin, ("access-control-request-method", "POST")];
    let open = service(1000);
    let allowed = open.send(Method::OPTIONS, "/reconcile", &preflight).await;
    assert_eq!(allowed.header("access-control-allow-methods"), "GET, HEAD, POST, OPTIONS");
    let queries = form("queries", &json!({"a": {"query": "Tool 7"}}));
    for path in ["/reconcile", "/reconcile/properties", &format!("/reconcile?{queries}")] {
        let answer = open.send(Method::GET, path, &[origin]).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (200, "*"), "{path}");
    }
    let closed = Service::with_directory();
    assert_eq!(closed.post("/reconcile", &queries, &[FORM]).await.problem(), (401, "missing_api_key".to_owned()));
    let bearer = closed.bearer();
    let answer = closed.post("/reconcile", &queries, &[FORM, ("authorization", &bearer)]).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "private, no-cache"));
}
