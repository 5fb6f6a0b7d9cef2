//! What code generators and other readers need from the OpenAPI document. `make test-generators`
//! generates clients.

use std::collections::BTreeSet;

use form_urlencoded::byte_serialize;
use serde_json::{Value, json};
use software_directory::http::{HttpConfig, openapi};

use crate::api::examples::bundled;

fn document() -> Value {
    serde_json::from_str(&openapi(&HttpConfig::default())).expect("JSON")
}

/// Calls `visit` with each value inside this one that isn't part of an example, along with its JSON
/// Pointer.
fn walk<'v>(value: &'v Value, at: &str, visit: &mut impl FnMut(&str, &'v Value)) {
    visit(at, value);
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "example" | "examples"))
            .for_each(|(name, member)| walk(member, &format!("{at}/{}", name.replace('/', "~1")), visit)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| walk(item, &format!("{at}/{index}"), visit));
        }
        _ => {}
    }
}

fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.map_or(value, |pointer| document.pointer(pointer).expect("a reference that leads somewhere"))
}

fn operations(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    document["paths"].as_object().expect("paths").iter().map(|(path, item)| (path.as_str(), &item["get"]))
}

fn parameters(operation: &Value) -> impl Iterator<Item = &Value> {
    operation["parameters"].as_array().into_iter().flatten()
}

/// An operation's URL: its path and these query parameters, all with their example values.
fn address<'v>(path: &str, operation: &Value, query: impl IntoIterator<Item = (&'v str, &'v Value)>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20"),
        Value::Array(items) => byte_serialize(items[0].as_str().expect("a string").as_bytes()).collect(),
        other => other.to_string(),
    };
    let path = parameters(operation).filter(|parameter| parameter["in"] == "path").fold(path.to_owned(), |path, of| {
        path.replace(&format!("{{{}}}", of["name"].as_str().expect("a name")), &text(&of["example"]))
    });
    let required = parameters(operation).filter(|of| of["in"] == "query" && of["required"] == true);
    let required = required.map(|of| (of["name"].as_str().expect("a name"), &of["example"]));
    let mut pairs: Vec<_> = query.into_iter().collect();
    for (name, example) in required {
        if pairs.iter().all(|(given, _)| *given != name) {
            pairs.push((name, example));
        }
    }
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) }
}

/// Generators interpret `allOf` and `oneOf` differently, and forget that a member may be null.
#[test]
fn schemas_are_simple_enough_for_generators() {
    let document = document();
    walk(&document["components"]["schemas"], "/components/schemas", &mut |at, schema| {
        assert!(
            schema.get("allOf").is_none() && schema.get("anyOf").is_none(),
            "{at}: generators misread allOf and anyOf; let the schema list its own properties (src/http/openapi/schema.rs \
             does so for flattened structs)"
        );
        if let Some(alternatives) = schema["oneOf"].as_array() {
            let [reference, null] = alternatives.as_slice() else { panic!("{at}: generators misread oneOf") };
            assert!(
                null == &json!({"type": "null"}) && resolve(&document, reference)["type"] == "object",
                "{at}: only an object may be made nullable with oneOf; write anything else as its type plus \"null\", \
                 an enumeration as a string: #[schema(value_type = Option<String>)]"
            );
        }
        assert!(
            schema.get("enum").is_none(),
            "{at}: values may be added to an enumeration, which generated clients would then reject; describe it as a \
             string, with its values in the comment: #[schema(value_type = String)]"
        );
        assert!(
            schema["type"] != "object"
                || schema.get("properties").is_some()
                || schema.get("additionalProperties").is_some(),
            "{at}: an object with arbitrary members needs `additionalProperties`; otherwise generators treat it as empty"
        );
    });
}

#[test]
fn every_component_is_used() {
    let document = document();
    let mut references = BTreeSet::new();
    walk(&document, "", &mut |_, value| references.extend(value["$ref"].as_str()));
    for kind in ["schemas", "responses", "headers"] {
        for name in document["components"][kind].as_object().expect("components").keys() {
            let reference = format!("#/components/{kind}/{name}");
            assert!(references.contains(reference.as_str()), "nothing refers to {reference}: remove it");
        }
    }
}

#[test]
fn the_operator_is_the_contact() {
    let config = HttpConfig { site_title: "Software for QHSE".to_owned(), ..HttpConfig::default() };
    let document: Value = serde_json::from_str(&openapi(&config)).expect("JSON");
    assert_eq!(document["info"]["contact"], json!({"name": "Software for QHSE"}));
}

