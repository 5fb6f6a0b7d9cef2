//! Converts rows to records: each cell becomes the value of its column's property, or a finding. Rows
//! about the same product are merged, such as one row for each of its categories.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::column::{ConvertOptions, MergeRows, Settled, settle};
use super::date::{self, Date};
use super::findings::{At, Rejected, TableFindings};
use super::target::{EVIDENCE, evidence_part, known};
use super::{Cell, Mapping, Separator, Table, Target, Translation, clean, json_of, synonyms, value};
use crate::export::Severity;
use crate::record::{AttributeType, CalendarDate, Property, Shape, identity, normalised_url, slug};

/// How many category names are compared with the declared ones.
const COMPARED_NAMES: usize = 1_000;
/// Maximum edit distance between a category's id and the id that was probably meant.
const NEAR_EDITS: usize = 2;

/// A row's record.
#[derive(Debug, Clone)]
pub struct Record {
    /// The row's index.
    pub row: usize,
    /// The indices of the rows that were merged into this one.
    pub others: Vec<usize>,
    /// Names and JSON values, in the order of the columns; `None` if the cell is empty. Some are parts of
    /// a property, such as `tagline:de` and `evidence.pricing.source`.
    pub properties: Vec<(String, Option<String>)>,
}

impl Record {
    /// The record's members as JSON, `None` if they have no value. Evidence and translations are merged
    /// with those of the element that the record updates.
    pub(super) fn members<'r>(&'r self, old: impl Fn(&str) -> Option<&'r str>) -> Vec<(&'r str, Option<Cow<'r, str>>)> {
        let parts = |name: &str| (evidence_part(name).is_some(), translation(name).is_some());
        let plain = self.properties.iter().filter(|(name, _)| parts(name) == (false, false));
        let mut members: Vec<_> = plain.map(|(name, value)| (&**name, value.as_deref().map(Cow::from))).collect();
        let mut merge = |name, merged: &dyn Fn(Option<&str>) -> Option<String>| {
            let at = members.iter().position(|(of, _)| *of == name);
            let before = at.map_or_else(|| old(name).map(Cow::from), |at| members.remove(at).1);
            members.push((name, merged(before.as_deref()).map(Cow::from)));
        };
        if self.properties.iter().any(|(name, _)| parts(name).0) {
            merge(EVIDENCE, &|old| merged_evidence(old, &self.properties));
        }
        if self.properties.iter().any(|(name, _)| parts(name).1) {
            merge(TRANSLATIONS, &|old| merged_translations(old, &self.properties));
        }
        members
    }

    /// The members of a new element.
    pub(super) fn filled(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.members(|_| None).into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// The indices of the rows that the record comes from.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.row).chain(self.others.iter().copied())
    }

    /// A property's text, if there is any.
    pub fn text(&self, property: &str) -> Option<String> {
        let (_, value) = self.properties.iter().find(|(name, _)| name == property)?;
        serde_json::from_str(value.as_deref()?).ok()
    }
}

/// A table's records. A row with errors becomes a record too, but without the invalid values.
#[derive(Debug)]
pub struct Conversion {
    pub records: Vec<Record>,
    pub findings: TableFindings,
}

pub fn convert(table: &Table, mapping: &Mapping, options: &ConvertOptions<'_>) -> Conversion {
    let mut findings = TableFindings::default();
    let columns = mapping.columns.iter().enumerate();
    let settled = columns.map(|(column, of)| settle(table, column, of, options, &mut findings)).collect();
    let mut faulty = HashSet::new();
    for fault in &table.faults {
        let row = table.rows.binary_search_by_key(&fault.row, |row| row.number).ok();
        faulty.extend(row);
        let value = row.map_or("", |row| {
            table.rows[row].cells.iter().map(Cell::shown).find(|text| !text.is_empty()).unwrap_or_default()
        });
        findings.add(Severity::Error, table, At { row, column: None }, value, &fault.message, &fault.fix);
    }
    let mut converter = Converter { table, mapping, options, settled, findings, unknown: BTreeMap::new() };
    let rows = converter.rows();
    let records: Vec<Record> =
        rows.into_iter().filter(|row| !faulty.contains(row)).map(|row| converter.record(row)).collect();
    converter.report_near_categories();
    let mut conversion = Conversion { records, findings: converter.findings };
    if options.merge != MergeRows::None {
        conversion.merge_rows(table, mapping, options.merge);
    }
    conversion.check_ids(table, mapping);
    conversion
}

