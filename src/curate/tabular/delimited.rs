//! CSV (RFC 4180) and its delimiter.
//!
//! The crate `csv` isn't used for reading: it silently keeps reading after a quote that is never
//! closed or that closes in the middle of a cell, and it doesn't count blank lines, which
//! spreadsheet programs show as rows.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, WINDOWS_1252};

use super::header::{self, SEARCHED_ROWS};
use super::{
    Budget, Cell, Dialect, Fault, MAX_COLUMNS, Progress, ReadOptions, Row, STEP, Table, TableError, column_letters,
    text_cell, value,
};
use crate::text::count::{agreeing, counted};

/// How much of a file is used to detect its delimiter, in bytes.
const SAMPLE: usize = 64 * 1024;
/// How many records are used to detect the delimiter.
const SAMPLE_RECORDS: usize = 50;

pub(super) fn read(bytes: &[u8], options: ReadOptions<'_>, progress: Progress<'_>) -> Result<Table, TableError> {
    let mut notes = Vec::new();
    let text = decode(bytes, options.encoding, &mut notes)?;
    let (stated, start) = stated_delimiter(&text);
    let text = &text[start..];
    let delimiter = stated.unwrap_or_else(|| delimiter(text));
    let is_plain = std::str::from_utf8(bytes).is_ok_and(|text| !text.starts_with('\u{feff}'));
    let dialect = Dialect { delimiter, has_mark: !is_plain };
    let mut scanned = scan(text, delimiter, start > 0, false, progress)?;
    if !scanned.faults.is_empty() && text.contains("\\\"") {
        let other = scan(text, delimiter, start > 0, true, progress)?;
        if other.faults.is_empty() {
            scanned = other;
            notes.push("quotes inside cells are written as \\\", so they were read as quotes".to_owned());
        }
    }
    let Scanned { rows, faults, long_cells, has_quoted_text } = scanned;
    let mut table =
        header::table(rows, options.header_row, Table { dialect, has_quoted_text, faults, notes, ..Table::default() })?;
    let width = table.heads.len();
    let mark = char::from(delimiter);
    let fix = format!("quote cells that contain the delimiter `{}`", mark.escape_debug());
    fold_surplus(&mut table, &mark.to_string(), &fix);
    let suspicious = long_cells.into_iter().find(|(_, widest)| width > 1 && *widest >= width);
    if let Some((line, _)) = suspicious {
        table.notes.push(format!(
            "the quoted cell that starts on line {line} contains a line that looks like a row; check for its closing quote"
        ));
    }
    header::square(&mut table);
    Ok(table)
}

/// Reports rows that are wider than the header, and appends their surplus cells to the last one, so
/// that nothing is lost.
pub(super) fn fold_surplus(table: &mut Table, delimiter: &str, fix: &str) {
    let width = table.heads.len();
    for row in &mut table.rows {
        let filled = row.width();
        if filled > width {
            let surplus: Vec<&str> = row.cells[width.saturating_sub(1)..filled].iter().map(Cell::shown).collect();
            let surplus = Cell::Text(surplus.join(delimiter));
            row.cells.truncate(width.saturating_sub(1));
            row.cells.push(surplus);
            let message = format!(
                "the row has {}, but there {} {}",
                counted(filled, "cell"),
                agreeing(width, "is", "are"),
                counted(width, "column")
            );
            table.faults.push(Fault { row: row.number, message, fix: fix.to_owned() });
        }
    }
}

struct Scanned {
    rows: Vec<Row>,
    faults: Vec<Fault>,
    long_cells: Vec<(u64, usize)>,
    has_quoted_text: bool,
}

/// Reads all rows. With `has_escapes`, a backslash before a quote makes it part of the cell.
fn scan(
    text: &str,
    delimiter: u8,
    is_second_line: bool,
    has_escapes: bool,
    progress: Progress<'_>,
) -> Result<Scanned, TableError> {
    let mut scanner = Scanner::new(text, delimiter);
    scanner.line += u64::from(is_second_line);
    scanner.has_escapes = has_escapes;
    let mut faults = Vec::new();
    // Whether each word for "no value" that means it is unquoted, and all other text is quoted.
    let (mut has_unquoted_words, mut quotes_all) = (false, true);
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
        if let Some((message, fix)) = scanner.fault.take() {
            faults.push(Fault { row: number, message, fix: fix.to_owned() });
        }
        if !cells.is_empty() {
            for cell in cells.iter().filter(|cell| matches!(cell, Cow::Borrowed(_)) && !cell.trim().is_empty()) {
                let is_word = value::is_nothing(value::trim(cell));
                has_unquoted_words |= is_word;
                quotes_all &= is_word || value::decimal(value::trim(cell)).is_some();
            }
            let cells = cells.iter().map(|cell| match text_cell(cell) {
                Cell::Text(word) if matches!(cell, Cow::Borrowed(_)) && value::is_nothing(&word) => Cell::Missing(word),
                cell => cell,
            });
            rows.push(Row { number, cells: cells.collect() });
        }
        if rows.len().is_multiple_of(STEP) {
            progress(scanner.at as u64, text.len() as u64);
        }
    }
    let has_quoted_text = has_unquoted_words && quotes_all;
    if !has_quoted_text {
        for cell in rows.iter_mut().flat_map(|row| &mut row.cells) {
            if let Cell::Missing(word) = cell {
                *cell = Cell::Text(std::mem::take(word));
            }
        }
    }
    Ok(Scanned { rows, faults, long_cells: scanner.long_cells, has_quoted_text })
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
    /// Whether `\"` is a quote inside a cell.
    has_escapes: bool,
    /// What is wrong with the last record, and its fix.
    fault: Option<QuoteFault>,
}

