//! Attributes declared by exports: in `/v1/attributes`, as filters, facets and sort orders, and on
//! pages.

use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

/// Two exports. The first one declares attributes for both.
fn service() -> Service {
    let product = |id: &str, properties: Value| {
        let mut product = json!({
            "id": id, "name": id, "url": "https://tool.example/", "evidence_status": "pending-review"
        });
        for (name, value) in properties.as_object().expect("properties") {
            product[name] = value.clone();
        }
        product
    };
    let one = json!({
        "name": "One", "license": "https://opensource.org/license/mit",
        "attributes": [
            {"property": "licence", "label": "Licence"},
            {"property": "price_per_seat", "label": "Price per seat", "type": "number", "unit": "EUR/month"},
            {"property": "open_source", "label": "Open source", "type": "boolean"},
            {"property": "released_on", "label": "Released", "type": "date", "hidden": true},
            {"property": "note", "label": "Note", "searchable": false},
            {"property": "tags", "label": "Topics"}
        ],
        "software": [
            product("a", json!({"licence": ["MIT", "Apache 2.0"], "price_per_seat": 0, "open_source": true, "note": "gizmo"})),
            product("b", json!({"licence": "mit", "price_per_seat": 12.5, "open_source": true, "released_on": "2024-05-01"})),
            product("c", json!({"licence": "mit", "price_per_seat": 50, "open_source": false, "released_on": "2023-12-31"})),
            product("d", json!({"licence": "GPL-3.0", "price_per_seat": "on request", "released_on": null, "tags": ["x"]})),
        ]
    });
    let two = json!({
        "name": "Two", "license": "https://opensource.org/license/mit",
        "software": [product("e", json!({"licence": "Proprietary, EU", "price_per_seat": 900, "released_on": "2024-02-29"}))]
    });
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("one", &one.to_string()), ("two", &two.to_string())]));
    Setup { directory: Arc::new(directory), ..Setup::default() }.start()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["data"].as_array().expect("data").iter().map(|item| item["id"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn attributes_are_listed_with_type_unit_and_product_count() {
    let listed = service().get("/v1/attributes").await.json();
    let attribute = |property: &str, label: &str, kind: &str, unit: Value, count: u32| json!({"property": property, "label": label, "type": kind, "unit": unit, "software_count": count});
    assert_eq!(
        listed["data"],
        json!([
            attribute("standards", "Standards", "text", Value::Null, 0),
            attribute("deployment", "Deployment", "text", Value::Null, 0),
            attribute("languages", "Languages", "text", Value::Null, 0),
            attribute("vendor", "Vendor", "text", Value::Null, 0),
            attribute("tags", "Topics", "text", Value::Null, 1),
            attribute("licence", "Licence", "text", Value::Null, 5),
            attribute("price_per_seat", "Price per seat", "number", "EUR/month".into(), 4),
            attribute("open_source", "Open source", "boolean", Value::Null, 3),
            attribute("released_on", "Released", "date", Value::Null, 3),
            attribute("note", "Note", "text", Value::Null, 1),
        ])
    );
    assert_eq!(listed["pagination"], json!({"limit": 100, "offset": 0, "total": 10}));
    let page = service().get("/v1/attributes?limit=1&offset=5").await.json();
    assert_eq!(page["data"][0]["property"], "licence");
}

#[tokio::test]
async fn values_of_one_attribute_are_alternatives_but_different_attributes_must_all_match() {
    let service = service();
    for (query, expected) in [
        ("attribute=licence:MIT", &["a", "b", "c"][..]),
        ("attribute=licence:M%20i-t&attribute=licence:gpl3.0", &["a", "b", "c", "d"]),
        ("attribute=licence:MIT&attribute=open_source:true", &["a", "b"]),
        ("attribute=price_per_seat:10..50", &["b", "c"]),
        ("attribute=price_per_seat:50..", &["c", "e"]),
        ("attribute=price_per_seat:..12.5", &["a", "b"]),
        ("attribute=price_per_seat:1.25e1", &["b"]),
        ("attribute=price_per_seat:0&attribute=price_per_seat:800..1000", &["a", "e"]),
        ("attribute=released_on:2024-01-01..2024-12-31", &["b", "e"]),
        ("attribute=tags:X", &["d"]),
        ("tags=x&attribute=tags:y", &["d"]),
        ("attribute=licence:unknown", &[]),
        ("attribute=licence:a:b", &[]),
        ("attribute=licence:Proprietary,%20EU", &["e"]),
    ] {
        for path in ["/v1/software?", "/v1/search?sort=name&"] {
            assert_eq!(ids(&service.get(&format!("{path}{query}")).await.json()), expected, "{path}{query}");
        }
    }
}

#[tokio::test]
async fn facets_ignore_their_own_filter_and_numbers_are_counted_by_range() {
    let service = service();
    let path = "/v1/search?attribute=licence:mit&facets=attribute.licence&facets=attribute.open_source\
                &facets=attribute.released_on&facets=attribute.price_per_seat&facets=attribute.tags&facets=tags";
    let value = |value: &str, label: &str, count: u32| json!({"value": value, "label": label, "count": count});
    assert_eq!(
        service.get(path).await.json()["facets"],
        json!({
            "attribute.licence": [
                value("mit", "mit", 3), value("Apache 2.0", "Apache 2.0", 1), value("GPL-3.0", "GPL-3.0", 1),
                value("Proprietary, EU", "Proprietary, EU", 1),
            ],
            "attribute.open_source": [value("true", "true", 2), value("false", "false", 1)],
            "attribute.released_on": [
                value("2024-01-01..2024-12-31", "2024", 1), value("2023-01-01..2023-12-31", "2023", 1),
            ],
            "attribute.price_per_seat": [value("0", "0", 1), value("12.5", "12.5", 1), value("50", "50", 1)],
            "attribute.tags": [],
            "tags": [],
        })
    );
    let page = service.get("/v1/search?facets=attribute.price_per_seat&attribute=price_per_seat:0..1").await.json();
    assert_eq!(page["facets"]["attribute.price_per_seat"].as_array().expect("ranges").len(), 4);
    // Each count equals the total when searching with its value as the filter.
    for range in page["facets"]["attribute.price_per_seat"].as_array().expect("ranges") {
        let filter = range["value"].as_str().expect("a range");
        let found = service.get(&format!("/v1/search?attribute=price_per_seat:{filter}")).await.json();
        assert_eq!(found["pagination"]["total"], range["count"]);
    }
}

#[tokio::test]
async fn products_are_sorted_by_an_attribute_and_products_without_it_come_last() {
    let service = service();
    for (sort, expected) in [
        ("attribute.price_per_seat", ["a", "b", "c", "e", "d"]),
        ("-attribute.price_per_seat", ["e", "c", "b", "a", "d"]),
        ("-attribute.released_on", ["b", "e", "c", "a", "d"]),
        ("attribute.open_source", ["c", "a", "b", "d", "e"]),
    ] {
        for path in ["/v1/software", "/v1/search"] {
            assert_eq!(ids(&service.get(&format!("{path}?sort={sort}")).await.json()), expected, "{path} {sort}");
            let paged = service.get(&format!("{path}?sort={sort}&limit=2&offset=2")).await.json();
            assert_eq!(ids(&paged), expected[2..4], "{path} {sort}");
        }
    }
    let (status, code) = service.get("/v1/software?sort=attribute.price_per_seat&offset=10001").await.problem();
    assert_eq!((status, &*code), (400, "offset_too_large"));
}

#[tokio::test]
async fn unknown_attributes_and_invalid_values_are_refused_with_suggestions() {
    let service = service();
    for (query, problem) in [
        (
            "attribute=licens:MIT",
            "attribute: there is no attribute \"licens\". Did you mean licence? Allowed: standards, deployment, languages, vendor, tags, \
             licence, price_per_seat, open_source, released_on, note.",
        ),
        ("attribute=MIT", "attribute must be an attribute and a value separated by a colon, such as tags:cloud."),
        (
            "attribute=price_per_seat:cheap",
            "attribute price_per_seat must be a number or a range of numbers, such as 10, 10..50, 10.. or ..50; this is \"cheap\".",
        ),
        (
            "attribute=price_per_seat:50..10",
            "attribute price_per_seat must be a number or a range of numbers, such as 10, 10..50, 10.. or ..50; this is \"50..10\".",
        ),
        ("attribute=open_source:yes", "attribute open_source must be true or false; this is \"yes\"."),
        (
            "attribute=released_on:2025-02-29..",
            "attribute released_on must be a valid date or a range of dates, such as 2025-01-31, 2025-01-01..2025-12-31 or 2025-01-01..; this \
             is \"2025-02-29..\".",
        ),
        (
            "sort=attribute.tags",
            "sort can't use tags: it's a text attribute, which may have several values per product. Sort by an attribute with numbers, dates, or true and false instead.",
        ),
    ] {
        for path in ["/v1/software?", "/v1/search?"] {
            let answer = service.get(&format!("{path}{query}")).await;
            assert_eq!(answer.status, 400, "{path}{query}");
            assert_eq!(answer.json()["errors"][0]["message"], problem, "{path}{query}");
        }
    }
    for query in ["facets=attribute.price", "sort=attribute.price", "sort=-attribute.price"] {
        let answer = service.get(&format!("/v1/search?{query}")).await.json();
        let message = answer["errors"][0]["message"].as_str().expect("a message");
        assert!(message.contains("there is no attribute \"price\""), "{message}");
    }
    assert_eq!(service.get("/v1/search?facets=attribute.").await.status, 400);
    let answer = service.get("/v1/software?attribute=licence:MIT,GPL-3.0").await.json();
    assert_eq!(
        answer["errors"][0]["message"],
        "attribute must be repeated for each value: attribute=licence:MIT&attribute=licence:GPL-3.0."
    );
}

#[tokio::test]
async fn values_that_nothing_has_get_a_hint() {
    let hint = |parameter: &str, value: &str, nearest: &[&str]| json!([{"parameter": parameter, "value": value, "nearest": nearest}]);
    let (with_attributes, with_categories) = (service(), Service::with_directory());
    for (service, id, filter, unknown) in [
        (
            &with_attributes,
            "a",
            "attribute=licence:GPL%203.1",
            hint("attribute", "licence:GPL 3.1", &["licence:GPL-3.0"]),
        ),
        (&with_attributes, "a", "attribute=open_source:true&tags=y", hint("tags", "y", &[])),
        (&with_attributes, "a", "attribute=price_per_seat:7", hint("attribute", "price_per_seat:7", &[])),
        (&with_attributes, "a", "export=twoo", hint("export", "twoo", &["two"])),
        (&with_attributes, "a", "export=two&attribute=licence:MIT", Value::Null),
        (&with_attributes, "a", "attribute=price_per_seat:1000..", Value::Null),
        (&with_categories, "tool-01", "category=Saftey", hint("category", "Saftey", &["safety"])),
        (&with_categories, "tool-01", "category=tools&category=nowhere", hint("category", "nowhere", &[])),
        (&with_categories, "tool-01", "category=TOOLS", Value::Null),
    ] {
        for path in ["/v1/software?", "/v1/search?", "/v1/search?q=a&", &format!("/v1/software/{id}/similar?")] {
            let answer = service.get(&format!("{path}{filter}")).await.json();
            assert_eq!(answer["query"]["unknown"], unknown, "{path}{filter}");
        }
    }
    let page = with_categories.visit("/?q=a&category=Saftey&vendor=x").await;
    let way = "<a href=\"/?q=a&amp;category=safety&amp;vendor=x\"><bdi>Safety</bdi></a>";
    assert!(page.text().contains(way), "{}", page.text());
    let feed = with_categories.get("/feed.atom?category=Saftey").await;
    let subtitle = "<subtitle>There is no category &quot;Saftey&quot;. Similar: safety.</subtitle>";
    assert!(feed.text().contains(subtitle), "{}", feed.text());
}

#[tokio::test]
async fn products_can_be_filtered_and_counted_by_export() {
    let service = service();
    for (filter, expected) in
        [("export=two", &["e"][..]), ("export=one&tags=x", &["d"]), ("export=two&export=one&tags=x", &["d"])]
    {
        for path in ["/v1/software?", "/v1/search?sort=name&"] {
            assert_eq!(ids(&service.get(&format!("{path}{filter}")).await.json()), expected, "{path}{filter}");
        }
    }
    let counted = service.get("/v1/search?export=two&facets=export&facets=rating").await.json();
    let expected = json!([
        {"value": "one", "label": "One", "count": 4}, {"value": "two", "label": "Two", "count": 1}
    ]);
    assert_eq!(counted["facets"]["export"], expected, "a facet ignores its own filter");
    let page = service.visit("/?q=&export=two").await;
    assert!(page.text().contains("<bdi>Two</bdi>"), "{}", page.text());
}

#[tokio::test]
async fn words_in_searchable_attributes_are_found_and_shown() {
    let service = service();
    let found = service.get("/v1/search?q=apache&highlight=true").await.json();
    assert_eq!(ids(&found), ["a"]);
    assert_eq!(found["data"][0]["highlights"][0]["field"], "licence");
    assert_eq!(service.get("/v1/search?q=gizmo&typo=false").await.json()["pagination"]["total"], 0);
    let detail = service.get("/v1/software/d").await.json();
    assert_eq!(detail["data"]["additional_properties"]["price_per_seat"], "on request", "as in the record");
}

#[tokio::test]
async fn pages_offer_the_values_that_a_query_names_as_filters() {
    let service = service();
    let found = service.get("/v1/search?q=GPL+open+source").await.json();
    let understood = json!([
        {"words": "GPL", "attribute": "licence", "values": ["GPL-3.0"]},
        {"words": "open source", "attribute": "open_source", "values": ["true"]}
    ]);
    assert_eq!(found["query"]["understood"], understood);
    let page = service.visit("/?q=GPL+open+source").await;
    for chip in [
        "<a href=\"/?q=GPL+open+source&amp;attribute=licence%3AGPL-3.0\">Only <bdi>Licence: GPL-3.0</bdi></a>",
        "<a href=\"/?q=GPL+open+source&amp;attribute=open_source%3Atrue\">Only <bdi>Open source: Yes</bdi></a>",
    ] {
        assert!(page.text().contains(chip), "{chip}: {}", page.text());
    }
    let page = service.visit("/?q=licence+without+GPL").await;
    assert!(page.text().contains("Products with these words come last: <b><bdi>GPL</bdi></b>"), "{}", page.text());
}

#[tokio::test]
async fn a_name_that_no_product_has_gets_similar_ones() {
    let service = Service::with_directory();
    let list = service.get("/v1/software?q=planer").await.json();
    assert_eq!(list["pagination"]["total"], 0);
    let unknown = json!([{"parameter": "q", "value": "planer", "nearest": ["planner"]}]);
    assert_eq!(list["query"]["unknown"], unknown, "{list}");
    let none = service.get("/v1/software?q=zzzzzz").await.json();
    assert_eq!(none["query"]["unknown"], Value::Null, "{none}");
}

#[tokio::test]
async fn every_directory_has_the_built_in_attributes() {
    let service = Service::with_directory();
    let total = service.get("/v1/software?attribute=standards:iso9001").await.json()["pagination"]["total"].clone();
    assert_eq!(total, service.get("/v1/software?standards=ISO%209001").await.json()["pagination"]["total"]);
    assert_eq!(
        service.get("/v1/search?facets=attribute.vendor").await.json()["facets"]["attribute.vendor"][0]["count"],
        1
    );
    assert_eq!(service.get("/v1/attributes").await.json()["pagination"]["total"], 5);
}

#[tokio::test]
async fn similar_products_can_be_filtered_by_attributes() {
    let product = |id: &str, price: u32| {
        json!({
            "id": id, "name": id, "url": "https://tool.example/", "evidence_status": "pending-review", "category": "Audits",
            "tags": [id], "price": price
        })
    };
    let export = json!({
        "name": "One", "license": "https://opensource.org/license/mit",
        "attributes": [{"property": "price", "label": "Price", "type": "number"}],
        "software": [product("a", 5), product("b", 10), product("c", 20), product("d", 30)]
    });
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("one", &export.to_string())]));
    let service = Setup { directory: Arc::new(directory), ..Setup::default() }.start();
    for (filter, expected) in [
        ("", vec!["b", "c", "d"]),
        ("attribute=price:..20", vec!["b", "c"]),
        ("attribute=price:20..&tags=c&tags=d", vec!["c", "d"]),
        ("attribute=price:5", vec![]),
        ("category=audits&tags=b", vec!["b"]),
        ("category=other", vec![]),
    ] {
        let answer = service.get(&format!("/v1/software/a/similar?{filter}")).await.json();
        let mut found = ids(&answer);
        found.sort_unstable();
        assert_eq!(found, expected, "{filter}");
        assert_eq!(answer["pagination"]["total"], expected.len(), "{filter}");
    }
    for wrong in ["attribute=prise:1", "attribute=price:ten", "tags=b,c"] {
        let answer = service.get(&format!("/v1/software/a/similar?{wrong}")).await;
        assert_eq!(answer.problem(), (400, "invalid_parameter".to_owned()), "{wrong}");
    }
}

