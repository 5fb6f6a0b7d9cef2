//! Turns records into a new export document, and adds missing ids and statuses.

use std::collections::HashMap;

use super::findings::{At, Level};
use super::{Conversion, Mapping, Record, Table};
use crate::record::{Attribute, EvidenceStatus, slug};
use crate::text::append;

/// The export's own properties.
#[derive(Debug, Clone)]
pub struct Envelope {
    pub name: String,
    /// Licence.
    pub license: String,
}

/// Creates an export document from records that already have ids and statuses, and declares the
/// attributes.
pub fn document(envelope: &Envelope, attributes: &[Attribute], records: &[Record]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut json =
        format!("{{\n  \"name\": {},\n  \"license\": {},\n", quoted(&envelope.name), quoted(&envelope.license));
    if !attributes.is_empty() {
        append(&mut json, format_args!("  \"attributes\": {},\n", declarations(attributes)));
    }
    json.push_str("  \"software\": [");
    for (index, record) in records.iter().enumerate() {
        json.push_str(if index == 0 { "\n    " } else { ",\n    " });
        json.push_str(&element(record));
    }
    json.push_str("\n  ]\n}\n");
    json
}

/// Attribute declarations, as a member of an export.
pub(super) fn declarations(attributes: &[Attribute]) -> String {
    let lines: Vec<_> = attributes.iter().map(|attribute| format!("\n    {}", attribute.declaration())).collect();
    format!("[{}\n  ]", lines.join(","))
}

/// A record as an element of `software`.
pub(super) fn element(record: &Record) -> String {
    let members = record.members().into_iter();
    let members: Vec<_> =
        members.map(|(name, value)| format!("\n      {}: {value}", serde_json::Value::from(name))).collect();
    format!("{{{}\n    }}", members.join(","))
}

impl Conversion {
    /// Reports ids that occur twice in a column.
    pub(super) fn check_ids(&mut self, table: &Table, mapping: &Mapping) {
        let Some(column) = mapping.columns.iter().position(|of| of.target.property() == Some("id")) else {
            return;
        };
        let mut seen: HashMap<String, usize> = HashMap::new();
        for record in &self.records {
            let Some(id) = record.text("id") else { continue };
            if let Some(first) = seen.get(&id) {
                let value = format!("`{id}` as in {}", table.row_name(table.rows[*first].number));
                let at = At { row: Some(record.row), column: Some(column) };
                let fix = "give one of them a different id, or remove it";
                self.findings.add(Level::Error, table, at, &value, "another row has the same id", fix);
            } else {
                seen.insert(id, record.row);
            }
        }
    }

    /// Gives each record at these indices an id derived from its name if there's no id column, and
    /// the status `pending-review` if it has none. `taken` contains the ids of other records.
    pub fn complete(
        &mut self,
        table: &Table,
        mapping: &Mapping,
        indices: &[usize],
        mut taken: HashMap<String, String>,
        unique_ids: bool,
    ) {
        let name_column = mapping.columns.iter().position(|of| of.target.property() == Some("name"));
        for &index in indices {
            let record = &mut self.records[index];
            if !record.properties.iter().any(|(name, value)| name == "evidence_status" && value.is_some()) {
                record.properties.retain(|(name, _)| name != "evidence_status");
                let status = serde_json::Value::from(EvidenceStatus::PendingReview.as_str()).to_string();
                record.properties.push(("evidence_status".to_owned(), Some(status)));
            }
            if let Some(id) = record.text("id") {
                taken.insert(id, table.row_name(table.rows[record.row].number));
            }
            if mapping.has("id") || record.text("id").is_some() {
                continue;
            }
            let row = &table.rows[record.row];
            let name = record.text("name");
            // The checks report rows without a name, but need an id to do so.
            let made = slug(name.as_deref().unwrap_or(&format!("row {}", row.number)));
            let at = At { row: Some(record.row), column: name_column };
            let shown = name.clone().unwrap_or_default();
            if made.is_empty() {
                let fix = "add an `id` column";
                self.findings.add(Level::Error, table, at, &shown, "no id can be derived from the name", fix);
            }
            let mut id = made.clone();
            let mut suffix = 1;
            while taken.contains_key(&id) && unique_ids {
                suffix += 1;
                id = format!("{made}-{suffix}");
            }
            if let Some(first) = taken.get(&id) {
                let fix = "add an `id` column, remove one of the two, or give such ids a suffix with --unique-ids";
                let clash = format!("`{shown}` would get the id `{id}`, which {first} already has");
                self.findings.add(
                    Level::Error,
                    table,
                    at,
                    &clash,
                    "the id derived from the name is already taken",
                    fix,
                );
            } else {
                if suffix > 1 {
                    let message = "an id derived from a name was already taken, so a suffix was added";
                    self.findings.add(Level::Note, table, at, &id, message, "");
                }
                taken.insert(id.clone(), table.row_name(row.number));
            }
            record.properties.insert(0, ("id".to_owned(), Some(serde_json::Value::from(id).to_string())));
        }
    }
}
