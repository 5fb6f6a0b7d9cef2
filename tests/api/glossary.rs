//! `/v1/glossary`.

use serde_json::json;

use crate::service::Service;

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
