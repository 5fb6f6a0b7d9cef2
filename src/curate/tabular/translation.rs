//! A row's text in other languages, all of which goes into a single property of the record.

use serde_json::{Map, Value};

use super::Translation;

pub(super) const TRANSLATIONS: &str = "translations";

/// Merges a row's translations into a record's, as JSON; `None` if nothing is left. An empty cell,
/// whose JSON is `None`, removes the text.
pub(super) fn merged(old: Option<&str>, row: &[(Translation, Option<String>)]) -> Option<String> {
    let parsed = |json: &str| serde_json::from_str::<Map<String, Value>>(json).ok();
    let mut translations = old.and_then(parsed).unwrap_or_default();
    for (Translation { property, language, .. }, json) in row {
        let value = json.as_deref().and_then(|json| serde_json::from_str::<Value>(json).ok());
        let texts = translations.entry(language.as_str()).or_insert_with(|| Map::new().into());
        let Some(texts) = texts.as_object_mut() else { continue };
        match value {
            Some(value) => _ = texts.insert((*property).to_owned(), value),
            None => _ = texts.remove(*property),
        }
    }
    translations.retain(|_, texts| texts.as_object().is_none_or(|texts| !texts.is_empty()));
    (!translations.is_empty()).then(|| Value::from(translations).to_string())
}

/// How many of a record's translations the row's empty cells remove.
pub(super) fn cleared(old: Option<&str>, row: &[(Translation, Option<String>)]) -> usize {
    let old = old.and_then(|json| serde_json::from_str::<Value>(json).ok()).unwrap_or_default();
    let has = |of: &Translation| old[of.language.as_str()][of.property].is_string();
    row.iter().filter(|(of, json)| json.is_none() && has(of)).count()
}
