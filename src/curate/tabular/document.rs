//! Rows of a table as an export document.

use std::collections::{BTreeMap, HashMap};

use serde_json::value::RawValue;

use super::value::{self, Date, date};
use super::{Cell, Mapping, Row, Table, Target};
use crate::export::{RECORD, Shape};
use crate::record::{EvidenceStatus, OfferingType, slug};

/// Problems that are kept; further ones are counted.
const KEPT_PROBLEMS: usize = 50;
/// Names of categories that are compared with the declared ones.
const COMPARED_NAMES: usize = 1_000;
/// Most edits from one category's id to another's that was probably meant.
const NEAR_EDITS: usize = 2;

/// The order of day and month in dates with slashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// `31/12/2025`
    DayFirst,
    /// `12/31/2025`
    MonthFirst,
}

/// The properties of the export itself.
#[derive(Debug, Clone)]
pub struct Envelope {
    pub name: String,
    /// Licence.
    pub license: String,
}

/// A fault in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The row, from 1; `None` for the whole column.
    pub row: Option<u64>,
    /// The head of the column.
    pub column: String,
    /// The fault and the remedy.
    pub message: String,
}

/// The problems of a table, the first ones kept.
#[derive(Debug, Default)]
pub struct Problems {
    /// The first.
    pub kept: Vec<Problem>,
    pub count: usize,
}

impl Problems {
    fn add(&mut self, row: Option<u64>, column: &str, message: impl Into<String>) {
        self.count += 1;
        if self.kept.len() < KEPT_PROBLEMS {
            self.kept.push(Problem { row, column: column.to_owned(), message: message.into() });
        }
    }
}

/// An export made of a table.
#[derive(Debug)]
pub struct Document {
    pub json: String,
    /// For each record the number of its row.
    pub rows: Vec<u64>,
    /// Values that were mapped, and proposals that weren't followed.
    pub notes: Vec<String>,
}

/// Makes a document. `categories` are the names of the declared categories by their ids (slugs).
pub fn document(
    table: &Table,
    mapping: &Mapping,
    envelope: &Envelope,
    categories: &BTreeMap<String, String>,
    order: Option<DateOrder>,
) -> Result<Document, Problems> {
    let mut problems = Problems::default();
    let order = order.or_else(|| date_order(table, mapping, &mut problems));
    let mut builder =
        Builder { categories, order, problems, spelled: BTreeMap::new(), unknown: BTreeMap::new(), dates: 0 };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut json =
        format!("{{\n  \"name\": {},\n  \"license\": {},\n", quoted(&envelope.name), quoted(&envelope.license));
    json.push_str("  \"software\": [");
    let mut ids: HashMap<String, u64> = HashMap::new();
    for (index, row) in table.rows.iter().enumerate() {
        let mut properties = builder.properties(table, mapping, row);
        if !mapping.has("id") {
            builder.id_of_name(row, &mut properties, &mut ids);
        }
        if !properties.iter().any(|(name, _)| *name == "evidence_status") {
            properties.push(("evidence_status", quoted(EvidenceStatus::PendingReview.as_str())));
        }
        json.push_str(if index == 0 { "\n    {" } else { ",\n    {" });
        for (at, (name, value)) in properties.iter().enumerate() {
            json.push_str(if at == 0 { "\n      " } else { ",\n      " });
            json.push_str(&quoted(name));
            json.push_str(": ");
            json.push_str(value);
        }
        json.push_str("\n    }");
    }
    json.push_str("\n  ]\n}\n");
    if builder.problems.count > 0 {
        return Err(builder.problems);
    }
    let notes = builder.notes();
    Ok(Document { json, rows: table.rows.iter().map(|row| row.number).collect(), notes })
}