struct Converter<'c> {
    table: &'c Table,
    mapping: &'c Mapping,
    options: &'c ConvertOptions<'c>,
    settled: Vec<Settled>,
    findings: TableFindings,
    /// Undeclared categories, each with the cells that contain it.
    unknown: BTreeMap<String, Vec<At>>,
}

impl Converter<'_> {
    fn note(&mut self, at: At, value: &str, message: &str) {
        self.findings.note(self.table, at, value, message);
    }

    /// The rows to convert, without those that repeat another row.
    fn rows(&mut self) -> Vec<usize> {
        let mut seen = HashSet::new();
        let (kept, repeated): (Vec<_>, Vec<_>) =
            (0..self.table.rows.len()).partition(|row| seen.insert(&self.table.rows[*row].cells));
        for row in repeated {
            self.note(At::row(row), "", "left out because it's identical to another row");
        }
        kept
    }

    fn record(&mut self, row: usize) -> Record {
        let mut properties: Vec<(String, Option<String>)> = Vec::new();
        let columns = self.mapping.columns.iter().enumerate();
        let (main, fallbacks): (Vec<_>, Vec<_>) = columns.partition(|(_, of)| !of.is_fallback);
        for (column, of) in main.into_iter().chain(fallbacks) {
            let Some(name) = of.target.property() else { continue };
            let at = At::cell(row, column);
            let found = self.cell(at, column, &of.target);
            let (name, value) = match found {
                // An update keeps the value.
                Found::Missing if self.options.known.is_some() => continue,
                Found::Empty | Found::Missing => (name.to_owned(), None),
                Found::Value(value) => (name.to_owned(), Some(value)),
                Found::Other(name, value) => (name, Some(value)),
                Found::Fault => continue,
            };
            match properties.iter_mut().find(|(other, _)| *other == name) {
                None => properties.push((name, value)),
                Some((_, earlier)) if earlier.is_none() => *earlier = value,
                Some(_) if value.is_none() || of.is_fallback => {}
                Some(_) => {
                    let message = format!("another column has a value for `{name}` in this row");
                    let fix = "clear one of the two, or make the column a fallback in the mapping (`fallback:…`)";
                    let shown = self.table.rows[row].cells[column].shown();
                    self.findings.add(Severity::Error, self.table, at, shown, &message, fix);
                }
            }
        }
        Record { row, others: Vec::new(), properties }
    }

    fn cell(&mut self, at: At, column: usize, target: &Target) -> Found {
        let table = self.table;
        let cell = at.row.map_or(&Cell::Empty, |row| &table.rows[row].cells[column]);
        let mut text = match cell {
            Cell::Empty => return Found::Empty,
            Cell::Missing(word) => {
                let word = serde_json::from_str(word).unwrap_or_else(|_| word.clone());
                if !matches!(target, Target::Json(_)) && self.mapping.columns[column].translated(&word).is_none() {
                    return self.missing(at, &word);
                }
                word
            }
            Cell::Error(error) => {
                let fix = "fix the formula, or clear the cell";
                self.findings.add(Severity::Error, table, at, error, "the cell contains a formula error", fix);
                return Found::Fault;
            }
            Cell::Formula(formula) => {
                let fix =
                    "open the table in a spreadsheet program and save it there, or replace the formula with its value";
                let message = "the file doesn't store the formula's value";
                self.findings.add(Severity::Error, table, at, formula, message, fix);
                return Found::Fault;
            }
            Cell::Json(raw) => match json_text(raw, table, target) {
                Some(text) if text.is_empty() => return Found::Empty,
                Some(text) => text,
                None if raw == "null" && !table.has_records() => return Found::Empty,
                None if raw.starts_with('[') && !table.has_records() => return self.json_list(at, column, target, raw),
                None => return Found::Value(raw.clone()),
            },
            Cell::Text(text) | Cell::Number(text) => text.clone(),
            Cell::Link(link) => self.link(at, target, &link.0, &link.1),
        };
        let mut plain = value::unguarded(&text);
        if let Some(value) = self.mapping.columns[column].translated(&plain) {
            self.note(at, &format!("`{plain}` as `{value}`"), "values were translated by the mapping");
            (text, plain) = (value.clone(), value);
        }
        if self.mapping.columns[column].is_null(&plain) {
            return self.missing(at, &plain);
        }
        match self.value(at, column, target, &plain) {
            Ok(found) => found,
            Err((message, fix)) => {
                self.findings.add(Severity::Error, table, at, &text, &message, &fix);
                Found::Fault
            }
        }
    }

    /// An array in a table that isn't a directory's: the items of a list, or the JSON as it is.
    fn json_list(&mut self, at: At, column: usize, target: &Target, raw: &str) -> Found {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let items: Option<Vec<String>> = match target {
            Target::Property(property) if Property::shape_of(property) == Some(Shape::Texts) => {
                serde_json::from_str::<Vec<Value>>(raw).ok().and_then(|items| items.iter().map(text).collect())
            }
            _ => None,
        };
        match items {
            Some(items) if items.is_empty() => Found::Empty,
            Some(items) => {
                let translated = |item: String| self.mapping.columns[column].translated(&item).unwrap_or(item);
                let items = items.into_iter().map(translated).collect();
                Found::Value(self.list(at, target, items))
            }
            None => Found::Value(raw.to_owned()),
        }
    }

    /// A list of different, non-empty texts, as JSON.
    fn list(&mut self, at: At, target: &Target, items: Vec<String>) -> String {
        let mut seen = HashSet::new();
        let items = items.into_iter().filter(|item| !item.is_empty() && seen.insert(item.clone()));
        let items: Vec<String> = match target {
            Target::Property("categories") => items.map(|name| self.category(at, name)).collect(),
            _ => items.collect(),
        };
        json_of(items)
    }

    fn missing(&mut self, at: At, word: &str) -> Found {
        let message = match self.options.known {
            None => "words for \"no value\" were read as empty cells",
            Some(_) => "words for \"no value\" were ignored, so records keep their values",
        };
        self.note(At { column: None, ..at }, &format!("`{word}`"), message);
        Found::Missing
    }

    /// The text to convert for a hyperlinked cell in a column with this target.
    fn link(&mut self, at: At, target: &Target, text: &str, address: &str) -> String {
        match target {
            target if target.is_uri() && !value::is_address(text) => {
                self.note(at, address, "addresses were taken from the cells' links");
                address.to_owned()
            }
            Target::Property("sources") if !text.contains("://") => {
                self.note(at, address, "addresses were taken from the cells' links");
                let pairs = value::split(text).into_iter().zip(value::split(address));
                let sources: Vec<_> = pairs.map(|(label, address)| format!("{label} <{address}>")).collect();
                value::join(sources.iter().map(String::as_str))
            }
            _ => {
                let has_column =
                    self.table.heads.contains(&clean::link_head(&self.table.heads[at.column.unwrap_or_default()]));
                if !has_column && !text.contains(address.trim_end_matches('/')) && !value::is_address(text) {
                    let fix = "if you want them, put them in a separate column";
                    let message = "the addresses of the cells' links aren't used";
                    self.findings.add(Severity::Warning, self.table, at, address, message, fix);
                }
                text.to_owned()
            }
        }
    }

    /// Converts a cell's text to JSON for a target, or returns the fault and its fix.
    fn value(&mut self, at: At, column: usize, target: &Target, text: &str) -> Result<Found, Fault> {
        let property = match target {
            Target::Evidence(head) if head.ends_with(".checked_on") => return self.date(at, column, text),
            Target::Json(_) => {
                let raw = serde_json::from_str::<&RawValue>(text).map_err(|_| {
                    let fix = "correct it, or map the column to text with additional:NAME";
                    ("the cell isn't JSON".to_owned(), fix.to_owned())
                })?;
                return Ok(Found::Value(raw.get().to_owned()));
            }
            Target::Translation(_) | Target::Evidence(_) | Target::Additional(_) | Target::Ignored => {
                return Ok(Found::Value(json_of(text)));
            }
            Target::Attribute(_, kind) => {
                return self.attribute_value(at, column, kind.unwrap_or(AttributeType::Text), text);
            }
            Target::Property(property) => *property,
        };
        Ok(Found::Value(match Property::shape_of(property) {
            Some(Shape::Sources) => {
                let mut pairs = Vec::new();
                for item in value::sources(text) {
                    let (label, address) = value::source(&item);
                    pairs.push(vec![label.to_owned(), self.address(at, address)]);
                }
                json_of(pairs)
            }
            Some(Shape::Uri) => json_of(self.address(at, text)),
            Some(Shape::Date) => return self.date(at, column, text),
            Some(Shape::OneOf(values)) => json_of(listed_value(text, values)?),
            Some(Shape::Count) if value::whole_number(text).is_some_and(|number| number != text) => {
                self.number(at, text, value::whole_number(text))?
            }
            Some(Shape::Number) => {
                let stated = self.mapping.columns[column].out_of.map(u32::from);
                let scale = stated.or_else(|| synonyms::rating_scale(&self.table.heads[column])).unwrap_or(5);
                self.rating(at, text, scale)?
            }
            Some(Shape::Count) => self.decimal(at, text)?,
            Some(Shape::Texts) => {
                let items = self.items(at, column, text);
                self.list(at, target, items)
            }
            Some(Shape::Translations | Shape::Evidence) if serde_json::from_str::<&RawValue>(text).is_ok() => {
                text.to_owned()
            }
            _ => json_of(text),
        }))
    }

    fn attribute_value(&mut self, at: At, column: usize, kind: AttributeType, text: &str) -> Result<Found, Fault> {
        Ok(Found::Value(match kind {
            AttributeType::Text => match &self.items(at, column, text)[..] {
                [one] => json_of(one.as_str()),
                items => json_of(items),
            },
            AttributeType::Number => self.decimal(at, text)?,
            AttributeType::Boolean => {
                let fix = "write true or false, or translate the values with --map-values COLUMN=FILE";
                let wrong = || ("the value is neither true nor false".to_owned(), fix.to_owned());
                value::boolean(text).ok_or_else(wrong)?.to_string()
            }
            AttributeType::Date => return self.date(at, column, text),
        }))
    }

    /// A rating on the usual scale, which ends at 5.
    fn rating(&mut self, at: At, text: &str, scale: u32) -> Result<String, Fault> {
        let number = self.decimal(at, if scale == 100 { text.trim_end_matches(['%', ' ']) } else { text })?;
        let Some(rating) = number.parse::<f64>().ok().filter(|_| scale != 5) else { return Ok(number) };
        self.note(at, text, &format!("ratings were converted from a scale that ends at {scale} to one that ends at 5"));
        Ok(((rating * 500.0 / f64::from(scale)).round() / 100.0).to_string())
    }

    fn decimal(&mut self, at: At, text: &str) -> Result<String, Fault> {
        let is_json = serde_json::from_str::<serde_json::Number>(text).is_ok();
        if is_json {
            Ok(text.to_owned())
        } else {
            self.number(at, text, value::decimal(text).map(|(number, _)| number))
        }
    }

    fn number(&mut self, at: At, text: &str, read: Option<String>) -> Result<String, Fault> {
        let number = read.ok_or_else(|| ("the value isn't a number".to_owned(), "write only a number".to_owned()))?;
        self.note(at, text, "numbers were converted to JSON numbers");
        Ok(number)
    }

    fn items(&mut self, at: At, column: usize, text: &str) -> Vec<String> {
        let of = &self.mapping.columns[column];
        let items = match &of.separator {
            Some(Separator::None) => vec![text.to_owned()],
            Some(Separator::Text(mark)) => value::pieces(text, &[mark], true).into_iter().map(str::to_owned).collect(),
            Some(Separator::Commas(_)) | None => self.split(at, column, text),
        };
        items.into_iter().map(|item| of.translated(&item).unwrap_or(item)).collect()
    }

    fn split(&mut self, at: At, column: usize, text: &str) -> Vec<String> {
        if let Some(items) = value::written_list(text) {
            self.note(at, text, "lists in JSON or Python notation were read");
            return items;
        }
        let settled = &self.settled[column];
        let items = settled.items(text);
        if self.mapping.columns[column].separator == Some(Separator::Commas(false)) {
            return items;
        }
        if text.contains("\\,") || (items.len() > 1 && !settled.splits_always) {
            return items;
        }
        let pieces =
            items.iter().flat_map(|item| if settled.splits(item) { settled.pieces(item) } else { vec![&**item] });
        let pieces: Vec<String> = pieces.map(str::to_owned).collect();
        if pieces.len() > items.len() {
            self.note(at, text, "lists were split at commas");
            return pieces;
        }
        if items.len() == 1 && settled.pieces(text).len() > 1 && text.contains(',') {
            let head = self.table.heads[column].as_str();
            let fix = format!("to split it at commas, use --split-commas \"{head}\"; otherwise leave it");
            let message = "a value with commas was kept as one value";
            self.findings.add(Severity::Warning, self.table, at, text, message, &fix);
        }
        items
    }

    fn address(&mut self, at: At, text: &str) -> String {
        if let Some(address) = value::with_scheme(text) {
            self.note(at, text, "https:// was added to addresses that begin with www.");
            return address;
        }
        let repaired = value::repaired_address(text);
        self.findings.fixable += usize::from(repaired.is_some() && !self.options.fix);
        let Some(address) = repaired.filter(|_| self.options.fix) else { return text.to_owned() };
        self.note(at, text, "fixed: addresses with a missing or broken scheme were repaired");
        address
    }

    fn date(&mut self, at: At, column: usize, text: &str) -> Result<Found, Fault> {
        let fault = |message: &str| Err((message.to_owned(), "write it as YYYY-MM-DD, or clear the cell".to_owned()));
        let Some(read) = date::read(text, self.table.is_1904) else {
            // If the date doesn't exist, the checks warn about it.
            let has_form = CalendarDate::has_form(text);
            return if has_form { Ok(Found::Value(json_of(text))) } else { fault("the value isn't a date") };
        };
        let day = match (read.date, self.settled[column].order) {
            (Date::Day(day), _) => Some(day),
            (Date::Either(a, b, year), Some(order)) => date::ordered(a, b, year, order),
            // The column's unclear date order has already been reported.
            (Date::Either(..), None) => return Ok(Found::Fault),
            (Date::Partial, _) => {
                let head = self.table.heads[column].clone();
                let target = &self.mapping.columns[column].target;
                let is_attribute = matches!(target, Target::Attribute(..) | Target::Evidence(_));
                if is_attribute || known(&head).is_some() {
                    return fault("the date has no day");
                }
                let fix = "add the day to use it as the date of the check";
                let message = "a date without a day was kept as text, in an additional property";
                self.findings.add(Severity::Warning, self.table, at, text, message, fix);
                return Ok(Found::Other(head, json_of(text)));
            }
        };
        let Some(day) = day else { return fault("the date doesn't exist in the column's day/month order") };
        if read.has_time {
            self.note(at, text, "times of day were removed from dates");
        } else if day.to_string() != text {
            self.note(at, text, "dates were converted to YYYY-MM-DD");
        }
        Ok(Found::Value(json_of(day.to_string())))
    }

    /// The declared spelling of a category's name, or the name itself if it isn't declared.
    fn category(&mut self, at: At, name: String) -> String {
        match self.options.categories.get(&identity(&name)) {
            Some(declared) if *declared == name => name,
            Some(declared) => {
                let value = format!("`{name}` as `{declared}`");
                self.note(at, &value, "categories were changed to their declared spelling");
                declared.clone()
            }
            None => {
                if self.unknown.len() < COMPARED_NAMES || self.unknown.contains_key(&name) {
                    self.unknown.entry(name.clone()).or_default().push(at);
                }
                name
            }
        }
    }

    fn report_near_categories(&mut self) {
        for (name, places) in std::mem::take(&mut self.unknown) {
            let folded = identity(&name);
            let declared = self.options.categories.iter();
            let near = declared.map(|(id, declared)| (strsim::osa_distance(id, &folded), declared)).min();
            let Some((_, near)) = near.filter(|(edits, _)| *edits <= NEAR_EDITS) else { continue };
            let fix = format!("if you mean `{near}`, correct it in the table");
            let message = format!("category `{name}` isn't declared");
            for at in places {
                self.findings.add(Severity::Warning, self.table, at, &name, &message, &fix);
            }
        }
    }
}

