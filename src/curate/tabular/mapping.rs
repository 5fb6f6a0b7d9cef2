//! Maps a table's columns to properties, as proposed from headers and contents.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::date::{self, Date};
use super::synonyms::{property_of, rating_scale, synonym};
use super::target::{Target, Translation, evidence_part, known};
use super::{Cell, RowKind, Table, value};
use crate::curate::publiccode;
use crate::record::{Attribute, AttributeType, Property, Shape, slug};

/// How many rows are examined to propose a mapping, except for ratings.
const SAMPLE_ROWS: usize = 200;
/// If a column's header contains one of these, its addresses aren't the product's page.
const OTHER_ADDRESSES: &str = "repo source quelle git logo image icon licen lizenz lisen лиценз ライセンス 许可 screenshot download issue \
     publisher";

/// A column that contains these doesn't list the languages of a user interface.
const PROGRAMMING_LANGUAGES: &str = "ada assembly bash c c# c++ clojure css d dart elixir erlang f# fortran go golang groovy haskell html \
     java javascript js julia kotlin lua matlab node nodejs node.js objective-c ocaml perl php powershell python r ruby rust scala shell \
     solidity sql swift typescript zig";

/// Why a mapping can't be used.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    #[error("the mapping doesn't have the form {{\"columns\": {{\"HEADER\": \"PROPERTY\"}}}}")]
    Form(#[from] serde_json::Error),
    #[error("{0}")]
    Other(String),
}

/// How a column is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse {
    pub target: Target,
    /// Used only in rows where the property's main column is empty.
    pub is_fallback: bool,
    /// How lists are separated. If it isn't given, the values decide.
    pub separator: Option<Separator>,
    /// Translations of values, and of the items of lists.
    pub values: BTreeMap<String, String>,
    /// More words for "no value".
    pub null: Vec<String>,
    /// The highest rating, if it isn't 5.
    pub out_of: Option<u16>,
}

/// How the lists in a column are separated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Separator {
    /// They aren't: each cell is one value.
    None,
    Text(String),
    /// By `;`, `|` and line breaks; cells without these always or never by commas.
    Commas(bool),
}

impl ColumnUse {
    pub const fn new(target: Target) -> Self {
        Self { target, is_fallback: false, separator: None, values: BTreeMap::new(), null: Vec::new(), out_of: None }
    }

    /// If the target is an attribute without a type, infers the type from the column's values.
    pub(super) fn typed(mut self, table: &Table, column: usize) -> Self {
        if let Target::Attribute(_, kind @ None) = &mut self.target {
            *kind = Some(attribute_type(table, column));
        }
        self
    }

    /// Whether the column has this word for "no value".
    pub(super) fn is_null(&self, text: &str) -> bool {
        value::is_word(&self.null, text)
    }

    /// A value's translation, ignoring case.
    pub(super) fn translated(&self, text: &str) -> Option<String> {
        if self.values.is_empty() {
            return None;
        }
        let folded = text.to_lowercase();
        let found = self.values.get(text);
        let any_case = || self.values.iter().find(|(from, _)| from.to_lowercase() == folded).map(|(_, to)| to);
        found.or_else(any_case).cloned()
    }
}

/// A value that isn't in a single column. It's used in rows where the property's columns are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Made {
    /// Text with columns' names in braces. It has no value in rows where one of them is empty.
    Template {
        template: String,
    },
    Constant(serde_json::Value),
}

/// How each of a table's columns is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// In column order.
    pub columns: Vec<ColumnUse>,
    /// Properties with values that aren't in a single column.
    pub made: Vec<(Target, Made)>,
}

/// The property that a word stands for.
pub fn meant(word: &str) -> Option<&'static str> {
    folded(word).or_else(|| property_of(word))
}

/// Whether a header stands for a property.
pub(super) fn is_known_head(head: &str) -> bool {
    head.starts_with("json:") || evidence_part(head).is_some() || meant(head).is_some() || translation(head).is_some()
}