#[tokio::test]
async fn a_comparison_has_a_row_per_attribute() {
    let service = service();
    let page = service.visit("/compare?id=a&id=b&id=c").await;
    for row in [
        "<bdi>Price per seat</bdi></th><td><bdi>0 EUR/month</bdi></td><td><bdi>12.5 EUR/month</bdi></td><td><bdi>50 EUR",
        "<bdi>Open source</bdi></th><td><bdi>Yes</bdi></td><td><bdi>Yes</bdi></td><td><bdi>No</bdi></td>",
        "<bdi>Licence</bdi></th><td><ul class=\"plain-list\"><li><bdi>MIT</bdi></li><li><bdi>Apache 2.0</bdi></li></ul></td>",
        "<bdi>Note</bdi></th><td><bdi>gizmo</bdi></td><td></td><td></td>",
    ] {
        assert!(page.text().contains(row), "{row}: {}", page.text());
    }
    for absent in ["Released", "2024", "Topics", "Standards"] {
        assert!(!page.text().contains(absent), "{absent}: {}", page.text());
    }
    let german = service.visit("/de/compare?id=b&id=d").await;
    for row in [
        "<bdi lang=\"en\">Price per seat</bdi></th><td><bdi>12,5 EUR/month</bdi></td><td></td>",
        "<bdi lang=\"en\">Open source</bdi></th><td><bdi>Ja</bdi></td><td></td>",
        "<bdi lang=\"en\">Topics</bdi></th><td lang=\"en\"></td><td lang=\"en\"><bdi>x</bdi></td>",
    ] {
        assert!(german.text().contains(row), "{row}: {}", german.text());
    }
}