impl Conversion {
    /// Leaves out cells with errors, except for what every product needs. `invalid` has further cells.
    /// Returns how many cells it were.
    pub fn drop_cells(&mut self, mapping: &Mapping, invalid: &Rejected) -> usize {
        let property = |column: usize| mapping.columns.get(column).and_then(|of| of.target.property());
        let may_drop = |column: usize| !matches!(property(column), None | Some("id" | "name" | "url"));
        let known = self.findings.rejected().iter().chain(invalid);
        let cells = known.flat_map(|(row, of)| of.iter().filter_map(|(column, _)| Some((*row, (*column)?))));
        let cells: HashSet<(usize, usize)> = cells.filter(|(_, column)| may_drop(*column)).collect();
        let bad: HashSet<(usize, &str)> =
            cells.iter().filter_map(|(row, column)| Some((*row, property(*column)?))).collect();
        for record in &mut self.records {
            let row = record.row;
            record.properties.retain(|(name, _)| !bad.contains(&(row, name)));
        }
        self.findings = std::mem::take(&mut self.findings).without_cells(may_drop);
        cells.len()
    }
}

/// What is wrong with a value, and how to fix it.
type Fault = (String, String);

/// The result of converting a cell.
enum Found {
    Empty,
    /// A word for "no value".
    Missing,
    Value(String),
    /// A value for a different property.
    Other(String, String),
    /// Nothing; the fault has been reported.
    Fault,
}

