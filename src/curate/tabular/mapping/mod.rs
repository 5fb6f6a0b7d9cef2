//! The mapping of a table's columns to properties: proposed from heads and contents, or given as JSON.

mod synonyms;
mod target;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use self::synonyms::property_of;
pub use self::target::Target;
pub(super) use self::target::json_head;
use self::target::known;
use super::value::{Date, date};
use super::{Cell, Table};
use crate::record::slug;

/// The number of rows that a proposal reads.
const SAMPLE_ROWS: usize = 200;

/// Why a mapping can't be used.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    #[error("the mapping isn't {{\"columns\": {{\"HEAD\": \"PROPERTY\"}}}}")]
    Form(#[from] serde_json::Error),
    #[error(
        "the mapping gives column `{head}` the target `{target}`; write a property such as name, additional:NAME, json:NAME, or null"
    )]
    Target {
        /// The column.
        head: String,
        target: String,
    },
    #[error("{0}")]
    Column(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    columns: serde_json::Map<String, serde_json::Value>,
}

/// A target for each column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// In the order of the columns.
    pub targets: Vec<Target>,
}

impl Mapping {
    /// Proposes a mapping. A property is given to one column: to that which has its name, else to the first with a synonym, else
    /// (`url`, `evidence_checked_on`) to the first with such contents.
    pub fn propose(table: &Table) -> Self {
        let is_typed = table.rows.iter().any(|row| row.cells.iter().any(|cell| matches!(cell, Cell::Json(_))));
        let mut targets: Vec<Option<Target>> = vec![None; table.heads.len()];
        let mut taken: HashSet<String> = HashSet::new();
        let by_name: [fn(&str, bool) -> Option<Target>; 3] =
            [exact, folded, |head, _| property_of(head).map(Target::Property)];
        for by in by_name {
            for (head, slot) in table.heads.iter().zip(&mut targets).filter(|(_, slot)| slot.is_none()) {
                let found = by(head, is_typed);
                *slot = found.filter(|target| taken.insert(target.to_string()));
            }
        }
        let contents = [("url", is_url as fn(&str) -> bool), ("evidence_checked_on", is_day)];
        for (property, fits) in contents.into_iter().filter(|_| !is_typed) {
            let column = (0..targets.len()).find(|column| targets[*column].is_none() && all(table, *column, fits));
            if let (Some(column), Some(property)) = (column, known(property).filter(|name| !taken.contains(*name))) {
                targets[column] = Some(Target::Property(property));
            }
        }
        let rest = |(head, target): (&String, Option<Target>)| match target {
            Some(target) => target,
            None if head.is_empty() || known(head).is_some() => Target::Ignored,
            None => Target::Additional(head.clone()),
        };
        Self { targets: table.heads.iter().zip(targets).map(rest).collect() }
    }

    /// Reads a mapping for a table.
    pub fn parse(text: &[u8], table: &Table) -> Result<Self, MappingError> {
        let written: Written = serde_json::from_slice(text)?;
        let heads: HashSet<&String> = table.heads.iter().collect();
        if let Some(head) = written.columns.keys().find(|head| !heads.contains(head)) {
            return Err(MappingError::Column(format!(
                "the mapping names the column `{head}`, which the table doesn't have"
            )));
        }
        let mut by_target: HashMap<String, &String> = HashMap::new();
        let mut targets = Vec::new();
        for head in &table.heads {
            let target = match written.columns.get(head) {
                None if head.is_empty() => Target::Ignored,
                None => {
                    return Err(MappingError::Column(format!(
                        "the mapping lacks the column `{head}`; add it, with null if it isn't to be used"
                    )));
                }
                Some(serde_json::Value::Null) => Target::Ignored,
                Some(value) => value.as_str().and_then(Target::parse).ok_or_else(|| MappingError::Target {
                    head: head.clone(),
                    target: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                })?,
            };
            if target != Target::Ignored
                && let Some(other) = by_target.insert(target.to_string(), head)
            {
                let text =
                    format!("the mapping gives `{target}` to the columns `{other}` and `{head}`; give it to one");
                return Err(MappingError::Column(text));
            }
            targets.push(target);
        }
        Ok(Self { targets })
    }