#[tokio::test]
async fn product_shows_attributes_by_name_and_other_values_unchanged() {
    let service = service();
    let page = service.visit("/software/b").await;
    for part in [
        "<dt><bdi>Licence</bdi></dt><dd><a href=\"/?attribute=licence%3Amit\"><bdi>mit</bdi></a></dd>",
        "<dt><bdi>Price per seat</bdi></dt><dd><a href=\"/?attribute=price_per_seat%3A12.5\"><bdi>12.5 EUR/month</bdi></a></dd>",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!page.text().contains("released_on") && !page.text().contains("More from the record"), "{}", page.text());
    let page = service.visit("/software/d").await;
    assert!(
        page.text().contains("<dt><bdi>price_per_seat</bdi></dt><dd><bdi>on request</bdi></dd>"),
        "{}",
        page.text()
    );
}

#[tokio::test]
async fn list_offers_the_attributes_that_are_not_hidden() {
    let service = service();
    let page = service.visit("/de/?q=&attribute=price_per_seat:10..50").await;
    for part in [
        "<legend lang=\"en\">Price per seat (EUR/month)</legend>",
        "<bdi>Price per seat: 10 bis 50 EUR/month</bdi>",
        "<span class=\"label\"><bdi>Ja</bdi></span>",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!page.text().contains("Released"), "{}", page.text());
    assert!(
        service.visit("/?q=").await.text().contains("<legend>Topics</legend>"),
        "the label that an export declares"
    );
}