/// A JSON string's text, if it's converted like a cell's text; `None` if the JSON is used as is. A
/// property's strings are converted unless the table contains a directory's records; an attribute's
/// strings are converted if they aren't of the attribute's type.
fn json_text(raw: &str, table: &Table, target: &Target) -> Option<String> {
    let wants_text = match target {
        Target::Property(property) => !matches!(Property::shape_of(property), Some(Shape::Number | Shape::Count)),
        _ => matches!(target, Target::Attribute(_, Some(AttributeType::Text))),
    };
    if wants_text && !table.has_records() && raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return Some(raw.to_owned());
    }
    let is_text = match target {
        Target::Property(_) | Target::Translation(_) | Target::Evidence(_) => !table.has_records(),
        Target::Attribute(_, Some(kind)) => !AttributeType::fitting(raw)[*kind as usize],
        Target::Attribute(_, None) | Target::Json(_) | Target::Additional(_) | Target::Ignored => false,
    };
    is_text.then(|| serde_json::from_str::<String>(raw).ok())?
}

/// Finds the value that the text stands for in a closed list. Ignores case, and accepts spaces
/// instead of hyphens.
fn listed_value(text: &str, values: &'static [&'static str]) -> Result<&'static str, Fault> {
    let folded = slug(text);
    values.iter().copied().find(|value| *value == folded).ok_or_else(|| {
        let allowed = values.join("` or `");
        (
            format!("the value isn't one of `{}`", values.join("`, `")),
            format!("write `{allowed}`, or translate the values with --map-values COLUMN=FILE"),
        )
    })
}