#[tokio::test]
async fn every_parameter_has_an_example_that_finds_something() {
    let service = bundled();
    let document = document();
    for (path, operation) in operations(&document) {
        for parameter in parameters(operation) {
            let name = parameter["name"].as_str().expect("a name");
            let schema = &parameter["schema"];
            let others = [&schema["examples"], &schema["items"]["examples"]];
            for other in others.iter().filter_map(|examples| examples.as_array()).flatten() {
                let target = address(path, operation, Some((name, other)));
                assert_eq!(service.get(&target).await.status, 200, "{target}");
            }
            let example = &parameter["example"];
            assert!(
                !example.is_null(),
                "{path} {name} has no example: set the `Parameter`'s `example`, or for a path, `example = …` in `params(…)`"
            );
            let query = (parameter["in"] == "query").then_some((name, example));
            let target = address(path, operation, query);
            let answer = service.get(&target).await;
            if name == "since" {
                // A server that has only just started has no earlier generation.
                assert_eq!(answer.problem().1, "generation_gone");
                continue;
            }
            assert_eq!(answer.status, 200, "{target}: {}", answer.text());
            if path.ends_with("publiccode.yml") {
                continue;
            }
            let is_empty = answer.json()["data"].as_array().is_some_and(Vec::is_empty);
            assert!(
                !is_empty || ["/v1/changes", "/v1/software/{id}/history"].contains(&path),
                "{target}: finds nothing in the bundled exports; choose another example for {name}"
            );
        }
    }
}

#[tokio::test]
async fn every_id_is_linked_to_its_record() {
    let document = document();
    let paths: Vec<_> = operations(&document).map(|(path, _)| path).collect();
    for (path, operation) in operations(&document).filter(|(path, _)| !path.contains('{')) {
        let response = &operation["responses"]["200"];
        let schema = resolve(&document, &response["content"]["application/json"]["schema"]);
        let item = resolve(&document, &schema["properties"]["data"]["items"]);
        if item["properties"].get("id").is_none() {
            continue;
        }
        for taking in paths.iter().filter(|taking| taking.starts_with(&format!("{path}/{{"))) {
            let name = document["paths"][taking]["get"]["operationId"].as_str().expect("an operation id");
            assert!(
                response["links"].get(name).is_some(),
                "{path} has ids but no link to {taking}: add their kind to KINDS in src/http/openapi/schema.rs"
            );
        }
    }
    for path in ["/v1/software", "/v1/search", "/v1/software/{id}"] {
        let links = &document["paths"][path]["get"]["responses"]["200"]["links"];
        assert!(links.get("listReviews").is_some(), "{path}: no link from a product to its reviews");
    }
}

#[tokio::test]
async fn links_can_be_followed() {
    let service = bundled();
    let document = document();
    for (path, operation) in operations(&document) {
        // Suggestions need a query.
        let q = parameters(operation).find(|parameter| parameter["name"] == "q").map(|of| ("q", &of["example"]));
        let target = address(path, operation, q);
        for (name, link) in operation["responses"]["200"]["links"].as_object().into_iter().flatten() {
            let answer = service.get(&target).await.json();
            let (parameter, expression) =
                link["parameters"].as_object().and_then(|parameters| parameters.iter().next()).expect("a parameter");
            let pointer = expression.as_str().and_then(|text| text.strip_prefix("$response.body#")).expect("a pointer");
            let value = answer.pointer(pointer).unwrap_or_else(|| panic!("{target} has no {pointer} for {name}"));
            let (path, operation) = operations(&document)
                .find(|(_, operation)| operation["operationId"] == link["operationId"])
                .unwrap_or_else(|| panic!("{path}: no operation {name}"));
            assert!(parameters(operation).any(|of| of["name"] == *parameter), "{name} takes no {parameter}");
            let mut operation = operation.clone();
            for of in operation["parameters"].as_array_mut().expect("parameters") {
                if of["in"] == "path" && of["name"] == *parameter {
                    of["example"] = value.clone();
                }
            }
            let query = (!path.contains(&format!("{{{parameter}}}"))).then_some((parameter.as_str(), value));
            let linked = address(path, &operation, query);
            assert_eq!(service.get(&linked).await.status, 200, "{target} links to {linked}");
        }
    }
}
