//! Workbooks (.xlsx).

use std::collections::HashMap;
use std::io::Cursor;

use calamine::{Data, DataRef, DataType as _, Reader as _, SheetType, SheetVisible, Xlsx, XlsxFormulaMetadata};

use super::{
    Budget, Cell, MAX_COLUMNS, Progress, ReadOptions, Row, STEP, Table, TableError, archive, column_letters, date,
    header, number_format, text_cell,
};

use crate::text::count::{agreeing, counted};

/// A hyperlink that spans more cells than this is ignored.
const MAX_LINKED_CELLS: u64 = 10_000;
/// How many cells in total may take their address from a hyperlink.
const MAX_LINKS: usize = 1_000_000;
/// How many cells may have a number format that adds something to the number.
const MAX_FORMATS: usize = 5_000_000;
/// Maximum length of a formula in a message, in characters.
const FORMULA_CHARS: usize = 60;

type Workbook<'b> = Xlsx<Cursor<&'b [u8]>>;
/// Number formats by style.
type Codes = Vec<Option<String>>;
/// Row and column, from 0.
type Place = (u32, u32);

pub(super) fn read(bytes: &[u8], options: ReadOptions<'_>, progress: Progress<'_>) -> Result<Table, TableError> {
    archive::check(bytes)?;
    let mut workbook: Workbook<'_> = Xlsx::new(Cursor::new(bytes))?;
    let name = choose(&workbook, options.sheet)?;
    let is_1904 = workbook.has_1904_epoch();
    let mut notes = Vec::new();
    let links = links(&mut workbook, &name, &mut notes)?;
    let (codes, formats) = formats(&mut workbook, &name)?;
    // Reads cell by cell, so that a single faraway cell doesn't create a range of several
    // gigabytes.
    let mut cells = workbook.worksheet_cells_reader(&name)?;
    // The last row according to the worksheet, used to estimate progress.
    let last_row = u64::from(cells.dimensions().end.0).max(1);
    let total = bytes.len() as u64;
    let mut budget = Budget::default();
    let mut rows: Vec<Row> = Vec::new();
    let mut row = Row { number: 1, cells: Vec::new() };
    while let Some(cell) = cells.next_cell_with_formula_metadata()? {
        let (at, column) = (cell.pos, cell.pos.1 as usize);
        let number = u64::from(at.0) + 1;
        if number != row.number {
            push(&mut rows, std::mem::replace(&mut row, Row { number, cells: Vec::new() }), &mut budget)?;
            if number.is_multiple_of(STEP as u64) {
                progress((total * number / last_row).min(total), total);
            }
        }
        let place = || format!("row {number}, column {}", column_letters(column));
        if column >= MAX_COLUMNS {
            return Err(TableError::TooManyColumns { place: format!("row {number}") });
        }
        let value = match (
            convert(&cell.value, formats.get(&at).and_then(|style| codes.get(*style)?.as_deref()), is_1904),
            cell.formula,
        ) {
            (Cell::Empty, Some(formula)) if cell.value == DataRef::Empty => Cell::Formula(shown_formula(formula)),
            (Cell::Text(text), _) if links.contains_key(&at) => {
                Cell::Link(Box::new((text, links.get(&at).cloned().unwrap_or_default())))
            }
            (value, _) => value,
        };
        if value == Cell::Empty {
            continue;
        }
        budget.cell(value.text().unwrap_or_default().len(), place)?;
        if row.cells.len() <= column {
            row.cells.resize(column + 1, Cell::Empty);
        }
        row.cells[column] = value;
    }
    push(&mut rows, row, &mut budget)?;
    let mut table = header::table(rows, options.header_row, Table { is_1904, notes, ..Table::default() })?;
    let widest = table.rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
    table.heads.resize(table.heads.len().max(widest), String::new());
    header::check_area(&table)?;
    header::square(&mut table);
    Ok(table)
}

fn push(rows: &mut Vec<Row>, row: Row, budget: &mut Budget) -> Result<(), TableError> {
    if row.cells.is_empty() {
        return Ok(());
    }
    budget.row(row.cells.len())?;
    rows.push(row);
    Ok(())
}

