//! CSV, its delimiter and its character encoding found out.

use std::borrow::Cow;

use super::{Cell, MAX_CELLS, MAX_ROWS, Progress, Row, STEP, Table, TableError, text_cell, value};

/// How much of a file decides on its delimiter, in bytes.
const SAMPLE: usize = 64 * 1024;

pub(super) fn read(bytes: &[u8], progress: Progress<'_>) -> Result<Table, TableError> {
    let mut notes = Vec::new();
    let text = decode(bytes, &mut notes)?;
    let delimiter = delimiter(&text);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let mut table = Table { notes, ..Table::default() };
    let mut record = csv::StringRecord::new();
    let mut lines = Lines { bytes: text.as_bytes(), at: 0, line: 1 };
    let mut cells = 0;
    while reader.read_record(&mut record)? {
        let number = lines.at(record.position().map_or(0, csv::Position::byte));
        if table.heads.is_empty() {
            if record.iter().any(|head| !head.trim().is_empty()) {
                table.heads = record.iter().map(|head| value::unguarded(head.trim()).to_owned()).collect();
            }
            continue;
        }
        let width = table.heads.len();
        if record.iter().skip(width).any(|cell| !cell.trim().is_empty()) {
            let text = format!(
                "the row in line {number} has {} cells, but there are {width} heads; quote cells that contain the delimiter `{}`",
                record.len(),
                char::from(delimiter).escape_debug()
            );
            return Err(TableError::Form(text));
        }
        cells += width;
        if table.rows.len() == MAX_ROWS {
            return Err(TableError::TooManyRows);
        }
        if cells > MAX_CELLS {
            return Err(TableError::TooManyCells);
        }
        let of_row = record.iter().map(text_cell).chain(std::iter::repeat(Cell::Empty)).take(width).collect();
        table.rows.push(Row { number, cells: of_row });
        if table.rows.len().is_multiple_of(STEP) {
            progress(lines.at as u64, text.len() as u64);
        }
    }
    Ok(table)
}

/// Counts lines up to the start of a record. The reader's own count is that before the blank lines which it skips.
struct Lines<'b> {
    bytes: &'b [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn at(&mut self, start: u64) -> u64 {
        let start = usize::try_from(start).unwrap_or(usize::MAX).clamp(self.at, self.bytes.len());
        let blank = self.bytes[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let before = &self.bytes[self.at..start + blank];
        self.line += memchr::memchr_iter(b'\n', before).count() as u64;
        self.at = start + blank;
        self.line
    }
}

fn decode<'b>(bytes: &'b [u8], notes: &mut Vec<String>) -> Result<Cow<'b, str>, TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(TableError::Form("the file is UTF-16; save it as CSV UTF-8".to_owned()));
    }
    if bytes.contains(&0) {
        let text = "the file isn't a text; name a CSV file, a workbook (.xlsx) or NDJSON";
        return Err(TableError::Form(text.to_owned()));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    notes.push("the file isn't UTF-8; it was read as Windows-1252 (check umlauts and accents)".to_owned());
    Ok(encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0)
}

/// The delimiter that splits the first rows into the same number of cells, more than one; a comma where none does.
fn delimiter(text: &str) -> u8 {
    let sample = &text.as_bytes()[..text.floor_char_boundary(SAMPLE)];
    let score = |delimiter: u8| {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(sample);
        let widths: Vec<_> = reader.byte_records().take(50).flatten().map(|record| record.len()).collect();
        let first = widths.first().copied().unwrap_or_default();
        let alike = widths.iter().filter(|width| **width == first).count();
        // Wide heads alone aren't a sign: a comma may be in each of them.
        if first < 2 { (0, 0) } else { (alike * 100 / widths.len(), first) }
    };
    // The first of equals is the last of the list.
    *b"\t;,".iter().max_by_key(|delimiter| score(**delimiter)).unwrap_or(&b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_splits_all_rows_alike() {
        assert_eq!(delimiter("name;price\nA;1,50\nB;2,50\n"), b';');
        assert_eq!(delimiter("name,tags\nA,a;b\nB,c\n"), b',');
        assert_eq!(delimiter("name\ttext\nA\ta, b; c\n"), b'\t');
        assert_eq!(delimiter("name\nA\n"), b',');
    }

    #[test]
    fn windows_1252_is_converted_and_told() {
        let table = read(b"name\nM\xfcller\n", &|_, _| {}).expect("a table");
        assert_eq!(table.rows[0].cells, [Cell::Text("Müller".into())]);
        assert_eq!(table.notes.len(), 1);
        let table = read("\u{feff}name\nMüller\n".as_bytes(), &|_, _| {}).expect("a table");
        assert_eq!((table.heads[0].as_str(), table.notes.len()), ("name", 0));
    }

    #[test]
    fn a_row_wider_than_the_heads_is_an_error_and_empty_cells_are_not() {
        assert!(read(b"a,b\n1,2,3\n", &|_, _| {}).is_err());
        assert_eq!(read(b"a,b\n1,2,,\n", &|_, _| {}).expect("a table").rows[0].cells.len(), 2);
    }
}
