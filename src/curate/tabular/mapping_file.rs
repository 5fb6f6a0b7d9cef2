//! Mappings as files: written as TOML with samples from the table, and read from TOML or JSON.

use std::collections::{BTreeMap, HashMap, HashSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::mapping::{column_of, quoted};
use super::{
    Budget, Cell, ColumnUse, Conversion, Made, Mapping, MappingError, Separator, Table, TableError, Target, clean,
    text_cell, value,
};
use crate::text::append;
use crate::text::shorten::in_line;

/// How many values of a column are shown as samples.
const SAMPLES: usize = 3;
/// Maximum length of a sample, in characters.
const SAMPLE_CHARS: usize = 40;
/// The separator of columns whose cells are never split.
const NO_SEPARATOR: &str = "none";
/// Characters of a value that a template escapes in an address. A value may be a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'/').remove(b'_').remove(b'~');

/// A mapping as written, which may be for any table.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappingFile {
    columns: Map<String, Value>,
    #[serde(default)]
    properties: Map<String, Value>,
    /// The options of the import.
    #[serde(default)]
    pub options: Map<String, Value>,
}

/// A column's use, written as an object if a target alone doesn't describe it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUse {
    to: Option<String>,
    separator: Option<String>,
    split_commas: Option<bool>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    #[serde(default)]
    null: Vec<String>,
    out_of: Option<u16>,
}

impl MappingFile {
    pub fn read(text: &str) -> Result<Self, MappingError> {
        if text.trim_start().starts_with('{') {
            return Ok(serde_json::from_str(text)?);
        }
        toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            MappingError::Other(format!("line {line} of the mapping is wrong: {}", error.message()))
        })
    }

    /// The mapping for a table. Columns that it doesn't list aren't used.
    pub fn mapping(&self, table: &Table) -> Result<Mapping, MappingError> {
        let heads: HashSet<&String> = table.heads.iter().collect();
        let missing: Vec<_> =
            self.columns.keys().filter(|head| !heads.contains(head) && !clean::is_made_head(head)).collect();
        if !missing.is_empty() {
            let other = quoted(self.unlisted(table).into_iter());
            let other = if other.is_empty() { "no others".to_owned() } else { other };
            return Err(MappingError::Other(format!(
                "the mapping lists columns that the table doesn't have: {}; the table has {other}. If a column was \
                 renamed, rename it in the mapping too; if this is another table, choose another mapping with --mapping FILE",
                quoted(missing.into_iter())
            )));
        }
        let mut by_target: HashMap<String, &String> = HashMap::new();
        let mut columns = Vec::new();
        for head in &table.heads {
            let written = self.columns.get(head).unwrap_or(&Value::Null);
            let column = column_use(head, written)?.typed(table, columns.len());
            if column.target != Target::Ignored
                && !column.is_fallback
                && let Some(other) = by_target.insert(column.target.to_string(), head)
            {
                let target = &column.target;
                let text = format!(
                    "the mapping sets both columns `{other}` and `{head}` to `{target}`; set only one, or write `fallback:{target}` for the \
                     one to use in rows where the other is empty"
                );
                return Err(MappingError::Other(text));
            }
            columns.push(column);
        }
        let made = |(property, value): (&String, &Value)| {
            let target = Target::parse(property).ok_or_else(|| wrong_target(property, property))?;
            let made = Made::deserialize(value)?;
            if matches!(made, Made::Constant(Value::Object(_))) {
                let text = format!(
                    "`{property}` of the mapping must be a string, a number, a list, or {{ template = \"…\" }}"
                );
                return Err(MappingError::Other(text));
            }
            Ok((target, made))
        };
        let made: Result<Vec<_>, MappingError> = self.properties.iter().map(made).collect();
        let mapping = Mapping { columns, made: made? };
        for (_, made) in &mapping.made {
            if let Made::Template { template } = made {
                parts(template, table)?;
            }
        }
        Ok(mapping)
    }

    /// The table's columns that the mapping doesn't list.
    pub fn unlisted<'t>(&self, table: &'t Table) -> Vec<&'t String> {
        table.heads.iter().filter(|head| !head.is_empty() && !self.columns.contains_key(*head)).collect()
    }
}

