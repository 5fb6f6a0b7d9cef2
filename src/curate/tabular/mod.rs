//! Tables of others (CSV, workbooks, JSON) made into an export document, and exports written as tables.
//!
//! ```text
//! bytes ─▶ rows ─▶ header row ─▶ Table ─▶ Mapping ─▶ convert ─▶ records ─┬▶ document (a new export)
//!                                                                      └▶ update (an export that exists)
//! ```
//!
//! [`write_csv`] is the way back: importing what it wrote yields the same records.

mod archive;
mod check;
mod column;
mod convert;
mod date;
mod delimited;
mod document;
mod edit;
mod encoding;
mod findings;
mod header;
mod json;
mod mapping;
mod number_format;
mod translation;
mod update;
mod value;
mod workbook;
mod write;

pub use check::{Checked, check, rejected};
pub use column::ConvertOptions;
pub use column::sample;
pub use convert::{Conversion, Record, convert};
pub use date::DateOrder;
pub use document::{Envelope, document};
pub use findings::{Findings, Group, Level};
pub use mapping::{ColumnUse, Mapping, MappingError, Target, Translation};
pub use update::{Choice, Match, UpdateError, Updated, update};
pub use write::{Rejected, write_csv, write_ndjson, write_rejected};

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Most rows that are read: what a worksheet holds, and a bound of the memory.
pub const MAX_ROWS: usize = 1_048_576;
/// Most columns that are read, as in a worksheet.
pub const MAX_COLUMNS: usize = 16_384;
/// Most cells that are read, empty ones included: a bound of the memory if a worksheet has one filled cell at its far end.
const MAX_CELLS: usize = 20_000_000;
/// Most bytes of one cell; a spreadsheet program stops at 32,767 characters.
const MAX_CELL_BYTES: usize = 1024 * 1024;
/// Most bytes of all cells.
const MAX_TEXT_BYTES: usize = 512 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Empty,
    /// A text, as it is written.
    Text(String),
    /// A JSON value, as it is written.
    Json(String),
    /// An error of a spreadsheet program, such as `#N/A`.
    Error(String),
    /// A formula whose value the workbook doesn't store.
    Formula(String),
    /// A text with the address of its hyperlink.
    Link(Box<(String, String)>),
}

impl Cell {
    /// The text for a sample or an example.
    fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Json(text) | Self::Error(text) | Self::Formula(text) => text,
            Self::Link(link) => &link.1,
            Self::Empty => "",
        }
    }
}

impl Cell {
    /// The text that a person sees, if it's plain text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Link(link) => Some(&link.0),
            Self::Empty | Self::Json(_) | Self::Error(_) | Self::Formula(_) => None,
        }
    }
}

/// A row that isn't empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Number as a spreadsheet program shows it, of the line or of the record, from 1.
    pub number: u64,
    /// A cell for each head.
    pub cells: Vec<Cell>,
}

/// What the rows of a table are called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    #[default]
    Row,
    /// A line of NDJSON.
    Line,
    /// An element of a JSON document.
    Record,
}

/// A table in memory.
#[derive(Debug, Default)]
pub struct Table {
    /// Heads of the columns, each once: one that occurs again has its column's letter behind it. Empty without a head.
    pub heads: Vec<String>,
    /// The columns that have one head, by index; the first keeps it.
    pub repeated: Vec<Vec<usize>>,
    pub rows: Vec<Row>,
    pub row_kind: RowKind,
    /// Whether serial numbers of days count from 1904.
    pub is_1904: bool,
    /// Conversions that were needed to read it.
    pub notes: Vec<String>,
}

impl Table {
    /// A row as messages name it, such as `row 5`.
    pub fn row_name(&self, number: u64) -> String {
        let kind = match self.row_kind {
            RowKind::Row => "row",
            RowKind::Line => "line",
            RowKind::Record => "record",
        };
        format!("{kind} {number}")
    }

    /// A column as messages name it, such as ``column C `Website` ``.
    pub fn column_name(&self, column: usize) -> String {
        let head = self.heads.get(column).map_or("", String::as_str);
        match (self.row_kind, head) {
            (RowKind::Row, "") => format!("column {}", column_letters(column)),
            (RowKind::Row, head) => format!("column {} `{head}`", column_letters(column)),
            (_, head) => format!("property `{head}`"),
        }
    }

    /// Whether it has the properties that every record needs, as `export` writes them: then it holds records of a directory,
    /// and all of its properties are meant.
    fn has_records(&self) -> bool {
        let has = |name: &&str| self.heads.iter().any(|head| head.strip_prefix("json:").unwrap_or(head) == *name);
        ["id", "name", "url", "evidence_status"].iter().all(has)
    }
}

/// The letters of a column, from 0: `A`, `Z`, `AA`.
pub fn column_letters(column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(b'A' + u8::try_from(rest % 26).unwrap_or_default());
        rest /= 26;
    }
    letters.iter().rev().map(|letter| char::from(*letter)).collect()
}

