//! `/v1/categories`.

use serde_json::json;

use crate::service::Service;

#[tokio::test]
async fn categories_are_listed_by_name_with_their_counts() {
    let answer = Service::with_directory().get("/v1/categories").await.json();
    assert_eq!(
        answer["data"],
        json!([
            {"id": "empty", "name": "Empty", "description": null, "software_count": 0},
            {"id": "measuring", "name": "Measuring", "description": null, "software_count": 1},
            {"id": "safety", "name": "Safety", "description": "Staying whole", "software_count": 1},
            {"id": "templates", "name": "Templates", "description": null, "software_count": 1},
            {"id": "tools", "name": "Tools", "description": null, "software_count": 26}
        ])
    );
}

#[tokio::test]
async fn category_is_found_by_its_id() {
    let service = Service::with_directory();
    let listed = service.get("/v1/categories").await.json();
    for category in listed["data"].as_array().expect("data") {
        let path = format!("/v1/categories/{}", category["id"].as_str().expect("an id"));
        assert_eq!(service.get(&path).await.json(), serde_json::json!({"data": category}));
    }
    assert_eq!(service.get("/v1/categories/Safety").await.problem(), (404, "category_not_found".to_owned()));
}
