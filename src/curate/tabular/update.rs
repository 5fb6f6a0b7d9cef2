//! Updates an export with a table's rows. Whatever the table doesn't contain is kept as written.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::convert::{TRANSLATIONS, cleared_translations};
use super::edit::{Edit, items, like, rebuild};
use super::findings::At;
use super::{Conversion, Mapping, Record, Table, json_of};
use crate::export::{Export, Severity};
use crate::record::{Attribute, EvidenceStatus, identity, normalised_url, slug};
use crate::text::append;

/// Why an export can't be updated.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UpdateError(String);

/// An export after an update.
#[derive(Debug)]
pub struct Updated {
    pub json: String,
    /// For each element of `software`, the index of the row that it comes from.
    pub rows: Vec<Option<usize>>,
    /// The rows that change or add a record.
    pub changed: HashSet<usize>,
    /// How many values were removed because their cell is empty.
    pub cleared: usize,
    /// Records without a row, as `name (id)`. `json` still contains them unless the caller asked to
    /// remove them.
    pub missing: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct UpdateOptions {
    /// Remove records that have no row.
    pub remove_missing: bool,
    /// Add a suffix to ids derived from names if they collide.
    pub unique_ids: bool,
    /// Match rows only by id, or by name and URL together.
    pub is_exact: bool,
}

/// Updates an export. Rows are matched by id or, if there are no ids, by repository, then by URL and name; `ask` decides
/// if a row may be several records, or if several rows may be a record.
pub fn update(
    export: &Export,
    table: &Table,
    mapping: &Mapping,
    conversion: &mut Conversion,
    options: UpdateOptions,
    ask: &mut dyn FnMut(&Match) -> Option<Choice>,
) -> Result<Updated, UpdateError> {
    let UpdateOptions { remove_missing, unique_ids, is_exact } = options;
    let not_found = || UpdateError("the export's `software` can't be found".to_owned());
    let document = std::str::from_utf8(&export.document).map_err(|_| not_found())?;
    let members = items(document).ok_or_else(not_found)?;
    let software = members.iter().position(|item| item.key.as_deref() == Some("software")).ok_or_else(not_found)?;
    let elements = items(members[software].value).ok_or_else(not_found)?;
    let heads: Option<Vec<KnownRecord>> = elements.iter().map(|item| serde_json::from_str(item.value).ok()).collect();
    let heads = heads.ok_or_else(not_found)?;
    let mut matcher = Matcher::new(&conversion.records, &heads);
    if mapping.has("id") {
        matcher.by_id();
    } else {
        if !is_exact {
            matcher.by_repository();
        }
        matcher.by_name_and_url(&|element, record| merged(elements[element].value, record, &mut 0).is_none());
    }
    if !mapping.has("id") && !is_exact {
        for (index, element, shared) in matcher.by_one_key() {
            let record = &conversion.records[index];
            let name = record.text("name").unwrap_or_default();
            let value = format!("`{name}` as `{}` ({})", heads[element].name, heads[element].id);
            let message = format!("rows were matched with records by their {shared} alone");
            conversion.findings.note(table, At::row(record.row), &value, &message);
        }
        let row_name = |record: &Record| table.row_name(table.rows[record.row].number);
        let unclear = matcher.by_answer(&row_name, ask);
        if !unclear.is_empty() {
            return Err(unclear_rows(&unclear));
        }
    }
    let targets = matcher.targets;
    let mut of_element: BTreeMap<usize, usize> = BTreeMap::new();
    let mut new: Vec<usize> = Vec::new();
    for (index, target) in targets.into_iter().enumerate() {
        match target {
            Some(element) => _ = of_element.insert(element, index),
            None => new.push(index),
        }
    }
    let taken: HashMap<String, String> =
        heads.iter().map(|head| (head.id.clone(), format!("the record `{}`", head.name))).collect();
    conversion.complete(table, mapping, &new, taken, unique_ids);

    let mut cleared = 0;
    let mut updated = HashSet::new();
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
        let value = merged(item.value, record, &mut cleared);
        if value.is_some() {
            updated.extend(record.rows());
        }
        changes.push(value.map_or(Edit::Keep, Edit::Value));
    }
    let added: Vec<_> = new
        .iter()
        .map(|index| {
            let record = &conversion.records[*index];
            let members: Vec<_> = record.filled().collect();
            let spaced = elements.last().and_then(|last| like(last.value, &members));
            (None, spaced.unwrap_or_else(|| element(record)))
        })
        .collect();
    updated.extend(new.iter().flat_map(|index| conversion.records[*index].rows()));
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
    Ok(Updated { json: rebuild(document, &members, &changes, &added), rows, changed: updated, cleared, missing })
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

/// How many unclear rows an error shows.
const SHOWN_UNCLEAR: usize = 10;

fn unclear_rows(rows: &[Match]) -> UpdateError {
    let shown: Vec<_> = rows.iter().take(SHOWN_UNCLEAR).map(|row| format!("\n  {row}")).collect();
    let more = rows.len() - shown.len();
    let more = if more == 0 { String::new() } else { format!("\n  and {more} more") };
    UpdateError(format!(
        "it's unclear which records some rows describe; run this in a terminal to choose, or add an `id` column with \
         the records' ids:{}{more}",
        shown.concat()
    ))
}

/// An element updated with a record's values; `None` if nothing changes.
fn merged(text: &str, record: &Record, cleared: &mut usize) -> Option<String> {
    let members = items(text)?;
    let old = |key: &str| members.iter().find(|item| item.key.as_deref() == Some(key)).map(|item| item.value);
    let mut set: Vec<(&str, Option<Cow<'_, str>>)> = Vec::new();
    for (name, value) in record.members(old) {
        let value = match value {
            None if name == "evidence_status" => Some(json_of(EvidenceStatus::PendingReview.as_str()).into()),
            value => value,
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
        *cleared += match name {
            TRANSLATIONS => cleared_translations(old(name), &record.properties).max(usize::from(value.is_none())),
            _ => usize::from(value.is_none()),
        };
        if name == "categories" && old("category").is_some() {
            set.push(("category", None));
        }
        set.push((name, value));
    }
    if set.is_empty() {
        return None;
    }
    let change = |key: &str| match set.iter().find(|(name, _)| *name == key) {
        None => Edit::Keep,
        Some((_, None)) => Edit::Remove,
        Some((_, Some(value))) => Edit::Value(value.to_string()),
    };
    let changes: Vec<_> = members.iter().map(|item| change(item.key.as_deref().unwrap_or_default())).collect();
    let added: Vec<_> = set
        .iter()
        .filter(|(name, _)| old(name).is_none())
        .filter_map(|(name, value)| Some((Some(*name), value.as_ref()?.to_string())))
        .collect();
    Some(rebuild(text, &members, &changes, &added))
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
    pub license: String,
}

/// Creates an export document from records that already have ids and statuses, and declares the
/// attributes.
pub fn document(envelope: &Envelope, attributes: &[Attribute], records: &[Record]) -> String {
    let mut json =
        format!("{{\n  \"name\": {},\n  \"license\": {},\n", json_of(&*envelope.name), json_of(&*envelope.license));
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
    let members: Vec<_> = record.filled().map(|(name, value)| format!("\n      {}: {value}", json_of(name))).collect();
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
                let at = At::cell(record.row, column);
                let fix = "give one of them a different id, or remove it";
                self.findings.add(Severity::Error, table, at, &value, "another row has the same id", fix);
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
                let status = json_of(EvidenceStatus::PendingReview.as_str());
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
                self.findings.add(Severity::Error, table, at, &shown, "no id can be derived from the name", fix);
            }
            let mut id = made.clone();
            let mut suffix = 1;
            while taken.contains_key(&id) && unique_ids {
                suffix += 1;
                id = format!("{made}-{suffix}");
            }
            if let Some(first) = taken.get(&id) {
                let fix = "if both are one product, merge them with --merge-rows; otherwise add an `id` column, or give such ids a suffix with --unique-ids";
                let clash = format!("`{shown}` would get the id `{id}`, which {first} already has");
                let message = "the id derived from the name is already taken";
                self.findings.add(Severity::Error, table, at, &clash, message, fix);
            } else {
                if suffix > 1 {
                    let message = "an id derived from a name was already taken, so a suffix was added";
                    self.findings.note(table, at, &id, message);
                }
                taken.insert(id.clone(), table.row_name(row.number));
            }
            record.properties.insert(0, ("id".to_owned(), Some(json_of(id))));
        }
    }
}

