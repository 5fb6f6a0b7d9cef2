//! `/v1/exports` and the downloads.

use crate::fixture;
use crate::service::Service;

#[tokio::test]
async fn exports_are_listed_with_licence_and_counts() {
    let answer = Service::with_directory().get("/v1/exports").await.json();
    assert_eq!(answer["pagination"]["total"], 2);
    let tools = &answer["data"][1];
    assert_eq!((tools["id"].as_str(), tools["software_count"].as_u64()), (Some("tools"), Some(fixture::PRODUCTS - 1)));
    assert_eq!(tools["license"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(tools["size_bytes"], fixture::tools_document().len());
}

#[tokio::test]
async fn an_export_comes_back_byte_for_byte() {
    let service = Service::with_directory();
    for path in ["/v1/exports/tools", "/v1/exports/tools?format=json", "/v1/exports/tools/"] {
        let answer = service.get(path).await;
        assert_eq!(answer.text(), fixture::tools_document(), "{path}");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("link"), "<https://creativecommons.org/licenses/by/4.0/>; rel=\"license\"");
    }
    let compressed = service.get_with("/v1/exports/tools", &[("accept-encoding", "zstd")]).await;
    assert_eq!(zstd::decode_all(&compressed.body[..]).expect("zstd"), fixture::tools_document().as_bytes());
}

#[tokio::test]
async fn ndjson_has_a_record_a_line_each_with_its_licence() {
    let answer = Service::with_directory().get("/v1/exports/tools?format=ndjson").await;
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let records: Vec<serde_json::Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!(records.len() as u64, fixture::PRODUCTS - 1);
    for record in records {
        assert_eq!(record["export"]["license"], "https://creativecommons.org/licenses/by/4.0/");
    }
}

#[tokio::test]
async fn an_unknown_export_is_not_found() {
    let answer = Service::with_directory().get("/v1/exports/nowhere").await;
    assert_eq!(answer.problem(), (404, "export_not_found".to_owned()));
}