type QuoteFault = (String, &'static str);

impl<'t> Scanner<'t> {
    const fn new(text: &'t str, delimiter: u8) -> Self {
        Self { text, at: 0, line: 1, delimiter, long_cells: Vec::new(), has_escapes: false, fault: None }
    }

    /// The next record's cells; `None` at the end. If a quote is misplaced, the record is its first
    /// line, with quotes like any other character.
    fn record(&mut self) -> Result<Option<Vec<Cow<'t, str>>>, TableError> {
        if self.at == self.text.len() {
            return Ok(None);
        }
        let (start, line, long_cells) = (self.at, self.line, self.long_cells.len());
        let mut cells = Vec::new();
        loop {
            if cells.len() == MAX_COLUMNS {
                return Err(TableError::TooManyColumns { place: format!("the row on line {}", self.line) });
            }
            let is_quoted = self.peek() == Some(b'"') && self.fault.is_none();
            let cell = if is_quoted { self.quoted().map(Cow::from) } else { Ok(self.plain().into()) };
            match cell {
                Ok(cell) => cells.push(cell),
                Err(fault) => {
                    self.fault = Some(fault);
                    (self.at, self.line) = (start, line);
                    self.long_cells.truncate(long_cells);
                    cells.clear();
                    continue;
                }
            }
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

    fn quoted(&mut self) -> Result<String, QuoteFault> {
        let opened = self.line;
        let mut cell = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr::memchr(b'"', rest.as_bytes()) else {
                return Err(("a quote that starts a cell is never closed".to_owned(), "close it, or remove it"));
            };
            cell.push_str(&rest[..length]);
            self.at += length + 1;
            if self.has_escapes && cell.ends_with('\\') {
                cell.pop();
                cell.push('"');
                continue;
            }
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
            let rest: String = rest.chars().take(20).collect();
            let message = format!("a quoted cell ends before `{rest}`");
            return Err((message, "close the quote at the cell's end, and double quotes inside it"));
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

/// Non-ASCII characters that occur in Western European text in Windows-1252.
const WESTERN: &str =
    "äöüÄÖÜßàáâãåæçèéêëìíîïñòóôõøœùúûýÿÀÁÂÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕØŒÙÚÛÝŸ€£§°©®™«»‹›„“”‚‘’–—…•·×²³½¼¾¿¡ªº±µ\u{a0}";
/// How many non-ASCII characters may be adjacent in Windows-1252 text.
const WESTERN_RUN: usize = 2;

pub(super) fn decode<'b>(
    bytes: &'b [u8],
    label: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Cow<'b, str>, TableError> {
    if let Some(label) = label {
        let encoding = Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            let text = format!("--encoding {label} isn't a known encoding; use one such as windows-1251 or shift_jis");
            TableError::Form(text)
        })?;
        return decoded(bytes, encoding);
    }
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return if encoding == encoding_rs::UTF_8 { utf8(&bytes[length..], true) } else { decoded(bytes, encoding) };
    }
    if bytes.contains(&0) {
        let text = "the file isn't text; specify a CSV file, a workbook (.xlsx) or JSON";
        return Err(TableError::Form(text.to_owned()));
    }
    if std::str::from_utf8(bytes).is_ok() || is_nearly_utf8(bytes) {
        return utf8(bytes, false);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let text = WINDOWS_1252.decode_without_bom_handling(bytes).0;
    if guess != WINDOWS_1252 || !is_western(&text) {
        let name = if guess == WINDOWS_1252 { "windows-1250" } else { guess.name() };
        let name = name.to_lowercase();
        let text = format!(
            "the file isn't UTF-8, and its encoding is uncertain (it may be {name}); set it with --encoding, such as --encoding {name}, \
             or save the file as UTF-8"
        );
        return Err(TableError::Form(text));
    }
    notes.push("the file isn't UTF-8; it was read as Windows-1252 (check umlauts and accents, or set another encoding with --encoding)".to_owned());
    Ok(Cow::Owned(text.into_owned()))
}

fn decoded<'b>(bytes: &'b [u8], encoding: &'static Encoding) -> Result<Cow<'b, str>, TableError> {
    let (text, encoding, has_errors) = encoding.decode(bytes);
    if !has_errors {
        return Ok(text);
    }
    let at = text.find('\u{fffd}').unwrap_or_default();
    let (line, column) = place(&text[..at]);
    let text = format!(
        "line {line}, column {column}: this isn't {}; correct it, or set another encoding with --encoding",
        encoding.name()
    );
    Err(TableError::Form(text))
}

fn utf8(bytes: &[u8], has_mark: bool) -> Result<Cow<'_, str>, TableError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    let (line, column) = place(&String::from_utf8_lossy(&bytes[..at]));
    let why = if has_mark {
        "the file begins with a UTF-8 byte order mark"
    } else {
        "nearly all of the file's other characters are"
    };
    let text = format!(
        "line {line}, column {column}: the byte {:02X} isn't UTF-8, although {why}; correct it in an editor, \
         or set the file's encoding with --encoding",
        bytes[at]
    );
    Err(TableError::Form(text))
}

