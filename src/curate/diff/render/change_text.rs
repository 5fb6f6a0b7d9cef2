//! How a changed field is shown.

use serde_json::Value;

use crate::curate::diff::FieldChange;
use crate::curate::diff::words::{self, Part};

/// Maximum number of array elements shown.
const ELEMENTS: usize = 20;

/// A changed field's values, shortened for display.
pub(super) enum ChangeText {
    /// The field was added, with this value.
    Set(String),
    /// The field was removed; this was its value.
    Unset(String),
    Words(Vec<Part>),
    /// Two arrays: the elements removed, the elements added, and how many more aren't shown.
    Elements(Vec<String>, Vec<String>, usize),
    /// Two arrays with the same elements in a different order.
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

/// Renders a value on one line: strings as they are, a pair of a label and a URL as a source, other
/// values as JSON.
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
