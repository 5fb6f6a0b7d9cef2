//! What can be inferred only from all of a column's values: the order of day and month, and whether
//! commas separate list items.

use std::collections::{BTreeMap, HashMap};

use super::date::{self, Date, DateOrder};
use super::findings::{At, Findings, Level};
use super::value::{self, DecimalMark};
use super::{ColumnUse, Table, Target};
use crate::export::Export;
use crate::record::{AttributeType, Property, Shape};

/// Options for converting a table.
#[derive(Debug, Clone, Copy)]
pub struct ConvertOptions<'c> {
    /// The declared categories' names, by id.
    pub categories: &'c BTreeMap<String, String>,
    pub date_order: Option<DateOrder>,
    /// The export being updated, whose values are also taken into account.
    pub known: Option<&'c Export>,
    /// Apply the fixes that don't require judgement.
    pub fix: bool,
    /// Add a suffix to ids derived from names if they collide.
    pub unique_ids: bool,
}

/// What was inferred from a column's values.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) order: Option<DateOrder>,
    /// How often each list item occurs in the column. Text between commas counts as an item.
    pieces: HashMap<String, usize>,
    splits_always: bool,
}

impl Settled {
    /// Whether to split text at its commas, which requires at least half of the pieces to occur
    /// elsewhere in the column.
    pub(super) fn splits(&self, text: &str) -> bool {
        let pieces = value::at_commas(text);
        let known = pieces.iter().filter(|piece| self.pieces.get(**piece).is_some_and(|rows| *rows > 1)).count();
        pieces.len() > 1 && (self.splits_always || known * 2 >= pieces.len())
    }
}

pub(super) fn shape(property: &str) -> Option<Shape> {
    Property::of_software(property).map(|known| known.shape)
}

pub(super) fn settle(
    table: &Table,
    column: usize,
    column_use: &ColumnUse,
    options: &ConvertOptions<'_>,
    findings: &mut Findings,
) -> Settled {
    let (property, kind) = match &column_use.target {
        Target::Property(property) => (*property, None),
        Target::Attribute(name, kind) => (name.as_str(), *kind),
        Target::Json(_) | Target::Translation(_) | Target::Additional(_) | Target::Ignored => {
            return Settled::default();
        }
    };
    let mut settled = Settled { splits_always: column_use.split_commas, ..Settled::default() };
    if property == "evidence_checked_on" || kind == Some(AttributeType::Date) {
        settled.order = options.date_order.or_else(|| order(table, column, findings));
    } else if shape(property) == Some(Shape::Texts) || kind == Some(AttributeType::Text) {
        for text in texts(table, column).filter_map(|(_, cell)| cell) {
            let items = if value::has_marks(text) {
                value::split(text)
            } else {
                value::at_commas(text).into_iter().map(str::to_owned).collect()
            };
            for item in items {
                *settled.pieces.entry(item).or_default() += 1;
            }
        }
        for value in options.known.iter().flat_map(|export| &export.software).flat_map(|of| of.value(property).texts())
        {
            *settled.pieces.entry(value.to_string()).or_default() += 1;
        }
    } else if property == "rating" {
        check_marks(table, column, findings);
    } else if kind == Some(AttributeType::Number) {
        check_marks(table, column, findings);
        check_thousands(table, column, findings);
    }
    settled
}

/// A column's non-empty text cells, with the indices of their rows.
fn texts(table: &Table, column: usize) -> impl Iterator<Item = (usize, Option<&str>)> {
    let cells = table.rows.iter().enumerate().map(move |(row, cells)| (row, cells.cells[column].text()));
    cells.filter(|(_, text)| text.is_some_and(|text| !value::is_nothing(text)))
}