/// Whether at least one multi-byte sequence is valid UTF-8, and at least as many are valid as
/// invalid.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid > 0 && valid >= invalid
}

fn is_western(text: &str) -> bool {
    let mut run = 0;
    text.chars().all(|c| {
        run = if c.is_ascii() { 0 } else { run + 1 };
        c.is_ascii() || (run <= WESTERN_RUN && WESTERN.contains(c))
    })
}

/// The line and column right after some text, counted from 1.
fn place(before: &str) -> (usize, usize) {
    let lines = before.replace("\r\n", "\n").replace('\r', "\n");
    let (line, last) =
        lines.rsplit_once('\n').map_or((1, lines.as_str()), |(above, last)| (above.split('\n').count() + 1, last));
    (line, last.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(csv: &str) -> Result<Table, String> {
        read(csv.as_bytes(), ReadOptions::default(), &|_, _| {}).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_and_cells_are_bounded() {
        let commas = ",".repeat(200_000);
        assert!(table(&format!("name,url\n{commas}\n")).expect_err("too wide").contains("more than 16384 columns"));
        let long = "x".repeat(crate::curate::tabular::MAX_CELL_BYTES + 1);
        assert!(table(&format!("name,url\nA,{long}\n")).expect_err("too long").starts_with("row 2, column B"));
    }

    fn decoded_text(bytes: &[u8], label: Option<&str>) -> Result<(String, usize), String> {
        let mut notes = Vec::new();
        let text = decode(bytes, label, &mut notes).map_err(|error| error.to_string())?;
        Ok((text.into_owned(), notes.len()))
    }

    #[test]
    fn windows_1252_is_decoded_with_a_note() {
        assert_eq!(decoded_text(b"name\nM\xfcller \x84x\x93\n", None), Ok(("name\nMüller „x“\n".into(), 1)));
        assert_eq!(decoded_text("\u{feff}Müller".as_bytes(), None), Ok(("Müller".into(), 0)));
    }

    #[test]
    fn a_single_bad_byte_is_reported_with_its_position() {
        let mut bytes = "name\nMüller, Łódź\nx".as_bytes().to_vec();
        bytes.push(0x9f);
        let error = decoded_text(&bytes, None).expect_err("a bad byte");
        assert!(error.starts_with("line 3, column 2: the byte 9F isn't UTF-8"), "{error}");
        let error = decoded_text(b"\xef\xbb\xbfM\xfcller", None).expect_err("a bad byte");
        assert!(error.contains("byte order mark"), "{error}");
    }

    #[test]
    fn other_encodings_are_suggested_but_not_used() {
        let cyrillic = encoding_rs::WINDOWS_1251.encode("имя;сайт\nЖурнал охраны труда;x\n").0;
        assert!(decoded_text(&cyrillic, None).expect_err("a doubt").contains("--encoding windows-1251"));
        assert_eq!(decoded_text(&cyrillic, Some("cp1251")), Ok(("имя;сайт\nЖурнал охраны труда;x\n".into(), 0)));
        let japanese = encoding_rs::SHIFT_JIS.encode("名前,説明\n安全管理システム,監査の記録\n").0;
        assert!(decoded_text(&japanese, None).expect_err("a doubt").contains("--encoding shift_jis"));
        let polish = encoding_rs::WINDOWS_1250.encode("nazwa\nŁódź Żuraw śledź\n").0;
        assert!(decoded_text(&polish, None).is_err());
        assert!(decoded_text(b"x", Some("latin-99")).is_err());
        assert!(decoded_text(b"\xff", Some("utf-8")).is_err());
    }

    #[test]
    fn utf_16_with_a_byte_order_mark_is_read() {
        let bytes: Vec<u8> = "\u{feff}Ä;b".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded_text(&bytes, None), Ok(("Ä;b".into(), 0)));
        assert!(decoded_text(b"a\0b", None).is_err());
    }
}
