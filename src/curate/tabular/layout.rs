//! What a worksheet's layout says about its rows: merged cells stand for each of their rows, hidden
//! rows and columns aren't meant to be published, and a row of merged cells groups the headers below.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufReader, Cursor};

use calamine::Dimensions;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

use super::{Budget, Cell, MAX_CELLS, MAX_COLUMNS, Row, TableError, column_letters, header};
use crate::text::count::{agreeing, listed};

/// How many row numbers a note lists.
const SHOWN_ROWS: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Merged cells: rows and columns from 0, both ends included.
    pub(super) merged: Vec<Dimensions>,
    /// From 1, as shown.
    pub(super) hidden_rows: HashSet<u64>,
    pub(super) hidden_columns: HashSet<usize>,
}

impl Layout {
    /// Reads which rows and columns of a worksheet in a workbook (.xlsx) are hidden, in one pass over
    /// its XML.
    pub(super) fn of_xlsx(bytes: &[u8], sheet: &str, merged: Vec<Dimensions>) -> Result<Self, TableError> {
        let mut layout = Self { merged, ..Self::default() };
        let Some(path) = worksheet_path(bytes, sheet)? else { return Ok(layout) };
        let mut number = 0;
        elements(bytes, &path, |name, of| {
            let is_hidden = attribute(of, "hidden").is_some_and(|hidden| matches!(hidden.as_str(), "1" | "true"));
            match name {
                "row" => {
                    number = attribute(of, "r").and_then(|row| row.parse().ok()).unwrap_or(number + 1);
                    if is_hidden {
                        layout.hidden_rows.insert(number);
                    }
                }
                "col" if is_hidden => {
                    let end = |name| attribute(of, name).and_then(|column| column.parse::<usize>().ok());
                    let (Some(min), Some(max)) = (end("min"), end("max")) else { return };
                    layout.hidden_columns.extend(min.saturating_sub(1)..max.min(MAX_COLUMNS));
                }
                _ => {}
            }
        })?;
        Ok(layout)
    }

    /// Applies the layout to rows in ascending order: fills merged cells down, joins grouped headers,
    /// and leaves out what is hidden.
    pub(super) fn apply(
        &self,
        rows: &mut Vec<Row>,
        budget: &mut Budget,
        notes: &mut Vec<String>,
    ) -> Result<(), TableError> {
        let filled = self.fill_down(rows, budget)?;
        notes.extend(
            (filled > 0)
                .then(|| format!("cells that were filled with the value of the cell they're merged with: {filled}")),
        );
        self.join_headers(rows, budget, notes)?;
        let mut hidden = Vec::new();
        rows.retain(|row| {
            let is_hidden = self.hidden_rows.contains(&row.number);
            hidden.extend(is_hidden.then(|| row.number.to_string()));
            !is_hidden
        });
        if !hidden.is_empty() {
            let (noun, listed) = (agreeing(hidden.len(), "row", "rows"), listed(&hidden, ", ", SHOWN_ROWS));
            notes.push(format!("left out because the worksheet hides or filters them: {noun} {listed}"));
        }
        let mut columns: BTreeMap<usize, String> = BTreeMap::new();
        for row in rows {
            for (column, cell) in
                row.cells.iter_mut().enumerate().filter(|(column, _)| self.hidden_columns.contains(column))
            {
                let cell = std::mem::replace(cell, Cell::Empty);
                if cell != Cell::Empty {
                    columns.entry(column).or_insert_with(|| cell.start());
                }
            }
        }
        if !columns.is_empty() {
            let names: Vec<_> =
                columns.iter().map(|(column, head)| format!("{} `{head}`", column_letters(*column))).collect();
            let noun = agreeing(names.len(), "column", "columns");
            notes.push(format!("left out because the worksheet hides them: {noun} {}", names.join(", ")));
        }
        Ok(())
    }

