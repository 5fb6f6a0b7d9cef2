//! The OpenAPI document: as committed, and as the service really answers.

use std::path::Path;

use serde_json::Value;
use software_directory::http::{HttpConfig, openapi};

fn document() -> Value {
    serde_json::from_str(&openapi::text(&HttpConfig::default())).expect("JSON")
}

/// After a change that is meant, run the tests with `UPDATE_SNAPSHOTS=1` and read the difference.
#[test]
fn the_document_is_the_committed_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/snapshots/openapi.json");
    let text = openapi::text(&HttpConfig::default());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder of snapshots");
        std::fs::write(&path, &text).expect("the snapshot written");
    }
    let committed = std::fs::read_to_string(&path).expect("the committed document");
    assert!(committed == text, "the OpenAPI document changed; run the tests with UPDATE_SNAPSHOTS=1 and read the diff");
}

#[test]
fn every_operation_says_what_it_needs_and_what_it_answers() {
    let document = document();
    let paths = document["paths"].as_object().expect("paths");
    let operations: Vec<_> = paths.iter().map(|(path, item)| (path.as_str(), &item["get"])).collect();
    let ids: Vec<_> = operations.iter().filter_map(|(_, operation)| operation["operationId"].as_str()).collect();
    for expected in [
        "listSoftware",
        "getSoftware",
        "listCategories",
        "listReviews",
        "listGlossary",
        "searchSoftware",
        "listExports",
        "getExport",
    ] {
        assert!(ids.contains(&expected), "{expected}");
    }
    for (path, operation) in operations {
        assert!(operation["summary"].is_string() && operation["description"].is_string() || path.contains("{id}"));
        if path.starts_with("/v1/") {
            assert!(operation["security"].is_null(), "{path} needs the key that all do");
            for status in ["200", "304", "400", "401", "403", "408", "414", "429", "431", "500", "503"] {
                assert!(!operation["responses"][status].is_null(), "{path} {status}");
            }
            assert_eq!(path.contains("{id}"), !operation["responses"]["404"].is_null(), "{path}");
        } else {
            assert_eq!(operation["security"], serde_json::json!([{}]), "{path} needs none");
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk<'v>(value: &'v Value, references: &mut Vec<&'v str>) {
        match value {
            Value::Object(members) => {
                references.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|member| walk(member, references));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, references)),
            _ => {}
        }
    }
    let document = document();
    let mut references = Vec::new();
    walk(&document, &mut references);
    assert!(references.len() > 100);
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}
