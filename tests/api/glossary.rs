//! `/v1/glossary`.

use serde_json::json;

use crate::api::service::Service;

#[tokio::test]
async fn terms_are_listed_and_found_by_abbreviation() {
    let service = Service::with_directory();
    let all = service.get("/v1/glossary").await.json();
    assert_eq!(all["pagination"]["total"], 2);
    let found = service.get("/v1/glossary?q=loto").await.json();
    assert_eq!(
        found["data"][0],
        json!({
            "id": "lockout-tagout", "term": "Lockout tagout", "definition": "Isolating energy before work.",
            "abbreviations": ["LOTO"], "synonyms": [], "related": [],
            "source": {"title": "A handbook", "url": "https://handbook.example/"}
        })
    );
}

#[tokio::test]
async fn term_is_found_by_its_id() {
    let service = Service::with_directory();
    let listed = service.get("/v1/glossary").await.json();
    for term in listed["data"].as_array().expect("data") {
        let path = format!("/v1/glossary/{}", term["id"].as_str().expect("an id"));
        assert_eq!(service.get(&path).await.json(), json!({"data": term}));
    }
    assert_eq!(service.get("/v1/glossary/loto").await.problem(), (404, "term_not_found".to_owned()));
}
