//! The documentation's examples: responses match what a server with the bundled data returns, and
//! the example export is valid.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::export::{self, Limits, SourceFile};
use software_directory::http::problem::ErrorCode;
use software_directory::http::{HttpConfig, openapi};
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

const EXPORT_EXAMPLE: &str = include_str!("../../src/http/pages/docs/export-example.json");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http/openapi/example")
}

fn serve(documents: &[(&str, &str)]) -> Service {
    let directory = Directory::default();
    directory.publish(fixture::snapshot(documents));
    Setup { directory: Arc::new(directory), ..Setup::default() }.start()
}

/// A service with the bundled data.
pub(crate) fn bundled() -> Service {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::fs::read_to_string(path).expect("a bundled export")
    };
    serve(&[("demo", &read("demo/demo.json")), ("qhse", &read("data/qhse.json"))])
}

/// After an intended change, run the tests twice with `UPDATE_SNAPSHOTS=1` (these responses are
/// part of the OpenAPI document) and review the diff.
#[tokio::test]
async fn each_recorded_response_matches_what_the_server_sends() {
    // A bundled export is too long to read, so the documentation shows a shorter one.
    let (bundled, documented) = (bundled(), serve(&[("example", EXPORT_EXAMPLE)]));
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    for entry in std::fs::read_dir(folder()).expect("the examples") {
        let path = entry.expect("an example").path();
        let recorded: Value = serde_json::from_slice(&std::fs::read(&path).expect("an example")).expect("JSON");
        let request = recorded["request"].as_str().expect("a request");
        let service = if request.starts_with("/v1/exports/") { &documented } else { &bundled };
        let answer = service.get(request).await;
        assert_eq!(answer.status, 200, "{request}");
        let replayed = json!({"request": request, "answer": answer.json()});
        if update {
            let text = serde_json::to_string_pretty(&replayed).expect("JSON") + "\n";
            std::fs::write(&path, text).expect("the example written");
        }
        assert!(update || recorded == replayed, "{}: run the tests with UPDATE_SNAPSHOTS=1", path.display());
    }
}

#[test]
fn every_operation_has_a_description_an_example_and_its_errors() {
    let document: Value = serde_json::from_str(&openapi(&HttpConfig::default())).expect("JSON");
    for (path, item) in document["paths"].as_object().expect("paths") {
        let operation = &item["get"];
        assert!(operation["description"].is_string(), "{path}");
        let content = &operation["responses"]["200"]["content"];
        // Files in other formats are documented elsewhere.
        let is_foreign = ["application/yaml", "application/ld+json"].iter().any(|kind| content[*kind].is_object());
        let example = &content["application/json"]["examples"]["recorded"]["value"];
        assert!(is_foreign || example.is_object(), "{path}");
    }
    let responses = document["components"]["responses"].as_object().expect("responses");
    // No operation is documented with a method that it doesn't support, and `/mcp` isn't in the
    // document.
    let undescribed = [
        ErrorCode::MethodNotAllowed,
        ErrorCode::NotAcceptable,
        ErrorCode::ContentTooLarge,
        ErrorCode::UnsupportedMediaType,
    ];
    for code in ErrorCode::ALL.iter().filter(|code| !undescribed.contains(code)) {
        let example = responses
            .values()
            .map(|response| &response["content"]["application/problem+json"]["examples"][code.as_str()]["value"])
            .find(|example| example.is_object())
            .unwrap_or_else(|| panic!("{code:?} has no example"));
        assert_eq!((&example["code"], &example["status"]), (&json!(code.as_str()), &json!(code.status().as_u16())));
    }
}

#[tokio::test]
async fn parameter_error_examples_match_what_the_server_sends() {
    let document: Value = serde_json::from_str(&openapi(&HttpConfig::default())).expect("JSON");
    let examples =
        &document["components"]["responses"]["BadRequest"]["content"]["application/problem+json"]["examples"];
    let service = Service::with_directory();
    for (request, code) in [
        ("/v1/categories?limit=0", "invalid_parameter"),
        ("/v1/categories?limt=1", "unknown_parameter"),
        ("/v1/search?q=a&offset=10001", "offset_too_large"),
        ("/v1/software/%FF", "bad_request"),
    ] {
        let mut answer = service.get(request).await.json();
        answer["request_id"] = examples[code]["value"]["request_id"].clone();
        assert_eq!(answer, examples[code]["value"], "{request}");
    }
}

#[test]
fn the_example_export_is_valid_and_shows_every_known_member() {
    let source = SourceFile::from_bytes(Path::new("example.json"), EXPORT_EXAMPLE.to_owned().into());
    let today = software_directory::record::CalendarDate::parse("2026-12-01").expect("a date");
    let report = export::examine(vec![source], &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let schema: Value = serde_json::from_str(export::schema()).expect("JSON");
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
    let example: Value = serde_json::from_str(EXPORT_EXAMPLE).expect("JSON");
    assert!(validator.is_valid(&example));
    let records = example["software"].as_array().expect("records");
    for member in schema["$defs"]["record"]["properties"].as_object().expect("properties").keys() {
        assert!(records.iter().any(|record| !record[member].is_null()), "{member}");
    }
    for member in schema["properties"].as_object().expect("properties").keys() {
        assert!(!example[member].is_null(), "{member}");
    }
}

#[tokio::test]
async fn every_bundled_product_can_be_fetched_by_its_id() {
    let service = bundled();
    let list = service.get("/v1/software?limit=100").await.json();
    let items = list["data"].as_array().expect("products");
    assert!(items.len() > 90);
    for item in items {
        let detail = service.get(&format!("/v1/software/{}", item["id"].as_str().expect("an id"))).await.json();
        assert_eq!((&detail["data"]["id"], &detail["data"]["name"]), (&item["id"], &item["name"]));
    }
}