fn wrong_target(head: &str, target: &str) -> MappingError {
    MappingError::Other(format!(
        "the mapping sets column `{head}` to `{target}`, which isn't a valid target; write a property such as name, \
         additional:NAME, attribute:NAME, attribute:NAME:TYPE, json:NAME, or \"not used\""
    ))
}

fn column_use(head: &str, value: &Value) -> Result<ColumnUse, MappingError> {
    let written: WrittenUse = match value {
        Value::Object(_) => WrittenUse::deserialize(value)?,
        Value::Null => return Ok(ColumnUse::new(Target::Ignored)),
        other => {
            let to = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            WrittenUse { to: Some(to), ..WrittenUse::default() }
        }
    };
    let (target, is_fallback) = match &written.to {
        None => (Target::Ignored, false),
        Some(to) if *to == Target::Ignored.to_string() => (Target::Ignored, false),
        Some(to) => {
            let name = to.strip_prefix("fallback:");
            (Target::parse(name.unwrap_or(to)).ok_or_else(|| wrong_target(head, to))?, name.is_some())
        }
    };
    let separator = match (written.separator, written.split_commas) {
        (Some(text), _) if text == NO_SEPARATOR => Some(Separator::None),
        (Some(text), _) if text.is_empty() => {
            return Err(MappingError::Other(format!(
                "the separator of column `{head}` is empty; write `{NO_SEPARATOR}` if its cells aren't lists"
            )));
        }
        (Some(text), _) => Some(Separator::Text(text)),
        (None, split_commas) => split_commas.map(Separator::Commas),
    };
    Ok(ColumnUse { target, is_fallback, separator, values: written.values, null: written.null, out_of: written.out_of })
}

impl Mapping {
    /// Sets a column's target, which no other column keeps. Columns in braces make a template, such as
    /// `https://a.example/{Code}`.
    pub fn set(&mut self, table: &Table, head: &str, target: &str) -> Result<(), MappingError> {
        if head.contains('{') && !table.heads.iter().any(|other| other == head) {
            parts(head, table)?;
            let made = Target::parse(target).ok_or_else(|| wrong_target(head, target))?;
            self.made.retain(|(other, _)| *other != made);
            self.made.push((made, Made::Template { template: head.to_owned() }));
            return Ok(());
        }
        let column = column_of(table, head)?;
        let of = column_use(head, &target.into())?.typed(table, column);
        for other in self.columns.iter_mut().filter(|other| !of.is_fallback && other.target == of.target) {
            other.target = Target::Ignored;
        }
        self.columns[column] = of;
        Ok(())
    }

    /// Adds a column to the table for each constant and template.
    pub fn fill(&mut self, table: &mut Table) -> Result<(), TableError> {
        let mut budget = Budget::default();
        for (target, made) in &self.made {
            let parts = match made {
                Made::Template { template } => {
                    parts(template, table).map_err(|error| TableError::Form(error.to_string()))?
                }
                Made::Constant(_) => Vec::new(),
            };
            for row in &mut table.rows {
                let cell = match made {
                    Made::Constant(Value::String(text)) => text_cell(text),
                    Made::Constant(other) => Cell::Json(other.to_string()),
                    Made::Template { .. } => filled(&parts, &row.cells, &self.columns, target.is_uri()),
                };
                budget.cell(cell.shown().len(), || format!("`{target}` in row {}", row.number))?;
                row.cells.push(cell);
            }
            table.heads.push(target.to_string());
            table.made += 1;
            self.columns.push(ColumnUse { is_fallback: true, ..ColumnUse::new(target.clone()) });
        }
        Ok(())
    }