/// How many records with a row's name and URL are compared with it to find the one that doesn't
/// differ at all.
const MAX_COMPARED: usize = 100;
/// How many records are shown for a row.
const MAX_CANDIDATES: usize = 9;

/// A row that may be one of several records, or that shares a name or URL that isn't unique.
#[derive(Debug)]
pub struct Match {
    /// The row, such as `row 5`, with its name and URL.
    pub row: String,
    /// The records that it may describe.
    pub candidates: Vec<String>,
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may be {}", self.row, self.candidates.join(" or "))
    }
}

/// What to do with a row that may be an existing record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The row is the candidate with this index: update it.
    Update(usize),
    /// The row is a different record: add it.
    Add,
}

#[derive(Deserialize)]
struct KnownRecord {
    id: String,
    name: String,
    url: String,
    repository: Option<String>,
}

impl fmt::Display for KnownRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}) {}", self.name, self.id, self.url)
    }
}

/// A normalised URL and name, the more certain one first.
type Keys = [String; 2];
const KEYS: [&str; 2] = ["address", "name"];

fn keys(name: &str, url: &str) -> Keys {
    [normalised_url(url).into_owned(), identity(name)]
}

/// The indices of the rows or records with each key.
struct Index([HashMap<String, Vec<usize>>; 2]);

