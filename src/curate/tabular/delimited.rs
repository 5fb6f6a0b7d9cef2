//! CSV (RFC 4180) and its delimiter.
//!
//! The crate `csv` isn't used for reading: it silently keeps reading after a quote that is never
//! closed or that closes in the middle of a cell, and it doesn't count blank lines, which
//! spreadsheet programs show as rows.

use super::header::SEARCHED_ROWS;
use super::{
    Budget, Cell, MAX_COLUMNS, Progress, ReadOptions, Row, STEP, Table, TableError, column_letters, encoding, header,
    text_cell,
};

use crate::text::count::{agreeing, counted};

/// How much of a file is used to detect its delimiter, in bytes.
const SAMPLE: usize = 64 * 1024;
/// How many records are used to detect the delimiter.
const SAMPLE_RECORDS: usize = 50;

pub(super) fn read(bytes: &[u8], options: ReadOptions<'_>, progress: Progress<'_>) -> Result<Table, TableError> {
    let mut notes = Vec::new();
    let text = encoding::decode(bytes, options.encoding, &mut notes)?;
    let (stated, start) = stated_delimiter(&text);
    let text = &text[start..];
    let delimiter = stated.unwrap_or_else(|| delimiter(text));
    let mut scanner = Scanner::new(text, delimiter);
    scanner.line += u64::from(start > 0);
    let mut budget = Budget::default();
    let mut rows = Vec::new();
    let mut number = 0;
    while let Some(record) = scanner.record()? {
        number += 1;
        let place = |column| format!("row {number}, column {}", column_letters(column));
        let last = record.iter().rposition(|cell| !cell.trim().is_empty());
        // The header may end with unnamed columns.
        let width = if rows.len() < SEARCHED_ROWS { record.len() } else { last.map_or(0, |last| last + 1) };
        let cells = if last.is_some() { &record[..width] } else { &[] };
        budget.row(cells.len())?;
        for (column, cell) in cells.iter().enumerate() {
            budget.cell(cell.len(), || place(column))?;
        }
        if !cells.is_empty() {
            rows.push(Row { number, cells: cells.iter().map(|cell| text_cell(cell)).collect() });
        }
        if rows.len().is_multiple_of(STEP) {
            progress(scanner.at as u64, text.len() as u64);
        }
    }
    let swallowed = std::mem::take(&mut scanner.long_cells);
    let mut table = header::table(rows, options.header_row, Table { notes, ..Table::default() })?;
    let width = table.heads.len();
    let filled = |row: &Row| row.cells.iter().rposition(|cell| *cell != Cell::Empty).map_or(0, |last| last + 1);
    if let Some(row) = table.rows.iter().find(|row| filled(row) > width) {
        let text = format!(
            "row {} has {}, but there {} {}; quote cells that contain the delimiter `{}`",
            row.number,
            counted(filled(row), "cell"),
            agreeing(width, "is", "are"),
            counted(width, "column"),
            char::from(delimiter).escape_debug()
        );
        return Err(TableError::Form(text));
    }
    let suspicious = swallowed.into_iter().find(|(_, widest)| width > 1 && *widest >= width);
    if let Some((line, _)) = suspicious {
        table.notes.push(format!(
            "the quoted cell that starts on line {line} contains a line that looks like a row; check for its closing quote"
        ));
    }
    header::square(&mut table);
    Ok(table)
}

/// The delimiter specified in a first line such as `sep=;`, which spreadsheet programs don't show,
/// and where the table starts.
fn stated_delimiter(text: &str) -> (Option<u8>, usize) {
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let line = text[..end].trim_matches('"');
    let stated = line.get(..4).filter(|name| name.eq_ignore_ascii_case("sep=")).map(|_| &line.as_bytes()[4..]);
    match stated {
        Some([delimiter]) if delimiter.is_ascii() && *delimiter != b'"' => {
            let rest = &text[end..];
            (Some(*delimiter), end + if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) })
        }
        _ => (None, 0),
    }
}

/// The delimiter that splits most rows into the same number of cells, at least two; a comma if none
/// does.
fn delimiter(text: &str) -> u8 {
    let sample = &text[..text.floor_char_boundary(SAMPLE)];
    let score = |delimiter: u8| {
        let mut scanner = Scanner::new(sample, delimiter);
        let mut widths = std::collections::BTreeMap::<usize, usize>::new();
        let mut count = 0;
        while let Ok(Some(record)) = scanner.record() {
            // The sample's last record may be cut off.
            if scanner.at == sample.len() && count > 0 && sample.len() < text.len() || count == SAMPLE_RECORDS {
                break;
            }
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                count += 1;
                *widths.entry(record.len()).or_default() += 1;
            }
        }
        let common = widths.into_iter().filter(|(width, _)| *width > 1).max_by_key(|(width, rows)| (*rows, *width));
        common.map_or((0, 0), |(width, rows)| (rows * 100 / count.max(1), width))
    };
    // `max_by_key` returns the last of several maxima, so the preferred delimiter comes last.
    *b"|\t;,".iter().max_by_key(|delimiter| score(**delimiter)).unwrap_or(&b',')
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The number of the line that contains `at`, from 1.
    line: u64,
    delimiter: u8,
    /// Multi-line quoted cells: the line where each starts, and the largest number of delimited
    /// parts in one of its lines.
    long_cells: Vec<(u64, usize)>,
}

impl<'t> Scanner<'t> {
    const fn new(text: &'t str, delimiter: u8) -> Self {
        Self { text, at: 0, line: 1, delimiter, long_cells: Vec::new() }
    }

