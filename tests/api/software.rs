//! `/v1/software` and `/v1/software/{id}`.

use std::sync::Arc;

use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use software_directory::record::FULL;
use software_directory::update::Directory;

use crate::api::fixture::{self, ODD_IDS, PRODUCTS};
use crate::api::service::{Service, Setup};

#[tokio::test]
async fn an_item_has_the_members_that_lists_show() {
    let service = Service::with_directory();
    let answer = service.get("/v1/software?q=rated").await.json();
    assert_eq!(answer["pagination"], json!({"limit": 20, "offset": 0, "total": 1}));
    assert_eq!(
        answer["data"][0],
        json!({
            "id": "tool-rated", "name": "Rated Gauge", "tagline": "Measures things", "category": "Measuring",
            "categories": [{"id": "measuring", "name": "Measuring"}], "rating": 4.5, "review_count": 7,
            "website": "https://rated.example/", "vendor": "Gauge Makers", "offering_type": "software",
            "evidence_status": "vendor-sources-reviewed", "evidence_checked_on": "2025-03-01"
        })
    );
}

#[tokio::test]
async fn a_product_has_the_evidence_for_its_properties() {
    let service = Service::with_directory();
    let product = &service.get("/v1/software/tool-rated").await.json()["data"];
    let (page, url) = ("Home page", "https://rated.example/about");
    assert_eq!(
        product["evidence"],
        json!({
            "standards": [
                {"source": url, "label": page, "checked_on": null, "quote": null, "archived": null},
                {"source": "https://standards.example/9001", "label": null, "checked_on": null, "quote": null,
                 "archived": "https://archive.example/9001"}
            ],
            "vendor": [{"source": url, "label": page, "checked_on": "2025-02-01", "quote": "Made by <Gauge Makers>",
                        "archived": null}]
        })
    );
    assert!(service.get("/v1/software/tool-01").await.json()["data"].get("evidence").is_none());
}

#[tokio::test]
async fn filters_keep_only_matching_products() {
    let service = Service::with_directory();
    for (query, total) in [
        ("", PRODUCTS),
        ("category=tools", 26),
        ("category=TOOLS&category=measuring", 27),
        ("category=nowhere", 0),
        ("offering_type=document-templates", 1),
        ("evidence_status=vendor-sources-reviewed", 1),
        ("min_rating=4.5", 1),
        ("min_rating=4.6", 0),
        ("evidence_checked_before=2025-03-02", 1),
        ("evidence_checked_before=2025-03-01", 0),
        ("evidence_checked_after=2025-02-28", 1),
        ("evidence_checked_after=2025-03-01", 0),
        ("any_evidence_before=2025-02-02", 1),
        ("any_evidence_before=2025-02-01", 0),
        ("standards=iso9001", 1),
        ("standards=ISO-9001&standards=nowhere", 1),
        ("deployment=On+Premises&languages=DE", 1),
        ("vendor=gauge-makers", 1),
        ("vendor=gauge", 0),
        ("tags=nowhere", 0),
        ("id=tool-01&id=tool-rated&id=nowhere", 2),
        ("id=tool-01&id=tool-rated&category=measuring", 1),
        ("id=nowhere", 0),
        ("id=tool-01&q=tool", 1),
        ("q=tool", 25),
        ("q=tool+1", 11),
    ] {
        let answer = service.get(&format!("/v1/software?{query}")).await.json();
        assert_eq!(answer["pagination"]["total"], total, "{query}");
    }
}

#[tokio::test]
async fn products_requested_by_id_are_sorted_and_paged() {
    let service = Service::with_directory();
    let answer =
        service.get("/v1/software?id=tool-10&id=tool-2&id=tool-02&id=tool-rated&limit=2&offset=1").await.json();
    let names: Vec<_> = answer["data"].as_array().expect("data").iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["Tool 2", "Tool 10"], "after Rated Gauge");
    assert_eq!(answer["pagination"], json!({"limit": 2, "offset": 1, "total": 3}));
}

#[tokio::test]
async fn newest_evidence_comes_first() {
    let answer = Service::with_directory().get("/v1/software?sort=-evidence_checked_on&limit=2").await.json();
    assert_eq!(answer["data"][0]["id"], "tool-rated");
    assert_eq!(answer["data"][1]["evidence_checked_on"], json!(null));
}

#[tokio::test]
async fn only_selected_fields_are_sent() {
    let service = Service::with_directory();
    let all = service.get("/v1/software?id=tool-rated").await.json();
    let mut query = String::new();
    for name in all["data"][0].as_object().expect("an object").keys() {
        let answer = service.get(&format!("/v1/software?id=tool-rated&fields={name}")).await.json();
        let selected = answer["data"][0].as_object().expect("an object");
        assert!(selected.len() == if name == "id" { 1 } else { 2 }, "{name}: {selected:?}");
        assert_eq!((&selected["id"], &selected[name]), (&json!("tool-rated"), &all["data"][0][name]));
        query.extend(["&fields=", name]);
    }
    let every = service.get(&format!("/v1/software?id=tool-rated{query}")).await;
    assert_eq!(every.json(), all);
    let found = service.get("/v1/search?q=rated&fields=name&highlight=true").await.json();
    let hit = found["data"][0].as_object().expect("an object");
    assert_eq!(hit.keys().collect::<Vec<_>>(), ["highlights", "id", "name", "score"]);
    let unknown = service.get("/v1/software?fields=nam").await.json();
    assert!(unknown["detail"].as_str().expect("text").contains("did you mean name?"), "{unknown}");
}