impl Index {
    fn new(all: &[Keys]) -> Self {
        Self([0, 1].map(|which| {
            let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, keys) in all.iter().enumerate().filter(|(_, keys)| !keys[which].is_empty()) {
                by_key.entry(keys[which].clone()).or_default().push(at);
            }
            by_key
        }))
    }

    fn get(&self, which: usize, keys: &Keys) -> &[usize] {
        self.0[which].get(&keys[which]).map_or(&[], Vec::as_slice)
    }
}

/// A table's records and an export's, with the pairs found so far, the most certain ones first.
struct Matcher<'m> {
    records: &'m [Record],
    known: &'m [KnownRecord],
    row_keys: Vec<Keys>,
    known_keys: Vec<Keys>,
    by_row: Index,
    by_known: Index,
    by_id: HashMap<&'m str, usize>,
    /// For each of the table's records, the element of `software` that it describes.
    targets: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl<'m> Matcher<'m> {
    fn new(records: &'m [Record], known: &'m [KnownRecord]) -> Self {
        let text = |record: &Record, property| record.text(property).unwrap_or_default();
        let row_keys: Vec<_> = records.iter().map(|of| keys(&text(of, "name"), &text(of, "url"))).collect();
        let known_keys: Vec<_> = known.iter().map(|known| keys(&known.name, &known.url)).collect();
        let (by_row, by_known) = (Index::new(&row_keys), Index::new(&known_keys));
        let (targets, is_taken) = (vec![None; records.len()], vec![false; known.len()]);
        let by_id = known.iter().enumerate().map(|(at, of)| (&*of.id, at)).collect();
        Self { records, known, row_keys, known_keys, by_row, by_known, by_id, targets, is_taken }
    }

    fn pair(&mut self, row: usize, element: usize) {
        self.targets[row] = Some(element);
        self.is_taken[element] = true;
    }

    fn by_id(&mut self) {
        for row in 0..self.records.len() {
            let element = self.records[row].text("id").and_then(|id| self.by_id.get(&*id).copied());
            if let Some(element) = element.filter(|element| !self.is_taken[*element]) {
                self.pair(row, element);
            }
        }
    }

    /// Pairs rows and records that share a repository with each other and with no one else.
    fn by_repository(&mut self) {
        let mut found: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (row, address) in self.records.iter().map(|of| of.text("repository")).enumerate() {
            found.entry(normalised_url(&address.unwrap_or_default()).into_owned()).or_default().0.push(row);
        }
        for (element, known) in self.known.iter().enumerate() {
            let address = known.repository.as_deref().unwrap_or_default();
            found.entry(normalised_url(address).into_owned()).or_default().1.push(element);
        }
        for (rows, elements) in found.into_iter().filter(|(address, _)| !address.is_empty()).map(|(_, of)| of) {
            if let ([row], [element]) = (&rows[..], &elements[..]) {
                self.pair(*row, *element);
            }
        }
    }

    /// Pairs rows and records with the same name and URL. If there are several, those that don't
    /// differ in anything else come first, and the others follow in order if they're equally many.
    fn by_name_and_url(&mut self, is_same: &dyn Fn(usize, &Record) -> bool) {
        let mut groups: HashMap<&Keys, (Vec<usize>, VecDeque<usize>)> = HashMap::new();
        let free = self.known_keys.iter().enumerate().filter(|(element, _)| !self.is_taken[*element]);
        for (element, keys) in free {
            groups.entry(keys).or_default().1.push_back(element);
        }
        let free = self.row_keys.iter().enumerate().filter(|(row, _)| self.targets[*row].is_none());
        for (row, keys) in free {
            groups.entry(keys).and_modify(|(rows, _)| rows.push(row));
        }
        let mut pairs = Vec::new();
        for (mut rows, mut elements) in groups.into_values() {
            rows.retain(|row| {
                let mut first = elements.iter().take(MAX_COMPARED);
                let same = first.position(|element| is_same(*element, &self.records[*row]));
                pairs.extend(same.and_then(|at| elements.remove(at)).map(|element| (*row, element)));
                same.is_none()
            });
            if rows.len() == elements.len() {
                pairs.extend(rows.into_iter().zip(elements));
            }
        }
        for (row, element) in pairs {
            self.pair(row, element);
        }
    }

    /// Pairs rows and records that share a URL or a name with each other and with no one else.
    /// Returns each with what they share.
    fn by_one_key(&mut self) -> Vec<(usize, usize, &'static str)> {
        let mut pairs = Vec::new();
        for row in 0..self.records.len() {
            let [element] = self.candidates(row, None)[..] else { continue };
            let (keys, known) = (&self.row_keys[row], &self.known_keys[element]);
            let shared = usize::from(keys[0] != known[0]);
            let is_unique = [&self.by_row, &self.by_known].iter().all(|index| index.get(shared, keys).len() == 1);
            let others = self.by_row.get(1 - shared, known).iter();
            if is_unique && others.copied().all(|other| other == row || self.targets[other].is_some()) {
                pairs.push((row, element, KEYS[shared]));
                self.pair(row, element);
            }
        }
        pairs
    }

    /// The first unpaired records that share a key with an unpaired row or have this id.
    fn candidates(&self, row: usize, id: Option<&str>) -> Vec<usize> {
        let mut candidates = Vec::new();
        let shared = (0..2).flat_map(|which| self.by_known.get(which, &self.row_keys[row])).copied();
        let made = id.and_then(|id| self.by_id.get(id).copied());
        let free = shared.chain(made).filter(|element| self.targets[row].is_none() && !self.is_taken[*element]);
        for element in free.take(2 * MAX_CANDIDATES) {
            if candidates.len() < MAX_CANDIDATES && !candidates.contains(&element) {
                candidates.push(element);
            }
        }
        candidates
    }

    /// Asks about each row that may still be one of the records. Returns the questions that weren't
    /// answered.
    fn by_answer(
        &mut self,
        row_name: &dyn Fn(&Record) -> String,
        ask: &mut dyn FnMut(&Match) -> Option<Choice>,
    ) -> Vec<Match> {
        let mut unclear = Vec::new();
        for (row, record) in self.records.iter().enumerate() {
            let [name, url] = ["name", "url"].map(|property| record.text(property).unwrap_or_default());
            let candidates = self.candidates(row, Some(&slug(&name)));
            if candidates.is_empty() {
                continue;
            }
            let row_text = format!("{} `{name}` {url}", row_name(record));
            let shown = candidates.iter().map(|element| self.known[*element].to_string()).collect();
            let question = Match { row: row_text, candidates: shown };
            match ask(&question) {
                Some(Choice::Update(chosen)) => self.pair(row, candidates[chosen.min(candidates.len() - 1)]),
                Some(Choice::Add) => {}
                None => unclear.push(question),
            }
        }
        unclear
    }
}
