//! Workbooks (.xlsx).

use std::io::Cursor;

use calamine::{Data, DataType as _, Reader as _, Xlsx};

use super::{Cell, MAX_CELLS, MAX_ROWS, Progress, Row, STEP, Table, TableError, text_cell, value};

/// Most bytes of text for a byte of the file: a small archive can hold a large worksheet.
const UNPACKED_FACTOR: usize = 200;

pub(super) fn read(bytes: &[u8], sheet: Option<&str>, progress: Progress<'_>) -> Result<Table, TableError> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes))?;
    let name = choose(workbook.sheet_names(), sheet)?;
    // Cell by cell, so that one cell at the far end of a worksheet doesn't make a range of gigabytes.
    let mut cells = workbook.worksheet_cells_reader(&name)?;
    // As the worksheet states it; the bytes done are those of its rows.
    let last_row = u64::from(cells.dimensions().end.0).max(1);
    let total = bytes.len() as u64;
    let mut table = Table::default();
    let mut row: Vec<Cell> = Vec::new();
    let (mut number, mut count, mut size) = (0_u32, 0_usize, 0_usize);
    while let Some(cell) = cells.next_cell()? {
        let (at, column) = cell.get_position();
        if at != number {
            push(&mut table, number, std::mem::take(&mut row))?;
            number = at;
            if (number as usize).is_multiple_of(STEP) {
                progress((total * u64::from(number) / last_row).min(total), total);
            }
        }
        let column = column as usize;
        if column >= super::MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        let value = convert(&Data::from(cell.get_value().clone()));
        size += if let Cell::Text(text) = &value { text.len() } else { 0 };
        if size > bytes.len().saturating_mul(UNPACKED_FACTOR) {
            return Err(TableError::Form("the worksheet is far larger than its file; save it again".to_owned()));
        }
        if row.len() <= column {
            count += column + 1 - row.len();
            if count > MAX_CELLS {
                return Err(TableError::TooManyCells);
            }
            row.resize(column + 1, Cell::Empty);
        }
        row[column] = value;
    }
    push(&mut table, number, row)?;
    let width = table.heads.len();
    for row in &mut table.rows {
        if row.cells.iter().skip(width).any(|cell| *cell != Cell::Empty) {
            let text =
                format!("row {} has a cell in a column without a head; name the column or empty the cell", row.number);
            return Err(TableError::Form(text));
        }
        row.cells.resize(width, Cell::Empty);
    }
    Ok(table)
}

fn choose(sheets: Vec<String>, wanted: Option<&str>) -> Result<String, TableError> {
    let fail = |reason: String, sheets| Err(TableError::Sheet { reason, sheets });
    match wanted {
        Some(name) if sheets.iter().any(|sheet| sheet == name) => Ok(name.to_owned()),
        Some(name) => fail(format!("the workbook has no worksheet `{name}`"), sheets),
        None if sheets.len() == 1 => Ok(sheets.into_iter().next().unwrap_or_default()),
        None => fail(format!("the workbook has {} worksheets", sheets.len()), sheets),
    }
}

/// The first row with a text is that of the heads.
fn push(table: &mut Table, at: u32, row: Vec<Cell>) -> Result<(), TableError> {
    if row.iter().all(|cell| *cell == Cell::Empty) {
        return Ok(());
    }
    if table.heads.is_empty() {
        table.heads = row
            .into_iter()
            .map(|cell| if let Cell::Text(text) = cell { value::unguarded(&text).to_owned() } else { String::new() })
            .collect();
        return Ok(());
    }
    if table.rows.len() == MAX_ROWS {
        return Err(TableError::TooManyRows);
    }
    table.rows.push(Row { number: u64::from(at) + 1, cells: row });
    Ok(())
}

fn convert(data: &Data) -> Cell {
    match data {
        Data::Empty => Cell::Empty,
        Data::Error(error) => Cell::Error(error.to_string()),
        Data::DateTime(moment) if moment.is_datetime() => {
            let day = value::from_serial(moment.as_f64());
            Cell::Text(day.map_or_else(|| moment.as_f64().to_string(), |day| day.to_string()))
        }
        other => text_cell(&other.as_string().unwrap_or_else(|| other.to_string())),
    }
}
