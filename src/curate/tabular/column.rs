//! What a column's values say together: the order of day and month, what commas mean, and how numbers
//! are written.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::date::{self, Date, DateOrder};
use super::findings::{At, TableFindings};
use super::value::{self, DecimalMark};
use super::{Cell, ColumnUse, Separator, Table, Target, clean};
use crate::export::{Export, Severity};
use crate::record::{AttributeType, Property, Shape};

#[derive(Debug, Clone, Copy)]
pub struct ConvertOptions<'c> {
    /// The declared categories' names, by id.
    pub categories: &'c BTreeMap<String, String>,
    pub date_order: Option<DateOrder>,
    /// The export being updated, whose values are also taken into account.
    pub known: Option<&'c Export>,
    /// Apply the fixes that don't require judgement.
    pub fix: bool,
    pub merge: MergeRows,
}

/// Which rows with the same id, or the same name and URL, are merged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum MergeRows {
    None,
    /// Those that differ only in lists, such as one row for each of a product's categories.
    #[default]
    Agreeing,
    All,
}

impl MergeRows {
    /// The rows to merge, given the options `--merge-rows` and `--unique-ids`.
    pub const fn chosen(merge_rows: bool, unique_ids: bool) -> Self {
        match (merge_rows, unique_ids) {
            (true, _) => Self::All,
            (false, true) => Self::None,
            (false, false) => Self::Agreeing,
        }
    }
}

/// How many pieces between commas a single value may consist of.
const MOST_JOINED: usize = 8;

/// What was inferred from a column's values.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) order: Option<DateOrder>,
    /// Whether the property is a list, so that more than `;`, `|` and line breaks separate its values.
    is_list: bool,
    pub(super) splits_always: bool,
    /// How many cells contain each piece between commas, and whether it's ever the first of several,
    /// and ever a later one.
    pieces: HashMap<String, (usize, bool, bool)>,
    /// Whether pieces come in any order, as in a list: in `Birmingham, UK`, they don't.
    is_free: bool,
    /// Values that occur on their own.
    alone: HashSet<String>,
    /// Values with commas that are certainly one value.
    whole: HashSet<String>,
}

impl Settled {
    pub(super) fn items(&self, text: &str) -> Vec<String> {
        if self.is_list { value::split_listed(text) } else { value::split(text) }
    }

    /// Adds a value that isn't a list.
    fn add(&mut self, value: &str) {
        let pieces = self.separated(value);
        self.pieces.entry(value.to_owned()).or_default().0 += 1;
        if pieces.len() > 1 {
            self.whole.insert(pieces.join(", "))
        } else {
            self.alone.insert(value.to_owned())
        };
    }

    /// Adds the texts of a column's cells.
    fn add_cells<'t>(&mut self, cells: impl Iterator<Item = &'t str>) {
        for text in cells {
            let items = self.items(text);
            if items.len() > 1 {
                for item in &items {
                    self.add(item);
                }
                continue;
            }
            let pieces: Vec<String> = self.separated(text).into_iter().map(str::to_owned).collect();
            if pieces.len() < 2 {
                self.alone.insert(text.to_owned());
            }
            for (index, piece) in pieces.iter().enumerate() {
                let (count, is_first, is_later) = self.pieces.entry(piece.clone()).or_default();
                *count += 1;
                *is_first |= index == 0 && pieces.len() > 1;
                *is_later |= index > 0;
            }
        }
        self.is_free = self.pieces.values().any(|(_, is_first, is_later)| *is_first && *is_later);
    }

    fn separated<'t>(&self, text: &'t str) -> Vec<&'t str> {
        value::pieces(text, if self.is_list { &[",", " / "] } else { &[","] }, self.splits_always)
    }

    /// The pieces between commas, except inside values that are certainly one.
    pub(super) fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let pieces = self.separated(text);
        if self.whole.is_empty() {
            return pieces;
        }
        let offset = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
        let mut joined: Vec<&str> = Vec::new();
        let mut rest = &pieces[..];
        while let Some(first) = rest.first() {
            let mut lengths = (2..=rest.len().min(MOST_JOINED)).rev();
            let length = lengths.find(|length| self.whole.contains(&rest[..*length].join(", "))).unwrap_or(1);
            let last = rest[length - 1];
            joined.push(&text[offset(first)..offset(last) + last.len()]);
            rest = &rest[length..];
        }
        joined
    }

    /// Whether to split text at its commas. That's certain if each piece also occurs on its own, and
    /// likely if the column puts pieces in any order and at least half of this text's pieces recur.
    pub(super) fn splits(&self, text: &str) -> bool {
        let pieces = self.pieces(text);
        if pieces.len() < 2 || self.splits_always {
            return pieces.len() > 1;
        }
        let recurring = pieces.iter().filter(|piece| self.pieces.get(**piece).is_some_and(|of| of.0 > 1)).count();
        pieces.iter().all(|piece| self.alone.contains(*piece)) || (self.is_free && recurring * 2 >= pieces.len())
    }
}

