//! Headers: which row names the columns (the one with the most known headers, below titles and
//! remarks, or the one that the user specified), and which rows are totals or headings of sections.

use std::collections::{HashMap, HashSet};

use super::mapping::is_known_head;
use super::synonyms::{FILLERS, SECTION, property_of};
use super::{Budget, Cell, MAX_CELLS, Row, Table, TableError, column_letters, value};
use crate::record::slug;
use crate::text::count::{agreeing, counted};
use crate::text::is_listed;

/// How many non-empty rows from the top may be the header.
pub(super) const SEARCHED_ROWS: usize = 50;
/// How many known headers a row needs to be preferred over the first one.
const KNOWN_HEADS: usize = 2;

/// Splits rows into headers and the rows below. Rows keep their widths.
pub(super) fn table(mut rows: Vec<Row>, header_row: Option<u64>, mut table: Table) -> Result<Table, TableError> {
    if rows.is_empty() {
        return Err(TableError::NoRows);
    }
    if header_row.is_none() {
        join_groups(&mut rows, &mut table.notes)?;
    }
    let index = match header_row {
        None => find(&rows),
        Some(number) => rows.iter().position(|row| row.number == number).ok_or_else(|| {
            TableError::Form(format!(
                "row {number}, given by --header-row, is empty; specify the row that contains the headers"
            ))
        })?,
    };
    let above: Vec<_> = rows.drain(..index).collect();
    let header = rows.remove(0);
    if !above.is_empty() {
        let shown = above.iter().flat_map(Row::filled).next().map(Cell::start).unwrap_or_default();
        table.notes.push(format!(
            "row {} contains the headers; ignored above it: {} such as `{shown}` (use --header-row to choose another)",
            header.number,
            counted(above.len(), "row")
        ));
    }
    table.heads = header.cells.iter().map(head).collect();
    let width = table.heads.len();
    let repeats = |row: &Row| (0..width.max(row.cells.len())).all(|column| name(row, column) == name(&header, column));
    let repeated: Vec<_> = rows.iter().filter(|row| repeats(row)).map(|row| row.number.to_string()).collect();
    if !repeated.is_empty() && header.filled().count() > 1 {
        rows.retain(|row| !repeats(row));
        let (they, noun) = agreeing(repeated.len(), ("it repeats", "row"), ("they repeat", "rows"));
        table.notes.push(format!("left out because {they} the headers: {noun} {}", repeated.join(", ")));
    }
    let named = table.heads.iter().rposition(|head| !head.is_empty()).map_or(0, |last| last + 1);
    table.heads.truncate(named.max(rows.iter().map(Row::width).max().unwrap_or_default()));
    table.rows = rows;
    if header.filled().count() > 1 {
        leave_out_totals(&mut table);
        read_sections(&mut table)?;
    }
    name_repeated(&mut table);
    Ok(table)
}

/// A column's name in a row of headers.
fn name(row: &Row, column: usize) -> String {
    row.cells.get(column).map(head).unwrap_or_default()
}

/// Names of groups of columns that say nothing about the columns, besides the words for a product.
const GENERAL: &str =
    "general allgemein allgemeines stammdaten basisdaten basics overview details information informationen info infos";

/// Finds a row that groups the headers below it without merged cells, and joins the two. A blank cell
/// belongs to the group on its left.
fn join_groups(rows: &mut Vec<Row>, notes: &mut Vec<String>) -> Result<(), TableError> {
    let distinct = |row: &Row| row.cells.iter().map(head).filter(|head| is_known_head(head)).collect::<HashSet<_>>();
    let is_group = |pair: &[Row]| {
        let [top, header] = pair else { return false };
        let first = top.cells.iter().position(|cell| *cell != Cell::Empty).unwrap_or_default();
        let has_gap =
            (first..header.cells.len()).any(|column| name(top, column).is_empty() && !name(header, column).is_empty());
        let is_name = |cell: &Cell| matches!(cell, Cell::Empty | Cell::Text(_)) && !value::is_address(cell.shown());
        let known = header.cells.iter().map(head).filter(|head| is_known_head(head)).count();
        let is_repeated = known > distinct(header).len();
        has_gap
            && top.number + 1 == header.number
            && header.cells.iter().all(is_name)
            && top.filled().count() > 1
            && known >= KNOWN_HEADS
            && (is_repeated || distinct(top).len() >= KNOWN_HEADS)
    };
    let searched = rows.len().min(SEARCHED_ROWS);
    let Some(at) = rows[..searched].windows(2).position(is_group) else { return Ok(()) };
    let (mut top, mut budget) = (rows.remove(at), Budget::default());
    top.cells.resize(top.cells.len().max(rows[at].cells.len()), Cell::Empty);
    for column in 1..top.cells.len() {
        if top.cells[column] == Cell::Empty && !name(&rows[at], column).is_empty() {
            budget.cell(top.cells[column - 1].shown().len(), || format!("row {}", top.number))?;
            top.cells[column] = top.cells[column - 1].clone();
        }
    }
    notes.push(join(&top, &mut rows[at]));
    Ok(())
}

