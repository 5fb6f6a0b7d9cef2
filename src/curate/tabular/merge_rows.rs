//! Merges rows about the same product, such as one row for each of its categories.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::findings::{At, Rejected};
use super::{Conversion, Mapping, MergeRows, Record, Table, Target};
use crate::export::Severity;
use crate::record::{AttributeType, Property, Shape, identity, normalised_url};

impl Record {
    /// The indices of the rows that the record comes from.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.row).chain(self.others.iter().copied())
    }
}

impl Conversion {
    /// Removes and returns the records with rejected rows, all of whose rows are then rejected.
    pub fn set_aside(&mut self, rejected: &mut Rejected) -> Vec<Record> {
        let is_rejected = |record: &Record| record.rows().any(|row| rejected.contains_key(&row));
        let (aside, valid): (Vec<_>, _) = std::mem::take(&mut self.records).into_iter().partition(is_rejected);
        self.records = valid;
        for row in aside.iter().flat_map(Record::rows) {
            rejected.entry(row).or_insert_with(|| vec![(None, "another row about the product has errors".to_owned())]);
        }
        aside
    }

    /// Merges records with the same id, or the same name and URL. Lists are united. If single values
    /// differ, the first one is kept and the others are reported, or the records are kept as they are.
    pub(super) fn merge_rows(&mut self, table: &Table, mapping: &Mapping, merge: MergeRows) {
        let mut places: HashMap<[String; 3], usize> = HashMap::new();
        let mut groups: Vec<Vec<Record>> = Vec::new();
        for record in std::mem::take(&mut self.records) {
            let text = |property| record.text(property).unwrap_or_default();
            let key = match record.text("id") {
                Some(id) => [id, String::new(), String::new()],
                None => [String::new(), identity(&text("name")), normalised_url(&text("url")).into_owned()],
            };
            let is_known = !key[0].is_empty() || key[1..].iter().all(|part| !part.is_empty());
            let place = if is_known { *places.entry(key).or_insert(groups.len()) } else { groups.len() };
            match groups.get_mut(place) {
                Some(group) => group.push(record),
                None => groups.push(vec![record]),
            }
        }
        for group in groups {
            if merge == MergeRows::All || agree(mapping, &group) {
                let record = self.merged(table, mapping, group);
                self.records.push(record);
            } else {
                self.records.extend(group);
            }
        }
        self.records.sort_by_key(|record| record.row);
    }

    fn merged(&mut self, table: &Table, mapping: &Mapping, mut group: Vec<Record>) -> Record {
        let others = group.split_off(1);
        let mut record = group.swap_remove(0);
        if others.is_empty() {
            return record;
        }
        for (name, _) in others.iter().flat_map(|other| &other.properties) {
            if record.properties.iter().all(|(known, _)| known != name) {
                record.properties.push((name.clone(), None));
            }
        }
        let has_id = record.text("id").is_some();
        for (name, first) in record.properties.iter_mut().filter(|(name, _)| !is_in_common(has_id, name)) {
            let column = column_of(mapping, name);
            let value = |other: &'_ Record| other.properties.iter().find(|(of, _)| of == name)?.1.clone();
            let values: Vec<_> = others.iter().filter_map(|other| Some((other.row, value(other)?))).collect();
            if column.is_some_and(|column| is_list(&mapping.columns[column].target)) {
                *first = united(first.iter().chain(values.iter().map(|(_, value)| value)));
                continue;
            }
            for (row, value) in values {
                let first = first.get_or_insert_with(|| value.clone());
                if *first != value {
                    let shown = format!("`{value}`; kept: `{first}`");
                    let message = "rows of one product have different values, so only the first one is used";
                    let fix =
                        "if all of them matter, publish the column as a text attribute; otherwise correct the table";
                    self.findings.add(Severity::Warning, table, At { row: Some(row), column }, &shown, message, fix);
                }
            }
        }
        let count = format!("{} rows", others.len() + 1);
        let message = "rows about the same product were merged";
        self.findings.note(table, At::row(record.row), &count, message);
        record.others = others.iter().map(|other| other.row).collect();
        record
    }
}

fn column_of(mapping: &Mapping, property: &str) -> Option<usize> {
    mapping.columns.iter().position(|of| of.target.property() == Some(property))
}

/// Whether the records to merge have this property in common, however it's written.
fn is_in_common(has_id: bool, property: &str) -> bool {
    if has_id { property == "id" } else { matches!(property, "name" | "url") }
}

/// Whether records differ only in lists.
fn agree(mapping: &Mapping, records: &[Record]) -> bool {
    let mut known: HashMap<&str, &str> = HashMap::new();
    let has_id = records[0].text("id").is_some();
    let values = records.iter().flat_map(|record| &record.properties);
    let mut filled = values.filter_map(|(name, value)| Some((&**name, value.as_deref()?)));
    filled.all(|(name, value)| {
        let is_list = || column_of(mapping, name).is_some_and(|column| is_list(&mapping.columns[column].target));
        is_in_common(has_id, name) || *known.entry(name).or_insert(value) == value || is_list()
    })
}

fn is_list(target: &Target) -> bool {
    match target {
        Target::Attribute(_, kind) => matches!(kind, None | Some(AttributeType::Text)),
        Target::Property(name) => matches!(Property::shape_of(name), Some(Shape::Texts | Shape::Sources)),
        _ => false,
    }
}

/// The different items of several values, as a list; a single value if all are the same.
fn united<'v>(values: impl Iterator<Item = &'v String>) -> Option<String> {
    let mut seen = HashSet::new();
    let different: Vec<&String> = values.filter(|value| seen.insert(*value)).collect();
    if different.len() < 2 {
        return different.first().map(ToString::to_string);
    }
    let mut seen = HashSet::new();
    let parsed = different.into_iter().filter_map(|value| serde_json::from_str(value).ok());
    let items = parsed.flat_map(|value| if let Value::Array(items) = value { items } else { vec![value] });
    Some(items.filter(|item| seen.insert(item.to_string())).collect::<Value>().to_string())
}
