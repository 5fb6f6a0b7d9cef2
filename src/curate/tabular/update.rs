//! Updates an export with a table's rows. Whatever the table doesn't contain is kept as written.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::convert::{TRANSLATIONS, cleared_translations, merged_evidence, merged_translations};
use super::edit::{Edit, items, like, rebuild};
use super::findings::{At, Level};
use super::target::{EVIDENCE, evidence_part};
use super::{Conversion, Mapping, Record, Table};
use crate::export::Export;
use crate::record::{Attribute, EvidenceStatus, identity, normalised_url, slug};
use crate::text::append;

/// A row and a record that have the same name or the same URL, but not both.
#[derive(Debug)]
pub struct Match {
    /// The row, such as `row 5`.
    pub row: String,
    pub row_name: String,
    pub row_url: String,
    pub id: String,
    pub name: String,
    pub url: String,
}

/// What to do with a row that may be an existing record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The row is that record: update it.
    Update,
    /// The row is a different record: add it.
    Add,
}

/// Why an export can't be updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    #[error("the export's `software` can't be found")]
    Form,
    #[error("{0}")]
    Unclear(String),
}

/// An export after an update.
#[derive(Debug)]
pub struct Updated {
    pub json: String,
    /// For each element of `software`, the index of the row that it comes from.
    pub rows: Vec<Option<usize>>,
    /// How many values were removed because their cell is empty.
    pub cleared: usize,
    /// Records without a row, as `name (id)`. `json` still contains them unless the caller asked to
    /// remove them.
    pub missing: Vec<String>,
}

#[derive(Deserialize)]
struct KnownRecord {
    id: String,
    name: String,
    url: String,
}

/// Updates an export. Rows are matched by id, or by name and URL if there are no ids; `ask` decides
/// if only one of the two matches.
pub fn update(
    export: &Export,
    table: &Table,
    mapping: &Mapping,
    conversion: &mut Conversion,
    options: (bool, bool),
    ask: &mut dyn FnMut(&Match) -> Option<Choice>,
) -> Result<Updated, UpdateError> {
    let (remove_missing, unique_ids) = options;
    let document = std::str::from_utf8(&export.document).map_err(|_| UpdateError::Form)?;
    let members = items(document).ok_or(UpdateError::Form)?;
    let software = members.iter().position(|item| item.key.as_deref() == Some("software")).ok_or(UpdateError::Form)?;
    let elements = items(members[software].value).ok_or(UpdateError::Form)?;
    let heads: Vec<KnownRecord> = elements
        .iter()
        .map(|item| serde_json::from_str(item.value).map_err(|_| UpdateError::Form))
        .collect::<Result<_, _>>()?;
    let targets = Matcher::new(&heads).rows(table, mapping, conversion, ask)?;

    let mut of_element: BTreeMap<usize, usize> = BTreeMap::new();
    let mut new: Vec<usize> = Vec::new();
    for (index, target) in targets.into_iter().enumerate() {
        let Some(element) = target else {
            new.push(index);
            continue;
        };
        if let Some(first) = of_element.get(&element) {
            let (row, first) = (conversion.records[index].row, conversion.records[*first].row);
            let value = format!("`{}` as in {}", heads[element].id, table.row_name(table.rows[first].number));
            let at = At { row: Some(row), column: None };
            let fix = "remove one of the rows, or give one of them a different id";
            conversion.findings.add(Level::Error, table, at, &value, "another row matches the same record", fix);
        } else {
            of_element.insert(element, index);
        }
    }
    let taken: HashMap<String, String> =
        heads.iter().map(|head| (head.id.clone(), format!("the record `{}`", head.name))).collect();
    conversion.complete(table, mapping, &new, taken, unique_ids);

    let mut cleared = 0;
    let mut rows = Vec::new();
    let mut changes = Vec::new();
    let mut missing = Vec::new();
    for (index, item) in elements.iter().enumerate() {
        let Some(record) = of_element.get(&index).map(|record| &conversion.records[*record]) else {
            missing.push(format!("{} ({})", heads[index].name, heads[index].id));
            changes.push(if remove_missing { Edit::Remove } else { Edit::Keep });
            if !remove_missing {
                rows.push(None);
            }
            continue;
        };
        rows.push(Some(record.row));
        changes.push(merged(item.value, record, &mut cleared).map_or(Edit::Keep, Edit::Value));
    }
    let added: Vec<_> = new
        .iter()
        .map(|index| {
            let record = &conversion.records[*index];
            let members = record.members();
            let members: Vec<_> = members.iter().map(|(name, value)| (*name, &**value)).collect();
            let spaced = elements.last().and_then(|last| like(last.value, &members));
            (None, spaced.unwrap_or_else(|| element(record)))
        })
        .collect();
    rows.extend(new.iter().map(|index| Some(conversion.records[*index].row)));
    let array = rebuild(members[software].value, &elements, &changes, &added);
    let mut attributes = mapping.attributes(table);
    attributes.retain(|new| export.attributes.iter().all(|of| of.property != new.property));
    let declared = members.iter().position(|item| item.key.as_deref() == Some("attributes"));
    let changes: Vec<_> = (0..members.len())
        .map(|index| match index {
            _ if index == software => Edit::Value(array.clone()),
            _ if Some(index) == declared => declare(members[index].value, &attributes),
            _ => Edit::Keep,
        })
        .collect();
    let is_new = declared.is_none() && !attributes.is_empty();
    let added: Vec<_> = is_new.then(|| (Some("attributes"), declarations(&attributes))).into_iter().collect();
    Ok(Updated { json: rebuild(document, &members, &changes, &added), rows, cleared, missing })
}

