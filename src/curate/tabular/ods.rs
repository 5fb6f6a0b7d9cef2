//! Workbooks in the `OpenDocument` format (.ods): cells, links and layout, in one pass over the content's XML.

use std::collections::HashSet;
use std::io::{BufReader, Cursor};

use calamine::Dimensions;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::layout::{Layout, attribute, damaged, elements};
use super::{Budget, Cell, MAX_COLUMNS, MAX_TEXT_BYTES, Progress, Row, TableError, column_letters, text_cell};

const CONTENT: &str = "content.xml";

/// Whether a ZIP archive is an `OpenDocument` file.
pub(super) fn is_ods(bytes: &[u8]) -> bool {
    ZipArchive::new(Cursor::new(bytes)).is_ok_and(|archive| archive.index_for_name(CONTENT).is_some())
}

/// The names of the worksheets, and whether each is visible.
pub(super) fn sheets(bytes: &[u8]) -> Result<Vec<(String, bool)>, TableError> {
    let mut hidden_styles = HashSet::new();
    let mut style = String::new();
    let mut sheets = Vec::new();
    elements(bytes, CONTENT, |name, of| match name {
        "style" => style = attribute(of, "style:name").unwrap_or_default(),
        "table-properties" if attribute(of, "table:display").as_deref() == Some("false") => {
            hidden_styles.insert(style.clone());
        }
        "table" => {
            let is_hidden = attribute(of, "table:style-name").is_some_and(|style| hidden_styles.contains(&style));
            sheets.push((attribute(of, "table:name").unwrap_or_default(), !is_hidden));
        }
        _ => {}
    })?;
    Ok(sheets)
}

/// A cell that is being read.
#[derive(Default)]
struct Open {
    kind: String,
    value: Option<String>,
    formula: Option<String>,
    text: String,
    link: Option<String>,
    repeated: usize,
    /// How many rows and columns it spans.
    span: (u32, u32),
    has_paragraph: bool,
}

struct Sheet<'b> {
    budget: &'b mut Budget,
    rows: Vec<Row>,
    layout: Layout,
    row: Row,
    row_repeated: u64,
    is_row_hidden: bool,
    column: usize,
    column_definitions: usize,
}

pub(super) fn read(
    bytes: &[u8],
    wanted: &str,
    budget: &mut Budget,
    progress: Progress<'_>,
) -> Result<(Vec<Row>, Layout), TableError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let part = archive.by_name(CONTENT).map_err(damaged)?;
    let total = part.size().max(1);
    let mut reader = Reader::from_reader(BufReader::new(part));
    let row = Row { number: 1, cells: Vec::new() };
    let mut sheet = Sheet {
        budget,
        rows: Vec::new(),
        layout: Layout::default(),
        row,
        row_repeated: 1,
        is_row_hidden: false,
        column: 0,
        column_definitions: 0,
    };
    let mut buffer = Vec::new();
    let (mut is_wanted, mut cell): (bool, Option<Open>) = (false, None);
    // Inside a comment or a picture, whose text isn't the cell's.
    let mut ignored = 0_usize;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(damaged)?;
        match &event {
            Event::Start(of) | Event::Empty(of) => {
                let is_start = matches!(event, Event::Start(_));
                let name = of.local_name();
                match name.as_ref() {
                    "table" if cell.is_none() => is_wanted = attribute(of, "table:name").as_deref() == Some(wanted),
                    _ if !is_wanted => {}
                    _ if ignored > 0 => ignored += usize::from(is_start),
                    "annotation" | "frame" | "shapes" => ignored += usize::from(is_start),
                    "table-column" => sheet.column_definition(of),
                    "table-row" => sheet.start_row(of, is_start),
                    "table-cell" | "covered-table-cell" => {
                        let open = Open::new(of);
                        if is_start {
                            cell = Some(open);
                        } else {
                            sheet.end_cell(open)?;
                        }
                    }
                    name => {
                        if let Some(open) = &mut cell {
                            open.inside(name, of);
                        }
                    }
                }
            }
            Event::End(of) => match of.local_name().as_ref() {
                "table" if cell.is_none() => is_wanted = false,
                _ if ignored > 0 => ignored -= 1,
                "table-row" if is_wanted => {
                    sheet.end_row()?;
                    progress(reader.buffer_position().min(total), total);
                }
                "table-cell" | "covered-table-cell" => {
                    if let Some(open) = cell.take() {
                        sheet.end_cell(open)?;
                    }
                }
                _ => {}
            },
            Event::Text(text) if ignored == 0 => push(&mut cell, &text.xml10_content()),
            Event::CData(text) if ignored == 0 => push(&mut cell, &text.xml10_content()),
            Event::GeneralRef(entity) if ignored == 0 => {
                let character = entity.resolve_char_ref().map_err(damaged)?;
                let named = quick_xml::escape::resolve_xml_entity(entity);
                push(&mut cell, &character.map_or_else(|| named.unwrap_or_default().to_owned(), String::from));
            }
            Event::Eof => return Ok((sheet.rows, sheet.layout)),
            _ => {}
        }
    }
}

fn push(cell: &mut Option<Open>, text: &str) {
    // Outside paragraphs, there's only white space between elements.
    if let Some(open) = cell.as_mut().filter(|open| open.has_paragraph) {
        open.text.push_str(text);
    }
}

