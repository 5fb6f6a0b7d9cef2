//! The text of a field that differs.

use serde_json::Value;

use crate::curate::diff::FieldChange;
use crate::curate::diff::words::{self, Part};

/// The most elements of an array that are shown.
const ELEMENTS: usize = 20;

/// A field that differs, bounded.
pub(super) enum ChangeText {
    /// A new value where there was none.
    Set(String),
    /// An old value where there is none any more.
    Unset(String),
    /// Two texts.
    Words(Vec<Part>),
    /// Two arrays: elements removed and added, and how many more there are.
    Elements(Vec<String>, Vec<String>, usize),
    /// Two arrays with the same elements.
    Order,
}

impl ChangeText {
    pub(super) fn of(change: &FieldChange) -> Self {
        match (&change.old, &change.new) {
            (None, new) => Self::Set(new.as_ref().map(value).unwrap_or_default()),
            (Some(old), None) => Self::Unset(value(old)),
            (Some(Value::Array(_)), Some(Value::Array(_))) => Self::elements(change),
            (Some(Value::String(old)), Some(Value::String(new))) => Self::Words(words::diff(old, new)),
            (Some(old), Some(new)) => Self::Words(vec![Part::Removed(value(old)), Part::Added(value(new))]),
        }
    }

    fn elements(change: &FieldChange) -> Self {
        let FieldChange { added, removed, .. } = change;
        if added.is_empty() && removed.is_empty() {
            return Self::Order;
        }
        let shown = |values: &[Value]| values.iter().take(ELEMENTS).map(value).collect::<Vec<_>>();
        let more = removed.len().saturating_sub(ELEMENTS) + added.len().saturating_sub(ELEMENTS);
        Self::Elements(shown(removed), shown(added), more)
    }
}

/// A value as a line: texts as they are, a pair of texts as a source, other values as JSON.
fn value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(elements) => match &elements[..] {
            [Value::String(label), Value::String(url)] if url.contains("://") => format!("{label} <{url}>"),
            elements => elements.iter().map(self::value).collect::<Vec<_>>().join(", "),
        },
        other => other.to_string(),
    };
    words::cut(&text)
}