/// Adds declarations to the list of attributes; replaces a value that isn't a list.
fn declare(list: &str, attributes: &[Attribute]) -> Edit {
    if attributes.is_empty() {
        return Edit::Keep;
    }
    match items(list).filter(|items| items.iter().all(|item| item.key.is_none())) {
        Some(items) if !items.is_empty() => {
            let added: Vec<_> = attributes.iter().map(|attribute| (None, attribute.declaration())).collect();
            let kept: Vec<_> = items.iter().map(|_| Edit::Keep).collect();
            Edit::Value(rebuild(list, &items, &kept, &added))
        }
        _ => Edit::Value(declarations(attributes)),
    }
}

struct Matcher<'h> {
    heads: &'h [KnownRecord],
    by_id: HashMap<&'h str, usize>,
    by_name: HashMap<String, usize>,
    by_url: HashMap<String, usize>,
}

impl<'h> Matcher<'h> {
    fn new(heads: &'h [KnownRecord]) -> Self {
        let by = |key: fn(&KnownRecord) -> String| {
            heads.iter().enumerate().map(|(index, head)| (key(head), index)).collect()
        };
        Self {
            heads,
            by_id: heads.iter().enumerate().map(|(index, head)| (head.id.as_str(), index)).collect(),
            by_name: by(|head| identity(&head.name)),
            by_url: by(|head| normalised_url(&head.url).into_owned()),
        }
    }

    /// For each of the table's records, the element that it corresponds to.
    fn rows(
        &self,
        table: &Table,
        mapping: &Mapping,
        conversion: &Conversion,
        ask: &mut dyn FnMut(&Match) -> Option<Choice>,
    ) -> Result<Vec<Option<usize>>, UpdateError> {
        let mut unclear: Vec<String> = Vec::new();
        let mut targets = Vec::new();
        for record in &conversion.records {
            if mapping.has("id") {
                targets.push(record.text("id").and_then(|id| self.by_id.get(id.as_str()).copied()));
                continue;
            }
            let (name, url) = (record.text("name").unwrap_or_default(), record.text("url").unwrap_or_default());
            let folded = identity(&name);
            let by_name = self.by_name.get(&folded).copied().filter(|_| !folded.is_empty());
            let by_url = self.by_url.get(&*normalised_url(&url)).copied();
            let target = match (by_name, by_url) {
                (a, b) if a == b => a,
                (by_name, by_url) => {
                    let Some((found, head)) =
                        by_url.or(by_name).and_then(|found| Some((found, self.heads.get(found)?)))
                    else {
                        targets.push(None);
                        continue;
                    };
                    let question = Match {
                        row: table.row_name(table.rows[record.row].number),
                        row_name: name,
                        row_url: url,
                        id: head.id.clone(),
                        name: head.name.clone(),
                        url: head.url.clone(),
                    };
                    match ask(&question) {
                        Some(Choice::Update) => Some(found),
                        Some(Choice::Add) => None,
                        None => {
                            unclear.push(question.to_string());
                            None
                        }
                    }
                }
            };
            targets.push(target);
        }
        if unclear.is_empty() {
            return Ok(targets);
        }
        let more = unclear.len().saturating_sub(10);
        unclear.truncate(10);
        let more = if more == 0 { String::new() } else { format!("\n  and {more} more") };
        Err(UpdateError::Unclear(format!(
            "rows match a record by name or by URL, but not by both; run this in a terminal to choose, or add an `id` column with the \
             rows' ids:\n  {}{more}",
            unclear.join("\n  ")
        )))
    }
}

