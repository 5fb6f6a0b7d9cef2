//! Cleans a table's cells: HTML entities, formulas that are only text, links, white space in JSON,
//! and words for "no value".

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::synonyms::{LINK, SECTION, property_of};
use super::{Cell, RowKind, Table, TableError, header, value};

/// How many different values of a column must look like codes for a word such as `NA` to be one.
const CODES: usize = 3;

/// Cleans all cells except JSON that `export` wrote. `null` has more words for "no value".
pub(super) fn clean(table: &mut Table, null: &[String]) -> Result<(), TableError> {
    if table.row_kind != RowKind::Row && table.has_records() {
        return Ok(());
    }
    let mut notes: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for column in 0..table.heads.len() {
        if table.heads[column].starts_with("json:") {
            continue;
        }
        for row in &mut table.rows {
            let Some((cleaned, what)) = cleaned(&row.cells[column]) else { continue };
            let (count, example) = notes.entry(what).or_default();
            if *count == 0 {
                *example = row.cells[column].shown().chars().take(60).collect();
            }
            *count += 1;
            row.cells[column] = cleaned;
        }
        mark_missing(table, column, null);
    }
    for (what, (count, example)) in notes.into_iter().filter(|(what, _)| !what.is_empty()) {
        table.notes.push(format!("{what}: {count}, such as `{example}`"));
    }
    add_links(table)
}

/// A cell without what its program added, and what that was; `None` if there's nothing to clean.
fn cleaned(cell: &Cell) -> Option<(Cell, &'static str)> {
    const ENTITIES: &str = "cells whose HTML entities were decoded";
    match cell {
        Cell::Text(text) => {
            let decoded = value::without_entities(text);
            let plain = decoded.as_deref().unwrap_or(text);
            if let Some(links) = value::links(plain) {
                let join = |part: fn(&(String, String)) -> &String| match &links[..] {
                    [one] => part(one).clone(),
                    several => value::join(several.iter().map(|link| part(link).as_str())),
                };
                let link = (join(|(label, _)| label), join(|(_, address)| address));
                return Some((Cell::Link(Box::new(link)), "cells that were reduced to their link's text"));
            }
            if let Some(text) = value::formula_text(plain) {
                return Some((super::text_cell(&text), "formulas that were read as their text"));
            }
            if value::is_formula(plain) {
                return Some((Cell::Formula(plain.to_owned()), ""));
            }
            decoded.map(|text| (super::text_cell(&text), ENTITIES))
        }
        Cell::Json(raw) if raw.starts_with(['"', '[']) => {
            let mut value: Value = serde_json::from_str(raw).ok()?;
            let strings = match &mut value {
                Value::Array(items) => items.iter_mut().collect(),
                one => vec![one],
            };
            let (mut is_changed, mut is_decoded) = (false, false);
            for of in strings {
                let Some(text) = of.as_str() else { continue };
                let decoded = value::without_entities(text);
                let plain = value::trim(decoded.as_deref().unwrap_or(text));
                is_decoded |= decoded.is_some();
                if plain != text {
                    is_changed = true;
                    *of = Value::from(plain);
                }
            }
            let note = if is_decoded { ENTITIES } else { "" };
            is_changed.then(|| (Cell::Json(value.to_string()), note))
        }
        _ => None,
    }
}

/// Marks a column's words for "no value". The usual ones aren't marked if the file or the column shows
/// that they are values: `NA` among other codes of two capitals is Namibia.
fn mark_missing(table: &mut Table, column: usize, null: &[String]) {
    let text = |cell: &Cell| match cell {
        Cell::Text(text) | Cell::Error(text) => Some(text.clone()),
        Cell::Json(raw) if raw.starts_with('"') => serde_json::from_str(raw).ok(),
        _ => None,
    };
    let is_code = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut codes: HashSet<(usize, String)> = HashSet::new();
    let mut has_other = false;
    for text in table.rows.iter().filter_map(|row| text(&row.cells[column])).filter(|text| !value::is_nothing(text)) {
        if is_code(&text) && codes.len() <= CODES {
            codes.insert((text.len(), text));
        } else {
            has_other |= !is_code(&text);
        }
    }
    let is_value = |text: &str| {
        let others = codes.iter().filter(|(length, _)| *length == text.len()).count();
        is_code(text) && !has_other && others >= CODES && others == codes.len()
    };
    let has_usual = !table.has_quoted_text;
    let is_usual = |text: &str| has_usual && value::is_nothing(text) && !is_value(text);
    for row in &mut table.rows {
        let cell = &mut row.cells[column];
        if text(cell).is_some_and(|text| value::is_word(null, &text) || is_usual(&text)) {
            *cell = Cell::Missing(cell.shown().to_owned());
        }
    }
}

/// Adds a column with the addresses for each column of links whose header doesn't ask for addresses.
fn add_links(table: &mut Table) -> Result<(), TableError> {
    for column in 0..table.heads.len() {
        let address = |cell: &Cell| match cell {
            Cell::Link(link) if !value::is_address(&link.0) && !link.1.starts_with("mailto:") => {
                Some(Cell::Text(link.1.clone()))
            }
            _ => None,
        };
        let head = link_head(&table.heads[column]);
        let asks = matches!(property_of(&table.heads[column]), Some("url" | "repository" | "sources"));
        let is_new = !asks && !table.heads[column].is_empty() && !table.heads.contains(&head);
        if is_new && table.rows.iter().any(|row| address(&row.cells[column]).is_some()) {
            for row in &mut table.rows {
                row.cells.push(address(&row.cells[column]).unwrap_or(Cell::Empty));
            }
            table.heads.push(head);
            header::check_area(table)?;
        }
    }
    Ok(())
}

/// The header of the column with another column's link addresses.
pub(super) fn link_head(head: &str) -> String {
    format!("{head}{LINK}")
}

/// Whether a column may have been added for links or sections, so that a table may lack it.
pub(super) fn is_made_head(head: &str) -> bool {
    head.ends_with(LINK) || head == SECTION
}

/// Whether a cell with this text is read back as it is.
pub(super) fn is_kept(text: &str) -> bool {
    !value::is_nothing(text) && cleaned(&Cell::Text(text.to_owned())).is_none()
}