#[tokio::test]
async fn lists_include_members_of_the_full_record() {
    let service = Service::with_directory();
    let whole = service.get("/v1/software/tool-rated").await.json();
    let with = |include: &str| format!("/v1/software?id=tool-rated&{include}");
    let every: Vec<_> = FULL.iter().filter(|name| !whole["data"][**name].is_null()).collect();
    assert!(every.len() > 7, "{every:?}");
    let item = service.get(&with("")).await.json()["data"][0].clone();
    for (query, expected) in [
        (with("include=description,sources"), &["description", "sources"][..]),
        (with("include=tags&include=standards,tags"), &["tags", "standards"]),
        ("/v1/search?q=rated+gauge&limit=1&include=features".to_owned(), &["features"]),
    ] {
        let mut found = service.get(&query).await.json()["data"][0].take();
        let members = found.as_object_mut().expect("an object");
        members.remove("score");
        for name in expected {
            assert_eq!(members.remove(*name).as_ref(), Some(&whole["data"][*name]), "{query}");
        }
        assert_eq!(*members, *item.as_object().expect("an object"), "{query}: nothing else is added");
    }
    let selected = service.get(&with("fields=name&include=tags")).await.json();
    assert_eq!(selected["data"][0].as_object().expect("an object").keys().collect::<Vec<_>>(), ["id", "name", "tags"]);
    let wrong = service.get(&with("include=tag")).await.json();
    assert!(wrong["detail"].as_str().expect("text").contains("did you mean tags?"), "{wrong}");
}

#[tokio::test]
async fn included_members_that_do_not_fit_are_named() {
    let product = |id: &str| {
        json!({
            "id": id, "name": id, "url": "https://tool.example/", "evidence_status": "pending-review", "tags": ["t"],
            "description": "word ".repeat(80_000)
        })
    };
    let products = ["a", "b", "c"].map(product);
    let export = json!({"name": "One", "license": "https://opensource.org/license/mit", "software": products});
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("one", &export.to_string())]));
    let service = Setup { directory: Arc::new(directory), ..Setup::default() }.start();
    for path in ["/v1/software?include=description,tags", "/v1/search?sort=name&include=description,tags"] {
        let found = service.get(path).await.json();
        let fitted: Vec<_> = found["data"]
            .as_array()
            .expect("an array")
            .iter()
            .map(|product| {
                assert_eq!(product["tags"], json!(["t"]));
                (product["description"].as_str().map(str::len), &product["omitted"])
            })
            .collect();
        let omitted = json!(["description"]);
        assert_eq!(fitted, [(Some(400_000), &Value::Null), (Some(400_000), &Value::Null), (None, &omitted)]);
    }
}

#[tokio::test]
async fn commas_do_not_separate_values() {
    let service = Service::with_directory();
    for (path, cure) in [
        ("/v1/software?category=tools,safety", "category=tools&category=safety"),
        ("/v1/search?category=Tools,+Measuring", "category=Tools&category=Measuring"),
        ("/v1/search?tags=tools,measuring", "tags=tools&tags=measuring"),
        ("/v1/search?facets=category,rating", "facets=…&facets=…"),
    ] {
        let answer = service.get(path).await;
        assert_eq!(answer.problem(), (400, "invalid_parameter".to_owned()), "{path}");
        let detail = answer.json()["detail"].as_str().expect("text").to_owned();
        assert!(detail.contains(cure), "{detail}");
    }
    // In a value that isn't from a fixed list, a comma is part of the value.
    assert_eq!(service.get("/v1/software?category=tools,nowhere").await.json()["pagination"]["total"], 0);
}

#[tokio::test]
async fn similar_products_share_categories_and_words() {
    let service = Service::with_directory();
    let answer = service.get("/v1/software/tool-01/similar?limit=30").await.json();
    assert_eq!(answer["pagination"], json!({"limit": 30, "offset": 0, "total": 25}));
    let hits = answer["data"].as_array().expect("data");
    assert!(hits.iter().all(|hit| hit["id"] != "tool-01"), "a product isn't similar to itself");
    let tools = json!([{"id": "tools", "name": "Tools"}]);
    assert!(hits.iter().all(|hit| hit["shared"]["categories"] == tools), "{answer}");
    let mut tiled = Vec::new();
    for offset in (0..30).step_by(7) {
        let page = service.get(&format!("/v1/software/tool-01/similar?limit=7&offset={offset}")).await.json();
        tiled.extend(page["data"].as_array().expect("data").clone());
    }
    assert_eq!(&tiled, hits);
    let words = service.get("/v1/software/tool-rated/similar").await.json();
    assert_eq!(words["data"][0]["shared"]["words"], json!(["tools"]), "{words}");
    let alone = service.get("/v1/software/extra/similar").await.json();
    assert_eq!(alone, json!({"data": [], "pagination": {"limit": 10, "offset": 0, "total": 0}}));
    assert_eq!(service.get("/v1/software/nowhere/similar").await.problem(), (404, "software_not_found".to_owned()));
}

