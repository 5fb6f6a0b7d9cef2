//! `/v1/search`: the shape of its responses.

use serde_json::json;

use crate::api::fixture::{self, PRODUCTS};
use crate::api::service::Service;

#[tokio::test]
async fn hits_are_items_with_a_score_and_the_query_is_reported() {
    let service = Service::with_directory();
    let answer = service.get("/v1/search?q=Rated+Gauge").await.json();
    assert_eq!(answer["data"][0]["id"], "tool-rated");
    assert!(answer["data"][0]["score"].as_f64().is_some_and(|score| score > 0.0));
    assert!(answer["data"][0].get("highlights").is_none() && answer.get("facets").is_none(), "not asked for");
    assert!(answer["query"]["corrected"].is_array() && answer["query"]["dropped"].is_array());
    let listed = service.get("/v1/software?q=rated").await.json();
    let mut item = answer["data"][0].clone();
    item.as_object_mut().expect("an object").remove("score");
    assert_eq!(item, listed["data"][0], "a hit is the list's item plus a score");
}

#[tokio::test]
async fn related_products_are_counted_and_score_below_products_with_the_words() {
    let service = Service::with_directory();
    // No product contains this word.
    let answer = service.get("/v1/search?q=metric").await.json();
    assert_eq!(answer["data"][0]["id"], "tool-rated");
    assert!(answer["data"][0]["score"].as_f64().is_some_and(|score| score < 0.0));
    assert_eq!(answer["query"]["related"], answer["pagination"]["total"]);
}

#[tokio::test]
async fn without_a_query_everything_is_found() {
    let service = Service::with_directory();
    for query in ["", "q=", "q=%20"] {
        assert_eq!(
            service.get(&format!("/v1/search?{query}")).await.json()["pagination"]["total"],
            PRODUCTS,
            "{query}"
        );
    }
}

#[tokio::test]
async fn facets_are_counted_on_request_and_in_the_requested_order() {
    let service = Service::with_directory();
    let answer = service.get("/v1/search?facets=offering_type&facets=category&facets=category&limit=1").await;
    let json = answer.json();
    let counted = json["facets"]["category"].as_array().expect("a facet");
    assert!(counted.contains(&json!({"value": "tools", "label": "Tools", "count": 26})), "{counted:?}");
    let (first, second) = (answer.text().find("\"offering_type\":["), answer.text().find("\"category\":["));
    assert!(first.is_some() && first < second, "{}", answer.text());
}

#[tokio::test]
async fn matches_are_highlighted_on_request() {
    let service = Service::with_directory();
    let answer = service.get("/v1/search?q=gauge&highlight=true").await.json();
    let name = &answer["data"][0]["highlights"][0];
    assert_eq!((name["field"].as_str(), name["html"].as_str()), (Some("name"), Some("Rated <mark>Gauge</mark>")));
    assert_eq!(name["ranges"], json!([{"start": 6, "length": 5}]));
}

#[tokio::test]
async fn repeated_query_gets_the_same_response_until_the_next_generation() {
    let service = Service::with_directory();
    // Both responses have the same entity tag, but each lists its facets in the requested order.
    let paths = ["category&facets=rating", "rating&facets=category"]
        .map(|facets| format!("/v1/search?q=gauge&facets={facets}&highlight=true&limit=1"));
    let first = [service.get(&paths[0]).await, service.get(&paths[1]).await];
    assert_ne!(first[0].text(), first[1].text());
    for (path, first) in paths.iter().zip(&first).cycle().take(12) {
        let again = service.get(path).await;
        assert_eq!(again.text(), first.text());
        for header in ["etag", "link", "content-type", "content-length"] {
            assert_eq!(again.header(header), first.header(header), "{header}");
        }
    }
    let tools = fixture::tools_document().replace("Rated Gauge", "Rated Gauge Two");
    service.directory.publish(fixture::snapshot(&[("tools", &tools)]));
    assert!(service.get(&paths[0]).await.text().contains("Rated <mark>Gauge</mark> Two"));
}