    /// The mapping as JSON, which [`parse`](Self::parse) reads.
    pub fn to_json(&self, table: &Table) -> String {
        let value = |target: &Target| match target {
            Target::Ignored => serde_json::Value::Null,
            target => target.to_string().into(),
        };
        let named = table.heads.iter().zip(&self.targets).filter(|(head, _)| !head.is_empty());
        let columns = named.map(|(head, target)| (head.clone(), value(target))).collect();
        serde_json::to_string_pretty(&Written { columns }).unwrap_or_default() + "\n"
    }

    /// Whether a column has this property.
    pub fn has(&self, property: &str) -> bool {
        self.targets.iter().any(|target| target.property() == Some(property))
    }
}

fn exact(head: &str, is_typed: bool) -> Option<Target> {
    if head.starts_with("json:") && !is_typed {
        return Target::parse(head);
    }
    known(head).filter(|name| is_typed || *name != "category").map(Target::Property)
}

fn folded(head: &str, _: bool) -> Option<Target> {
    let folded = slug(head).replace('-', "_");
    known(&folded).filter(|name| *name != "category").map(Target::Property)
}

/// Whether all filled cells at the top of a column fit, and one is filled.
fn all(table: &Table, column: usize, fits: fn(&str) -> bool) -> bool {
    let cells = table.rows.iter().take(SAMPLE_ROWS).map(|row| &row.cells[column]);
    let mut filled = cells.filter(|cell| **cell != Cell::Empty).peekable();
    filled.peek().is_some() && filled.all(|cell| matches!(cell, Cell::Text(text) if fits(text)))
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

fn is_day(text: &str) -> bool {
    // A number alone is no sign of a day.
    !text.bytes().all(|byte| byte.is_ascii_digit()) && matches!(date(text), Some(Date::Day(_) | Date::Slashes(..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(csv: &str) -> Vec<String> {
        let table = crate::curate::tabular::parse(csv.as_bytes(), "csv", None, &|_, _| {}).expect("a table");
        Mapping::propose(&table).targets.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn heads_in_three_languages_are_known() {
        assert_eq!(proposed("Title,Homepage,Company\na,b,c\n"), ["name", "url", "vendor"]);
        assert_eq!(proposed("Bezeichnung;Webseite;Geprüft am\na;b;c\n"), ["name", "url", "evidence_checked_on"]);
        assert_eq!(proposed("Nom;Éditeur;Catégorie\na;b;c\n"), ["name", "vendor", "categories"]);
        assert_eq!(proposed("Nomad,Vendors list\na,b\n"), ["additional:Nomad", "additional:Vendors list"]);
    }

    #[test]
    fn contents_decide_where_heads_do_not() {
        assert_eq!(
            proposed("A,B,C\nx,https://x.example/,31.12.2025\n"),
            ["additional:A", "url", "evidence_checked_on"]
        );
        assert_eq!(proposed("A,B,C\nx,x.example,2025\n"), ["additional:A", "additional:B", "additional:C"]);
    }

    #[test]
    fn the_exact_name_has_precedence_and_a_property_one_column() {
        assert_eq!(proposed("Title,name\na,b\n"), ["additional:Title", "name"]);
        assert_eq!(proposed("Name,NAME\na,b\n"), ["name", "additional:NAME"]);
    }

    #[test]
    fn a_written_mapping_is_read_back() {
        let table =
            crate::curate::tabular::parse(b"Title,X,json:n\na,b,1\n", "csv", None, &|_, _| {}).expect("a table");
        let mapping = Mapping::propose(&table);
        assert_eq!(Mapping::parse(mapping.to_json(&table).as_bytes(), &table).expect("a mapping"), mapping);
        assert!(Mapping::parse(br#"{"columns":{"Title":"name","X":"nam","json:n":null}}"#, &table).is_err());
        assert!(Mapping::parse(br#"{"columns":{"Title":"name"}}"#, &table).is_err());
    }
}
