//! The OpenAPI document: whether it matches the committed copy, and whether it describes what the
//! service actually sends.

use std::path::Path;

use serde_json::Value;
use software_directory::http::{HttpConfig, openapi};
use software_directory::record::FULL;

use crate::api::service::Service;

fn document() -> Value {
    serde_json::from_str(&openapi(&HttpConfig::default())).expect("JSON")
}

/// After an intended change, run the tests with `UPDATE_SNAPSHOTS=1` and review the diff.
#[test]
fn the_document_matches_the_committed_copy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/snapshots/openapi.json");
    let text = openapi(&HttpConfig::default());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the snapshot folder");
        std::fs::write(&path, &text).expect("the snapshot written");
    }
    let committed = std::fs::read_to_string(&path).expect("the committed document");
    assert!(
        committed == text,
        "the OpenAPI document changed; run the tests with UPDATE_SNAPSHOTS=1 and review the diff"
    );
}

#[test]
fn every_operation_documents_what_it_needs_and_returns() {
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
            assert!(operation["security"].is_null(), "{path} needs a key, like all of /v1");
            for status in ["200", "304", "400", "401", "403", "408", "414", "429", "431", "500", "503"] {
                assert!(!operation["responses"][status].is_null(), "{path} {status}");
            }
            assert_eq!(path.contains("{id}"), !operation["responses"]["404"].is_null(), "{path}");
        } else {
            assert_eq!(operation["security"][0], serde_json::json!({}), "{path} needs no key");
            let may_have_one = operation["security"].as_array().is_some_and(|security| security.len() > 1);
            assert_eq!(may_have_one, path == "/readyz", "{path}");
        }
    }
}

#[test]
fn every_reference_can_be_resolved() {
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

/// Responses to check against the document: the documented path, the requested path, the status.
const ASKED: [(&str, &str, u16); 22] = [
    ("/v1/software", "/v1/software?limit=100", 200),
    ("/v1/software", "/v1/software?q=tool&sort=-rating", 200),
    ("/v1/software", "/v1/software?limit=0&nonsense=1", 400),
    ("/v1/software/{id}", "/v1/software/tool-rated", 200),
    ("/v1/software/{id}", "/v1/software/tool-reviewed", 200),
    ("/v1/software/{id}", "/v1/software/extra", 200),
    ("/v1/software/{id}", "/v1/software/nowhere", 404),
    ("/v1/categories", "/v1/categories", 200),
    ("/v1/categories", "/v1/categories?offset=-1", 400),
    ("/v1/reviews/{id}", "/v1/reviews/tool-reviewed", 200),
    ("/v1/reviews/{id}", "/v1/reviews/tool-01", 200),
    ("/v1/reviews/{id}", "/v1/reviews/nowhere", 404),
    ("/v1/glossary", "/v1/glossary", 200),
    ("/v1/glossary", "/v1/glossary?q=loto", 200),
    ("/v1/search", "/v1/search?q=tool", 200),
    ("/v1/search", "/v1/search?q=gauge&highlight=true&facets=category&facets=rating", 200),
    ("/v1/search", "/v1/search?q=%FF", 400),
    ("/v1/exports", "/v1/exports", 200),
    ("/v1/exports/{id}", "/v1/exports/tools", 200),
    ("/v1/exports/{id}", "/v1/exports/nowhere", 404),
    ("/healthz", "/healthz", 200),
    ("/readyz", "/readyz", 200),
];

#[tokio::test]
async fn responses_match_the_document() {
    let service = Service::with_directory();
    let document = document();
    for (described, path, status) in ASKED {
        let answer = service.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        let response = resolve(&document, &document["paths"][described]["get"]["responses"][status.to_string()]);
        let content = &response["content"][answer.header("content-type")];
        assert!(!content.is_null(), "{path}: {} is not described", answer.header("content-type"));
        // The schemas refer to the document that contains them, so they're resolved inside it.
        let mut schema = document.clone();
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        schema["allOf"] = Value::Array(vec![content["schema"].clone()]);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let findings: Vec<_> = validator.iter_errors(&answer.json()).map(|error| error.to_string()).collect();
        assert_eq!(findings, [""; 0], "{path}");
        for header in response["headers"].as_object().into_iter().flatten() {
            assert!(!answer.header(header.0).is_empty(), "{path}: no {}", header.0);
        }
    }
}

fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).expect("a reference that leads somewhere"),
        None => value,
    }
}

