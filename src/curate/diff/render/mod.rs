//! Renders a difference: as text for people, Markdown for a merge request, HTML for a page, or JSON
//! for programs.

mod html;
mod markdown;
mod text;

pub use html::{html, page};
pub use markdown::markdown;
pub use text::text;

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::{Changed, Difference, FieldChange};

#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    pub old: &'o str,
    pub new: &'o str,
    /// Maximum number of elements of each kind that text, Markdown and HTML show per section; the
    /// others are only counted. JSON contains all of them.
    pub limit: usize,
}

/// An element's title: its name and id, unless they're the same.
fn title(name: &str, id: &str) -> String {
    if name.is_empty() || name == id { id.to_owned() } else { format!("{name} ({id})") }
}

/// The name of the export, to show after an element's title; `None` if the element is the export
/// itself.
fn place<'e>(id: &str, export: &'e str) -> Option<&'e str> {
    (id != export).then_some(export)
}

fn notes(changed: &Changed) -> Vec<String> {
    let id = changed.former_id.as_deref().map(|id| format!("renamed, formerly {id}"));
    let export = changed.former_export.as_deref().map(|export| format!("moved from the export {export}"));
    let evidence = changed.evidence.map(|evidence| format!("evidence {}", evidence.as_str()));
    id.into_iter().chain(export).chain(evidence).collect()
}

#[derive(Serialize)]
struct Document<'d> {
    old: &'d str,
    new: &'d str,
    #[serde(flatten)]
    difference: &'d Difference,
}

/// Writes the sets' names as `old` and `new`, and all members of [`Difference`].
pub fn json(difference: &Difference, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Options { old, new, .. } = *options;
    serde_json::to_writer_pretty(&mut *out, &Document { old, new, difference })?;
    writeln!(out)
}

/// Maximum number of array elements shown.
const ELEMENTS: usize = 20;

/// How a changed field is shown: its values, shortened.
enum ChangeText {
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
    fn of(change: &FieldChange) -> Self {
        match (&change.old, &change.new) {
            (None, new) => Self::Set(new.as_ref().map(value).unwrap_or_default()),
            (Some(old), None) => Self::Unset(value(old)),
            (Some(Value::Array(_)), Some(Value::Array(_))) => Self::elements(change),
            (Some(Value::String(old)), Some(Value::String(new))) => Self::Words(diff(old, new)),
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

/// A changed field's values as text, parts of which were removed and added.
fn parts(change: &FieldChange) -> Vec<Part> {
    let same = |text: &str| Part::Same(text.to_owned());
    match ChangeText::of(change) {
        ChangeText::Set(value) => vec![Part::Added(value)],
        ChangeText::Unset(value) => vec![Part::Removed(value)],
        ChangeText::Order => vec![same("in a different order")],
        ChangeText::Words(parts) => parts,
        ChangeText::Elements(removed, added, more) => {
            let elements = removed.into_iter().map(Part::Removed).chain(added.into_iter().map(Part::Added));
            let mut parts: Vec<_> = elements.flat_map(|part| [part, same(" ")]).collect();
            parts.pop();
            if more > 0 {
                parts.push(Part::Same(format!(" … and {more} more")));
            }
            parts
        }
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
    cut(&text)
}

/// How many unchanged characters are shown on each side of a change.
const CONTEXT: usize = 40;
/// Maximum length of strings to compare word by word, in bytes. In longer strings, everything
/// between the common beginning and end counts as changed.
const LONGEST: usize = 20_000;
/// Maximum length of a part that is shown, in characters.
const LONGEST_PART: usize = 400;
/// After this much time, a comparison settles for an approximate result.
const DEADLINE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Same(String),
    Removed(String),
    Added(String),
}

/// Compares two strings word by word. Long unchanged parts are shortened.
fn diff(old: &str, new: &str) -> Vec<Part> {
    let mut parts = if old.len().max(new.len()) > LONGEST { ends(old, new) } else { words(old, new) };
    let last = parts.len().saturating_sub(1);
    for (place, part) in parts.iter_mut().enumerate() {
        match part {
            Part::Same(text) => *text = shortened(text, place > 0, place < last),
            Part::Removed(text) | Part::Added(text) => *text = cut(text),
        }
    }
    parts
}

fn words(old: &str, new: &str) -> Vec<Part> {
    let diff = TextDiff::configure().timeout(DEADLINE).diff_words(old, new);
    let mut parts: Vec<Part> = Vec::new();
    for change in diff.iter_all_changes() {
        let word = change.value();
        match (change.tag(), parts.last_mut()) {
            (ChangeTag::Equal, Some(Part::Same(text)))
            | (ChangeTag::Delete, Some(Part::Removed(text)))
            | (ChangeTag::Insert, Some(Part::Added(text))) => text.push_str(word),
            (ChangeTag::Equal, _) => parts.push(Part::Same(word.to_owned())),
            (ChangeTag::Delete, _) => parts.push(Part::Removed(word.to_owned())),
            (ChangeTag::Insert, _) => parts.push(Part::Added(word.to_owned())),
        }
    }
    parts
}

/// Splits two strings into their common prefix, the parts that differ, and their common suffix.
fn ends(old: &str, new: &str) -> Vec<Part> {
    let start: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (before, old, new) = (&old[..start], &old[start..], &new[start..]);
    let end: usize =
        old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (old, after, new) = (&old[..old.len() - end], &old[old.len() - end..], &new[..new.len() - end]);
    let parts = [
        Part::Same(before.to_owned()),
        Part::Removed(old.to_owned()),
        Part::Added(new.to_owned()),
        Part::Same(after.to_owned()),
    ];
    let is_empty =
        |part: &Part| matches!(part, Part::Same(text) | Part::Removed(text) | Part::Added(text) if text.is_empty());
    parts.into_iter().filter(|part| !is_empty(part)).collect()
}

fn shortened(text: &str, keep_start: bool, keep_end: bool) -> String {
    let count = text.chars().count();
    let (start, end) = (if keep_start { CONTEXT } else { 0 }, if keep_end { CONTEXT } else { 0 });
    if count <= start + end + 1 {
        return text.to_owned();
    }
    let head: String = text.chars().take(start).collect();
    let tail: String = text.chars().skip(count - end).collect();
    format!("{head}…{tail}")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_PART) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let part = |part| match part {
            Part::Same(text) => text,
            Part::Removed(text) => format!("[-{text}-]"),
            Part::Added(text) => format!("{{+{text}+}}"),
        };
        diff(old, new).into_iter().map(part).collect()
    }

    #[test]
    fn words_that_differ_are_marked() {
        assert_eq!(shown("audits and risk", "audits, incidents and risk"), "[-audits-]{+audits, incidents+} and risk");
        assert_eq!(shown("", "new"), "{+new+}");
    }

    #[test]
    fn long_text_is_shortened_around_the_change() {
        let long = "ä".repeat(30_000);
        let text = shown(&format!("{long}x{long}"), &format!("{long}y{long}"));
        let context = "ä".repeat(CONTEXT);
        assert_eq!(text, format!("…{context}[-x-]{{+y+}}{context}…"));
        assert!(shown("", &long).chars().count() < 500);
    }
}
