//! The schema for editors: the published one, completed with what the checks only warn about.

use serde_json::{Map, Value, json};

use super::PUBLISHED;
use crate::export::budget::{GROUP_TERMS, LABEL_CHARS, MAX_AGE_DAYS, PIN_QUERIES, PROPERTY_CHARS};
use crate::export::id_prefix::PREFIX_CHARS;
use crate::record::{ENVELOPE, EVIDENCE, MAX_PINNED, Property, Required, SOFTWARE, Shape, VARIABLES};

/// A language tag: BCP 47 without its rarer forms.
const TAG: &str = "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$";
/// The beginning of a date, or of a time with a date.
const DAY: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}";

/// The published schema with the form of every known property.
pub(in crate::export) fn completed() -> String {
    let mut schema: Value = serde_json::from_str(PUBLISHED).unwrap_or_default();
    let record = json!({ "properties": properties(&SOFTWARE) });
    merge(&mut schema, json!({ "properties": properties(&ENVELOPE), "$defs": { "record": record } }));
    let rating = &mut schema["$defs"]["record"]["properties"]["rating"];
    merge(rating, json!({ "minimum": 0, "maximum": 5 }));
    let variables = VARIABLES.map(|variable| format!("\\{variable}")).join("|");
    let rules = json!({
        "as_of": { "pattern": DAY },
        "language": { "pattern": TAG },
        "corrections": { "pattern": format!("^(https://|mailto:)([^{{}}]|{variables})+$") }
    });
    merge(&mut schema["properties"], rules);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn properties(known: &'static [Property]) -> Value {
    let property = |property: &'static Property| {
        let mut form = json!({ "description": property.reference() });
        // The published schema describes what makes an export invalid.
        if !property.is_strict {
            merge(&mut form, shape(property.shape, known));
            if let Some(most) = property.max_chars {
                form["maxLength"] = most.into();
            }
        }
        (property.name.to_owned(), form)
    };
    known.iter().map(property).collect::<Map<_, _>>().into()
}

fn shape(shape: Shape, siblings: &'static [Property]) -> Value {
    match shape {
        Shape::Text => json!({ "type": ["string", "null"] }),
        Shape::Name => json!({ "type": "string", "minLength": 1 }),
        Shape::Label => json!({ "type": "string", "minLength": 1, "maxLength": LABEL_CHARS }),
        Shape::Uri => json!({ "type": ["string", "null"], "format": "uri" }),
        Shape::Date => json!({ "type": "string", "format": "date" }),
        Shape::OneOf(values) => json!({ "enum": values }),
        Shape::IdPrefix => {
            json!({ "type": ["string", "null"], "pattern": format!("^[A-Za-z0-9._:~-]{{1,{PREFIX_CHARS}}}$") })
        }
        // A lone string counts as one element, but not if it looks like several.
        Shape::Texts => {
            json!({ "type": ["array", "string", "null"], "items": { "type": "string" }, "pattern": "^[^,;]*$" })
        }
        Shape::Number | Shape::Count => json!({ "type": ["number", "null"] }),
        Shape::Boolean => json!({ "type": ["boolean", "null"] }),
        Shape::Sources => json!({ "type": "array" }),
        Shape::Evidence => {
            let mut source = json!({ "type": "object", "required": ["source"], "properties": properties(&EVIDENCE) });
            // It may also be a label.
            source["properties"]["source"] = json!({ "type": "string" });
            let several = json!({ "type": "array", "minItems": 1, "items": source });
            json!({ "type": "object", "additionalProperties": { "anyOf": [source, several] } })
        }
        Shape::Source => {
            let members = json!({ "title": { "type": "string" }, "url": { "type": "string", "format": "uri" } });
            json!({ "type": ["string", "object", "null"], "properties": members })
        }
        Shape::Translations => {
            let texts = siblings.iter().filter(|property| property.is_translated);
            let texts: Map<_, _> = texts.map(|of| (of.name.to_owned(), json!({ "type": "string" }))).collect();
            let text = json!({ "type": "object", "properties": texts, "additionalProperties": false });
            json!({ "type": ["object", "null"], "propertyNames": { "pattern": TAG }, "additionalProperties": text })
        }
        Shape::Entries(of) => {
            let required = of.iter().filter(|property| property.required == Required::Always);
            let required: Vec<_> = required.map(|property| property.name).collect();
            let mut entry = json!({ "type": "object", "required": required, "properties": properties(of) });
            let list = |least: usize, most: usize| {
                let text = json!({ "type": "string", "minLength": 1 });
                json!({ "type": "array", "items": text, "minItems": least, "maxItems": most })
            };
            let rules = match required[..] {
                // Synonyms.
                [] => json!({
                    "oneOf": [
                        { "required": ["terms"], "properties": { "from": false, "to": false, "ambiguous": false } },
                        { "required": ["from", "to"], "properties": { "terms": false, "ambiguous": false } },
                        { "required": ["ambiguous"], "properties": { "terms": false, "from": false, "to": false } }
                    ],
                    "properties": {
                        "terms": list(2, GROUP_TERMS),
                        "from": list(1, GROUP_TERMS),
                        "to": { "type": "string", "minLength": 1 },
                        "ambiguous": list(1, GROUP_TERMS)
                    }
                }),
                ["queries", "software"] => {
                    json!({ "properties": { "queries": list(1, PIN_QUERIES), "software": list(1, MAX_PINNED) } })
                }
                ["id", "software_id", "rating"] => json!({ "properties": {
                    "rating": { "type": "integer", "minimum": 1, "maximum": 5 },
                    "created_at": { "pattern": DAY }
                } }),
                ["property", "label"] => {
                    // The directory handles these properties itself.
                    let own = SOFTWARE.iter().filter(|known| known.attribute.is_none());
                    let own: Vec<_> = own.map(|known| known.name).collect();
                    json!({ "properties": {
                        "property": { "maxLength": PROPERTY_CHARS, "pattern": "^[^:]*$", "not": { "enum": own } },
                        "max_age_days": { "type": "integer", "minimum": 1, "maximum": MAX_AGE_DAYS }
                    } })
                }
                _ => json!({}),
            };
            merge(&mut entry, rules);
            json!({ "type": "array", "items": entry })
        }
    }
}

/// Adds an object's members to another's, at every depth.
fn merge(schema: &mut Value, other: Value) {
    match (schema, other) {
        (Value::Object(schema), Value::Object(other)) => {
            for (key, value) in other {
                merge(schema.entry(key).or_insert(Value::Null), value);
            }
        }
        (schema, other) => *schema = other,
    }
}