pub(super) const TRANSLATIONS: &str = "translations";

fn translation(name: &str) -> Option<Translation> {
    Translation::of(name, known)
}

/// Merges a row's translations into a record's, as JSON; `None` if nothing is left. An empty cell,
/// whose JSON is `None`, removes the text.
fn merged_translations(old: Option<&str>, row: &[(String, Option<String>)]) -> Option<String> {
    let parsed = |json: &str| serde_json::from_str::<Map<String, Value>>(json).ok();
    let mut translations = old.and_then(parsed).unwrap_or_default();
    for (name, json) in row {
        let Some(Translation { property, language, .. }) = translation(name) else { continue };
        let value = json.as_deref().and_then(|json| serde_json::from_str::<Value>(json).ok());
        let texts = translations.entry(language.as_str()).or_insert_with(|| Map::new().into());
        let Some(texts) = texts.as_object_mut() else { continue };
        match value {
            Some(value) => _ = texts.insert(property.to_owned(), value),
            None => _ = texts.remove(property),
        }
    }
    translations.retain(|_, texts| texts.as_object().is_none_or(|texts| !texts.is_empty()));
    (!translations.is_empty()).then(|| json_of(translations))
}

/// Merges a row's columns with evidence into a record's evidence, as JSON; `None` if nothing is left.
/// If a property has several sources, the row's is the one with the same `source`, or a new one.
fn merged_evidence(old: Option<&str>, row: &[(String, Option<String>)]) -> Option<String> {
    let parsed = |json: &str| serde_json::from_str::<Value>(json).ok();
    let mut evidence = old.and_then(parsed).and_then(|old| old.as_object().cloned()).unwrap_or_default();
    let mut of_row: BTreeMap<&str, Vec<(&str, Option<Value>)>> = BTreeMap::new();
    for (name, json) in row {
        let Some((property, member)) = evidence_part(name) else { continue };
        of_row.entry(property).or_default().push((member, json.as_deref().and_then(parsed)));
    }
    for (property, members) in of_row {
        let old = evidence.remove(property);
        let is_list = old.as_ref().is_some_and(Value::is_array);
        let mut sources = match old {
            Some(Value::Array(sources)) => sources,
            old => old.into_iter().collect(),
        };
        let source = members.iter().find(|(member, _)| *member == "source").and_then(|(_, value)| value.as_ref());
        let is_meant = |of: &Value| sources.len() == 1 || (source.is_some() && of.get("source") == source);
        let at = sources.iter().position(is_meant);
        let mut entry = at.and_then(|at| sources[at].as_object().cloned()).unwrap_or_default();
        for (member, value) in members {
            match value {
                Some(value) => _ = entry.insert(member.to_owned(), value),
                None => _ = entry.remove(member),
            }
        }
        let entry = (!entry.is_empty()).then(|| Value::from(entry));
        let at = at.unwrap_or(sources.len());
        sources.splice(at..sources.len().min(at + 1), entry);
        match &sources[..] {
            [] => {}
            [one] if !is_list => _ = evidence.insert(property.to_owned(), one.clone()),
            _ => _ = evidence.insert(property.to_owned(), sources.into()),
        }
    }
    (!evidence.is_empty()).then(|| json_of(evidence))
}