impl Mapping {
    /// Proposes a mapping. Each property gets at most one column: the one with its name, or else
    /// the first one named with a synonym. If there's neither for `url`, it gets the first column
    /// that contains addresses. In all cases, the values must fit. All other columns are unused,
    /// unless the table contains a directory's records: then they become additional properties.
    pub fn propose(table: &Table) -> Self {
        let has_records = table.has_records();
        let is_typed = table.row_kind != RowKind::Row;
        let mut targets: Vec<Option<Target>> = vec![None; table.heads.len()];
        let mut taken: HashSet<String> = HashSet::new();
        let by_name: [fn(&str, bool) -> Option<Target>; 4] = [
            exact,
            |head: &str, _| folded(head).map(Target::Property),
            |head, _| synonym(head).map(Target::Property),
            |head, _| property_of(head).map(Target::Property),
        ];
        for by in by_name {
            for (column, slot) in targets.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
                let found = by(&table.heads[column], is_typed && has_records).filter(|target| match target {
                    Target::Property(property) => has_records || agrees(table, column, property),
                    _ => true,
                });
                *slot = found.filter(|target| taken.insert(target.to_string()));
            }
        }
        if !taken.contains("url") {
            let is_page = |column: &usize| {
                let head = slug(&table.heads[*column]);
                targets[*column].is_none() && !OTHER_ADDRESSES.split(' ').any(|other| head.contains(other))
            };
            let column = (0..targets.len()).filter(is_page).find(|column| all(table, *column, value::has_scheme));
            if let (Some(column), Some(property)) = (column, known("url")) {
                targets[column] = Some(Target::Property(property));
            }
        }
        let rest = |(head, target): (&String, Option<Target>)| {
            let is_meant = is_typed && has_records && known(head).is_none();
            ColumnUse::new(
                target.unwrap_or_else(|| if is_meant { Target::Additional(head.clone()) } else { Target::Ignored }),
            )
        };
        Self { columns: table.heads.iter().zip(targets).map(rest).collect(), made: Vec::new() }
    }

    /// Uses an unused column as an additional property; `*` uses all unused columns with values.
    pub fn take(&mut self, table: &Table, head: &str) -> Result<(), MappingError> {
        let mut is_found = false;
        for (column, of) in self.columns.iter_mut().enumerate() {
            let name = &table.heads[column];
            let is_named = head == name || (head == "*" && !is_empty(table, column));
            is_found |= is_named;
            if is_named && of.target == Target::Ignored && !name.is_empty() && known(name).is_none() {
                of.target = Target::Additional(name.clone());
            }
        }
        if is_found || head == "*" { Ok(()) } else { Err(no_column(table, head)) }
    }

    /// Uses a column as an attribute, regardless of what was proposed.
    pub fn take_attribute(&mut self, table: &Table, head: &str) -> Result<(), MappingError> {
        let column = column_of(table, head)?;
        let Some(target @ Target::Attribute(_, None)) = Target::parse(&format!("attribute:{head}")) else {
            let text = format!(
                "column `{head}` can't be an attribute with this name: the directory already knows the property, or the name contains a colon; \
                 write `attribute:NAME` with a different name in a mapping"
            );
            return Err(MappingError::Other(text));
        };
        self.columns[column] = ColumnUse::new(target).typed(table, column);
        Ok(())
    }

    /// The attributes that columns are mapped to, labelled with the columns' headers.
    pub fn attributes(&self, table: &Table) -> Vec<Attribute> {
        let attribute = |(head, of): (&String, &ColumnUse)| match &of.target {
            Target::Attribute(name, kind) => {
                let label = if head.starts_with("attribute:") { labelled(name) } else { head.clone() };
                Some(Attribute::new(name, &label, kind.unwrap_or(AttributeType::Text)))
            }
            _ => None,
        };
        table.heads.iter().zip(&self.columns).filter_map(attribute).collect()
    }

    /// Sets the types of attributes that the export being updated already declares.
    pub fn keep_declared(&mut self, declared: &[Attribute]) {
        for of in &mut self.columns {
            if let Target::Attribute(name, kind) = &mut of.target
                && let Some(attribute) = declared.iter().find(|attribute| *attribute.property == **name)
            {
                *kind = Some(attribute.kind);
            }
        }
    }

    /// Of several columns with the same header, uses only the chosen one, mapped to the property
    /// that was proposed for any of them.
    pub fn choose(&mut self, columns: &[usize], chosen: usize) {
        let target =
            columns.iter().map(|column| self.columns[*column].target.clone()).find(|of| *of != Target::Ignored);
        for column in columns {
            self.columns[*column].target = Target::Ignored;
        }
        if let Some(target) = target {
            self.columns[chosen].target = target;
        }
    }

    /// Groups of columns that share a header but have different values, with at least one of them
    /// in use: a person has to choose.
    pub fn unclear<'t>(&self, table: &'t Table) -> Vec<&'t [usize]> {
        let is_unclear = |columns: &&Vec<usize>| {
            let differs = |column: &usize| table.rows.iter().any(|row| row.cells[*column] != row.cells[columns[0]]);
            columns.iter().any(|column| self.columns[*column].target != Target::Ignored)
                && columns[1..].iter().any(differs)
        };
        table.repeated.iter().filter(is_unclear).map(Vec::as_slice).collect()
    }

    /// The use of the column with this header.
    pub fn column(&mut self, table: &Table, head: &str) -> Result<&mut ColumnUse, MappingError> {
        Ok(&mut self.columns[column_of(table, head)?])
    }

    /// Whether a column is used as this property.
    pub fn has(&self, property: &str) -> bool {
        let mut targets = self.columns.iter().map(|of| &of.target).chain(self.made.iter().map(|(target, _)| target));
        targets.any(|target| target.property() == Some(property))
    }

    /// The unused columns with a header and values, each with the reason.
    pub fn left_out(&self, table: &Table) -> Vec<(usize, String)> {
        let is_left_out = |column: &usize| {
            self.columns[*column].target == Target::Ignored
                && !table.heads[*column].is_empty()
                && !is_empty(table, *column)
        };
        let reason = |column: usize| {
            let head = table.heads[column].as_str();
            let property = meant(head);
            match (slug(head).as_str(), property) {
                (_, Some(property)) if self.has(property) => format!("another column is used as `{property}`"),
                (_, Some("rating")) => "ratings must be between 0 and 5".to_owned(),
                (_, Some("languages")) => {
                    "it has programming languages, and `languages` are those of the user interface".to_owned()
                }
                (_, Some(property)) => format!("its values don't fit `{property}`"),
                (publiccode::CONTACTS, None) => "they're people; `--additional contacts` publishes them".to_owned(),
                ("source" | "quelle" | "quellen" | "references" | "evidence" | "nachweise", None) => {
                    "evidence is never guessed; map it to `sources` if that's what it contains".to_owned()
                }
                ("alternatives" | "alternative", None) => {
                    "`alternative_to` is what the product replaces; map it if that's what it contains".to_owned()
                }
                _ => "its header isn't known".to_owned(),
            }
        };
        (0..self.columns.len()).filter(is_left_out).map(|column| (column, reason(column))).collect()
    }
}