impl std::fmt::Display for Match {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { row, row_name, row_url, id, name, url } = self;
        write!(f, "{row} `{row_name}` {row_url} may be `{name}` ({id}) {url}")
    }
}

/// An element updated with a record's values; `None` if nothing changes.
fn merged(text: &str, record: &Record, cleared: &mut usize) -> Option<String> {
    let members = items(text)?;
    let old = |key: &str| members.iter().find(|item| item.key.as_deref() == Some(key)).map(|item| item.value);
    let mut set: Vec<(&str, Option<String>)> = Vec::new();
    for (name, value) in record.properties.iter().filter(|(name, _)| evidence_part(name).is_none()) {
        let value = match value {
            None if name == "evidence_status" => Some(Value::from(EvidenceStatus::PendingReview.as_str()).to_string()),
            value => value.clone(),
        };
        let is_same = if name == "categories" {
            categories(old("category"), old("categories")) == categories(None, value.as_deref())
        } else {
            match (old(name), value.as_deref()) {
                (None | Some("null" | "[]" | "{}" | "\"\""), None) => true,
                (Some(old), Some(new)) => alike(old, new),
                _ => false,
            }
        };
        if is_same {
            continue;
        }
        *cleared += usize::from(value.is_none());
        if name == "categories" && old("category").is_some() {
            set.push(("category", None));
        }
        set.push((name, value));
    }
    if record.has_evidence_columns() {
        let at = set.iter().position(|(name, _)| *name == EVIDENCE);
        let before = at.map_or_else(|| old(EVIDENCE).map(str::to_owned), |at| set.remove(at).1);
        let value = merged_evidence(before.as_deref(), &record.properties);
        if !is_same_object(old(EVIDENCE), value.as_deref()) {
            *cleared += usize::from(value.is_none());
            set.push((EVIDENCE, value));
        }
    }
    if !record.translations.is_empty() {
        let at = set.iter().position(|(name, _)| *name == TRANSLATIONS);
        let before = at.map_or_else(|| old(TRANSLATIONS).map(str::to_owned), |at| set.remove(at).1);
        let value = merged_translations(before.as_deref(), &record.translations);
        if !is_same_object(old(TRANSLATIONS), value.as_deref()) {
            *cleared += cleared_translations(before.as_deref(), &record.translations);
            set.push((TRANSLATIONS, value));
        }
    }
    if set.is_empty() {
        return None;
    }
    let change = |key: &str| match set.iter().find(|(name, _)| *name == key) {
        None => Edit::Keep,
        Some((_, None)) => Edit::Remove,
        Some((_, Some(value))) => Edit::Value(value.clone()),
    };
    let changes: Vec<_> = members.iter().map(|item| change(item.key.as_deref().unwrap_or_default())).collect();
    let added: Vec<_> = set
        .iter()
        .filter(|(name, _)| old(name).is_none())
        .filter_map(|(name, value)| Some((Some(*name), value.clone()?)))
        .collect();
    Some(rebuild(text, &members, &changes, &added))
}

fn is_same_object(old: Option<&str>, new: Option<&str>) -> bool {
    match (old, new) {
        (None | Some("null" | "{}"), None) => true,
        (Some(old), Some(new)) => alike(old, new),
        _ => false,
    }
}

/// The main category, followed by the others.
fn categories(one: Option<&str>, others: Option<&str>) -> Vec<Value> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let mut all: Vec<Value> = one.and_then(read).into_iter().collect();
    for value in others.and_then(read).map_or_else(Vec::new, as_list) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

fn as_list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        value => vec![value],
    }
}

/// Whether two JSON values are the same. A string equals a new list that contains only that string.
fn alike(old: &str, new: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (Some(old), Some(new)) = (read(old), read(new)) else { return false };
    let number = |value: &Value| value.as_f64();
    old == new
        || (number(&old).is_some() && number(&old) == number(&new))
        || (old.is_string() && new.is_array() && as_list(old) == as_list(new))
}

/// The export's own properties.
#[derive(Debug, Clone)]
pub struct Envelope {
    pub name: String,
    /// Licence.
    pub license: String,
}