/// The order of day and month that fits all of the column's dates.
fn order(table: &Table, column: usize, findings: &mut Findings) -> Option<DateOrder> {
    let dates: Vec<(usize, &str, u8, u8, u16)> = texts(table, column)
        .filter_map(|(row, text)| match date::read(&value::unguarded(text?), table.is_1904)?.date {
            Date::Either(a, b, year) => Some((row, text?, a, b, year)),
            Date::Day(_) | Date::Partial => None,
        })
        .collect();
    let day_first = dates.iter().find(|(_, _, a, ..)| *a > 12);
    let month_first = dates.iter().find(|(_, _, _, b, _)| *b > 12);
    match (day_first, month_first) {
        (Some(day), Some(month)) => {
            let message = "some dates put the day first, others the month";
            let fix =
                "write them as YYYY-MM-DD, or set the order with --date-order to find the dates in the other order";
            for (row, text, ..) in [day, month] {
                findings.add(Level::Error, table, At { row: Some(*row), column: Some(column) }, text, message, fix);
            }
            None
        }
        (Some(_), None) => Some(DateOrder::DayFirst),
        (None, Some(_)) => Some(DateOrder::MonthFirst),
        (None, None) => {
            let mut unclear = dates.iter().filter(|(_, _, a, b, _)| a != b).peekable();
            if let Some((_, text, a, b, year)) = unclear.peek() {
                let read = |order| date::ordered(*a, *b, *year, order).map(|day| day.to_string()).unwrap_or_default();
                let message = format!(
                    "it's unclear whether the day or the month comes first: `{text}` could be {} or {}",
                    read(DateOrder::DayFirst),
                    read(DateOrder::MonthFirst)
                );
                for (row, text, ..) in unclear {
                    let fix = "set it with --date-order dmy or --date-order mdy";
                    findings.add(
                        Level::Error,
                        table,
                        At { row: Some(*row), column: Some(column) },
                        text,
                        &message,
                        fix,
                    );
                }
            }
            // If day and month are equal, both orders mean the same date.
            Some(DateOrder::DayFirst)
        }
    }
}

/// Reports numbers if a column uses both decimal separators, because one of them may actually
/// separate thousands.
fn check_marks(table: &Table, column: usize, findings: &mut Findings) {
    let marked: Vec<(usize, &str, DecimalMark)> =
        texts(table, column).filter_map(|(row, text)| Some((row, text?, value::decimal(text?)?.1?))).collect();
    let count = |mark| marked.iter().filter(|(.., of)| *of == mark).count();
    let (commas, points) = (count(DecimalMark::Comma), count(DecimalMark::Point));
    if commas == 0 || points == 0 {
        return;
    }
    let rarer = if commas < points { DecimalMark::Comma } else { DecimalMark::Point };
    for (row, text, _) in marked.iter().filter(|(.., mark)| *mark == rarer) {
        let message = "the numbers use both `,` and `.` as decimal marks";
        let at = At { row: Some(*row), column: Some(column) };
        findings.add(Level::Error, table, at, text, message, "use the same one everywhere");
    }
}

/// Reports numbers whose comma or point may separate either thousands or decimals, because all of
/// the column's numbers have three digits after it.
fn check_thousands(table: &Table, column: usize, findings: &mut Findings) {
    let marked: Vec<(usize, &str)> = texts(table, column)
        .filter_map(|(row, text)| Some((row, text.filter(|text| text.contains([',', '.']))?)))
        .collect();
    let is_unclear = |(_, text): &(usize, &str)| text.rsplit([',', '.']).next().is_some_and(|behind| behind.len() == 3);
    if !marked.iter().all(is_unclear) {
        return;
    }
    for (row, text) in marked {
        let message = "it's unclear whether the mark in the numbers separates thousands or decimals";
        let fix = "write them without thousands separators, or import the column as text (`attribute:NAME:text` in the mapping)";
        let at = At { row: Some(row), column: Some(column) };
        findings.add(Level::Error, table, at, text, message, fix);
    }
}

/// The first value in a column.
pub fn sample(table: &Table, column: usize) -> &str {
    let mut filled = table.rows.iter().map(|row| row.cells[column].shown()).filter(|text| !text.is_empty());
    filled.next().unwrap_or_default()
}
