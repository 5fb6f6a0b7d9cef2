//! A mapping as a JSON file.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{ColumnUse, Mapping, MappingError, Target};
use crate::curate::tabular::Table;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    columns: serde_json::Map<String, serde_json::Value>,
}

/// A column's use, written as an object if a target alone doesn't describe it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUse {
    to: Option<String>,
    #[serde(default)]
    split_commas: bool,
    #[serde(default)]
    values: BTreeMap<String, String>,
}

impl Mapping {
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
        let mut columns = Vec::new();
        for head in &table.heads {
            let column = match written.columns.get(head) {
                None if head.is_empty() => ColumnUse::new(Target::Ignored),
                None => {
                    return Err(MappingError::Column(format!(
                        "the mapping doesn't include the column `{head}`; add it (null leaves it unused)"
                    )));
                }
                Some(value) => Self::parse_use(head, value)?.typed(table, columns.len()),
            };
            if column.target != Target::Ignored
                && !column.is_fallback
                && let Some(other) = by_target.insert(column.target.to_string(), head)
            {
                let target = &column.target;
                let text = format!(
                    "the mapping sets both columns `{other}` and `{head}` to `{target}`; set only one, or write `fallback:{target}` for the \
                     one to use in rows where the other is empty"
                );
                return Err(MappingError::Column(text));
            }
            columns.push(column);
        }
        Ok(Self { columns })
    }

    fn parse_use(head: &str, value: &serde_json::Value) -> Result<ColumnUse, MappingError> {
        let written = match value {
            serde_json::Value::Object(_) => serde_json::from_value(value.clone())?,
            serde_json::Value::Null => WrittenUse { to: None, split_commas: false, values: BTreeMap::new() },
            other => {
                let to = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
                WrittenUse { to: Some(to), split_commas: false, values: BTreeMap::new() }
            }
        };
        let Some(to) = written.to else { return Ok(ColumnUse::new(Target::Ignored)) };
        let name = to.strip_prefix("fallback:");
        let target = Target::parse(name.unwrap_or(&to))
            .ok_or_else(|| MappingError::Target { head: head.to_owned(), target: to.clone() })?;
        let (is_fallback, split_commas) = (name.is_some(), written.split_commas);
        Ok(ColumnUse { target, is_fallback, split_commas, values: written.values })
    }

    /// The mapping as JSON that [`parse`](Self::parse) can read.
    pub fn to_json(&self, table: &Table) -> String {
        let value = |of: &ColumnUse| {
            let prefix = if of.is_fallback { "fallback:" } else { "" };
            match &of.target {
                Target::Ignored => serde_json::Value::Null,
                target if of.values.is_empty() && !of.split_commas => format!("{prefix}{target}").into(),
                target => serde_json::json!({
                    "to": format!("{prefix}{target}"), "split_commas": of.split_commas, "values": of.values
                }),
            }
        };
        let named = table.heads.iter().zip(&self.columns).filter(|(head, _)| !head.is_empty());
        let columns = named.map(|(head, of)| (head.clone(), value(of))).collect();
        serde_json::to_string_pretty(&Written { columns }).unwrap_or_default() + "\n"
    }
}
