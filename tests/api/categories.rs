//! `/v1/categories`.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::api::fixture;
use crate::api::service::Service;

#[tokio::test]
async fn categories_are_listed_by_name_with_their_counts() {
    let answer = Service::with_directory().get("/v1/categories").await.json();
    assert_eq!(
        answer["data"],
        json!([
            {"id": "empty", "name": "Empty", "description": null, "software_count": 0},
            {"id": "measuring", "name": "Measuring", "description": null, "software_count": 1},
            {"id": "safety", "name": "Safety", "description": "Staying in one piece", "software_count": 1},
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

/// An export with one product in each category, and one glossary term per name.
fn named(names: &[&str]) -> String {
    let software = names.iter().map(|name| {
        json!({
            "id": format!("{name:?}"), "name": name, "url": "https://tool.example/", "category": name,
            "evidence_status": "pending-review"
        })
    });
    let terms = names.iter().map(|name| json!({"term": name, "definition": "A name."}));
    let (software, terms): (Vec<_>, Vec<_>) = (software.collect(), terms.collect());
    json!({
        "name": "Names", "license": "https://opensource.org/license/mit", "software": software, "glossary": terms
    })
    .to_string()
}

#[tokio::test]
async fn names_that_differ_in_symbols_or_diacritics_are_different_categories_and_terms() {
    let groups = [
        (["C", "C++", "C#"], ["c", "c-plus-plus", "c-sharp"]),
        (["F#", ".NET", "A+"], ["f-sharp", "dot-net", "a-plus"]),
        (["ハス", "バス", "パス"], ["ハス", "バス", "パス"]),
    ];
    for (names, ids) in groups {
        let service = Service::empty();
        let [first, second] = [named(&names[..2]), named(&names[2..])];
        for exports in [[("a", &*first), ("b", &*second)], [("a", &*second), ("b", &*first)]] {
            service.directory.publish(fixture::snapshot(&exports));
            for (name, id) in names.iter().zip(ids) {
                let id = utf8_percent_encode(id, NON_ALPHANUMERIC).to_string();
                let category = service.get(&format!("/v1/categories/{id}")).await.json();
                assert_eq!((&category["data"]["name"], &category["data"]["software_count"]), (&json!(name), &json!(1)));
                assert_eq!(service.get(&format!("/v1/glossary/{id}")).await.json()["data"]["term"], json!(name));
                for wanted in [id, utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()] {
                    let found = service.get(&format!("/v1/software?category={wanted}")).await.json();
                    assert_eq!(found["pagination"]["total"], 1, "{name}");
                    assert_eq!(found["data"][0]["name"], json!(name));
                }
            }
        }
    }
}

#[tokio::test]
async fn a_former_id_leads_to_the_new_one() {
    let service = Service::empty();
    service.directory.publish(fixture::snapshot(&[("names", &named(&["C++", "C#", "Safety"]))]));
    for (path, list) in [("/v1/categories/c", "/v1/categories"), ("/v1/glossary/c", "/v1/glossary")] {
        let answer = service.get(path).await;
        let detail = answer.json()["detail"].as_str().expect("a detail").to_owned();
        assert!(detail.ends_with("it was renamed to \"c-sharp\" or \"c-plus-plus\"."), "{detail}");
        assert_eq!(answer.problem().0, 404);
        let other = service.get(&format!("{list}/d")).await.json();
        assert!(other["detail"].as_str().is_some_and(|detail| detail.ends_with(&format!("{list} lists all ids."))));
    }
}