impl Open {
    fn new(of: &BytesStart<'_>) -> Self {
        let number = |name: &str| attribute(of, name).and_then(|number| number.parse::<u32>().ok()).unwrap_or(1);
        let of_type = |name: &str| attribute(of, name);
        let kind = of_type("calcext:value-type").or_else(|| of_type("office:value-type")).unwrap_or_default();
        let names = ["office:value", "office:date-value", "office:boolean-value"];
        Self {
            kind,
            value: names.into_iter().find_map(of_type),
            formula: of_type("table:formula"),
            repeated: number("table:number-columns-repeated") as usize,
            span: (number("table:number-rows-spanned"), number("table:number-columns-spanned")),
            ..Self::default()
        }
    }

    /// Handles an element inside the cell.
    fn inside(&mut self, name: &str, of: &BytesStart<'_>) {
        match name {
            "p" | "h" => {
                self.text.push_str(if self.has_paragraph { "\n" } else { "" });
                self.has_paragraph = true;
            }
            "s" => {
                let spaces = attribute(of, "text:c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
                self.text.push_str(&" ".repeat(spaces.min(1_000)));
            }
            "tab" => self.text.push(' '),
            "line-break" => self.text.push('\n'),
            "a" => self.link = self.link.take().or_else(|| attribute(of, "xlink:href")),
            _ => {}
        }
    }

    fn cell(self) -> Cell {
        let text = text_cell(&self.text);
        match (self.kind.as_str(), self.value, text) {
            ("error", _, text) => Cell::Error(text.shown().to_owned()),
            (_, None, Cell::Empty) if self.formula.is_some() => Cell::Formula(self.formula.unwrap_or_default()),
            // A leading zero comes from the cell's number format.
            ("float", Some(value), Cell::Text(text))
                if !text.starts_with('0') || text.starts_with(['.', ',']) || value.starts_with('0') =>
            {
                Cell::Number(value)
            }
            ("date" | "boolean", Some(value), _) | (_, Some(value), Cell::Empty) => {
                text_cell(value.trim_end_matches("T00:00:00"))
            }
            (_, _, Cell::Text(text)) => match self.link {
                Some(link) => Cell::Link(Box::new((text, link))),
                None => Cell::Text(text),
            },
            (_, _, cell) => cell,
        }
    }
}

impl Sheet<'_> {
    fn column_definition(&mut self, of: &BytesStart<'_>) {
        let count = attribute(of, "table:number-columns-repeated").and_then(|count| count.parse().ok()).unwrap_or(1);
        let end = self.column_definitions.saturating_add(count).min(MAX_COLUMNS);
        if is_hidden(of) {
            self.layout.hidden_columns.extend(self.column_definitions..end);
        }
        self.column_definitions = end;
    }

    fn start_row(&mut self, of: &BytesStart<'_>, has_cells: bool) {
        let repeated = attribute(of, "table:number-rows-repeated").and_then(|count| count.parse().ok()).unwrap_or(1);
        self.column = 0;
        self.row_repeated = repeated;
        self.is_row_hidden = is_hidden(of);
        if !has_cells {
            self.row.number = self.row.number.saturating_add(repeated);
        }
    }

    fn end_cell(&mut self, open: Open) -> Result<(), TableError> {
        let (repeated, (rows, columns)) = (open.repeated, open.span);
        let (column, number) = (self.column, self.row.number);
        self.column = column.saturating_add(repeated);
        let cell = open.cell();
        if cell == Cell::Empty {
            return Ok(());
        }
        if self.column > MAX_COLUMNS {
            return Err(TableError::TooManyColumns { place: format!("row {number}") });
        }
        if let (true, Ok(top), Ok(left)) = (rows > 1 || columns > 1, u32::try_from(number - 1), u32::try_from(column)) {
            let last = (top.saturating_add(rows - 1), left.saturating_add(columns.saturating_sub(1)));
            self.layout.merged.push(Dimensions { start: (top, left), end: last });
        }
        for column in column..self.column {
            self.budget.cell(cell.shown().len(), || format!("row {number}, column {}", column_letters(column)))?;
        }
        self.row.cells.resize(column, Cell::Empty);
        self.row.cells.resize(self.column, cell);
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), TableError> {
        let cells = std::mem::take(&mut self.row.cells);
        let first = self.row.number;
        self.row.number = first.saturating_add(self.row_repeated);
        if cells.is_empty() {
            return Ok(());
        }
        let bytes: usize = cells.iter().map(|cell| cell.shown().len()).sum();
        for number in first..self.row.number {
            self.budget.row(cells.len())?;
            self.budget.bytes += if number > first { bytes } else { 0 };
            if self.budget.bytes > MAX_TEXT_BYTES {
                return Err(TableError::TooMuchText);
            }
            if self.is_row_hidden {
                self.layout.hidden_rows.insert(number);
            }
            self.rows.push(Row { number, cells: cells.clone() });
        }
        Ok(())
    }
}

fn is_hidden(of: &BytesStart<'_>) -> bool {
    attribute(of, "table:visibility").is_some_and(|shown| matches!(shown.as_str(), "collapse" | "filter"))
}