    fn fill_down(&self, rows: &mut [Row], budget: &mut Budget) -> Result<usize, TableError> {
        let mut filled = 0;
        for Dimensions { start: first, end: last } in self.merged.iter().filter(|merged| merged.end.0 > merged.start.0)
        {
            let (top, column) = (u64::from(first.0) + 1, first.1 as usize);
            let start = rows.partition_point(|row| row.number < top);
            let Some(value) = rows.get(start).filter(|row| row.number == top).and_then(|row| row.cells.get(column))
            else {
                continue;
            };
            let value = value.clone();
            for row in rows[start + 1..].iter_mut().take_while(|row| row.number <= u64::from(last.0) + 1) {
                budget.cell(value.shown().len(), || format!("row {}", row.number))?;
                filled += 1;
                if filled > MAX_CELLS {
                    return Err(TableError::TooManyCells);
                }
                if row.cells.len() <= column {
                    row.cells.resize(column + 1, Cell::Empty);
                }
                if row.cells[column] == Cell::Empty {
                    row.cells[column] = value.clone();
                }
            }
        }
        Ok(filled)
    }

    /// Joins a row that groups the headers below it with these headers.
    fn join_headers(
        &self,
        rows: &mut Vec<Row>,
        budget: &mut Budget,
        notes: &mut Vec<String>,
    ) -> Result<(), TableError> {
        let groups = |row: &Row| {
            let filled = row.filled().count();
            let of_row = self.merged.iter().filter(|merged| u64::from(merged.start.0) + 1 == row.number);
            of_row.filter(|merged| filled > 1 && merged.end.1 > merged.start.1).copied().collect::<Vec<_>>()
        };
        for at in 0..rows.len().saturating_sub(1).min(header::SEARCHED_ROWS) {
            let groups = groups(&rows[at]);
            let is_next = rows[at + 1].number == rows[at].number + 1;
            if groups.is_empty() || !is_next {
                continue;
            }
            let mut top = rows.remove(at);
            for merged in groups {
                let (first, last) = (merged.start.1 as usize, merged.end.1 as usize);
                let last = last.min(rows[at].cells.len().max(1) - 1);
                top.cells.resize(top.cells.len().max(last + 1), Cell::Empty);
                for column in first + 1..=last {
                    budget.cell(top.cells[first].shown().len(), || format!("row {}", top.number))?;
                    top.cells[column] = top.cells[first].clone();
                }
            }
            notes.push(header::join(&top, &mut rows[at]));
            break;
        }
        Ok(())
    }
}

pub(super) fn attribute(of: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = of.try_get_attribute(name).ok()??;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

pub(super) fn damaged(error: impl std::fmt::Display) -> TableError {
    TableError::Form(format!("the workbook is damaged: {error}; save it as .xlsx or .ods again, or as CSV"))
}

/// Calls `visit` with the local name of each element in a part of the archive.
pub(super) fn elements(
    bytes: &[u8],
    path: &str,
    mut visit: impl FnMut(&str, &BytesStart<'_>),
) -> Result<(), TableError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let Ok(part) = archive.by_name(path) else { return Ok(()) };
    let mut reader = Reader::from_reader(BufReader::new(part));
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(damaged)? {
            Event::Start(of) | Event::Empty(of) => visit(of.local_name().as_ref(), &of),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// The path of a worksheet in the archive.
fn worksheet_path(bytes: &[u8], sheet: &str) -> Result<Option<String>, TableError> {
    let mut id = None;
    elements(bytes, "xl/workbook.xml", |name, of| {
        if name == "sheet" && attribute(of, "name").as_deref() == Some(sheet) {
            id = attribute(of, "r:id");
        }
    })?;
    let mut path = None;
    elements(bytes, "xl/_rels/workbook.xml.rels", |name, of| {
        if name == "Relationship" && id.is_some() && attribute(of, "Id") == id {
            let target = attribute(of, "Target").unwrap_or_default();
            path = Some(target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned));
        }
    })?;
    Ok(path)
}