/// The order of day and month that all dates with slashes agree on.
fn date_order(table: &Table, mapping: &Mapping, problems: &mut Problems) -> Option<DateOrder> {
    let column = mapping.targets.iter().position(|target| *target == Target::Property("evidence_checked_on"))?;
    let slashes: Vec<(u64, u8, u8)> = table
        .rows
        .iter()
        .filter_map(|row| match &row.cells[column] {
            Cell::Text(text) => match date(value::unguarded(text))? {
                Date::Slashes(a, b, _) => Some((row.number, a, b)),
                Date::Day(_) => None,
            },
            _ => None,
        })
        .collect();
    let day_first = slashes.iter().find(|(_, a, _)| *a > 12);
    let month_first = slashes.iter().find(|(_, _, b)| *b > 12);
    match (day_first, month_first) {
        (Some((day, ..)), Some((month, ..))) => {
            let text = format!(
                "the dates have day and month in both orders (row {day}: day first, row {month}: month first); write them as YYYY-MM-DD"
            );
            problems.add(None, &table.heads[column], text);
            None
        }
        (Some(_), None) => Some(DateOrder::DayFirst),
        (None, Some(_)) => Some(DateOrder::MonthFirst),
        (None, None) => {
            let unclear: Vec<_> = slashes.iter().filter(|(_, a, b)| a != b).map(|(row, ..)| row.to_string()).collect();
            if !unclear.is_empty() {
                let rows = unclear.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
                let text = format!(
                    "{} dates may be day/month or month/day (rows {rows}{}); name the order with --date-order",
                    unclear.len(),
                    if unclear.len() > 5 { ", …" } else { "" }
                );
                problems.add(None, &table.heads[column], text);
            }
            // Where day and month are equal both orders are one.
            Some(DateOrder::DayFirst)
        }
    }
}

struct Builder<'c> {
    categories: &'c BTreeMap<String, String>,
    order: Option<DateOrder>,
    problems: Problems,
    /// Categories written as they are declared: the name in the table, the declared one, how often.
    spelled: BTreeMap<String, (String, usize)>,
    /// Categories that aren't declared, and how often.
    unknown: BTreeMap<String, usize>,
    dates: usize,
}

