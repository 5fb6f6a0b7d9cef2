//! NDJSON: an object a line, a product each.

use std::collections::HashMap;

use serde::Deserialize as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Cell, MAX_CELLS, MAX_ROWS, Progress, Row, STEP, Table, TableError};
use crate::export::write_compact;

pub(super) fn read(bytes: &[u8], progress: Progress<'_>) -> Result<Table, TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut table = Table::default();
    let mut columns: HashMap<String, usize> = HashMap::new();
    let mut cells = 0_usize;
    let mut read = 0;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if index.is_multiple_of(STEP) {
            progress(read, bytes.len() as u64);
        }
        read += line.len() as u64 + 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let number = index as u64 + 1;
        let mut row = Vec::new();
        for (key, raw) in members(line).map_err(|error| TableError::Line { line: number, error })? {
            let column = *columns.entry(key).or_insert_with_key(|key| {
                table.heads.push(key.clone());
                table.heads.len() - 1
            });
            if row.len() <= column {
                row.resize(column + 1, Cell::Empty);
            }
            let mut text = String::new();
            write_compact(raw.get(), &mut text);
            row[column] = Cell::Json(text);
        }
        cells += row.len();
        if table.rows.len() == MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        if cells > MAX_CELLS {
            return Err(TableError::TooManyCells);
        }
        table.rows.push(Row { number, cells: row });
    }
    if columns.contains_key("") {
        return Err(TableError::Form("a property has an empty name; rename it".to_owned()));
    }
    let width = table.heads.len();
    if width.saturating_mul(table.rows.len()) > MAX_CELLS {
        return Err(TableError::TooManyCells);
    }
    table.rows.iter_mut().for_each(|row| row.cells.resize(width, Cell::Empty));
    Ok(table)
}

/// The members of an object, in the order written.
fn members(line: &[u8]) -> Result<Vec<(String, Box<RawValue>)>, serde_json::Error> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Box<RawValue>)>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    struct Line(Vec<(String, Box<RawValue>)>);
    impl<'de> serde::Deserialize<'de> for Line {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(Members).map(Line)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let Line(members) = Line::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(members)
}
