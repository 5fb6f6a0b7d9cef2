//! A difference as text for people, as Markdown for a merge request, as HTML for a page, and as JSON for programs.

mod change_text;
mod html;
mod json;
mod markdown;
mod text;

pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use text::text;

use super::{Changed, Changes, Difference};

/// The options of a rendering, in addition to the difference.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    /// The name of the old set.
    pub old: &'o str,
    /// The name of the new set.
    pub new: &'o str,
    /// The most elements of a section that text, Markdown and HTML show of each kind; the others are counted. JSON has all.
    pub limit: usize,
}

/// The sections with their headings.
fn sections(difference: &Difference) -> [(&'static str, &Changes); 6] {
    [
        ("Exports", &difference.exports),
        ("Products", &difference.software),
        ("Categories", &difference.categories),
        ("Reviews", &difference.reviews),
        ("Glossary", &difference.glossary),
        ("Synonyms", &difference.synonyms),
    ]
}

/// How an element is called: by name and id, unless these say the same.
fn title(name: &str, id: &str) -> String {
    if name.is_empty() || name == id { id.to_owned() } else { format!("{name} ({id})") }
}

/// Where an element is, behind its title; an export is in none.
fn place<'e>(id: &str, export: &'e str) -> Option<&'e str> {
    (id != export).then_some(export)
}

/// The text about a changed element, in addition to its fields.
fn notes(changed: &Changed) -> Vec<String> {
    let id = changed.former_id.as_deref().map(|id| format!("renamed, the id was {id}"));
    let export = changed.former_export.as_deref().map(|export| format!("moved from the export {export}"));
    let evidence = changed.evidence.map(|evidence| format!("evidence {}", evidence.as_str()));
    id.into_iter().chain(export).chain(evidence).collect()
}
