//! Renders a difference as Markdown, for a comment on a merge request.

use std::io::{self, Write};

use super::{Options, Part, notes, parts, place, title};
use crate::curate::diff::{Changed, Changes, Difference, Entry, FieldChange};
use crate::text::count::counted;
use crate::text::markdown::escape;

/// Writes a difference for GitHub and GitLab: a table of counts, and collapsible details. Text from
/// records is escaped, so it's shown as written and doesn't mention anyone.
pub fn markdown(difference: &Difference, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### Changes from {} to {}\n", escape(options.old), escape(options.new))?;
    if difference.is_empty() {
        return writeln!(out, "Nothing differs.");
    }
    writeln!(out, "{}.\n", escape(&difference.summary.to_string()))?;
    counts(difference, out)?;
    for (heading, changes) in difference.sections() {
        section(heading, changes, options.limit, out)?;
    }
    category_counts(difference, options.limit, out)
}

fn counts(difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    let summary = &difference.summary;
    writeln!(out, "| | added | removed | changed |\n|---|--:|--:|--:|")?;
    for (heading, Changes { added, removed, changed }) in difference.sections() {
        writeln!(out, "| {heading} | {} | {} | {} |", added.len(), removed.len(), changed.len())?;
    }
    let (old, new) = (summary.old_reviewed, summary.new_reviewed);
    writeln!(
        out,
        "\n{} → {}, {old} → {new} with reviewed sources.",
        summary.old_software,
        counted(summary.new_software, "product")
    )
}

fn section(heading: &str, changes: &Changes, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    for (what, entries) in [("added", &changes.added), ("removed", &changes.removed)] {
        if entries.is_empty() {
            continue;
        }
        open(&format!("{heading} {what}: {}", entries.len()), out)?;
        for Entry { name, id, export, .. } in entries.iter().take(limit) {
            let place = place(id, export).map(|export| format!(", in {}", escape(export))).unwrap_or_default();
            writeln!(out, "- {}{place}", escape(&title(name, id)))?;
        }
        close(entries.len(), limit, out)?;
    }
    if changes.changed.is_empty() {
        return Ok(());
    }
    open(&format!("{heading} changed: {}", changes.changed.len()), out)?;
    changes.changed.iter().take(limit).try_for_each(|entry| changed(entry, limit, out))?;
    close(changes.changed.len(), limit, out)
}

fn open(summary: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n<details>\n<summary>{summary}</summary>\n")
}

fn close(count: usize, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    match count.saturating_sub(limit) {
        0 => {}
        more => writeln!(out, "- … and {more} more")?,
    }
    writeln!(out, "\n</details>")
}

fn changed(changed: &Changed, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let title = title(&changed.name, &changed.id);
    let place = place(&changed.id, &changed.export).map(|export| format!(", in {}", escape(export)));
    write!(out, "- **{}**{}", escape(&title), place.unwrap_or_default())?;
    for note in notes(changed) {
        write!(out, "; {}", escape(&note))?;
    }
    writeln!(out)?;
    for change in changed.fields.iter().take(limit) {
        writeln!(out, "  - {}", field(change))?;
    }
    match changed.fields.len().saturating_sub(limit) {
        0 => Ok(()),
        more => writeln!(out, "  - … and {}", counted(more, "more field")),
    }
}

fn field(change: &FieldChange) -> String {
    format!("{}: {}", escape(change.name()), parts(change).iter().map(part).collect::<String>())
}

fn part(part: &Part) -> String {
    match part {
        Part::Same(text) => escape(text),
        Part::Removed(text) => format!("<del>{}</del>", escape(text)),
        Part::Added(text) => format!("<ins>{}</ins>", escape(text)),
    }
}

fn category_counts(difference: &Difference, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let counts = &difference.category_counts;
    if counts.is_empty() {
        return Ok(());
    }
    open(&format!("Categories whose number of products changed: {}", counts.len()), out)?;
    writeln!(out, "| category | old | new |\n|---|--:|--:|")?;
    for count in counts.iter().take(limit) {
        writeln!(out, "| {} | {} | {} |", escape(&count.name), count.old, count.new)?;
    }
    if counts.len() > limit {
        writeln!(out)?;
    }
    close(counts.len(), limit, out)
}