/// Puts the names of groups of columns before their headers, unless the group is the product itself or
/// one of its properties: a contact's name isn't the product's, nor is a vendor's address. Returns a note.
pub(super) fn join(top: &Row, header: &mut Row) -> String {
    header.cells.resize(header.cells.len().max(top.cells.len()), Cell::Empty);
    for (cell, above) in header.cells.iter_mut().zip(&top.cells) {
        let (group, name) = (head(above), head(cell));
        let words = slug(&group);
        let is_general = words.split('-').all(|word| is_listed(FILLERS, word) || is_listed(GENERAL, word));
        let (of_group, of_name) = (property_of(&group), property_of(&name));
        let is_own =
            of_name.is_some() && (of_group == of_name || of_group.is_some_and(|of| !matches!(of, "vendor" | "name")));
        if group != name && !(is_own || is_general && !name.is_empty()) {
            *cell = Cell::Text(format!("{group} {name}").trim().to_owned());
        }
    }
    format!("rows {} and {} together contain the headers", top.number, header.number)
}

/// Words that begin a row of totals, as slugs.
const TOTALS: &str = "total totals totale totaal totalt sum summe gesamt gesamtsumme insgesamt somme suma subtotal zwischensumme \
     grand-total sous-total razem celkem yhteensa toplam итого всего разом 合計 合计 总计 總計 합계";
/// Words that begin a remark below a table, as slugs.
const REMARKS: &str = "source sources quelle quellen fonte fuente bron note notes hinweis anmerkung legend legende stand as-of remarque nota";

/// Leaves out rows of totals, and remarks below the table.
fn leave_out_totals(table: &mut Table) {
    let is_one_of = |words: &str, text: &str| {
        let first = slug(text.split([':', '(']).next().unwrap_or_default());
        is_listed(words, &first)
    };
    let is_total = |row: &Row| {
        let mut filled = row.filled();
        let first = filled.next().and_then(Cell::text).unwrap_or_default();
        is_one_of(TOTALS, first.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace()))
            && filled.all(|cell| match cell.text() {
                None => true,
                Some(text) => text.starts_with(|c: char| c.is_ascii_digit() || "€$£-+~".contains(c)),
            })
    };
    let is_remark = |row: &Row| {
        let mut filled = row.filled();
        let first = filled.next().and_then(Cell::text).unwrap_or_default();
        filled.next().is_none() && (first.starts_with(['*', '¹']) || (first.contains(':') && is_one_of(REMARKS, first)))
    };
    let is_product = |row: &Row| row.filled().next().is_some() && !is_remark(row) && !is_total(row);
    let last = table.rows.iter().rposition(is_product).map(|last| table.rows[last].number);
    table.rows.retain(|row| {
        let is_kept = Some(row.number) <= last && !is_total(row);
        if let Some(first) = row.filled().next().filter(|_| !is_kept) {
            let text = first.start();
            let text =
                format!("left out because it isn't a product but a total or a remark: row {} `{text}`", row.number);
            table.notes.push(text);
        }
        is_kept
    });
}

