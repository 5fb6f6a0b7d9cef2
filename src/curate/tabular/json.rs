//! JSON: one product per line (NDJSON), an array of products, or an object that maps ids to
//! products.

use std::collections::{HashMap, HashSet};

use serde::Deserialize as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::synonyms::property_of;
use super::{Budget, Cell, Fault, MAX_COLUMNS, Progress, Row, RowKind, STEP, Table, TableError, header};
use crate::export::write_compact;

/// An object's members in their original order.
type Members = Vec<(String, Box<RawValue>)>;

pub(super) fn read_lines(bytes: &[u8], progress: Progress<'_>) -> Result<Table, TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut builder = TableBuilder::new(RowKind::Line);
    let mut read = 0;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if index.is_multiple_of(STEP) {
            progress(read, bytes.len() as u64);
        }
        read += line.len() as u64 + 1;
        let line = line.trim_ascii();
        if !line.is_empty() {
            let number = index as u64 + 1;
            match serde_json::from_slice(line).and_then(members) {
                Ok(members) => builder.push(number, members)?,
                Err(error) => {
                    let message = if error.is_data() { "this isn't a JSON object" } else { "this isn't valid JSON" };
                    builder.push_unreadable(number, &String::from_utf8_lossy(line), message.to_owned())?;
                }
            }
        }
    }
    builder.finish()
}

/// Reads an array of objects, possibly inside an object (the `wanted` one if there are several), or
/// an object that maps ids to objects.
pub(super) fn read_document(bytes: &[u8], wanted: Option<&str>) -> Result<Table, TableError> {
    let form = |text: &str| TableError::Form(text.to_owned());
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let raw: &RawValue = serde_json::from_slice(bytes).map_err(|error| {
        TableError::Form(format!(
            "this isn't JSON: {error}; correct it, or rename a file with one object per line to .ndjson"
        ))
    })?;
    let mut builder = TableBuilder::new(RowKind::Record);
    if raw.get().starts_with('[') {
        return builder.list(raw);
    }
    let mut by_id = members(raw).map_err(|_| form("this is neither an array nor an object of records"))?;
    if by_id.iter().any(|(key, _)| key == "software") {
        return Err(form(
            "this is already an export, so there's no need to import it (see check); a table is an array of objects, or an object that maps ids to objects",
        ));
    }
    let is_list =
        |value: &RawValue| value.get().starts_with('[') && value.get()[1..].trim_ascii_start().starts_with('{');
    let lists: Vec<String> = by_id.iter().filter(|(_, value)| is_list(value)).map(|(key, _)| key.clone()).collect();
    let chosen = match (wanted, &lists[..]) {
        (Some(wanted), lists) if lists.iter().any(|list| list == wanted) => Some(wanted),
        (None, [only]) => Some(only.as_str()),
        (Some(wanted), _) => {
            return Err(TableError::Sheet { reason: format!("the file has no list `{wanted}`"), sheets: lists });
        }
        (None, []) => None,
        (None, several) => {
            return Err(TableError::Sheet { reason: format!("the file has {} lists", several.len()), sheets: lists });
        }
    };
    if let Some(chosen) = chosen {
        by_id.retain(|(key, _)| key == chosen);
        builder.table.notes.push(format!("the records were read from the list `{chosen}`"));
        return by_id.first().map_or_else(|| Err(TableError::NoRows), |(_, value)| builder.list(value));
    }
    let is_product = by_id.iter().any(|(key, _)| property_of(key) == Some("name"));
    let mut records = Vec::new();
    for (id, value) in by_id {
        let of = members(&value).map_err(|_| {
            if is_product {
                return form(
                    "this describes a single product; a table is an array of objects, so write `[` and `]` around it (in \
                     YAML: `- ` before its first line, and two spaces before the others)",
                );
            }
            TableError::Form(format!(
                "the value of `{id}` isn't an object; a table is an array of objects, or an object that maps ids to objects"
            ))
        })?;
        records.push((id, of));
    }
    if records.iter().any(|(_, of)| of.iter().any(|(key, _)| key == "id")) {
        // The records already have ids, which the keys must match.
        let is_same = |(id, of): &(String, Members)| {
            of.iter().any(|(key, value)| {
                key == "id" && serde_json::from_str::<String>(value.get()).ok().as_ref() == Some(id)
            })
        };
        if let Some((id, _)) = records.iter().find(|record| !is_same(record)) {
            let text = format!(
                "the record under the key `{id}` has a different `id`, or none; correct it, or make the table an array"
            );
            return Err(TableError::Form(text));
        }
    } else {
        for (id, of) in &mut records {
            let id = serde_json::value::to_raw_value(id).map_err(|error| TableError::Form(error.to_string()))?;
            of.insert(0, ("id".to_owned(), id));
        }
    }
    for ((_, of), number) in records.into_iter().zip(1..) {
        builder.push(number, of)?;
    }
    builder.finish()
}

struct TableBuilder {
    table: Table,
    columns: HashMap<String, usize>,
    budget: Budget,
}

impl TableBuilder {
    fn new(row_kind: RowKind) -> Self {
        let table = Table { row_kind, ..Table::default() };
        Self { table, columns: HashMap::new(), budget: Budget::default() }
    }

