//! Tables of others (CSV, workbooks, NDJSON) made into an export document, and exports written as tables.
//!
//! A table is read whole ([`read`]), its columns are mapped to the properties of records ([`Mapping`]), and its rows become a
//! document ([`document`]) which the layers of `export` check. [`write_csv`] is the way back: importing what it wrote yields the
//! same records.

mod delimited;
mod document;
mod lines;
mod mapping;
mod value;
mod workbook;
mod write;

pub use document::{DateOrder, Document, Envelope, Problem, document};
pub use mapping::{Mapping, MappingError, Target};
pub use write::{write_csv, write_ndjson};

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Most rows that are read: what a worksheet holds, and a bound of the memory.
pub const MAX_ROWS: usize = 1_048_576;
/// Most columns that are read, as in a worksheet.
pub const MAX_COLUMNS: usize = 16_384;
/// Most cells that are read, empty ones included: a bound of the memory where a worksheet has one filled cell at its far end.
const MAX_CELLS: usize = 50_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A text, as it is written.
    Text(String),
    /// A JSON value, as it is written.
    Json(String),
    /// An error of a spreadsheet program, such as `#N/A`.
    Error(String),
}

/// A row that isn't empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Number of the line or worksheet row, from 1.
    pub number: u64,
    /// A cell for each head.
    pub cells: Vec<Cell>,
}

/// A table in memory.
#[derive(Debug, Default)]
pub struct Table {
    /// Heads of the columns, each once; an empty head is that of a column which isn't used.
    pub heads: Vec<String>,
    /// The rows below.
    pub rows: Vec<Row>,
    /// Conversions that were needed to read it.
    pub notes: Vec<String>,
}

/// Why a table can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the file can't be read")]
    Unreadable(#[from] io::Error),
    #[error("the file is larger than {limit} bytes; raise --max-file-bytes or split it")]
    TooLarge { limit: u64 },
    #[error("the table has more than {MAX_ROWS} rows; split it")]
    TooManyRows,
    #[error("the table has more than {MAX_COLUMNS} columns; remove those that aren't needed")]
    TooManyColumns,
    #[error("the table spans more than {MAX_CELLS} cells; remove stray cells far from the table, or split it")]
    TooManyCells,
    #[error("the table has no row below its heads; the first row has to name the columns, the others a product each")]
    NoRows,
    #[error("columns {first} and {second} both have the head `{head}`; rename one of them")]
    DuplicateHead {
        head: String,
        /// Number of the first column, from 1.
        first: usize,
        /// Number of the second column, from 1.
        second: usize,
    },
    #[error("{0}")]
    Form(String),
    #[error("the file isn't CSV")]
    Csv(#[from] csv::Error),
    #[error("the file isn't a workbook that can be read; save it as .xlsx again, or as CSV")]
    Workbook(#[from] calamine::XlsxError),
    #[error("{reason}; name one with --sheet: {}", .sheets.join(", "))]
    Sheet {
        /// The fault.
        reason: String,
        /// The worksheets.
        sheets: Vec<String>,
    },
    #[error("line {line} isn't a JSON object")]
    Line {
        /// The line, from 1.
        line: u64,
        /// Why.
        #[source]
        error: serde_json::Error,
    },
}

/// Gets the bytes done and the bytes in all while a table is read.
pub type Progress<'p> = &'p dyn Fn(u64, u64);

/// Rows between two calls of a [`Progress`].
const STEP: usize = 1000;

/// Reads a table: a workbook or NDJSON by its extension, anything else as CSV.
pub fn read(path: &Path, sheet: Option<&str>, max_bytes: u64, progress: Progress<'_>) -> Result<Table, TableError> {
    // Before it is opened: opening a named pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(TableError::Form("this isn't an ordinary file; save the table as a file and name that".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(TableError::TooLarge { limit: max_bytes });
    }
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    parse(&bytes, &extension.to_string_lossy(), sheet, progress)
}

/// Reads a table from the bytes of a file with an extension in lower case.
pub fn parse(bytes: &[u8], extension: &str, sheet: Option<&str>, progress: Progress<'_>) -> Result<Table, TableError> {
    let is_workbook = bytes.starts_with(b"PK\x03\x04");
    if sheet.is_some() && !is_workbook {
        return Err(TableError::Form("--sheet is of workbooks (.xlsx), and this isn't one; leave it out".to_owned()));
    }
    let mut table = match extension {
        _ if is_workbook => workbook::read(bytes, sheet, progress)?,
        "ndjson" | "jsonl" => lines::read(bytes, progress)?,
        "json" => {
            let text = "this is JSON: an export needs no import (see check); name a file with an object a line .ndjson";
            return Err(TableError::Form(text.to_owned()));
        }
        _ => delimited::read(bytes, progress)?,
    };
    if table.heads.len() > MAX_COLUMNS {
        return Err(TableError::TooManyColumns);
    }
    check_heads(&table.heads)?;
    table.rows.retain(|row| row.cells.iter().any(|cell| *cell != Cell::Empty));
    if table.rows.is_empty() {
        return Err(TableError::NoRows);
    }
    Ok(table)
}

fn check_heads(heads: &[String]) -> Result<(), TableError> {
    let mut seen = std::collections::HashMap::new();
    for (index, head) in heads.iter().enumerate().filter(|(_, head)| !head.is_empty()) {
        if let Some(first) = seen.insert(head, index + 1) {
            return Err(TableError::DuplicateHead { head: head.clone(), first, second: index + 1 });
        }
    }
    Ok(())
}

/// A row as the cells of its texts.
fn text_cell(text: &str) -> Cell {
    const ERRORS: [&str; 9] = ["#N/A", "#NV", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!"];
    let trimmed = text.trim();
    if trimmed.is_empty() {
        Cell::Empty
    } else if ERRORS.contains(&trimmed) {
        Cell::Error(trimmed.to_owned())
    } else {
        Cell::Text(trimmed.to_owned())
    }
}