    /// The mapping as TOML that [`MappingFile::read`] can read. Lists the columns in order, each
    /// with samples of its values and what they became.
    pub fn to_toml(&self, table: &Table, conversion: Option<&Conversion>, options: &Map<String, Value>) -> String {
        let mut text = "# What `import` makes of each column: a property such as \"name\", \"additional:NAME\" or \
                        \"attribute:NAME\",\n# or \"not used\". See docs/tables.md.\n"
            .to_owned();
        let line = |key: &str, value: &Value| format!("{} = {}\n", toml_key(key), toml_value(value));
        let mut section = |name: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                append(&mut text, format_args!("\n[{name}]\n{}", lines.concat()));
            }
        };
        section("options", options.iter().map(|(name, value)| line(name, value)).collect());
        let own = table.heads.len() - table.made;
        let named = (0..own).filter(|column| !table.heads[*column].is_empty());
        let column = |column: usize| {
            let samples = self.samples(table, column, conversion);
            let comment = if samples.is_empty() { String::new() } else { format!("# {samples}\n") };
            comment + &line(&table.heads[column], &self.columns[column].written())
        };
        section("columns", named.map(column).collect());
        let made = self.made.iter().map(|(target, made)| line(&target.to_string(), &serde_json::json!(made)));
        section("properties", made.collect());
        text
    }

    /// Values of a column, and what they became if that's different.
    fn samples(&self, table: &Table, column: usize, conversion: Option<&Conversion>) -> String {
        let shown = |text: &str| in_line(text, SAMPLE_CHARS);
        let property = self.columns[column].target.property();
        let became = |row: usize| {
            let record = conversion?.records.binary_search_by_key(&row, |record| record.row).ok()?;
            let properties = &conversion?.records[record].properties;
            let json = properties.iter().find(|(name, _)| Some(&**name) == property)?.1.as_deref()?;
            Some(serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned()))
        };
        let mut samples: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for (index, row) in table.rows.iter().enumerate() {
            let text = row.cells[column].shown();
            if samples.len() < SAMPLES && !text.is_empty() && seen.insert(text) {
                let new = became(index).filter(|new| new != text).map(|new| format!(" → {}", shown(&new)));
                samples.push(shown(text) + &new.unwrap_or_default());
            }
        }
        samples.join(" · ")
    }
}

impl ColumnUse {
    fn written(&self) -> Value {
        let to = format!("{}{}", if self.is_fallback { "fallback:" } else { "" }, self.target);
        let mut members = Map::new();
        let separator = self.separator.as_ref().map(|separator| match separator {
            Separator::None => ("separator", NO_SEPARATOR.into()),
            Separator::Text(text) => ("separator", text.as_str().into()),
            Separator::Commas(split) => ("split_commas", (*split).into()),
        });
        members.extend(separator.map(|(name, separator)| (name.to_owned(), separator)));
        if !self.values.is_empty() {
            members.insert("values".to_owned(), serde_json::json!(self.values));
        }
        if !self.null.is_empty() {
            members.insert("null".to_owned(), serde_json::json!(self.null));
        }
        members.extend(self.out_of.map(|out_of| ("out_of".to_owned(), out_of.into())));
        if members.is_empty() {
            return to.into();
        }
        members.insert("to".to_owned(), to.into());
        members.into()
    }
}

/// A template's pieces: text, or a column's index.
enum Part<'t> {
    Text(&'t str),
    Column(usize),
}

fn parts<'t>(template: &'t str, table: &Table) -> Result<Vec<Part<'t>>, MappingError> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, behind)) = rest.split_once('{') {
        let (name, behind) = behind
            .split_once('}')
            .ok_or_else(|| MappingError::Other(format!("the template `{template}` has a `{{` without a `}}`")))?;
        parts.extend([Part::Text(text), Part::Column(column_of(table, name)?)]);
        rest = behind;
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// A template's cell in a row.
fn filled(parts: &[Part<'_>], cells: &[Cell], columns: &[ColumnUse], is_uri: bool) -> Cell {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Column(column) => {
                let shown = match &cells[*column] {
                    Cell::Json(raw) => serde_json::from_str(raw).unwrap_or_else(|_| raw.clone()),
                    cell => cell.text().map(value::unguarded).unwrap_or_default(),
                };
                if shown.is_empty() || columns[*column].is_null(&shown) {
                    return Cell::Empty;
                }
                // A value that begins an address is one itself, so it's left as it is.
                if is_uri && !text.is_empty() {
                    text.extend(utf8_percent_encode(&shown, ESCAPED));
                } else {
                    text.push_str(&shown);
                }
            }
        }
    }
    text_cell(&text)
}

fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { key.to_owned() } else { toml_value(&key.into()) }
}

/// A value on one line. JSON's strings and numbers are TOML's too, except for one control character.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(toml_value).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| format!("{} = {}", toml_key(key), toml_value(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string().replace('\u{7f}', "\\u007f"),
    }
}
