//! Pages of lists, and the links between them.

use std::collections::BTreeMap;

use bytes::Bytes;
use software_directory::http::{HttpConfig, PublicUrl};

use crate::api::fixture::{self, PRODUCTS};
use crate::api::service::{Answer, Service, Setup};

fn links(answer: &Answer) -> BTreeMap<String, String> {
    answer
        .header("link")
        .split(", ")
        .filter_map(|link| link.split_once(">; rel="))
        .map(|(target, relation)| (relation.trim_matches('"').to_owned(), target.trim_start_matches('<').to_owned()))
        .collect()
}

fn ids(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    json["data"].as_array().expect("data").iter().map(|item| item["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn following_next_visits_every_product_once_and_ends_on_last() {
    let service = Service::with_directory();
    for sort in ["name", "-rating", "-review_count"] {
        let mut path = format!("/v1/software?limit=7&sort={sort}");
        let (mut seen, mut last) = (Vec::new(), String::new());
        loop {
            let answer = service.get(&path).await;
            assert_eq!(answer.json()["pagination"]["total"], PRODUCTS);
            seen.extend(ids(&answer));
            let links = links(&answer);
            last.clone_from(&links["last"]);
            match links.get("next") {
                Some(next) => path.clone_from(next),
                None => break,
            }
        }
        assert_eq!(path, last);
        assert_eq!(seen.len() as u64, PRODUCTS);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len() as u64, PRODUCTS, "{sort}");
    }
}

#[tokio::test]
async fn links_keep_the_other_parameters_in_their_order() {
    let service = Service::with_directory();
    let answer = service.get("/v1/software/?category=safety&limit=5&q=tool&category=Tools&offset=5&sort=name").await;
    let links = links(&answer);
    let page =
        |offset: u32| format!("/v1/software?category=safety&q=tool&category=Tools&sort=name&limit=5&offset={offset}");
    assert_eq!(links["first"], page(0));
    assert_eq!(links["prev"], page(0));
    assert_eq!(links["next"], page(10));
    assert_eq!(links["last"], page(20));
}

#[tokio::test]
async fn past_the_end_is_an_empty_page_with_a_way_back() {
    let service = Service::with_directory();
    let answer = service.get("/v1/software?limit=20&offset=1000").await;
    assert_eq!((answer.status.as_u16(), ids(&answer).len()), (200, 0));
    let links = links(&answer);
    assert_eq!(links["prev"], "/v1/software?limit=20&offset=40");
    assert!(!links.contains_key("next"));
}

#[tokio::test]
async fn every_list_has_pagination_and_links_that_keep_ids_encoded() {
    let service = Service::with_directory();
    for path in ["/v1/software", "/v1/search", "/v1/categories", "/v1/glossary", "/v1/exports"] {
        let answer = service.get(path).await;
        assert!(answer.json()["pagination"]["total"].is_u64(), "{path}");
        assert!(links(&answer)["first"].starts_with(path), "{path}");
    }
    let answer = service.get("/v1/reviews/a%2Fb").await;
    assert_eq!(links(&answer)["first"], "/v1/reviews/a%2Fb?limit=20&offset=0");
}

#[tokio::test]
async fn links_are_absolute_with_a_public_url() {
    let public_url = Some(PublicUrl::parse("https://example.org/directory/").expect("an address"));
    let config = HttpConfig { public_url, ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
    let answer = service.get("/v1/categories").await;
    assert_eq!(links(&answer)["first"], "https://example.org/directory/v1/categories?limit=100&offset=0");
}

#[tokio::test]
async fn a_page_is_assembled_as_one_document() {
    let service = Service::with_directory();
    let answer = service.get("/v1/exports?limit=1").await;
    let again: Bytes = serde_json::to_vec(&answer.json()).expect("JSON").into();
    assert_eq!(answer.body.len(), again.len(), "no extra spaces or commas");
    assert_eq!(answer.header("content-type"), "application/json");
}
