//! Turns foreign tables (CSV, workbooks, JSON, YAML, Markdown) into an export document, and writes exports as
//! tables.
//!
//! ```text
//! bytes ─▶ rows ─▶ header row ─▶ Table ─▶ Mapping ─▶ convert ─▶ records ─┬▶ document (a new export)
//!                                                                      └▶ update (an existing export)
//! ```
//!
//! [`write_csv`] is the inverse: importing what it wrote yields the same records.

mod check;
mod clean;
mod column;
mod convert;
mod date;
mod delimited;
mod edit;
mod findings;
mod header;
mod json;
mod layout;
mod mapping;
mod mapping_file;
mod markdown;
mod ods;
mod synonyms;
mod target;
mod update;
mod value;
mod workbook;
mod write;

pub use check::{Checked, check, rejected};
pub use column::{ConvertOptions, MergeRows, sample};
pub use convert::{Conversion, Record, convert};
pub use date::DateOrder;
pub use findings::{Cause, Example, Rejected, TableFindings};
pub use mapping::{ColumnUse, Made, Mapping, MappingError, Separator, column_of, meant};
pub use mapping_file::MappingFile;
pub use target::{Target, Translation};
pub use update::{Choice, Envelope, Match, UpdateError, UpdateOptions, Updated, document, update};
pub use value::guarded;
use write::REASON;
pub use write::{write_csv, write_ndjson, write_rejected};

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::yaml;

/// Maximum number of rows: as many as a worksheet can contain, which also limits memory.
pub const MAX_ROWS: usize = 1_048_576;
/// Maximum number of columns, as in a worksheet.
pub const MAX_COLUMNS: usize = 16_384;
/// Maximum number of cells, including empty ones. Limits memory use if a worksheet has a stray cell
/// far away from the table.
const MAX_CELLS: usize = 20_000_000;
/// Maximum size of a cell in bytes. Spreadsheet programs allow at most 32,767 characters.
const MAX_CELL_BYTES: usize = 1024 * 1024;
/// Maximum size of all cells in bytes.
const MAX_TEXT_BYTES: usize = 512 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cell {
    Empty,
    /// Text, unchanged.
    Text(String),
    /// A number that the workbook stores as one.
    Number(String),
    /// A word for "no value", such as `n/a`; JSON if the table is.
    Missing(String),
    /// A JSON value, unchanged.
    Json(String),
    /// A formula error, such as `#N/A`.
    Error(String),
    /// A formula whose value the workbook doesn't store.
    Formula(String),
    /// Text, and the address it's hyperlinked to.
    Link(Box<(String, String)>),
}

impl Cell {
    /// The text to show in a sample or an example.
    fn shown(&self) -> &str {
        match self {
            Self::Text(text)
            | Self::Number(text)
            | Self::Missing(text)
            | Self::Json(text)
            | Self::Error(text)
            | Self::Formula(text) => text,
            Self::Link(link) => &link.1,
            Self::Empty => "",
        }
    }

    /// The first characters to show in a note.
    fn start(&self) -> String {
        self.shown().chars().take(40).collect()
    }

    /// The text that people see, if it's plain text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Link(link) => Some(&link.0),
            Self::Empty | Self::Missing(_) | Self::Json(_) | Self::Error(_) | Self::Formula(_) => None,
        }
    }
}

/// A row that isn't empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The row number shown by a spreadsheet program, or the number of the line or record, from 1.
    pub number: u64,
    /// A cell for each header.
    pub cells: Vec<Cell>,
}

impl Row {
    fn filled(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| **cell != Cell::Empty)
    }

    /// The number of cells up to the last filled one.
    fn width(&self) -> usize {
        self.cells.iter().rposition(|cell| *cell != Cell::Empty).map_or(0, |last| last + 1)
    }
}

/// What to call a table's rows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    #[default]
    Row,
    /// A line of NDJSON.
    Line,
    /// An element of a JSON document.
    Record,
}

/// How a CSV file is written.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    pub delimiter: u8,
    /// Whether the file needs a byte order mark, so that spreadsheet programs recognise UTF-8.
    pub has_mark: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', has_mark: false }
    }
}

/// What is wrong with the way a row is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The row's number.
    pub row: u64,
    pub message: String,
    pub fix: String,
}

/// A table in memory.
#[derive(Debug, Default)]
pub struct Table {
    /// The column headers, all distinct: repeated ones get their column's letter appended. Empty
    /// for columns without a header.
    pub heads: Vec<String>,
    /// Groups of columns that share a header, by index. Each group's first column keeps the header.
    pub repeated: Vec<Vec<usize>>,
    pub rows: Vec<Row>,
    /// How many of the last columns come from the mapping's constants and templates.
    pub made: usize,
    pub row_kind: RowKind,
    /// Whether date serial numbers count from 1904.
    pub is_1904: bool,
    /// The files that the rows come from, if each is one.
    pub files: Vec<String>,
    /// How rows are written in CSV.
    pub dialect: Dialect,
    /// Whether the file quotes all text, so that only words without quotes mean "no value".
    pub has_quoted_text: bool,
    /// Rows that aren't built like the others.
    pub faults: Vec<Fault>,
    /// Conversions that were necessary to read the table.
    pub notes: Vec<String>,
}