/// The requested worksheet, or else the only visible one.
fn choose(workbook: &Workbook<'_>, wanted: Option<&str>) -> Result<String, TableError> {
    let worksheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let shown: Vec<_> = worksheets.clone().filter(|sheet| sheet.visible == SheetVisible::Visible).collect();
    let fail = |reason: String| {
        let sheets = worksheets.clone().map(|sheet| sheet.name.clone()).collect();
        Err(TableError::Sheet { reason, sheets })
    };
    match wanted {
        Some(name) if worksheets.clone().any(|sheet| sheet.name == name) => Ok(name.to_owned()),
        Some(name) => fail(format!("the workbook has no worksheet `{name}`")),
        None if shown.len() == 1 => Ok(shown[0].name.clone()),
        None => fail(format!("the workbook has {} visible worksheets", shown.len())),
    }
}

/// The addresses of cells with a hyperlink to another document.
fn links(
    workbook: &mut Workbook<'_>,
    sheet: &str,
    notes: &mut Vec<String>,
) -> Result<HashMap<Place, String>, TableError> {
    let mut links = HashMap::new();
    let mut skipped = 0;
    for link in workbook.hyperlinks_by_sheet_name(sheet)? {
        let Some(mut target) = link.target else { continue };
        if let Some(location) = link.location {
            target = format!("{target}#{location}");
        }
        if link.range.len() > MAX_LINKED_CELLS || links.len() > MAX_LINKS {
            skipped += 1;
            continue;
        }
        for row in link.range.start.0..=link.range.end.0 {
            for column in link.range.start.1..=link.range.end.1 {
                links.insert((row, column), target.clone());
            }
        }
    }
    if skipped > 0 {
        notes.push(format!(
            "addresses not read: {} that {} more than {MAX_LINKED_CELLS} cells or {} over the \
             limit of {MAX_LINKS} cells",
            counted(skipped, "link"),
            agreeing(skipped, "spans", "span"),
            agreeing(skipped, "is", "are")
        ));
    }
    Ok(links)
}

/// The number formats by style, and the styles of cells whose format adds something to a number.
fn formats(workbook: &mut Workbook<'_>, sheet: &str) -> Result<(Codes, HashMap<Place, usize>), TableError> {
    let mut cells = workbook.worksheet_cells_reader(sheet)?;
    let adds = |code: &str| number_format::shown(1.0, code).is_some();
    let codes: Codes = cells
        .styles()
        .iter()
        .map(|style| style.number_format.as_ref().map(|format| format.format_code.clone()).filter(|code| adds(code)))
        .collect();
    let mut formats = HashMap::new();
    if codes.iter().all(Option::is_none) {
        return Ok((codes, formats));
    }
    while let Some((row, column, style)) = cells.next_style_id()? {
        if codes.get(style).is_some_and(Option::is_some) {
            formats.insert((row, column), style);
        }
        if formats.len() > MAX_FORMATS {
            return Err(TableError::TooManyCells);
        }
    }
    Ok((codes, formats))
}

fn convert(value: &DataRef<'_>, format: Option<&str>, is_1904: bool) -> Cell {
    match value {
        DataRef::Empty => Cell::Empty,
        DataRef::Error(error) => Cell::Error(error.to_string()),
        DataRef::DateTime(moment) if moment.is_datetime() => {
            Cell::Text(date::from_cell(moment.as_f64(), is_1904).unwrap_or_else(|| moment.as_f64().to_string()))
        }
        DataRef::Float(number) => {
            let shown = format.and_then(|format| number_format::shown(*number, format));
            Cell::Text(shown.unwrap_or_else(|| number.to_string()))
        }
        other => {
            let data = Data::from(other.clone());
            text_cell(&data.as_string().unwrap_or_else(|| data.to_string()))
        }
    }
}

fn shown_formula(formula: XlsxFormulaMetadata) -> String {
    match formula {
        XlsxFormulaMetadata::Normal { formula } | XlsxFormulaMetadata::Shared { formula, .. } => {
            format!("={}", formula.chars().take(FORMULA_CHARS).collect::<String>())
        }
        _ => "=…".to_owned(),
    }
}
