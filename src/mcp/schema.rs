//! Parts of JSON Schemas.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// An object's members, each with its schema.
pub(super) type Members = Map<String, Value>;

/// A resource's members as the OpenAPI document describes them, with references resolved.
pub(super) fn resource<T: ToSchema>() -> Members {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    // Schemas always serialize.
    let json = |schema| serde_json::to_value(schema).unwrap_or_default();
    let parts = parts.into_iter().map(|(name, schema)| (name, json(schema))).collect();
    match inline(json(T::schema())["properties"].take(), &parts) {
        Value::Object(members) => members,
        _ => Members::new(),
    }
}

/// A schema with everything that it refers to inlined.
fn inline(schema: Value, parts: &Members) -> Value {
    match schema {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            match name.and_then(|name| parts.get(name)) {
                Some(part) => inline(part.clone(), parts),
                None => members.into_iter().map(|(name, member)| (name, inline(member, parts))).collect(),
            }
        }
        Value::Array(items) => items.into_iter().map(|item| inline(item, parts)).collect(),
        other => other,
    }
}

pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

pub(super) fn optional_text(about: &str) -> Value {
    json!({"type": ["string", "null"], "description": about})
}

pub(super) fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

pub(super) fn count(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": about})
}

/// A list of objects with these members.
pub(super) fn list(members: &Members, about: &str) -> Value {
    json!({"type": "array", "items": whole(members.clone()), "description": about})
}

/// An object that has all of these members.
pub(super) fn whole(members: Members) -> Members {
    let required = members.keys().map(|name| name.as_str().into()).collect();
    object(members, required)
}

pub(super) fn object(properties: Members, required: Vec<Value>) -> Members {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema
}
