//! `/v1/suggest`.

use serde_json::json;

use crate::api::service::Service;

#[tokio::test]
async fn prefixes_are_completed_with_products_categories_and_terms() {
    let service = Service::with_directory();
    let answer = service.get("/v1/suggest?q=lock").await;
    let expected = json!({"data": {
        "software": [{"id": "tool-reviewed", "name": "Lockout Planner"}],
        "categories": [],
        "glossary": [{"id": "lockout-tagout", "term": "Lockout tagout"}],
    }});
    assert_eq!(answer.json(), expected);
    let safety = service.get("/v1/suggest?q=safe").await.json();
    assert_eq!(safety["data"]["categories"], json!([{"id": "safety", "name": "Safety", "software_count": 1}]));
    assert_eq!(safety["data"]["software"][0]["id"], "tool-reviewed", "found by its category");
}

#[tokio::test]
async fn misspelled_words_and_abbreviations_get_suggestions() {
    let service = Service::with_directory();
    let misspelled = service.get("/v1/suggest?q=lokcout").await.json();
    assert_eq!(misspelled["data"]["software"][0]["id"], "tool-reviewed");
    assert_eq!(misspelled["data"]["glossary"][0]["id"], "lockout-tagout");
    assert_eq!(service.get("/v1/suggest?q=LOTO").await.json()["data"]["glossary"][0]["id"], "lockout-tagout");
    // This word only occurs in the term's definition.
    assert_eq!(service.get("/v1/suggest?q=harmed").await.json()["data"]["glossary"], json!([]));
}

#[tokio::test]
async fn only_a_few_of_each_kind_are_suggested() {
    let service = Service::with_directory();
    let count = async |query: &str| {
        let answer = service.get(&format!("/v1/suggest{query}")).await.json();
        answer["data"]["software"].as_array().expect("an array").len()
    };
    assert_eq!(count("?q=tool").await, 5);
    assert_eq!(count("?q=tool&limit=20").await, 20);
    assert_eq!(count("").await, 0);
    assert_eq!(service.get("/v1/suggest?q=tool&limit=21").await.problem(), (400, "invalid_parameter".to_owned()));
}