/// How many of a record's translations the row's empty cells remove.
pub(super) fn cleared_translations(old: Option<&str>, row: &[(String, Option<String>)]) -> usize {
    let old = old.and_then(|json| serde_json::from_str::<Value>(json).ok()).unwrap_or_default();
    let has = |of: Translation| old[of.language.as_str()][of.property].is_string();
    row.iter().filter(|(name, json)| json.is_none() && translation(name).is_some_and(has)).count()
}

impl Conversion {
    /// Removes and returns the records with rejected rows, all of whose rows are then rejected.
    pub fn set_aside(&mut self, rejected: &mut Rejected) -> Vec<Record> {
        let is_rejected = |record: &Record| record.rows().any(|row| rejected.contains_key(&row));
        let (aside, valid): (Vec<_>, _) = std::mem::take(&mut self.records).into_iter().partition(is_rejected);
        self.records = valid;
        for row in aside.iter().flat_map(Record::rows) {
            rejected.entry(row).or_insert_with(|| vec![(None, "another row about the product has errors".to_owned())]);
        }
        aside
    }

    /// Merges records with the same id, or the same name and URL. Lists are united. If single values
    /// differ, the first one is kept and the others are reported, or the records are kept as they are.
    fn merge_rows(&mut self, table: &Table, mapping: &Mapping, merge: MergeRows) {
        let mut places: HashMap<[String; 3], usize> = HashMap::new();
        let mut groups: Vec<Vec<Record>> = Vec::new();
        for record in std::mem::take(&mut self.records) {
            let text = |property| record.text(property).unwrap_or_default();
            let key = match record.text("id") {
                Some(id) => [id, String::new(), String::new()],
                None => [String::new(), identity(&text("name")), normalised_url(&text("url")).into_owned()],
            };
            let is_known = !key[0].is_empty() || key[1..].iter().all(|part| !part.is_empty());
            let place = if is_known { *places.entry(key).or_insert(groups.len()) } else { groups.len() };
            match groups.get_mut(place) {
                Some(group) => group.push(record),
                None => groups.push(vec![record]),
            }
        }
        for group in groups {
            if merge == MergeRows::All || agree(mapping, &group) {
                let record = self.merged(table, mapping, group);
                self.records.push(record);
            } else {
                self.records.extend(group);
            }
        }
        self.records.sort_by_key(|record| record.row);
    }