    /// The next record's cells; `None` at the end.
    fn record(&mut self) -> Result<Option<Vec<std::borrow::Cow<'t, str>>>, TableError> {
        if self.at == self.text.len() {
            return Ok(None);
        }
        let mut cells = Vec::new();
        loop {
            if cells.len() == MAX_COLUMNS {
                return Err(TableError::TooManyColumns { place: format!("the row on line {}", self.line) });
            }
            cells.push(if self.peek() == Some(b'"') { self.quoted()?.into() } else { self.plain().into() });
            match self.peek() {
                Some(byte) if byte == self.delimiter => self.at += 1,
                _ => break,
            }
        }
        self.end_of_line();
        Ok(Some(cells))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn plain(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let length = memchr::memchr3(self.delimiter, b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn quoted(&mut self) -> Result<String, TableError> {
        let opened = self.line;
        let mut cell = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr::memchr(b'"', rest.as_bytes()) else {
                let text =
                    format!("line {opened}: the quote that starts a cell here is never closed; close it, or remove it");
                return Err(TableError::Form(text));
            };
            cell.push_str(&rest[..length]);
            self.at += length + 1;
            if self.peek() != Some(b'"') {
                break;
            }
            cell.push('"');
            self.at += 1;
        }
        self.line += line_ends(&cell);
        if self.line > opened {
            let delimiter = char::from(self.delimiter);
            let widest = cell.split(['\n', '\r']).map(|line| line.matches(delimiter).count() + 1).max();
            self.long_cells.push((opened, widest.unwrap_or_default()));
        }
        let rest = self.plain();
        if !rest.trim().is_empty() {
            let text = format!(
                "line {opened}: the quoted cell that starts here ends before `{}` on line {}; close the quote at the cell's end, and \
                 double quotes inside it",
                rest.chars().take(20).collect::<String>(),
                self.line
            );
            return Err(TableError::Form(text));
        }
        Ok(cell)
    }

    fn end_of_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let length = if rest.starts_with(b"\r\n") { 2 } else { usize::from(!rest.is_empty()) };
        self.at += length;
        self.line += u64::from(length > 0);
    }
}

/// The number of line endings: `\r\n`, `\n` or `\r`.
fn line_ends(text: &str) -> u64 {
    let ends = text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    (ends - text.matches("\r\n").count()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(csv: &str) -> Result<Table, String> {
        read(csv.as_bytes(), ReadOptions::default(), &|_, _| {}).map_err(|error| error.to_string())
    }

    #[test]
    fn the_delimiter_is_the_one_that_splits_all_rows_evenly() {
        assert_eq!(delimiter("name;price\nA;1,50\nB;2,50\n"), b';');
        assert_eq!(delimiter("name,tags\nA,a;b\nB,c\n"), b',');
        assert_eq!(delimiter("name\ttext\nA\ta, b; c\n"), b'\t');
        assert_eq!(delimiter("name|text|tags\nA|a, b|x;y\n"), b'|');
        assert_eq!(delimiter("# title, of 2025\n\nname;url;tags\nA;b;c\nD;e;f\n"), b';');
        assert_eq!(delimiter("name\nA\n"), b',');
    }

    #[test]
    fn an_explicit_delimiter_is_used_and_its_line_is_not_counted_as_a_row() {
        let table = table("sep=|\r\nname|url\r\nA;B,C|x\r\n").expect("a table");
        assert_eq!((table.heads.join(" "), table.rows[0].number), ("name url".into(), 2));
        assert_eq!(table.rows[0].cells[0], Cell::Text("A;B,C".into()));
    }

    #[test]
    fn rows_are_numbered_as_in_a_spreadsheet_program() {
        for end in ["\n", "\r\n", "\r"] {
            let csv = ["name,url", "A,\"x", "y\"", "", "B,z", ""].join(end);
            let table = table(&csv).expect("a table");
            let numbers: Vec<_> = table.rows.iter().map(|row| row.number).collect();
            assert_eq!(numbers, [2, 4], "{end:?}");
        }
    }

    #[test]
    fn an_unclosed_quote_is_an_error_that_names_the_line() {
        let error = table("name,url,text\nA,x,\"open\nB,y,plain\nC,z,plain\n").expect_err("an open quote");
        assert!(error.starts_with("line 2: the quote that starts a cell here is never closed"), "{error}");
        let error = table("name,url,text\nA,x,\"open\nB,y,\"quoted\"\n").expect_err("an open quote");
        assert!(
            error.starts_with("line 2: the quoted cell that starts here ends before `quoted\"` on line 3"),
            "{error}"
        );
        let swallowed = table("name,url,text\nA,x,\"open\nB,y,plain\nC,z,end\"\n").expect("a table");
        assert!(swallowed.notes[0].contains("starts on line 2"), "{:?}", swallowed.notes);
        let plain = table("name,url,text\nA,x,24\" screen\nB,y,\"two \"\"words\"\"\"\n").expect("a table");
        assert_eq!(plain.rows[0].cells[2], Cell::Text("24\" screen".into()));
        assert_eq!(plain.rows[1].cells[2], Cell::Text("two \"words\"".into()));
    }

    #[test]
    fn a_row_wider_than_the_header_is_an_error_unless_the_extra_cells_are_empty() {
        assert!(table("a,b\n1,2,3\n").is_err());
        assert_eq!(table("a,b\n1,2,,\n").expect("a table").rows[0].cells.len(), 2);
    }

    #[test]
    fn columns_and_cells_are_bounded() {
        let commas = ",".repeat(200_000);
        assert!(table(&format!("name,url\n{commas}\n")).expect_err("too wide").contains("more than 16384 columns"));
        let long = "x".repeat(crate::curate::tabular::MAX_CELL_BYTES + 1);
        assert!(table(&format!("name,url\nA,{long}\n")).expect_err("too long").starts_with("row 2, column B"));
    }
}
