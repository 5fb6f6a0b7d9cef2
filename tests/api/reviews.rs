//! `/v1/reviews/{id}`.

use serde_json::json;

use crate::api::service::Service;

#[tokio::test]
async fn reviews_are_listed_newest_first_with_a_summary() {
    let answer = Service::with_directory().get("/v1/reviews/tool-reviewed?limit=1").await.json();
    assert_eq!(answer["pagination"], json!({"limit": 1, "offset": 0, "total": 2}));
    assert_eq!(answer["data"][0]["id"], "r2");
    assert_eq!(
        answer["summary"],
        json!({"average": 3.5, "count": 2, "distribution": {"1": 0, "2": 1, "3": 0, "4": 0, "5": 1}})
    );
}

#[tokio::test]
async fn a_product_without_reviews_has_an_empty_list_and_no_average() {
    let answer = Service::with_directory().get("/v1/reviews/tool-01").await.json();
    assert_eq!(answer["data"], json!([]));
    assert_eq!((&answer["summary"]["average"], &answer["summary"]["count"]), (&json!(null), &json!(0)));
}

#[tokio::test]
async fn reviews_are_filtered_and_sorted() {
    let service = Service::with_directory();
    for (query, ids) in [
        ("", &["r2", "r1"][..]),
        ("sort=created_at", &["r1", "r2"]),
        ("sort=-rating", &["r1", "r2"]),
        ("sort=rating", &["r2", "r1"]),
        ("min_rating=3", &["r1"]),
        ("max_rating=2", &["r2"]),
        ("min_rating=2.5&max_rating=4.5", &[]),
        ("verified=true", &["r2"]),
        ("verified=false", &["r1"]),
    ] {
        let answer = service.get(&format!("/v1/reviews/tool-reviewed?{query}")).await.json();
        let found: Vec<_> = answer["data"].as_array().expect("data").iter().map(|review| &review["id"]).collect();
        assert_eq!(found, ids, "{query}");
        assert_eq!(answer["pagination"]["total"], ids.len(), "{query}");
        assert_eq!(answer["summary"]["count"], 2, "covers all reviews: {query}");
    }
}