#[tokio::test]
async fn a_response_has_only_documented_members() {
    let service = Service::with_directory();
    let document = document();
    let every = format!("/v1/software?q=rated&include={}", FULL.join(","));
    for (schema, path, at) in [
        ("SoftwareItem", &*every, "/data/0"),
        ("Category", "/v1/categories", "/data/0"),
        ("Review", "/v1/reviews/tool-reviewed", "/data/0"),
        ("GlossaryTerm", "/v1/glossary", "/data/0"),
        ("Export", "/v1/exports", "/data/0"),
        ("SearchResult", "/v1/search?facets=rating", ""),
        ("ReviewList", "/v1/reviews/tool-reviewed", ""),
    ] {
        let described = document["components"]["schemas"][schema]["properties"].as_object().expect("properties");
        let answer = service.get(path).await.json();
        let answered = answer.pointer(at).and_then(Value::as_object).expect("an object");
        // A directory without translations, long records, corrections and descriptions doesn't have these members.
        let special = ["language", "translations", "untranslated", "omitted", "corrections"];
        let is_special = |name: &str| special.contains(&name) || (schema == "Export" && name == "description");
        let described = described.keys().filter(|name| !is_special(name));
        let (described, answered): (Vec<_>, Vec<_>) = (described.collect(), answered.keys().collect());
        assert_eq!(described, answered, "{schema}");
    }
}

#[tokio::test]
async fn exactly_the_documented_parameters_are_accepted() {
    let service = Service::with_directory();
    let document = document();
    for (path, item) in document["paths"].as_object().expect("paths").iter().filter(|(path, _)| path.starts_with("/v1"))
    {
        let parameters = item["get"]["parameters"].as_array().expect("parameters");
        let query: Vec<_> = parameters.iter().filter(|parameter| parameter["in"] == "query").collect();
        let id = match path.split('/').nth(2) {
            Some("exports") => "tools",
            Some("categories") => "safety",
            Some("glossary") => "near-miss",
            _ => "tool-01",
        };
        let path = path.replace("{id}", id);
        for parameter in &query {
            let name = parameter["name"].as_str().expect("a name");
            let repeatable = parameter["schema"]["type"] == "array";
            let schema = if repeatable { &parameter["schema"]["items"] } else { &parameter["schema"] };
            let values: Vec<String> = match (schema["enum"].as_array(), schema["type"].as_str()) {
                (Some(values), _) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                (_, Some("boolean")) => vec!["true".to_owned(), "false".to_owned()],
                (_, Some("integer" | "number")) => {
                    vec![schema["minimum"].to_string(), schema["maximum"].to_string()]
                }
                _ if name == "lang" => vec!["en".to_owned()],
                _ if name == "attribute" => vec!["tags:text".to_owned()],
                // The pattern allows a few names, or any attribute's name.
                _ if schema["pattern"].is_string() => {
                    let names = schema["pattern"].as_str().expect("a pattern").trim_matches(['^', '(', ')', '$']);
                    names.split('|').filter(|name| !name.contains("attribute")).map(str::to_owned).collect()
                }
                _ if schema["format"] == "date" => vec!["2025-01-01".to_owned()],
                _ if name == "since" => vec![service.get("/v1/software").await.header("x-generation").to_owned()],
                _ => vec!["text".to_owned()],
            };
            for value in values {
                let once = service.get(&format!("{path}?{name}={value}")).await;
                assert_eq!(once.status, 200, "{path}?{name}={value}");
                let twice = service.get(&format!("{path}?{name}={value}&{name}={value}")).await;
                assert_eq!(twice.status == 200, repeatable, "{path}?{name} twice");
            }
            if let (Some(maximum), Some("integer")) = (schema["maximum"].as_u64(), schema["type"].as_str()) {
                assert_eq!(service.get(&format!("{path}?{name}={}", maximum + 1)).await.status, 400, "{path} {name}");
            }
        }
        let unknown = service.get(&format!("{path}?nonsense=1")).await;
        for parameter in query {
            let name = parameter["name"].as_str().expect("a name");
            assert!(unknown.text().contains(name), "{path}: the refusal lists {name}");
        }
    }
}