    fn merged(&mut self, table: &Table, mapping: &Mapping, mut group: Vec<Record>) -> Record {
        let others = group.split_off(1);
        let mut record = group.swap_remove(0);
        if others.is_empty() {
            return record;
        }
        for (name, _) in others.iter().flat_map(|other| &other.properties) {
            if record.properties.iter().all(|(known, _)| known != name) {
                record.properties.push((name.clone(), None));
            }
        }
        let has_id = record.text("id").is_some();
        for (name, first) in record.properties.iter_mut().filter(|(name, _)| !is_in_common(has_id, name)) {
            let column = column_of(mapping, name);
            let value = |other: &'_ Record| other.properties.iter().find(|(of, _)| of == name)?.1.clone();
            let values: Vec<_> = others.iter().filter_map(|other| Some((other.row, value(other)?))).collect();
            if column.is_some_and(|column| is_list(&mapping.columns[column].target)) {
                *first = united(first.iter().chain(values.iter().map(|(_, value)| value)));
                continue;
            }
            for (row, value) in values {
                let first = first.get_or_insert_with(|| value.clone());
                if *first != value {
                    let shown = format!("`{value}`; kept: `{first}`");
                    let message = "rows of one product have different values, so only the first one is used";
                    let fix =
                        "if all of them matter, publish the column as a text attribute; otherwise correct the table";
                    self.findings.add(Severity::Warning, table, At { row: Some(row), column }, &shown, message, fix);
                }
            }
        }
        let count = format!("{} rows", others.len() + 1);
        let message = "rows about the same product were merged";
        self.findings.note(table, At::row(record.row), &count, message);
        record.others = others.iter().map(|other| other.row).collect();
        record
    }
}

