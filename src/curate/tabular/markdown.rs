//! Markdown tables. If a document repeats the same header below several headings, all of these tables
//! are one, and the headings become a column.

use super::synonyms::SECTION;
use super::{Budget, Cell, ReadOptions, Row, Table, TableError, header, text_cell};

/// A table, and the heading above it.
struct Found {
    heading: String,
    heads: Vec<Cell>,
    rows: Vec<Row>,
}

pub(super) fn read(text: &str, options: ReadOptions<'_>) -> Result<Table, TableError> {
    let mut tables = find(text)?;
    if let Some(wanted) = options.sheet {
        let sheets = tables.iter().map(|table| table.heading.clone()).collect();
        tables.retain(|table| table.heading == wanted);
        if tables.is_empty() {
            return Err(TableError::Sheet { reason: format!("no table is below a heading `{wanted}`"), sheets });
        }
    }
    let Some(first) = tables.first() else {
        let text = "the file contains no Markdown table, which is a line of column names between `|`, a line such as \
                    `|---|---|`, and a line for each product";
        return Err(TableError::Form(text.to_owned()));
    };
    let mut heads = first.heads.clone();
    if tables.iter().any(|table| table.heads != heads) {
        let reason = format!("the file has {} tables with different columns", tables.len());
        return Err(TableError::Sheet { reason, sheets: tables.into_iter().map(|table| table.heading).collect() });
    }
    let width = heads.len();
    let number = first.rows.first().map_or(1, |row| row.number);
    let has_sections = tables.iter().any(|table| table.heading != first.heading);
    let (mut rows, mut budget) = (Vec::new(), Budget::default());
    for Found { heading, rows: of, .. } in tables {
        for mut row in of {
            row.cells.resize(width.max(row.cells.len()), Cell::Empty);
            if has_sections {
                budget.cell(heading.len(), || format!("the heading above line {}", row.number))?;
                row.cells.insert(width, text_cell(&heading));
            }
            rows.push(row);
        }
    }
    heads.extend(has_sections.then(|| Cell::Text(SECTION.to_owned())));
    let header = Row { number: number.saturating_sub(2), cells: heads };
    rows.insert(0, header);
    let mut table = header::table(rows, Some(number.saturating_sub(2)), Table::default())?;
    super::delimited::fold_surplus(&mut table, " | ", "escape each `|` inside a cell as `\\|`");
    header::square(&mut table);
    Ok(table)
}

fn find(text: &str) -> Result<Vec<Found>, TableError> {
    let mut budget = Budget::default();
    let mut tables: Vec<Found> = Vec::new();
    let mut heading = String::new();
    let mut above: Option<Vec<Cell>> = None;
    let mut is_inside = false;
    for (number, line) in (1_u64..).zip(text.lines()) {
        let line = line.trim();
        if let Some(title) = line.strip_prefix('#') {
            title.trim_matches(['#', ' ']).clone_into(&mut heading);
        }
        let cells = if line.contains('|') { cells(line) } else { Vec::new() };
        if cells.is_empty() {
            (above, is_inside) = (None, false);
            continue;
        }
        for (column, cell) in cells.iter().enumerate() {
            budget.cell(cell.shown().len(), || format!("line {number}, column {}", super::column_letters(column)))?;
        }
        budget.row(cells.len())?;
        match (&mut above, tables.last_mut().filter(|_| is_inside)) {
            (_, Some(table)) => table.rows.push(Row { number, cells }),
            (Some(heads), None) if is_rule(line) && heads.len() == cells.len() => {
                let heading = heading.clone();
                tables.push(Found { heading, heads: std::mem::take(heads), rows: Vec::new() });
                is_inside = true;
            }
            _ => above = Some(cells),
        }
    }
    tables.retain(|table| !table.rows.is_empty());
    Ok(tables)
}

/// Whether a line is the one between the column names and the rows.
fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

fn cells(line: &str) -> Vec<Cell> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut text) = (Vec::new(), String::new());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next_if_eq(&'|').is_some() => text.push('|'),
            '|' => cells.push(std::mem::take(&mut text)),
            c => text.push(c),
        }
    }
    if !line.ends_with('|') || line.ends_with("\\|") {
        cells.push(text);
    }
    cells.iter().map(|cell| text_cell(plain(cell))).collect()
}

/// A cell without the marks of bold text and code around it.
fn plain(cell: &str) -> &str {
    let cell = cell.trim();
    let without = |mark: &str| {
        cell.strip_prefix(mark).and_then(|cell| cell.strip_suffix(mark)).filter(|inner| !inner.contains(mark))
    };
    ["**", "__", "`"].into_iter().find_map(without).unwrap_or(cell)
}