/// `is_own` is whether the table has a directory's records as JSON.
fn exact(head: &str, is_own: bool) -> Option<Target> {
    if ["json:", "attribute:"].iter().any(|start| head.starts_with(start)) && !is_own {
        return Target::parse(head);
    }
    if evidence_part(head).is_some() {
        return Target::parse(head);
    }
    let property = known(head).filter(|name| is_own || *name != "category").map(Target::Property);
    property.or_else(|| translation(head).map(Target::Translation))
}

/// The text in another language that a header stands for, such as `tagline:de`.
fn translation(head: &str) -> Option<Translation> {
    Translation::of(head, meant)
}

/// A property's name as a label: `Release date` for `release_date`.
fn labelled(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The index of the column with this header.
pub fn column_of(table: &Table, head: &str) -> Result<usize, MappingError> {
    table.heads.iter().position(|name| name == head).ok_or_else(|| no_column(table, head))
}

fn no_column(table: &Table, head: &str) -> MappingError {
    let named = quoted(table.heads.iter().filter(|head| !head.is_empty()));
    MappingError::Other(format!("the table has no column `{head}`; its columns are {named}"))
}

/// The first names of columns, for a message.
pub(super) fn quoted<'h>(heads: impl Iterator<Item = &'h String>) -> String {
    heads.take(20).map(|head| format!("`{head}`")).collect::<Vec<_>>().join(", ")
}

/// The property with this name, ignoring case and punctuation.
fn folded(head: &str) -> Option<&'static str> {
    known(&slug(head).replace('-', "_")).filter(|name| *name != "category")
}

fn is_empty(table: &Table, column: usize) -> bool {
    table.rows.iter().all(|row| row.cells[column] == Cell::Empty)
}

/// A column's text, without empty cells and placeholders.
fn texts(table: &Table, column: usize) -> impl Iterator<Item = String> {
    table.rows.iter().filter_map(move |row| text(&row.cells[column]))
}

/// A cell's text; of a link, the address. JSON strings are decoded, and formula errors are ignored.
pub(super) fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Json(raw) => Some(serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.clone())),
        Cell::Link(link) => Some(if value::is_address(&link.0) { link.0.clone() } else { link.1.clone() }),
        other => other.text().map(str::to_owned),
    }
}