pub(super) fn settle(
    table: &Table,
    column: usize,
    column_use: &ColumnUse,
    options: &ConvertOptions<'_>,
    findings: &mut TableFindings,
) -> Settled {
    let (property, kind) = match &column_use.target {
        Target::Property(property) => (*property, None),
        Target::Attribute(name, kind) => (name.as_str(), *kind),
        Target::Evidence(head) if head.ends_with(".checked_on") => ("evidence_checked_on", None),
        Target::Evidence(_) | Target::Json(_) | Target::Translation(_) | Target::Additional(_) | Target::Ignored => {
            return Settled::default();
        }
    };
    let mut settled =
        Settled { splits_always: column_use.separator == Some(Separator::Commas(true)), ..Settled::default() };
    if property == "evidence_checked_on" || kind == Some(AttributeType::Date) {
        settled.order = options.date_order.or_else(|| order(table, column, findings));
    } else if Property::shape_of(property) == Some(Shape::Texts) || kind == Some(AttributeType::Text) {
        settled.is_list = kind.is_none();
        let declared = options.categories.values().filter(|_| property == "categories").map(String::as_str);
        let known = options.known.iter().flat_map(|export| &export.software);
        let known = known.flat_map(|of| of.value(property).texts()).map(|text| &**text);
        declared.chain(known).for_each(|value| settled.add(value));
        settled.add_cells(texts(table, column).filter_map(|(_, text)| text));
    } else if property == "rating" || kind == Some(AttributeType::Number) {
        check_marks(table, column, findings);
    }
    settled
}

/// A column's non-empty text cells, with the indices of their rows.
fn texts(table: &Table, column: usize) -> impl Iterator<Item = (usize, Option<&str>)> {
    let cells = table.rows.iter().enumerate().map(move |(row, cells)| (row, cells.cells[column].text()));
    cells.filter(|(_, text)| text.is_some())
}

/// The order of day and month that fits all of the column's dates.
fn order(table: &Table, column: usize, findings: &mut TableFindings) -> Option<DateOrder> {
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
                findings.add(Severity::Error, table, At::cell(*row, column), text, message, fix);
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
                    findings.add(Severity::Error, table, At::cell(*row, column), text, &message, fix);
                }
            }
            // If day and month are equal, both orders mean the same date.
            Some(DateOrder::DayFirst)
        }
    }
}

/// Reports numbers whose comma or point may separate either thousands or decimals: those with three
/// digits after it, unless the column's other numbers show which mark separates decimals.
fn check_marks(table: &Table, column: usize, findings: &mut TableFindings) {
    let marked = texts(table, column).filter(|(row, _)| matches!(table.rows[*row].cells[column], Cell::Text(_)));
    let marked: Vec<(usize, &str, DecimalMark)> =
        marked.filter_map(|(row, text)| Some((row, text?, value::decimal(text?)?.1?))).collect();
    let may_be_thousands = |text: &str| text.rsplit([',', '.']).next().is_some_and(|behind| behind.len() == 3);
    let is_decimal = |mark| marked.iter().any(|(_, text, of)| *of == mark && !may_be_thousands(text));
    let (commas, points) = (is_decimal(DecimalMark::Comma), is_decimal(DecimalMark::Point));
    for (row, text, mark) in &marked {
        let (own, other) = if *mark == DecimalMark::Comma { (commas, points) } else { (points, commas) };
        let (message, fix) = match (own, other) {
            (true, false) => continue,
            (_, true) => ("the numbers use both `,` and `.` as decimal marks", "use the same one everywhere"),
            (false, false) => (
                "it's unclear whether the mark in the numbers separates thousands or decimals",
                "write them without thousands separators, or import the column as text (`attribute:NAME:text` in the mapping)",
            ),
        };
        if may_be_thousands(text) {
            findings.add(Severity::Error, table, At::cell(*row, column), text, message, fix);
        }
    }
}

/// The first value in a column.
pub fn sample(table: &Table, column: usize) -> &str {
    let has_links = table.heads.contains(&clean::link_head(&table.heads[column]));
    let shown = table.rows.iter().map(|row| match &row.cells[column] {
        Cell::Link(link) if has_links => link.0.as_str(),
        cell => cell.shown(),
    });
    let mut filled = shown.filter(|text| !text.is_empty());
    filled.next().unwrap_or_default()
}
