//! Renders a difference: as text for people, Markdown for a merge request, HTML for a page, or JSON
//! for programs.

mod change_text;
mod html;
mod markdown;
mod text;

pub use html::{html, page};
pub use markdown::markdown;
pub use text::text;

use std::io::{self, Write};

use serde::Serialize;

use super::{Changed, Difference};

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
