//! The second layer: the rules of the published JSON Schema, and nothing else.
//!
//! [`PUBLISHED`] and this code state the same rules twice: once for other tools, and once with
//! locations, reasons and fixes. A property test compares the two.

mod editor;
mod license;
mod rule;

pub(super) use editor::completed;
pub use rule::ascii_url;
pub(super) use rule::{Count, count};

use super::Code;
use super::finding::Faults;
use super::pointer::Path;
use super::text::{Kind, Value};
use crate::record::{ENVELOPE, EvidenceStatus, Required, SOFTWARE};

/// The JSON Schema of export documents: draft 2020-12, with `format` asserted.
pub(super) const PUBLISHED: &str = include_str!("../export.schema.json");

/// Whether a string is a URI (RFC 3986) with a scheme.
pub(super) fn is_uri(text: &str) -> bool {
    fluent_uri::Uri::parse(text).is_ok()
}

/// Checks a document. It's valid if there are no faults.
pub(super) fn check(root: Value<'_>) -> Faults {
    let mut faults = Faults::default();
    let path = Path::Root;
    if root.get("software").is_none() && root.get("keys").is_some_and(|keys| keys.kind() == Kind::Array) {
        let help = "move it out of the folder of exports, and name its new place with --keys";
        faults.report(Code::MissingProperty, root, path, "this is a file of API keys, not an export", help);
    } else if root.kind() == Kind::Object {
        envelope(&mut faults, root, path);
    } else {
        faults.wrong_type(root, path, "an object", "an export is an object with `name`, `license` and `software`");
    }
    faults
}

/// How to correct a property of the envelope, and how to add it.
fn envelope_advice(property: &str) -> [&'static str; 2] {
    let example = "write the address of the licence, such as \"https://creativecommons.org/licenses/by/4.0/\"";
    match property {
        "name" => ["write the export's name", "add the export's name"],
        "license" => [example, example],
        "as_of" => ["write a date such as \"2025-03-01\", or leave it out", ""],
        "software" => ["put the records in square brackets", "add the array of records; it may be empty"],
        _ => ["correct it", "add it"],
    }
}

fn envelope(faults: &mut Faults, root: Value<'_>, path: Path<'_>) {
    for property in &ENVELOPE {
        let [correct, add] = envelope_advice(property.name);
        let Some(value) = root.get(property.name) else {
            if property.is_strict && property.is_required(|| false) {
                faults.missing(root, path, property, "", add);
            }
            continue;
        };
        let path = path.member(property.name);
        match property.name {
            "license" => {
                let address = value.as_str().and_then(|name| license::address(&name));
                match address.map(|address| format!("write its address: \"{address}\"")) {
                    Some(help) => faults.uri_or(value, path, &help),
                    None => faults.uri(value, path, correct),
                }
            }
            "software" if value.kind() == Kind::Array => {
                (0..).zip(value.elements()).for_each(|(index, of)| record(faults, of, path.element(index)));
            }
            _ if property.is_strict => faults.shape(property.shape, value, path, correct),
            _ => {}
        }
        if property.is_strict {
            faults.length(property, value, path);
        }
    }
}

/// How to correct a record's property, and how to add it.
fn record_advice(property: &str) -> [&'static str; 2] {
    let website = "write the address of the product's website, such as \"https://acme.example/\"";
    match property {
        "id" => ["write an id that is unique in the directory", "add an id that is unique in the directory"],
        "name" => ["write the product's name", "add the product's name"],
        "url" => [website, website],
        "evidence_status" => ["", "add \"evidence_status\": \"pending-review\" if nobody has checked the record yet"],
        "evidence_checked_on" => [
            "write the day as YYYY-MM-DD, such as \"2025-03-01\", or leave the property out",
            "add the day of the review, such as \"2025-03-01\"; or set `evidence_status` to \"pending-review\"",
        ],
        "sources" => [
            "write the list of sources like [[\"Product page\", \"https://example.org/\"]]",
            "add the pages that were reviewed, such as [[\"Product page\", \"https://…\"]]; or set `evidence_status` to \
             \"pending-review\"",
        ],
        "rating" => ["write a number from 0 to 5, or null", ""],
        "review_count" => ["write a whole number of 0 or more, or null", ""],
        _ => ["correct it", "add it"],
    }
}

/// Checks a record, an element of `software`.
fn record(faults: &mut Faults, record: Value<'_>, path: Path<'_>) {
    if record.kind() != Kind::Object {
        let help = "a record is an object with `id`, `name`, `url` and `evidence_status`";
        return faults.wrong_type(record, path, "an object", help);
    }
    // For a repeated key, the last value counts.
    let mut found = [None; SOFTWARE.len()];
    for (key, value) in record.members() {
        let place = key.as_str().and_then(|name| SOFTWARE.iter().position(|property| property.name == name));
        if let Some(place) = place {
            found[place] = Some(value);
        }
    }
    let reviewed = EvidenceStatus::VendorSourcesReviewed.as_str();
    let is_reviewed = || {
        let mut values = SOFTWARE.iter().zip(&found);
        let status = values.find(|(property, _)| property.name == "evidence_status").and_then(|(_, value)| *value);
        status.is_some_and(|status| status.is_text(reviewed))
    };
    for (property, value) in SOFTWARE.iter().zip(found).filter(|(property, _)| property.is_strict) {
        let [correct, add] = record_advice(property.name);
        match value {
            Some(value) => {
                faults.shape(property.shape, value, path.member(property.name), correct);
                faults.length(property, value, path.member(property.name));
            }
            None if property.is_required(is_reviewed) => {
                let is_always = property.required == Required::Always;
                let because = format!(", though `evidence_status` is \"{reviewed}\"");
                faults.missing(record, path, property, if is_always { "" } else { &because }, add);
            }
            None => {}
        }
    }
}
