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
