//! Infers an attribute's type from its column.

use crate::curate::tabular::date::{self, Date};
use crate::curate::tabular::{Cell, Table, value};
use crate::record::AttributeType;

/// The type that all values in a column share. JSON values have the type they're written as.
pub(super) fn attribute_type(table: &Table, column: usize) -> AttributeType {
    let says_something = |cell: &&Cell| match cell {
        Cell::Empty | Cell::Error(_) | Cell::Formula(_) => false,
        Cell::Json(raw) => raw != "null",
        Cell::Text(text) => !value::is_nothing(text),
        Cell::Link(_) => true,
    };
    let is_day = |text: &str| {
        date::read(text, table.is_1904).is_some_and(|read| read.date != Date::Partial)
            && !text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let fits = |kind: AttributeType, cell: &Cell| match (cell, kind) {
        (Cell::Json(raw), _) => AttributeType::fitting(raw)[kind as usize],
        (Cell::Text(text), AttributeType::Boolean) => value::boolean(text).is_some(),
        (Cell::Text(text), AttributeType::Number) => value::decimal(&value::unguarded(text)).is_some(),
        (Cell::Text(text), AttributeType::Date) => is_day(&value::unguarded(text)),
        _ => kind == AttributeType::Text,
    };
    let cells = || table.rows.iter().map(|row| &row.cells[column]).filter(says_something);
    let narrow = [AttributeType::Boolean, AttributeType::Number, AttributeType::Date];
    let found = narrow.into_iter().find(|kind| cells().all(|cell| fits(*kind, cell)));
    found.filter(|_| cells().next().is_some()).unwrap_or(AttributeType::Text)
}