impl Table {
    /// Removes the column with the reasons that [`write_rejected`] added. Returns whether there was
    /// one.
    pub fn remove_reasons(&mut self) -> bool {
        let is_there = self.heads.last().is_some_and(|head| head.trim_end_matches('_') == REASON);
        if is_there {
            let width = self.heads.len() - 1;
            self.heads.truncate(width);
            self.rows.iter_mut().for_each(|row| row.cells.truncate(width));
        }
        is_there
    }

    /// How messages name a row, such as `row 5`.
    pub fn row_name(&self, number: u64) -> String {
        let index = usize::try_from(number).unwrap_or_default().wrapping_sub(1);
        if let Some(file) = self.files.get(index) {
            return file.clone();
        }
        let kind = match self.row_kind {
            RowKind::Row => "row",
            RowKind::Line => "line",
            RowKind::Record => "record",
        };
        format!("{kind} {number}")
    }

    /// How messages name a column, such as ``column C `Website` ``.
    pub fn column_name(&self, column: usize) -> String {
        let head = self.heads.get(column).map_or("", String::as_str);
        match (self.row_kind, head) {
            _ if column + self.made >= self.heads.len() => format!("`{head}` of the mapping"),
            (RowKind::Row, "") => format!("column {}", column_letters(column)),
            (RowKind::Row, head) => format!("column {} `{head}`", column_letters(column)),
            (_, head) => format!("property `{head}`"),
        }
    }

    /// Fills a column's empty cells with the value above.
    fn fill_down(&mut self, head: &str) -> Result<(), TableError> {
        let column = self.heads.iter().position(|other| other == head).ok_or_else(|| {
            let heads: Vec<_> = self.heads.iter().filter(|head| !head.is_empty()).map(String::as_str).collect();
            let text = format!("--blank-means-above {head}: the table has no such column; it has {}", heads.join(", "));
            TableError::Form(text)
        })?;
        let (mut above, mut count, mut budget) = (Cell::Empty, 0, Budget::default());
        for row in &mut self.rows {
            if row.cells[column] != Cell::Empty {
                above = row.cells[column].clone();
            } else if above != Cell::Empty {
                count += 1;
                budget.cell(above.shown().len(), || format!("row {}", row.number))?;
                row.cells[column] = above.clone();
            }
        }
        self.notes.push(format!(
            "blank cells of {} that were filled with the value above: {count}",
            self.column_name(column)
        ));
        Ok(())
    }

    /// Whether the table has the columns that every record needs, named as `export` names them. If
    /// so, it contains a directory's records, and all of its columns are used.
    fn has_records(&self) -> bool {
        let has = |name: &&str| self.heads.iter().any(|head| head.strip_prefix("json:").unwrap_or(head) == *name);
        ["id", "name", "url", "evidence_status"].iter().all(has)
    }
}

/// A column's letters, given its index from 0: `A`, `Z`, `AA`.
pub fn column_letters(column: usize) -> String {
    let digits = std::iter::successors(Some(column), |rest| (rest / 26).checked_sub(1));
    let letters: Vec<char> = digits.filter_map(|digit| ('A'..='Z').nth(digit % 26)).collect();
    letters.into_iter().rev().collect()
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
    #[error("the cells have more than {MAX_TEXT_BYTES} bytes in total, which is the limit; split the table")]
    TooMuchText,
    #[error(
        "the table has no rows below its headers; the first row must name the columns, and every other row must describe a product"
    )]
    NoRows,
    #[error("{0}")]
    Form(String),
    #[error("the file isn't a readable workbook; save it as .xlsx or .ods again, or as CSV")]
    Workbook(#[from] calamine::XlsxError),
    #[error("{reason}; choose one with --sheet: {}", .sheets.join(", "))]
    Sheet {
        reason: String,
        /// The worksheets or lists to choose from.
        sheets: Vec<String>,
    },
    #[error("the file isn't valid YAML")]
    Yaml(#[from] yaml::YamlError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Called with the number of bytes read so far and the total while a table is being read.
pub type Progress<'p> = &'p dyn Fn(u64, u64);

/// The number of rows between calls to a [`Progress`].
const STEP: usize = 1000;

#[derive(Debug, Default, Clone, Copy)]
pub struct ReadOptions<'o> {
    /// The headers of columns in which a blank cell means the value above it.
    pub blank_means_above: &'o [String],
    /// More words for "no value".
    pub null: &'o [String],
    /// The worksheet, or the list in a JSON document; required if there are several.
    pub sheet: Option<&'o str>,
    /// A label from the Encoding Standard; detected if it's missing.
    pub encoding: Option<&'o str>,
    /// The number of the header row; detected if it's missing.
    pub header_row: Option<u64>,
}

/// Reads a table: a workbook by its content, JSON by its extension, and anything else as CSV. A folder
/// is a table of the files in it.
pub fn read(
    path: &Path,
    options: ReadOptions<'_>,
    max_bytes: u64,
    progress: Progress<'_>,
) -> Result<Table, TableError> {
    if std::fs::metadata(path)?.is_dir() {
        let mut table = json::read_folder(path, max_bytes, progress)?;
        clean::clean(&mut table, options.null)?;
        return Ok(table);
    }
    let bytes = read_file(path, max_bytes)?;
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    parse(&bytes, &extension.to_string_lossy(), options, progress)
}

fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, TableError> {
    // Checked before opening: opening a named pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(TableError::Form(
            "this isn't a regular file; save the table as a file and specify that".to_owned(),
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(TableError::TooLarge { limit: max_bytes });
    }
    Ok(bytes)
}