/// Reads rows with a single cell as headings of the rows below them, and adds a column for them, if the
/// table begins with such a row, none is empty, and no column contains categories.
fn read_sections(table: &mut Table) -> Result<(), TableError> {
    let is_heading = |row: &Row| {
        let mut filled = row.filled();
        filled.next().and_then(Cell::text).is_some_and(|text| !value::is_address(text)) && filled.next().is_none()
    };
    let headings: Vec<bool> = table.rows.iter().map(is_heading).collect();
    let named = |name: &str| table.heads.iter().any(|head| head == SECTION || property_of(head) == Some(name));
    let is_sectioned = headings.first() == Some(&true)
        && headings.last() == Some(&false)
        && headings.windows(2).all(|pair| pair != [true, true])
        && table.rows.iter().all(|row| row.cells.len() <= table.heads.len())
        && !named("categories");
    if !is_sectioned {
        return Ok(());
    }
    let column = table.heads.len();
    let (mut heading, mut numbers, mut budget) = (Cell::Empty, Vec::new(), Budget::default());
    for (row, is_heading) in table.rows.iter_mut().zip(&headings) {
        if *is_heading {
            numbers.push(row.number.to_string());
            heading = row.filled().next().cloned().unwrap_or(Cell::Empty);
            row.cells.clear();
        } else {
            budget.cell(heading.shown().len(), || format!("row {}", row.number))?;
            row.cells.resize(column, Cell::Empty);
            row.cells.push(heading.clone());
        }
    }
    table.rows.retain(|row| !row.cells.is_empty());
    table.heads.push(SECTION.to_owned());
    let noun = agreeing(numbers.len(), "row", "rows");
    table.notes.push(format!("read as headings of sections, in the column `{SECTION}`: {noun} {}", numbers.join(", ")));
    Ok(())
}

fn find(rows: &[Row]) -> usize {
    let searched = &rows[..rows.len().min(SEARCHED_ROWS)];
    let known = |row: &Row| row.cells.iter().filter(|cell| is_known_head(&head(cell))).count();
    let filled = |row: &Row| row.filled().count();
    let most = searched.iter().map(known).max().unwrap_or_default();
    if most >= KNOWN_HEADS {
        return searched.iter().position(|row| known(row) == most).unwrap_or_default();
    }
    // A title is a row with a single filled cell, above rows with several.
    let widest = searched.iter().map(filled).max().unwrap_or_default();
    searched.iter().position(|row| widest == 1 || filled(row) > 1).unwrap_or_default()
}

fn head(cell: &Cell) -> String {
    let text = cell.text().unwrap_or_default();
    let text = value::unguarded(text);
    if text.starts_with("json:") {
        // The property name after the prefix is kept unchanged.
        return text;
    }
    text.split_whitespace().map(value::trim).collect::<Vec<_>>().join(" ")
}

/// Appends the column's letter to each repeated header.
fn name_repeated(table: &mut Table) {
    let mut columns: HashMap<String, Vec<usize>> = HashMap::new();
    for (column, head) in table.heads.iter().enumerate().filter(|(_, head)| !head.is_empty()) {
        columns.entry(head.clone()).or_default().push(column);
    }
    let mut repeated: Vec<_> = columns.into_values().filter(|columns| columns.len() > 1).collect();
    repeated.sort_unstable();
    for column in repeated.iter().flat_map(|columns| &columns[1..]) {
        let mut name = format!("{} (column {})", table.heads[*column], column_letters(*column));
        while table.heads.contains(&name) {
            name.push('\'');
        }
        table.heads[*column] = name;
    }
    table.repeated = repeated;
}

/// Resizes each row to one cell per header, and reports what the columns without a header contain.
pub(super) fn square(table: &mut Table) {
    let width = table.heads.len();
    for row in &mut table.rows {
        row.cells.resize(width, Cell::Empty);
    }
    for column in (0..width).filter(|column| table.heads[*column].is_empty()) {
        let mut filled = table.rows.iter().map(|row| &row.cells[column]).filter(|cell| **cell != Cell::Empty);
        let Some(first) = filled.next() else { continue };
        table.notes.push(format!(
            "left out: column {} has no header; cells with a value: {}, such as `{}` (give it a header to use it)",
            column_letters(column),
            filled.count() + 1,
            first.start()
        ));
    }
}

/// Rejects tables with too many cells, i.e. columns times rows.
pub(super) fn check_area(table: &Table) -> Result<(), TableError> {
    if table.heads.len().saturating_mul(table.rows.len()) > MAX_CELLS { Err(TableError::TooManyCells) } else { Ok(()) }
}
