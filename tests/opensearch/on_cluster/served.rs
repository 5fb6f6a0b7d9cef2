//! The operations over HTTP, and what isn't offered.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use software_directory::http::{self, AppState, HttpConfig};
use software_directory::key::file::{self, NewKey};
use software_directory::key::{KeyStore, Rate};
use software_directory::opensearch::Index;
use tower::ServiceExt as _;

use crate::opensearch::environment::{World, product};

async fn get(state: &Arc<AppState>, key: &str, path: &str, if_none_match: &str) -> Response {
    let request = Request::get(path).header("authorization", format!("Bearer {key}")).header("host", "localhost");
    let request = request.header("if-none-match", if_none_match).body(Body::empty()).expect("a request");
    http::service(Arc::clone(state)).oneshot(request).await.expect("a response")
}

async fn body(response: Response) -> Value {
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    serde_json::from_slice(&bytes).expect("JSON")
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn operations_are_served_and_everything_else_is_not_offered() {
    let world = World::new("served");
    let index = Index::new(world.connection.clone(), world.prefix.clone());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let rate = Rate::new(100_000).expect("a rate");
    let new = NewKey { name: "tests".to_owned(), expires: None, rate, origins: Vec::new() };
    let (key, _) = file::create(&path, new, Timestamp::now(), |_| Ok(())).expect("a key");
    let keys = Arc::new(KeyStore::open(&path).expect("a key file"));
    let state =
        AppState::new(Arc::default(), Some(Arc::clone(&index)), keys, HttpConfig::default()).expect("the state");
    let get = async |path: &str, if_none_match: &str| get(&state, key.expose(), path, if_none_match).await;

    assert!(index.check().await.is_err(), "nothing is published");
    let unready = get("/readyz", "").await;
    assert_eq!(unready.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(body(unready).await["detail"].as_str().is_some_and(|detail| detail.contains("nothing_published")));
    assert_eq!(get("/v1/software", "").await.status(), StatusCode::SERVICE_UNAVAILABLE);

    world.write(
        "tools",
        &json!({
            "categories": [{"name": "Audits", "description": "Plan audits"}],
            "glossary": [{"term": "Near miss", "definition": "No harm."}],
            "software": [product("moss", "Moss", &json!({"categories": ["Audits"]})), product("fern", "Fern", &json!({}))],
            "reviews": [{"id": "r1", "software_id": "moss", "rating": 5}],
        }),
    );
    let generation = world.update().await.expect("published").generation;
    assert!(index.check().await.expect("loaded"));
    assert_eq!(body(get("/readyz", "").await).await["generation"], generation);
    for path in [
        "/v1/software",
        "/v1/software?q=mo&sort=name&fields=id",
        "/v1/software/moss",
        "/v1/software/moss/similar",
        "/v1/search?q=moss&facets=category",
        "/v1/suggest?q=mo",
        "/v1/reviews/moss",
        "/v1/categories",
        "/v1/categories/audits",
        "/v1/glossary?q=near",
        "/v1/glossary/near-miss",
        "/v1/attributes",
        "/v1/exports",
        "/v1/changes",
    ] {
        let response = get(path, "").await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["x-generation"], *generation, "{path}");
        assert!(!body(response).await["data"].is_null(), "{path}");
    }
    for (path, status, code) in [
        ("/v1/search?q=moss&highlight=true", StatusCode::NOT_IMPLEMENTED, "not_offered"),
        ("/v1/exports/tools", StatusCode::NOT_IMPLEMENTED, "not_offered"),
        ("/feed.atom", StatusCode::NOT_IMPLEMENTED, "not_offered"),
        ("/feed.json?q=a", StatusCode::NOT_IMPLEMENTED, "not_offered"),
        ("/v1/software?offset=10001", StatusCode::BAD_REQUEST, "offset_too_large"),
        ("/v1/software?category=Audits,Audits", StatusCode::BAD_REQUEST, "invalid_parameter"),
        ("/v1/search?attribute=nope:1", StatusCode::BAD_REQUEST, "invalid_parameter"),
        ("/v1/software/nope", StatusCode::NOT_FOUND, "software_not_found"),
        ("/v1/changes?since=0123456789abcdef", StatusCode::GONE, "generation_gone"),
    ] {
        let response = get(path, "").await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(body(response).await["code"], code, "{path}");
    }

    // Content identifies single products; nothing identifies lists of them.
    let tag = |response: &Response| response.headers().get("etag").and_then(|tag| Some(tag.to_str().ok()?.to_owned()));
    let of_product = tag(&get("/v1/software/moss", "").await).expect("a tag");
    assert_eq!(get("/v1/software/moss", &of_product).await.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(get("/v1/software/fern", &of_product).await.status(), StatusCode::OK);
    let of_categories = tag(&get("/v1/categories", "").await).expect("a tag");
    assert_eq!(get("/v1/categories", &of_categories).await.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(tag(&get("/v1/search?q=moss", "").await), None);
}