    /// Adds a row that contains only what couldn't be read.
    fn push_unreadable(&mut self, number: u64, text: &str, message: String) -> Result<(), TableError> {
        let fix = "correct it".to_owned();
        self.table.faults.push(Fault { row: number, message, fix });
        let raw = serde_json::value::to_raw_value(text).map_err(|error| TableError::Form(error.to_string()))?;
        self.push(number, vec![("(unreadable)".to_owned(), raw)])
    }

    fn push(&mut self, number: u64, members: Members) -> Result<(), TableError> {
        let mut row: Vec<Cell> = Vec::new();
        let mut keys = HashSet::new();
        if let Some((key, _)) = members.iter().find(|(key, _)| key.is_empty() || !keys.insert(key)) {
            let message = if key.is_empty() {
                "a property has an empty name".to_owned()
            } else {
                format!("the key `{key}` is used twice")
            };
            let texts: Vec<_> =
                members.iter().map(|(key, raw)| format!("{}:{raw}", Value::from(key.as_str()))).collect();
            return self.push_unreadable(number, &format!("{{{}}}", texts.join(",")), message);
        }
        for (key, raw) in members {
            let name = self.table.row_name(number);
            let column = *self.columns.entry(key).or_insert_with_key(|key| {
                self.table.heads.push(key.clone());
                self.table.heads.len() - 1
            });
            if column >= MAX_COLUMNS {
                return Err(TableError::TooManyColumns { place: "the table".to_owned() });
            }
            if row.len() <= column {
                row.resize(column + 1, Cell::Empty);
            }
            let mut text = String::new();
            write_compact(raw.get(), &mut text);
            self.budget.cell(text.len(), || format!("{name}, property `{}`", self.table.heads[column]))?;
            row[column] = Cell::Json(text);
        }
        self.budget.row(row.len())?;
        self.table.rows.push(Row { number, cells: row });
        Ok(())
    }

    /// Adds an array of objects.
    fn list(mut self, raw: &RawValue) -> Result<Table, TableError> {
        let elements: Vec<&RawValue> =
            serde_json::from_str(raw.get()).map_err(|error| TableError::Form(error.to_string()))?;
        for (element, number) in elements.into_iter().zip(1_u64..) {
            match members(element) {
                Ok(of) => self.push(number, of)?,
                Err(_) => self.push_unreadable(number, element.get(), "this isn't an object".to_owned())?,
            }
        }
        self.finish()
    }

    fn finish(mut self) -> Result<Table, TableError> {
        header::check_area(&self.table)?;
        let width = self.table.heads.len();
        self.table.rows.iter_mut().for_each(|row| row.cells.resize(width, Cell::Empty));
        Ok(self.table)
    }
}

fn members(raw: &RawValue) -> Result<Members, serde_json::Error> {
    struct Object(Members);
    struct ObjectVisitor;
    impl<'de> Visitor<'de> for ObjectVisitor {
        type Value = Object;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(Object(members))
        }
    }
    impl<'de> serde::Deserialize<'de> for Object {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(ObjectVisitor)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    Object::deserialize(&mut deserializer).map(|object| object.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(json: &str) -> Result<Table, String> {
        read_document(json.as_bytes(), None).map_err(|error| error.to_string())
    }

    #[test]
    fn arrays_and_objects_keyed_by_id_are_read_as_tables() {
        let table = document(r#"[{"name": "A"}, {"url": "u", "name": "B"}]"#).expect("a table");
        assert_eq!(
            (table.heads.join(" "), table.row_name(table.rows[1].number)),
            ("name url".into(), "record 2".into())
        );
        let table = document(r#"{"a": {"name": "A"}, "b": {"name": "B"}}"#).expect("a table");
        assert_eq!(table.rows[1].cells, [Cell::Json("\"b\"".into()), Cell::Json("\"B\"".into())]);
        assert!(document(r#"{"a": {"id": "a", "name": "A"}}"#).is_ok());
        assert!(document(r#"{"a": {"id": "x", "name": "A"}}"#).is_err());
        assert!(document(r#"{"name": "N", "software": []}"#).expect_err("an export").contains("see check"));
        let table = document(r#"{"version": 1, "tools": [{"name": "A"}]}"#).expect("a table");
        assert_eq!((table.rows.len(), table.notes.len()), (1, 1));
        let several = r#"{"tags": [{"name": "t"}], "tools": [{"name": "A"}]}"#;
        assert!(document(several).expect_err("several").contains("2 lists; choose one with --sheet: tags, tools"));
        let table = read_document(several.as_bytes(), Some("tools")).expect("a table");
        assert_eq!(table.rows[0].cells, [Cell::Json("\"A\"".into())]);
        assert!(document(r#"{"a": 1}"#).is_err() && document("{").is_err());
    }

    #[test]
    fn a_key_used_twice_is_an_error_with_its_line() {
        let lines = b"{\"name\":\"A\"}\n{\"name\":\"B\",\"v\":1,\"v\":2}\n[1]\n{\n{\"name\":\"C\"}\n";
        let table = read_lines(lines, &|_, _| {}).expect("a table");
        let faults: Vec<_> = table.faults.iter().map(|fault| (fault.row, fault.message.as_str())).collect();
        assert_eq!(
            faults,
            [(2, "the key `v` is used twice"), (3, "this isn't a JSON object"), (4, "this isn't valid JSON")]
        );
        assert_eq!(table.rows[1].cells[1].shown(), r#""{\"name\":\"B\",\"v\":1,\"v\":2}""#);
        assert_eq!(table.rows.len(), 5);
    }
}