#[tokio::test]
async fn names_are_in_natural_order() {
    let service = Service::with_directory();
    let answer = service.get("/v1/software?category=tools&limit=3&offset=1").await.json();
    let names: Vec<_> = answer["data"].as_array().expect("data").iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["Tool 1", "Tool 2", "Tool 3"]);
}

#[tokio::test]
async fn a_product_is_returned_in_full() {
    let service = Service::with_directory();
    let answer = service.get("/v1/software/tool-rated").await;
    let product = &answer.json()["data"];
    assert_eq!(product["sources"], json!([{"label": "Home page", "url": "https://rated.example/about"}]));
    assert_eq!(product["rating_source"], "stated");
    assert_eq!(product["export"]["license"], "https://creativecommons.org/licenses/by/4.0/");
    assert!(answer.text().contains(r#""additional_properties":{"serial":12345678901234567890}"#), "{}", answer.text());
}

#[tokio::test]
async fn any_string_can_be_an_id() {
    let service = Service::with_directory();
    for id in ODD_IDS {
        let encoded = utf8_percent_encode(id, NON_ALPHANUMERIC).to_string();
        for path in [format!("/v1/software/{encoded}"), format!("/v1/software/{encoded}/")] {
            let answer = service.get(&path).await;
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(answer.json()["data"]["id"], id, "{path}");
        }
        let reviews = service.get(&format!("/v1/reviews/{encoded}/")).await;
        assert_eq!(reviews.json()["pagination"]["total"], 0, "{id}");
    }
    // An id can consist entirely of dots, though few clients send such an id unescaped.
    assert_eq!(service.get("/v1/software/..").await.json()["data"]["id"], "..");
}

#[tokio::test]
async fn ids_are_decoded_once_and_only_compared() {
    let service = Service::with_directory();
    for (path, problem) in [
        ("/v1/software/nowhere", (404, "software_not_found")),
        ("/v1/software/TOOL-01", (404, "software_not_found")),
        ("/v1/software/tool-01%20", (404, "software_not_found")),
        ("/v1/software/tool-01%00", (404, "software_not_found")),
        ("/v1/software/%2574ool-01", (404, "software_not_found")),
        ("/v1/software/%252F", (200, "")),
        ("/v1/software/a/b", (404, "route_not_found")),
        ("/v1/software//", (404, "route_not_found")),
        ("/v1/software/tool-01//", (404, "route_not_found")),
        ("/v1/software/%FF", (400, "bad_request")),
        ("/v1/software/%C3%28", (400, "bad_request")),
        ("/v1/reviews/%FF", (400, "bad_request")),
        ("/v1/exports/%FF", (400, "bad_request")),
        ("/v1/reviews/nowhere", (404, "software_not_found")),
        ("/v1/exports/..%2Ftools", (404, "export_not_found")),
    ] {
        let answer = service.get(path).await;
        if problem.0 == 200 {
            assert_eq!(answer.status, 200, "{path}");
        } else {
            assert_eq!(answer.problem(), (problem.0, problem.1.to_owned()), "{path}");
        }
    }
}

#[tokio::test]
async fn a_trailing_slash_makes_no_difference() {
    let service = Service::with_directory();
    for path in ["/v1/software", "/v1/software/tool-01", "/v1/categories", "/v1/glossary", "/v1/search", "/v1/exports"]
    {
        let without = service.get(path).await;
        let with = service.get(&format!("{path}/")).await;
        assert_eq!((with.status.as_u16(), &with.body), (200, &without.body), "{path}");
        assert_eq!(with.header("etag"), without.header("etag"), "{path}");
        assert_eq!(with.header("link"), without.header("link"), "{path}");
    }
}

#[tokio::test]
async fn under_v1_head_matches_get_and_other_methods_are_refused() {
    let service = Service::with_directory();
    let bearer = service.bearer();
    for path in ["/v1/software", "/v1/software/tool-01", "/v1/search?q=tool", "/v1/exports/tools", "/v1/nowhere"] {
        let headers = [("authorization", bearer.as_str()), ("x-request-id", "same")];
        let get = service.send(Method::GET, path, &headers).await;
        let head = service.send(Method::HEAD, path, &headers).await;
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        assert_eq!(head.header("content-length"), get.body.len().to_string(), "{path}");
        for name in ["etag", "link", "x-generation", "content-type", "vary"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        let answer = service.send(method, "/v1/software", &[("authorization", &bearer)]).await;
        assert_eq!(answer.problem(), (405, "method_not_allowed".to_owned()));
        assert_eq!(answer.header("allow"), "GET, HEAD, OPTIONS");
    }
    let nowhere = service.send(Method::POST, "/v1/nowhere", &[("authorization", &bearer)]).await;
    assert_eq!(nowhere.problem(), (404, "route_not_found".to_owned()));
}