/// Creates an export document from records that already have ids and statuses, and declares the
/// attributes.
pub fn document(envelope: &Envelope, attributes: &[Attribute], records: &[Record]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut json =
        format!("{{\n  \"name\": {},\n  \"license\": {},\n", quoted(&envelope.name), quoted(&envelope.license));
    if !attributes.is_empty() {
        append(&mut json, format_args!("  \"attributes\": {},\n", declarations(attributes)));
    }
    json.push_str("  \"software\": [");
    for (index, record) in records.iter().enumerate() {
        json.push_str(if index == 0 { "\n    " } else { ",\n    " });
        json.push_str(&element(record));
    }
    json.push_str("\n  ]\n}\n");
    json
}

/// Attribute declarations, as a member of an export.
fn declarations(attributes: &[Attribute]) -> String {
    let lines: Vec<_> = attributes.iter().map(|attribute| format!("\n    {}", attribute.declaration())).collect();
    format!("[{}\n  ]", lines.join(","))
}

/// A record as an element of `software`.
fn element(record: &Record) -> String {
    let members = record.members().into_iter();
    let members: Vec<_> =
        members.map(|(name, value)| format!("\n      {}: {value}", serde_json::Value::from(name))).collect();
    format!("{{{}\n    }}", members.join(","))
}

impl Conversion {
    /// Reports ids that occur twice in a column.
    pub(super) fn check_ids(&mut self, table: &Table, mapping: &Mapping) {
        let Some(column) = mapping.columns.iter().position(|of| of.target.property() == Some("id")) else {
            return;
        };
        let mut seen: HashMap<String, usize> = HashMap::new();
        for record in &self.records {
            let Some(id) = record.text("id") else { continue };
            if let Some(first) = seen.get(&id) {
                let value = format!("`{id}` as in {}", table.row_name(table.rows[*first].number));
                let at = At { row: Some(record.row), column: Some(column) };
                let fix = "give one of them a different id, or remove it";
                self.findings.add(Level::Error, table, at, &value, "another row has the same id", fix);
            } else {
                seen.insert(id, record.row);
            }
        }
    }

    /// Gives each record at these indices an id derived from its name if there's no id column, and
    /// the status `pending-review` if it has none. `taken` contains the ids of other records.
    pub fn complete(
        &mut self,
        table: &Table,
        mapping: &Mapping,
        indices: &[usize],
        mut taken: HashMap<String, String>,
        unique_ids: bool,
    ) {
        let name_column = mapping.columns.iter().position(|of| of.target.property() == Some("name"));
        for &index in indices {
            let record = &mut self.records[index];
            if !record.properties.iter().any(|(name, value)| name == "evidence_status" && value.is_some()) {
                record.properties.retain(|(name, _)| name != "evidence_status");
                let status = serde_json::Value::from(EvidenceStatus::PendingReview.as_str()).to_string();
                record.properties.push(("evidence_status".to_owned(), Some(status)));
            }
            if let Some(id) = record.text("id") {
                taken.insert(id, table.row_name(table.rows[record.row].number));
            }
            if mapping.has("id") || record.text("id").is_some() {
                continue;
            }
            let row = &table.rows[record.row];
            let name = record.text("name");
            // The checks report rows without a name, but need an id to do so.
            let made = slug(name.as_deref().unwrap_or(&format!("row {}", row.number)));
            let at = At { row: Some(record.row), column: name_column };
            let shown = name.clone().unwrap_or_default();
            if made.is_empty() {
                let fix = "add an `id` column";
                self.findings.add(Level::Error, table, at, &shown, "no id can be derived from the name", fix);
            }
            let mut id = made.clone();
            let mut suffix = 1;
            while taken.contains_key(&id) && unique_ids {
                suffix += 1;
                id = format!("{made}-{suffix}");
            }
            if let Some(first) = taken.get(&id) {
                let fix = "add an `id` column, remove one of the two, or give such ids a suffix with --unique-ids";
                let clash = format!("`{shown}` would get the id `{id}`, which {first} already has");
                self.findings.add(
                    Level::Error,
                    table,
                    at,
                    &clash,
                    "the id derived from the name is already taken",
                    fix,
                );
            } else {
                if suffix > 1 {
                    let message = "an id derived from a name was already taken, so a suffix was added";
                    self.findings.add(Level::Note, table, at, &id, message, "");
                }
                taken.insert(id.clone(), table.row_name(row.number));
            }
            record.properties.insert(0, ("id".to_owned(), Some(serde_json::Value::from(id).to_string())));
        }
    }
}
