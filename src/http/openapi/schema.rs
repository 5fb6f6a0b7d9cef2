//! Adapts schemas for code generators, so that every object lists its own properties and every
//! component is used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use utoipa::openapi::schema::{Object, Schema, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr};

type Schemas = BTreeMap<String, RefOr<Schema>>;

const SCHEMAS: &str = "#/components/schemas/";

/// Replaces each composition of objects (`allOf`, from a flattened struct) with a single object
/// that has all their properties.
pub(super) fn flatten(schemas: &mut Schemas) {
    let flat: Vec<_> = schemas
        .iter()
        .filter(|(_, schema)| matches!(schema, RefOr::T(Schema::AllOf(_))))
        .filter_map(|(name, schema)| Some((name.clone(), object(schemas, schema)?)))
        .collect();
    schemas.extend(flat.into_iter().map(|(name, object)| (name, RefOr::T(Schema::Object(object)))));
}

/// The object that a schema describes, directly or by composition.
fn object(schemas: &Schemas, schema: &RefOr<Schema>) -> Option<Object> {
    match schema {
        RefOr::Ref(reference) => object(schemas, schemas.get(reference.ref_location.strip_prefix(SCHEMAS)?)?),
        RefOr::T(Schema::Object(one)) => Some(one.clone()),
        RefOr::T(Schema::AllOf(composition)) => {
            let mut whole = Object::new();
            whole.schema_type = SchemaType::Type(Type::Object);
            whole.description.clone_from(&composition.description);
            for part in &composition.items {
                let part = object(schemas, part)?;
                whole.required.extend(part.required);
                whole.properties.extend(part.properties);
            }
            Some(whole)
        }
        RefOr::T(_) => None,
    }
}

/// Removes components that no operation refers to, directly or through other components.
pub(super) fn remove_unused(document: &mut OpenApi) {
    // Can't fail: the document contains only strings, numbers and maps with string keys.
    let value = serde_json::to_value(&*document).unwrap_or_default();
    let mut used = BTreeSet::new();
    collect_references(&value, &value["paths"], &mut used);
    let Some(components) = &mut document.components else { return };
    let is_used = |kind: &str, name: &str| used.contains(&format!("#/components/{kind}/{name}"));
    components.schemas.retain(|name, _| is_used("schemas", name));
    components.responses.retain(|name, _| is_used("responses", name));
    components.headers.retain(|name, _| is_used("headers", name));
}

fn collect_references(document: &Value, value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str)
                && references.insert(reference.to_owned())
                && let Some(target) = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer))
            {
                collect_references(document, target, references);
            }
            members.values().for_each(|member| collect_references(document, member, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(document, item, references)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(value: Value) -> OpenApi {
        serde_json::from_value(value).expect("a document")
    }

    #[test]
    fn composed_objects_are_merged_into_one() {
        let mut document = document(json!({
            "openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {},
            "components": {"schemas": {
                "Item": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
                "Hit": {"description": "A hit.", "allOf": [
                    {"$ref": "#/components/schemas/Item"},
                    {"type": "object", "required": ["score"], "properties": {"score": {"type": "number"}}},
                ]},
                "Best": {"allOf": [{"$ref": "#/components/schemas/Hit"}]},
            }},
        }));
        let components = document.components.as_mut().expect("components");
        flatten(&mut components.schemas);
        let schemas = serde_json::to_value(&components.schemas).expect("JSON");
        let whole = json!({"id": {"type": "string"}, "score": {"type": "number"}});
        assert_eq!(
            schemas["Hit"],
            json!({"type": "object", "description": "A hit.", "required": ["id", "score"], "properties": whole})
        );
        assert_eq!(schemas["Best"]["properties"], whole);
    }

    #[test]
    fn unused_components_are_removed() {
        let mut document = document(json!({
            "openapi": "3.1.0", "info": {"title": "t", "version": "1"},
            "paths": {"/": {"get": {"responses": {"200": {"$ref": "#/components/responses/Good"}}}}},
            "components": {
                "responses": {
                    "Good": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}},
                    "Bad": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/C"}}}},
                },
                "schemas": {
                    "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
                    "B": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}}},
                    "C": {"type": "object"},
                },
            },
        }));
        remove_unused(&mut document);
        let components = document.components.expect("components");
        assert_eq!(components.schemas.keys().collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(components.responses.keys().collect::<Vec<_>>(), ["Good"]);
    }
}
