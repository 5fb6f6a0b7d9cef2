//! Workbooks (.xlsx, .ods).

use std::collections::HashMap;
use std::io::{Cursor, Read};

use calamine::{Data, DataRef, DataType as _, Reader as _, SheetType, SheetVisible, Xlsx, XlsxFormulaMetadata};
use zip::ZipArchive;

use super::layout::{Layout, damaged};
use super::{
    Budget, Cell, MAX_COLUMNS, Mapping, Progress, ReadOptions, Row, STEP, Table, TableError, column_letters, date,
    header, ods, text_cell,
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

/// Reads the requested worksheet, or else the only visible one, or the only one with names and
/// addresses.
pub(super) fn read(bytes: &[u8], options: ReadOptions<'_>, progress: Progress<'_>) -> Result<Table, TableError> {
    check_archive(bytes, MAX_INFLATED_BYTES)?;
    let sheets = if ods::is_ods(bytes) {
        ods::sheets(bytes)?
    } else {
        let workbook: Workbook<'_> = Xlsx::new(Cursor::new(bytes))?;
        let sheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        sheets.map(|sheet| (sheet.name.clone(), sheet.visible == SheetVisible::Visible)).collect()
    };
    let visible: Vec<_> = sheets.iter().filter(|(_, is_visible)| *is_visible).map(|(name, _)| name.as_str()).collect();
    let reason = match options.sheet {
        Some(name) if sheets.iter().any(|(other, _)| other == name) => {
            return read_sheet(bytes, name, options, progress);
        }
        Some(name) => format!("the workbook has no worksheet `{name}`"),
        None if visible.len() == 1 => return read_sheet(bytes, visible[0], options, progress),
        None => {
            let tables =
                visible.iter().filter_map(|name| Some((name, read_sheet(bytes, name, options, progress).ok()?)));
            let mut found = tables.filter(|(_, table)| {
                let mapping = Mapping::propose(table);
                mapping.has("name") && mapping.has("url")
            });
            if let (Some((name, mut table)), None) = (found.next(), found.next()) {
                let text = format!(
                    "read the worksheet `{name}`, the only one with names and addresses (--sheet reads another)"
                );
                table.notes.insert(0, text);
                return Ok(table);
            }
            format!("the workbook has {} visible worksheets", visible.len())
        }
    };
    Err(TableError::Sheet { reason, sheets: sheets.into_iter().map(|(name, _)| name).collect() })
}

fn read_sheet(bytes: &[u8], name: &str, options: ReadOptions<'_>, progress: Progress<'_>) -> Result<Table, TableError> {
    let mut budget = Budget::default();
    if ods::is_ods(bytes) {
        let (rows, layout) = ods::read(bytes, name, &mut budget, progress)?;
        return table(rows, &layout, budget, options, Table::default());
    }
    let mut workbook: Workbook<'_> = Xlsx::new(Cursor::new(bytes))?;
    let merged = workbook.merge_cells_by_sheet_name(name)?;
    let layout = Layout::of_xlsx(bytes, name, merged)?;
    let is_1904 = workbook.has_1904_epoch();
    let mut notes = Vec::new();
    let links = links(&mut workbook, name, &mut notes)?;
    let (codes, formats) = formats(&mut workbook, name)?;
    // Reads cell by cell, so that a single faraway cell doesn't create a range of several
    // gigabytes.
    let mut cells = workbook.worksheet_cells_reader(name)?;
    // The last row according to the worksheet, used to estimate progress.
    let last_row = u64::from(cells.dimensions().end.0).max(1);
    let total = bytes.len() as u64;
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
    table(rows, &layout, budget, options, Table { is_1904, notes, ..Table::default() })
}

fn table(
    mut rows: Vec<Row>,
    layout: &Layout,
    mut budget: Budget,
    options: ReadOptions<'_>,
    mut table: Table,
) -> Result<Table, TableError> {
    layout.apply(&mut rows, &mut budget, &mut table.notes)?;
    let mut table = header::table(rows, options.header_row, table)?;
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
    let adds = |code: &str| shown_number(1.0, code).is_some();
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
            let shown = format.and_then(|format| shown_number(*number, format));
            shown.map_or_else(|| Cell::Number(number.to_string()), Cell::Text)
        }
        DataRef::Int(number) => Cell::Number(number.to_string()),
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

/// Maximum total inflated size of the files in the archive, in bytes.
const MAX_INFLATED_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum inflated size of the shared strings, in bytes. Even the shortest one becomes a separate
/// string in memory.
const MAX_STRINGS_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum number of files in the archive.
const MAX_FILES: usize = 10_000;
/// How many bytes of the shared strings are searched for their count.
const STRINGS_HEAD: u64 = 4096;
/// Minimum size of a shared string in bytes: `<si/>`.
const SHARED_STRING_BYTES: u64 = 5;

/// Inflates every file and discards the result, because the sizes stated in an archive may be
/// wrong.
fn check_archive(bytes: &[u8], limit: u64) -> Result<(), TableError> {
    let form = TableError::Form;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.len() > MAX_FILES {
        return Err(form(format!("the workbook contains more than {MAX_FILES} files, which is the limit")));
    }
    let mut rest = limit;
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(damaged)?;
        let name = file.name().map_err(damaged)?;
        let is_strings = name.to_ascii_lowercase().ends_with("sharedstrings.xml");
        let limit = if is_strings { limit.min(MAX_STRINGS_BYTES) } else { limit };
        let allowed = rest.min(limit);
        let mut file = file.take(allowed + 1);
        let mut head = Vec::new();
        if is_strings {
            (&mut file).take(STRINGS_HEAD).read_to_end(&mut head).map_err(damaged)?;
        }
        let size = head.len() as u64 + std::io::copy(&mut file, &mut std::io::sink()).map_err(damaged)?;
        if size > allowed {
            let text = format!(
                "the workbook contains more than {limit} bytes, which is the limit; remove unused rows, columns and \
                 pictures, or save the worksheet as CSV"
            );
            return Err(form(text));
        }
        rest -= size;
        // The reader reserves memory for as many strings as the file claims to have.
        if stated_strings(&head).is_some_and(|count| count > size / SHARED_STRING_BYTES) {
            return Err(form(
                "the workbook claims to have more shared strings than it does; save it as .xlsx again".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The `uniqueCount` of the shared strings.
fn stated_strings(head: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(head);
    let (_, behind) = text.split_once("uniqueCount")?;
    let digits = behind.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some(digits[..end].parse().unwrap_or(u64::MAX))
}

/// The number as shown, if the format adds anything to it: leading zeros (`00000`), a percent sign,
/// or a unit (`0.00 "EUR"`).
fn shown_number(number: f64, format: &str) -> Option<String> {
    // Formats for negative numbers and zero come after semicolons.
    let format = format.split(';').next().unwrap_or_default();
    if !format.is_empty() && format.bytes().all(|byte| byte == b'0') {
        let is_whole = number >= 0.0 && number.fract() == 0.0;
        return is_whole.then(|| format!("{number:0>width$}", width = format.len()));
    }
    if format.trim_end().ends_with('%') {
        // Rounded, because 0.07 times 100 is 7.000000000000001 in floating point.
        let percent = (number * 100.0 * 1e9).round() / 1e9;
        return Some(format!("{percent}%"));
    }
    let (before, behind) = literals(format)?;
    let text = format!("{before}{number}{behind}");
    (!before.is_empty() || !behind.is_empty()).then_some(text)
}

/// The literal text before and after the digits; `None` for a date format.
fn literals(format: &str) -> Option<(String, String)> {
    let (mut before, mut behind) = (String::new(), String::new());
    let mut has_digits = false;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let place = if has_digits { &mut behind } else { &mut before };
        match c {
            '"' => place.extend(chars.by_ref().take_while(|c| *c != '"')),
            // A currency such as `[$€-407]`. Colours and conditions aren't text.
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                let currency = inner.strip_prefix('$').and_then(|inner| inner.split('-').next());
                place.push_str(currency.unwrap_or_default());
            }
            '\\' => place.extend(chars.next()),
            // A space as wide as the next character, and a character that is repeated to fill the
            // cell.
            '_' | '*' => drop(chars.next()),
            '0' | '#' | '?' => has_digits = true,
            '€' | '$' | '£' | '¥' => place.push(c),
            ' ' => place.push(' '),
            'y' | 'm' | 'd' | 'h' | 's' | 'Y' | 'M' | 'D' | 'H' | 'S' | 'E' | 'e' | '@' => return None,
            _ => {}
        }
    }
    let is_text = |text: &str| text.chars().any(|c| !c.is_whitespace());
    let kept = |text: String| if is_text(&text) { text } else { String::new() };
    has_digits.then(|| (kept(before).trim_start().to_owned(), kept(behind).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{shown_number, *};

    #[test]
    fn inflated_size_is_bounded_for_all_kinds_of_content() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["a", "b"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("a part");
            zip.write_all(&vec![b' '; 600_000]).expect("memory");
        }
        let bytes = zip.finish().expect("an archive").into_inner();
        assert!(bytes.len() < 10_000);
        assert!(check_archive(&bytes, 1_200_000).is_ok());
        let error = check_archive(&bytes, 1_199_999).expect_err("too much");
        assert!(error.to_string().contains("more than 1199999 bytes, which is the limit"), "{error}");
    }

    #[test]
    fn text_added_by_a_number_format_is_kept() {
        for (number, format, expected) in [
            (42.0, "00000", Some("00042")),
            (0.25, "0%", Some("25%")),
            (0.07, "0.0%", Some("7%")),
            (1234.5, "#,##0.00 \"EUR\"", Some("1234.5 EUR")),
            (9.0, "#,##0.00\\ [$€-407]", Some("9 €")),
            (9.0, "[$$-409]#,##0.00;[Red]-[$$-409]#,##0.00", Some("$9")),
            (4.5, "General", None),
            (4.5, "0.00", None),
            (4.5, "#,##0_);(#,##0)", None),
            (45_730.0, "yyyy-mm-dd", None),
            (1.5, "@", None),
        ] {
            assert_eq!(shown_number(number, format).as_deref(), expected, "{format}");
        }
    }
}