fn column_of(mapping: &Mapping, property: &str) -> Option<usize> {
    mapping.columns.iter().position(|of| of.target.property() == Some(property))
}

/// Whether the records to merge have this property in common, however it's written.
fn is_in_common(has_id: bool, property: &str) -> bool {
    if has_id { property == "id" } else { matches!(property, "name" | "url") }
}

/// Whether records differ only in lists.
fn agree(mapping: &Mapping, records: &[Record]) -> bool {
    let mut known: HashMap<&str, &str> = HashMap::new();
    let has_id = records[0].text("id").is_some();
    let values = records.iter().flat_map(|record| &record.properties);
    let mut filled = values.filter_map(|(name, value)| Some((&**name, value.as_deref()?)));
    filled.all(|(name, value)| {
        let is_list = || column_of(mapping, name).is_some_and(|column| is_list(&mapping.columns[column].target));
        is_in_common(has_id, name) || *known.entry(name).or_insert(value) == value || is_list()
    })
}

fn is_list(target: &Target) -> bool {
    match target {
        Target::Attribute(_, kind) => matches!(kind, None | Some(AttributeType::Text)),
        Target::Property(name) => matches!(Property::shape_of(name), Some(Shape::Texts | Shape::Sources)),
        _ => false,
    }
}

/// The different items of several values, as a list; a single value if all are the same.
fn united<'v>(values: impl Iterator<Item = &'v String>) -> Option<String> {
    let mut seen = HashSet::new();
    let different: Vec<&String> = values.filter(|value| seen.insert(*value)).collect();
    if different.len() < 2 {
        return different.first().map(ToString::to_string);
    }
    let mut seen = HashSet::new();
    let parsed = different.into_iter().filter_map(|value| serde_json::from_str(value).ok());
    let items = parsed.flat_map(|value| if let Value::Array(items) = value { items } else { vec![value] });
    Some(items.filter(|item| seen.insert(item.to_string())).collect::<Value>().to_string())
}
