//! Adapts schemas for code generators, so that every object lists its own properties and every
//! component is used, and links operations whose responses contain each other's parameters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use utoipa::openapi::link::{Link, LinkBuilder};
use utoipa::openapi::schema::{Object, Schema, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr};

use crate::catalogue::resource::SoftwareItem;
use crate::record::FULL;

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

/// Says that of a product in a list, only the id is always there, and that it may have members of
/// the full record.
pub(super) fn describe_listed(schemas: &mut Schemas) {
    let RefOr::T(Schema::Object(detail)) = schemas["SoftwareDetail"].clone() else { return };
    for name in ["SoftwareItem", "SearchHit"] {
        let Some(RefOr::T(Schema::Object(listed))) = schemas.get_mut(name) else { continue };
        listed.required.retain(|name| name == SoftwareItem::FIELDS[0] || !SoftwareItem::FIELDS.contains(&&**name));
        let included = FULL.iter().filter_map(|name| Some(((*name).to_owned(), detail.properties.get(*name)?.clone())));
        listed.properties.extend(included);
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

/// A kind of record: where its ids occur and which operations take them.
struct Kind {
    /// The path segment after `/v1` in operations that return such records, and the names of the
    /// members that contain them.
    names: &'static [&'static str],
    /// The member that other records use to refer to such a record.
    foreign_id: &'static str,
    /// Prefixes of the paths that take the id as `{id}`.
    paths: &'static [&'static str],
    /// The query parameter that takes the id, in any operation.
    parameter: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        names: &["software", "search"],
        foreign_id: "software_id",
        paths: &["/v1/software/{id}", "/v1/reviews/{id}"],
        parameter: "",
    },
    Kind { names: &["categories"], foreign_id: "", paths: &["/v1/categories/{id}"], parameter: "category" },
    Kind { names: &["glossary"], foreign_id: "", paths: &["/v1/glossary/{id}"], parameter: "" },
    Kind { names: &["exports", "export"], foreign_id: "", paths: &["/v1/exports/{id}"], parameter: "" },
];

/// How deep to look for ids, since schemas may be recursive.
const MAX_DEPTH: usize = 10;

fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.names.contains(&name))
}

/// Adds links to each response with ids, one for each operation that takes them. Each link is named
/// after its operation.
pub(super) fn add_links(document: &mut OpenApi) {
    // Can't fail: the document contains only strings, numbers and maps with string keys.
    let value = serde_json::to_value(&*document).unwrap_or_default();
    for (path, item) in &mut document.paths.paths {
        let Some(operation) = &mut item.get else { continue };
        let Some(RefOr::T(response)) = operation.responses.responses.get_mut("200") else { continue };
        let schema = &value["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let kind = path.strip_prefix("/v1/").and_then(|rest| kind_of(rest.split('/').next()?));
        let mut ids = Vec::new();
        Ids { document: &value, found: &mut ids }.collect(schema, "", kind, 0);
        for (kind, pointer) in ids {
            for (name, link) in links(&value, kind, path, &pointer) {
                // The first id of a kind is the record's own.
                response.links.entry(name.to_owned()).or_insert(RefOr::T(link));
            }
        }
    }
}

/// Links to the operations that take an id of this kind, except the one at path `from`.
fn links<'d>(document: &'d Value, kind: &Kind, from: &str, pointer: &str) -> Vec<(&'d str, Link)> {
    let operations = document["paths"].as_object().into_iter().flatten().filter(|(path, _)| *path != from);
    let links = operations.filter_map(|(path, item)| {
        let operation = &item["get"];
        let mut parameters = operation["parameters"].as_array().into_iter().flatten();
        let parameter = if kind.paths.iter().any(|beginning| path.starts_with(beginning)) {
            "id"
        } else if path.contains('{') {
            // The operation also needs another kind of id.
            return None;
        } else {
            parameters.find(|parameter| parameter["name"] == kind.parameter).map(|_| kind.parameter)?
        };
        let name = operation["operationId"].as_str()?;
        let link = LinkBuilder::new()
            .operation_id(name)
            .parameter(parameter, format!("$response.body#{pointer}"))
            .description(operation["summary"].as_str()?)
            .build();
        Some((name, link))
    });
    links.collect()
}

/// Collects the ids in a body, each with its JSON pointer. In lists, only the first item counts.
struct Ids<'d, 'f> {
    document: &'d Value,
    found: &'f mut Vec<(&'static Kind, String)>,
}

impl Ids<'_, '_> {
    /// Collects the ids in the part of the body at the pointer `at`, which has this schema and
    /// contains records of `kind`.
    fn collect(&mut self, schema: &Value, at: &str, kind: Option<&'static Kind>, depth: usize) {
        if depth == MAX_DEPTH {
            return;
        }
        let pointer = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        if let Some(target) = pointer.and_then(|pointer| self.document.pointer(pointer)) {
            self.collect(target, at, kind, depth + 1);
        }
        if schema["items"].is_object() {
            self.collect(&schema["items"], &format!("{at}/0"), kind, depth + 1);
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}/{name}");
            let kind = match name.as_str() {
                "id" | "data" => kind,
                name => KINDS.iter().find(|kind| kind.foreign_id == name).or_else(|| kind_of(name)),
            };
            match kind {
                Some(kind) if name == "id" || name == kind.foreign_id => self.found.push((kind, at)),
                _ => self.collect(property, &at, kind, depth + 1),
            }
        }
    }
}