/// Reads a table from a file's bytes, given the extension in lower case.
pub fn parse(
    bytes: &[u8],
    extension: &str,
    options: ReadOptions<'_>,
    progress: Progress<'_>,
) -> Result<Table, TableError> {
    let is_workbook = bytes.starts_with(b"PK\x03\x04");
    let is_json = matches!(extension, "ndjson" | "jsonl" | "json" | "yaml" | "yml");
    let is_markdown = matches!(extension, "md" | "markdown");
    let refuse = |text: &str| Err(TableError::Form(text.to_owned()));
    if let Some(format) = foreign_format(bytes, extension).filter(|_| !is_json && !is_markdown) {
        return refuse(&format!("this is {format}, which can't be read; save the table as CSV, .xlsx or .ods"));
    }
    let has_sheets = is_workbook || is_markdown || matches!(extension, "json" | "yaml" | "yml");
    if options.sheet.is_some() && !has_sheets {
        return refuse("--sheet is for workbooks, and for JSON, YAML and Markdown with several lists; leave it out");
    }
    if options.encoding.is_some() && (is_workbook || is_json) {
        return refuse("--encoding is for CSV; workbooks, JSON and YAML specify their own, so leave it out");
    }
    if options.header_row.is_some() && (is_json || is_markdown) && !is_workbook {
        return refuse(
            "--header-row is for CSV and workbooks; here the file itself names the columns, so leave it out",
        );
    }
    let mut table = match extension {
        _ if is_workbook => workbook::read(bytes, options, progress)?,
        "json" => json::read_document(bytes, options.sheet)?,
        "yaml" | "yml" => {
            let text = delimited::decode(bytes, Some("utf-8"), &mut Vec::new())?;
            json::read_document(yaml::to_json(&text, MAX_TEXT_BYTES)?.as_bytes(), options.sheet)?
        }
        _ if is_json => json::read_lines(bytes, progress)?,
        _ if is_markdown => {
            let mut notes = Vec::new();
            let text = delimited::decode(bytes, options.encoding, &mut notes)?;
            let mut table = markdown::read(&text, options)?;
            table.notes.append(&mut notes);
            table
        }
        _ => delimited::read(bytes, options, progress)?,
    };
    table.rows.retain(|row| row.filled().next().is_some());
    if table.rows.is_empty() {
        return Err(TableError::NoRows);
    }
    for head in options.blank_means_above {
        table.fill_down(head)?;
    }
    clean::clean(&mut table, options.null)?;
    Ok(table)
}

/// The name of a format that isn't read, by the file's content or extension.
fn foreign_format(bytes: &[u8], extension: &str) -> Option<&'static str> {
    let start = &bytes[..bytes.len().min(1024)];
    let start = String::from_utf8_lossy(start).trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).to_lowercase();
    let begins = |with: &str| start.starts_with(with);
    Some(match extension {
        _ if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) => "an old Excel workbook (.xls)",
        _ if begins("%pdf-") => "a PDF document",
        "toml" => "TOML",
        "opml" => "OPML",
        "html" | "htm" => "HTML",
        _ if begins("<!doctype html") || begins("<html") || begins("<table") => "HTML",
        _ if start.contains("<opml") => "OPML",
        _ if begins("<?xml") => "XML",
        "numbers" => "a Numbers document",
        "docx" | "odt" => "a text document",
        "xlsb" => "a binary Excel workbook (.xlsb)",
        _ => return None,
    })
}

/// Counts what a reader consumes, so that it stops before memory runs out.
#[derive(Debug, Default)]
struct Budget {
    rows: usize,
    cells: usize,
    bytes: usize,
}

impl Budget {
    /// Counts a row with this many cells.
    fn row(&mut self, cells: usize) -> Result<(), TableError> {
        self.rows += 1;
        self.cells += cells;
        if self.rows > MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        if self.cells > MAX_CELLS { Err(TableError::TooManyCells) } else { Ok(()) }
    }

    /// Counts a cell with this many bytes.
    fn cell(&mut self, bytes: usize, place: impl FnOnce() -> String) -> Result<(), TableError> {
        if bytes > MAX_CELL_BYTES {
            return Err(TableError::CellTooLong { place: place() });
        }
        self.bytes += bytes;
        if self.bytes > MAX_TEXT_BYTES { Err(TableError::TooMuchText) } else { Ok(()) }
    }
}

/// A value as JSON.
fn json_of(value: impl Into<serde_json::Value>) -> String {
    value.into().to_string()
}

/// Turns text into a cell.
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