impl Builder<'_> {
    fn properties<'m>(&mut self, table: &Table, mapping: &'m Mapping, row: &Row) -> Vec<(&'m str, String)> {
        let mut properties: Vec<(&str, String)> = Vec::new();
        for ((target, cell), head) in mapping.targets.iter().zip(&row.cells).zip(&table.heads) {
            let Some(name) = target.property() else { continue };
            let value = match cell {
                Cell::Empty => continue,
                Cell::Error(error) => {
                    self.problems.add(
                        Some(row.number),
                        head,
                        format!("the cell has the error {error}; fix its formula or empty it"),
                    );
                    continue;
                }
                Cell::Json(raw) => raw.clone(),
                Cell::Text(text) => match self.value(target, value::unguarded(text)) {
                    Ok(value) => value,
                    Err(message) => {
                        self.problems.add(Some(row.number), head, message);
                        continue;
                    }
                },
            };
            if properties.iter().any(|(other, _)| *other == name) {
                self.problems.add(
                    Some(row.number),
                    head,
                    format!("another column has a value for `{name}` in this row; empty one"),
                );
                continue;
            }
            properties.push((name, value));
        }
        properties
    }

    /// The JSON of a text for a target.
    fn value(&mut self, target: &Target, text: &str) -> Result<String, String> {
        let string = |text: &str| serde_json::Value::from(text).to_string();
        let property = match target {
            Target::Json(_) => {
                let raw = serde_json::from_str::<&RawValue>(text);
                return raw.map(|raw| raw.get().to_owned()).map_err(|error| format!("the cell isn't JSON: {error}"));
            }
            Target::Additional(_) | Target::Ignored => return Ok(string(text)),
            Target::Property(property) => *property,
        };
        let shape = RECORD.iter().find(|(key, _)| *key == property).map(|(_, shape)| *shape);
        Ok(match (property, shape) {
            ("categories", _) => serde_json::Value::from(
                value::split(text).into_iter().map(|name| self.category(name)).collect::<Vec<_>>(),
            )
            .to_string(),
            ("sources", _) => {
                let pairs: Vec<_> = value::split(text)
                    .iter()
                    .map(|item| {
                        let (label, url) = value::source(item);
                        vec![label.to_owned(), url.to_owned()]
                    })
                    .collect();
                serde_json::Value::from(pairs).to_string()
            }
            ("evidence_checked_on", _) => string(&self.date(text)),
            ("evidence_status", _) => string(listed_value(text, EvidenceStatus::ALL.map(EvidenceStatus::as_str))),
            ("offering_type", _) => string(listed_value(text, OfferingType::ALL.map(OfferingType::as_str))),
            (_, Some(Shape::Number)) if serde_json::from_str::<serde_json::Number>(text).is_ok() => text.to_owned(),
            (_, Some(Shape::Texts)) => serde_json::Value::from(value::split(text)).to_string(),
            // A number that isn't one is found by the checks, as is a date that couldn't be read.
            _ => string(text),
        })
    }

    fn date(&mut self, text: &str) -> String {
        let day = match (date(text), self.order) {
            (Some(Date::Day(day)), _) => Some(day),
            (Some(Date::Slashes(a, b, year)), Some(DateOrder::DayFirst)) => value::calendar(year, b, a),
            (Some(Date::Slashes(a, b, year)), Some(DateOrder::MonthFirst)) => value::calendar(year, a, b),
            _ => None,
        };
        let day = day.map_or_else(|| text.to_owned(), |day| day.to_string());
        self.dates += usize::from(day != text);
        day
    }

    /// The declared spelling of a category's name; the name itself where none is declared.
    fn category(&mut self, name: String) -> String {
        match self.categories.get(&slug(&name)) {
            Some(declared) if *declared == name => name,
            Some(declared) => {
                self.spelled.entry(name).or_insert_with(|| (declared.clone(), 0)).1 += 1;
                declared.clone()
            }
            None if self.categories.is_empty() => name,
            None => {
                if self.unknown.len() < COMPARED_NAMES || self.unknown.contains_key(&name) {
                    *self.unknown.entry(name.clone()).or_default() += 1;
                }
                name
            }
        }
    }

    fn id_of_name(&mut self, row: &Row, properties: &mut Vec<(&str, String)>, ids: &mut HashMap<String, u64>) {
        let name = properties.iter().find(|(name, _)| *name == "name");
        let name: Option<String> = name.and_then(|(_, json)| serde_json::from_str(json).ok());
        // A row without a name is found by the checks, but needs an id for that.
        let id = slug(&name.unwrap_or_else(|| format!("row {}", row.number)));
        if id.is_empty() {
            self.problems.add(Some(row.number), "name", "no id can be made of this name; add a column `id`");
        } else if let Some(first) = ids.insert(id.clone(), row.number) {
            let text = format!(
                "the id `{id}`, made of the name, is that of row {first} too; add a column `id`, or remove one of the rows"
            );
            self.problems.add(Some(row.number), "name", text);
        }
        properties.insert(0, ("id", serde_json::Value::from(id).to_string()));
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.dates > 0 {
            notes.push(format!("dates written as YYYY-MM-DD: {}", self.dates));
        }
        let spelled = self.spelled.iter();
        notes.extend(spelled.map(|(name, (declared, count))| {
            format!("category `{name}` ({count} times) was written as declared: `{declared}`")
        }));
        for (name, count) in &self.unknown {
            let folded = slug(name);
            let near = self.categories.iter().map(|(id, declared)| (strsim::osa_distance(id, &folded), declared)).min();
            if let Some((_, near)) = near.filter(|(edits, _)| *edits <= NEAR_EDITS) {
                notes.push(format!(
                    "category `{name}` ({count} times) isn't declared; if `{near}` is meant, correct it in the table"
                ));
            }
        }
        notes
    }
}

/// The value of a closed list that a text means, in any case and with any hyphens; the text itself where it means none.
fn listed_value<'t>(text: &'t str, values: [&'static str; 2]) -> &'t str {
    let folded = slug(text);
    values.into_iter().find(|value| *value == folded).unwrap_or(text)
}
