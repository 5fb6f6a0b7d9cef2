//! Parts of JSON Schemas.

use serde_json::{Map, Value, json};

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
pub(super) fn list(members: &Map<String, Value>, about: &str) -> Value {
    json!({"type": "array", "items": whole(members.clone()), "description": about})
}

/// An object with all of these members.
pub(super) fn whole(members: Map<String, Value>) -> Map<String, Value> {
    let required = members.keys().map(|name| name.as_str().into()).collect();
    object(members, required)
}

pub(super) fn object(properties: Map<String, Value>, required: Vec<Value>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    schema
}
