//! Schemas, described as types in words and as lists of properties.

use askama::Template;
use serde_json::{Map, Value};

use super::OpenApi;
use super::Prose;
use crate::text::count::{agreeing, counted};

/// How deep to nest property lists, since schemas may be recursive.
const MAX_DEPTH: usize = 6;

/// The largest integer that JSON numbers represent exactly. As a maximum, it isn't worth showing.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// A schema's alternatives other than `null`, or the schema itself if it has none.
fn alternatives<'d>(api: OpenApi<'d>, schema: &'d Value) -> Vec<&'d Value> {
    let schema = api.resolve(schema);
    let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array());
    let others = alternatives.map(|all| all.iter().map(|one| api.resolve(one)).filter(|one| one["type"] != "null"));
    others.map_or_else(|| vec![schema], Iterator::collect)
}

fn is_nullable(api: OpenApi<'_>, schema: &Value) -> bool {
    let schema = api.resolve(schema);
    let has_null =
        |key: &str| schema[key].as_array().is_some_and(|all| all.iter().any(|one| api.resolve(one)["type"] == "null"));
    has_null("oneOf")
        || has_null("anyOf")
        || schema["type"].as_array().is_some_and(|types| types.contains(&"null".into()))
}

/// The type in words, such as `array of strings or null`.
fn kind(api: OpenApi<'_>, schema: &Value) -> String {
    let mut kinds: Vec<_> = alternatives(api, schema).into_iter().map(|schema| one_kind(api, schema)).collect();
    kinds.dedup();
    if is_nullable(api, schema) {
        kinds.push("null".to_owned());
    }
    kinds.join(" or ")
}

fn one_kind(api: OpenApi<'_>, schema: &Value) -> String {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).filter(|of| *of != "null").collect(),
        _ => vec!["any value"],
    };
    match (types.as_slice(), schema["format"].as_str()) {
        (["array"], _) => format!("array of {}", plural(&kind(api, &schema["items"]))),
        (["string"], Some(format)) => format!("string ({format})"),
        _ => types.join(" or "),
    }
}

fn plural(kind: &str) -> String {
    let (noun, rest) = kind.split_once(' ').map_or((kind, String::new()), |(noun, rest)| (noun, format!(" {rest}")));
    if noun == "any" { "any values".to_owned() } else { format!("{noun}s{rest}") }
}

/// A value's limits in words: range, length, default.
fn limits(api: OpenApi<'_>, schema: &Value) -> Vec<String> {
    let mut limits = Vec::new();
    for schema in alternatives(api, schema) {
        let maximum = schema["maximum"].as_f64().filter(|maximum| *maximum < MAX_SAFE_INTEGER);
        limits.extend(match (schema["minimum"].as_f64(), maximum) {
            (Some(from), Some(to)) => Some(format!("{from} to {to}")),
            (Some(from), None) => Some(format!("from {from}")),
            (None, Some(to)) => Some(format!("up to {to}")),
            (None, None) => None,
        });
        limits.extend(
            schema["maxLength"]
                .as_u64()
                .map(|most| format!("up to {most} {}", agreeing(most, "character", "characters"))),
        );
        limits.extend(schema["maxItems"].as_u64().map(|most| format!("up to {}", counted(most, "item"))));
        limits.extend(schema.get("default").map(|default| match default {
            Value::String(text) => format!("default {text}"),
            other => format!("default {other}"),
        }));
    }
    limits
}

/// The allowed values of a schema or of its items.
fn values<'d>(api: OpenApi<'d>, schema: &'d Value) -> Vec<&'d str> {
    let values = alternatives(api, schema).into_iter().flat_map(|schema| {
        let items = api.resolve(&schema["items"]);
        schema["enum"].as_array().or_else(|| items["enum"].as_array()).into_iter().flatten()
    });
    values.filter_map(Value::as_str).collect()
}

/// The properties of an object, of an array's items or of a map's values: required ones first,
/// otherwise in their original order.
fn properties<'d>(api: OpenApi<'d>, schema: &'d Value) -> Vec<(&'d str, &'d Value, bool)> {
    let mut found = Vec::new();
    for schema in alternatives(api, schema) {
        let of = schema["properties"].as_object();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let member = |of: &'d Map<String, Value>, name: &str| of.get_key_value(name);
        let first = required.iter().filter_map(|name| member(of?, name)).map(|(name, of)| (name.as_str(), of, true));
        found.extend(first);
        let others = of.into_iter().flatten().filter(|(name, _)| !required.contains(&name.as_str()));
        found.extend(others.map(|(name, of)| (name.as_str(), of, false)));
        for inner in [&schema["items"], &schema["additionalProperties"]].into_iter().filter(|inner| inner.is_object()) {
            found.extend(properties(api, inner));
        }
    }
    found
}

/// A list of parameters or properties.
#[derive(Debug, Template)]
#[template(path = "docs/properties.html")]
pub(super) struct Properties {
    pub(super) rows: Vec<Property>,
}