/// Whether a column's values could belong to a property.
fn agrees(table: &Table, column: usize, property: &str) -> bool {
    let half = |fits: &dyn Fn(&str) -> bool| {
        let sample: Vec<_> = texts(table, column).take(SAMPLE_ROWS).collect();
        sample.iter().filter(|text| fits(text)).count() * 2 >= sample.len()
    };
    let every = |fits: &dyn Fn(&str) -> bool| texts(table, column).all(|text| fits(&text));
    let scale = f64::from(rating_scale(&table.heads[column]).unwrap_or(5));
    match Property::shape_of(property) {
        // One address with a scheme shows what the others should be.
        Some(Shape::Uri) => {
            texts(table, column)
                .take(SAMPLE_ROWS)
                .any(|text| value::has_scheme(text.split_whitespace().next().unwrap_or("")))
                || half(&|text| value::is_address(text) || value::repaired_address(text).is_some())
        }
        Some(Shape::Number) => every(&|text| {
            let number =
                value::decimal(text.trim_end_matches(['%', ' '])).and_then(|(number, _)| number.parse::<f64>().ok());
            text == "null" || number.is_some_and(|number| (0.0..=scale).contains(&number))
        }),
        Some(Shape::Translations | Shape::Evidence) => {
            every(&|text| serde_json::from_str::<serde_json::Map<_, _>>(text).is_ok())
        }
        Some(Shape::Count) => every(&|text| text == "null" || value::whole_number(text).is_some()),
        // Text with at least four digits may be a malformed date, which gets reported later. If
        // there are fewer digits, the column contains something else.
        Some(Shape::Date) => half(&|text| {
            date::read(text, table.is_1904).is_some() || text.bytes().filter(u8::is_ascii_digit).count() >= 4
        }),
        _ if property == "languages" => {
            half(&|text| !value::split(text).iter().flat_map(|item| item.split(',')).any(is_programming_language))
        }
        _ => true,
    }
}

fn is_programming_language(text: &str) -> bool {
    PROGRAMMING_LANGUAGES.split(' ').any(|language| text.trim().eq_ignore_ascii_case(language))
}

/// Whether all non-empty cells at the top of a column match, and there is at least one.
fn all(table: &Table, column: usize, fits: fn(&str) -> bool) -> bool {
    let mut sample = texts(table, column).take(SAMPLE_ROWS).peekable();
    sample.peek().is_some() && sample.all(|text| fits(&text))
}

/// The type that all values in a column share. JSON values have the type they're written as.
fn attribute_type(table: &Table, column: usize) -> AttributeType {
    let says_something = |cell: &&Cell| match cell {
        Cell::Empty | Cell::Missing(_) | Cell::Error(_) | Cell::Formula(_) => false,
        Cell::Json(raw) => raw != "null",
        Cell::Text(_) | Cell::Number(_) | Cell::Link(_) => true,
    };
    let is_day = |text: &str| {
        date::read(text, table.is_1904).is_some_and(|read| read.date != Date::Partial)
            && !text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let cells = || table.rows.iter().map(|row| &row.cells[column]).filter(says_something);
    let texts =
        cells().filter_map(|cell| if let Cell::Text(text) = cell { Some(value::unguarded(text)) } else { None });
    let are_versions = !table.has_records() && slug(&table.heads[column]).contains("version");
    let are_numbers = !are_versions && value::are_numbers(texts);
    let fits = |kind: AttributeType, cell: &Cell| match (cell, kind) {
        (Cell::Json(_) | Cell::Number(_), AttributeType::Number) if are_versions => false,
        (Cell::Json(raw), _) => AttributeType::fitting(raw)[kind as usize],
        (Cell::Text(text), AttributeType::Boolean) => value::boolean(text).is_some(),
        (Cell::Text(_), AttributeType::Number) => are_numbers,
        (Cell::Number(_), AttributeType::Number) => true,
        (Cell::Text(text), AttributeType::Date) => is_day(&value::unguarded(text)),
        _ => kind == AttributeType::Text,
    };
    let narrow = [AttributeType::Boolean, AttributeType::Number, AttributeType::Date];
    let found = narrow.into_iter().find(|kind| cells().all(|cell| fits(*kind, cell)));
    found.filter(|_| cells().next().is_some()).unwrap_or(AttributeType::Text)
}