/// Why a table can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("the file can't be read")]
    Unreadable(#[from] io::Error),
    #[error("the file is larger than {limit} bytes; raise --max-file-bytes or split it")]
    TooLarge { limit: u64 },
    #[error("the table has more than {MAX_ROWS} rows, which is the limit; split it")]
    TooManyRows,
    #[error("{place} has more than {MAX_COLUMNS} columns, which is the limit; remove those that aren't needed")]
    TooManyColumns { place: String },
    #[error(
        "the table spans more than {MAX_CELLS} cells, which is the limit; remove stray cells far from the table, or split it"
    )]
    TooManyCells,
    #[error("{place}: the cell has more than {MAX_CELL_BYTES} bytes, which is the limit; shorten it")]
    CellTooLong { place: String },
    #[error("the cells have more than {MAX_TEXT_BYTES} bytes together, which is the limit; split the table")]
    TooMuchText,
    #[error("the table has no row below its heads; the first row has to name the columns, the others a product each")]
    NoRows,
    #[error("{0}")]
    Form(String),
    #[error("the file isn't a workbook that can be read; save it as .xlsx again, or as CSV")]
    Workbook(#[from] calamine::XlsxError),
    #[error("{reason}; name one with --sheet: {}", .sheets.join(", "))]
    Sheet {
        reason: String,
        /// The worksheets.
        sheets: Vec<String>,
    },
    #[error("line {line} isn't a JSON object")]
    Line {
        /// From 1.
        line: u64,
        #[source]
        error: serde_json::Error,
    },
}

/// Gets the bytes done and the bytes in all while a table is read.
pub type Progress<'p> = &'p dyn Fn(u64, u64);

/// Rows between two calls of a [`Progress`].
const STEP: usize = 1000;

/// How to read a table.
#[derive(Debug, Default, Clone, Copy)]
pub struct ReadOptions<'o> {
    /// The worksheet, or the list in a JSON document; needed if there are several.
    pub sheet: Option<&'o str>,
    /// A label of the Encoding Standard; found out if there's none.
    pub encoding: Option<&'o str>,
    /// The number of the row that names the columns; found out if there's none.
    pub header_row: Option<u64>,
}

/// Reads a table: a workbook by its content, JSON by its extension, anything else as CSV.
pub fn read(
    path: &Path,
    options: ReadOptions<'_>,
    max_bytes: u64,
    progress: Progress<'_>,
) -> Result<Table, TableError> {
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
    parse(&bytes, &extension.to_string_lossy(), options, progress)
}

/// Reads a table from the bytes of a file with an extension in lower case.
pub fn parse(
    bytes: &[u8],
    extension: &str,
    options: ReadOptions<'_>,
    progress: Progress<'_>,
) -> Result<Table, TableError> {
    let is_workbook = bytes.starts_with(b"PK\x03\x04");
    let is_json = matches!(extension, "ndjson" | "jsonl" | "json");
    let refuse = |text: &str| Err(TableError::Form(text.to_owned()));
    if options.sheet.is_some() && !is_workbook && extension != "json" {
        return refuse("--sheet is of workbooks (.xlsx) and of JSON with several lists; leave it out");
    }
    if options.encoding.is_some() && (is_workbook || is_json) {
        return refuse("--encoding is of CSV; workbooks and JSON state their own, so leave it out");
    }
    if options.header_row.is_some() && is_json && !is_workbook {
        return refuse("--header-row is of CSV and workbooks; in JSON the keys name the columns, so leave it out");
    }
    let mut table = match extension {
        _ if is_workbook => workbook::read(bytes, options, progress)?,
        "json" => json::read_document(bytes, options.sheet)?,
        _ if is_json => json::read_lines(bytes, progress)?,
        _ => delimited::read(bytes, options, progress)?,
    };
    table.rows.retain(|row| row.cells.iter().any(|cell| *cell != Cell::Empty));
    if table.rows.is_empty() {
        return Err(TableError::NoRows);
    }
    Ok(table)
}

/// Counts what a reader takes in, so that it stops before the memory is spent.
#[derive(Debug, Default)]
struct Budget {
    rows: usize,
    cells: usize,
    bytes: usize,
}

impl Budget {
    /// A row of so many cells.
    fn row(&mut self, cells: usize) -> Result<(), TableError> {
        self.rows += 1;
        self.cells += cells;
        if self.rows > MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        if self.cells > MAX_CELLS { Err(TableError::TooManyCells) } else { Ok(()) }
    }

    /// A cell of so many bytes.
    fn cell(&mut self, bytes: usize, place: impl FnOnce() -> String) -> Result<(), TableError> {
        if bytes > MAX_CELL_BYTES {
            return Err(TableError::CellTooLong { place: place() });
        }
        self.bytes += bytes;
        if self.bytes > MAX_TEXT_BYTES { Err(TableError::TooMuchText) } else { Ok(()) }
    }
}

/// The cell of a text.
fn text_cell(text: &str) -> Cell {
    const ERRORS: [&str; 9] = ["#N/A", "#NV", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!"];
    let trimmed = value::trim(text);
    if trimmed.is_empty() {
        Cell::Empty
    } else if ERRORS.contains(&trimmed) {
        Cell::Error(trimmed.to_owned())
    } else {
        Cell::Text(trimmed.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::column_letters;

    #[test]
    fn columns_have_the_letters_of_a_spreadsheet() {
        let letters: Vec<_> = [0, 25, 26, 701, 702, 16_383].map(column_letters).into();
        assert_eq!(letters, ["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
    }
}