#[derive(Debug)]
pub(super) struct Property {
    name: String,
    /// The type in words, and its limits.
    notes: String,
    about: Prose,
    values: Vec<String>,
    nested: Option<Nested>,
}

/// A property's own properties, which can be expanded.
#[derive(Debug)]
pub(super) struct Nested {
    count: usize,
    is_open: bool,
    list: Properties,
}

impl Property {
    /// `notes` are appended to the type.
    pub(super) fn new(
        api: OpenApi<'_>,
        name: &str,
        schema: &Value,
        notes: &[&str],
        description: &str,
        nested: Option<Nested>,
    ) -> Self {
        let notes = notes.iter().map(|note| (*note).to_owned());
        let notes: Vec<_> = std::iter::once(kind(api, schema)).chain(notes).chain(limits(api, schema)).collect();
        Self {
            name: name.to_owned(),
            notes: notes.join(", "),
            about: Prose::paragraphs(description),
            values: values(api, schema).into_iter().map(str::to_owned).collect(),
            nested,
        }
    }
}

impl Properties {
    /// The properties of a schema.
    pub(super) fn of(api: OpenApi<'_>, schema: &Value, depth: usize) -> Self {
        let rows = properties(api, schema).into_iter().map(|(name, schema, is_required)| {
            let count = properties(api, schema).len();
            let nested = (count > 0 && depth < MAX_DEPTH).then(|| Nested {
                count,
                is_open: depth == 0 && name == "data",
                list: Self::of(api, schema, depth + 1),
            });
            let own = schema["description"].as_str();
            let description = own.or_else(|| api.resolve(schema)["description"].as_str()).unwrap_or_default();
            Property::new(api, name, schema, if is_required { &[] } else { &["optional"] }, description, nested)
        });
        Self { rows: rows.collect() }
    }
}

/// An example, indented by two spaces. Its members are in the schema's order, which is how the
/// service sends them.
pub(super) fn example(api: OpenApi<'_>, value: &Value, schema: &Value, indent: usize) -> String {
    let (inner, outer) = ("  ".repeat(indent + 1), "  ".repeat(indent));
    let of = properties(api, schema);
    let lines: Vec<_> = match value {
        Value::Object(members) if !members.is_empty() => {
            let place = |name: &str| of.iter().position(|(of, ..)| *of == name).unwrap_or(usize::MAX);
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| place(name));
            let line = |(name, value): (&String, &Value)| {
                let schema = of.iter().find(|(of, ..)| of == name).map_or(&Value::Null, |(_, schema, _)| schema);
                format!("{inner}{}: {}", Value::from(name.as_str()), example(api, value, schema, indent + 1))
            };
            members.into_iter().map(line).collect()
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{inner}{}", example(api, item, schema, indent + 1))).collect()
        }
        other => return other.to_string(),
    };
    let [open, close] = if value.is_object() { ["{", "}"] } else { ["[", "]"] };
    format!("{open}\n{}\n{outer}{close}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_described_in_words() {
        let document = json!({"components": {"schemas": {"Kind": {"type": "string", "enum": ["a", "b"]}}}});
        let api = OpenApi(&document);
        let reference = json!({"$ref": "#/components/schemas/Kind"});
        for (schema, words) in [
            (json!({"type": "array", "items": {"type": "string", "format": "date"}}), "array of strings (date)"),
            (json!({"type": ["integer", "null"]}), "integer or null"),
            (json!({"type": ["string", "null"], "enum": ["a", null]}), "string or null"),
            (json!({"type": ["array", "null"], "items": {"type": "integer"}}), "array of integers or null"),
            (json!({"oneOf": [{"type": "null"}, reference]}), "string or null"),
            (json!({}), "any value"),
        ] {
            assert_eq!(kind(api, &schema), words);
        }
        assert_eq!(values(api, &json!({"type": "array", "items": reference})), ["a", "b"]);
        assert_eq!(values(api, &json!({"type": ["string", "null"], "enum": ["a", null]})), ["a"]);
    }

    #[test]
    fn search_hit_inherits_the_products_properties() {
        let text = crate::http::openapi(&crate::http::HttpConfig::default());
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let api = OpenApi(&document);
        let found = properties(api, &document["components"]["schemas"]["SearchHit"]);
        let names: Vec<_> = found.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names[..3], ["id", "name", "tagline"]);
        assert_eq!(names[names.len() - 4..], ["score", "highlights", "language", "untranslated"]);
        let kind_of = |name: &str| found.iter().find(|(of, ..)| *of == name).map(|(_, schema, _)| kind(api, schema));
        assert_eq!(kind_of("tagline").as_deref(), Some("string or null"));
        assert_eq!(kind_of("rating").as_deref(), Some("number or null"));
    }

    #[test]
    fn example_follows_the_schemas_order() {
        let document = json!({});
        let schema = json!({"type": "object", "required": ["z", "a"], "properties": {"a": {"type": "array"}, "z": {}}});
        let text = example(OpenApi(&document), &json!({"a": [], "z": 1}), &schema, 0);
        assert_eq!(text, "{\n  \"z\": 1,\n  \"a\": []\n}");
    }
}
