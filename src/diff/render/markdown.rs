//! The difference as Markdown, for a comment on a merge request.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::shown::Shown;
use super::{Options, notes, place, sections, title};
use crate::diff::words::Part;
use crate::diff::{Changed, Changes, Counts, Difference, Entry, FieldChange};
use crate::printable::printable;

/// Writes a difference as GitHub and GitLab show it: a table of counts, and collapsed details. Texts of records are escaped,
/// so that they are shown as they are written and mention no account.
///
/// # Errors
/// Where it can't be written.
pub fn markdown(difference: &Difference, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### Changes from {} to {}\n", escaped(options.old), escaped(options.new))?;
    if difference.is_empty() {
        return writeln!(out, "Nothing differs.");
    }
    writeln!(out, "{}.\n", escaped(&difference.summary.to_string()))?;
    counts(difference, out)?;
    for (heading, changes) in sections(difference) {
        section(heading, changes, options.limit, out)?;
    }
    category_counts(difference, options.limit, out)
}

fn counts(difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    let summary = &difference.summary;
    writeln!(out, "| | added | removed | changed |\n|---|--:|--:|--:|")?;
    let counts =
        [summary.exports, summary.software, summary.categories, summary.reviews, summary.glossary, summary.synonyms];
    for ((heading, _), Counts { added, removed, changed }) in sections(difference).iter().zip(counts) {
        writeln!(out, "| {heading} | {added} | {removed} | {changed} |")?;
    }
    let (old, new) = (summary.old_reviewed, summary.new_reviewed);
    writeln!(
        out,
        "\n{} → {} products, {old} → {new} with reviewed sources.",
        summary.old_software, summary.new_software
    )
}

fn section(heading: &str, changes: &Changes, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    for (what, entries) in [("added", &changes.added), ("removed", &changes.removed)] {
        if entries.is_empty() {
            continue;
        }
        open(&format!("{heading} {what}: {}", entries.len()), out)?;
        for Entry { name, id, export, .. } in entries.iter().take(limit) {
            let place = place(id, export).map(|export| format!(", in {}", escaped(export))).unwrap_or_default();
            writeln!(out, "- {}{place}", escaped(&title(name, id)))?;
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

/// Says how many elements are left out, and ends the details.
fn close(count: usize, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    match count.saturating_sub(limit) {
        0 => {}
        more => writeln!(out, "- … and {more} more")?,
    }
    writeln!(out, "\n</details>")
}

fn changed(changed: &Changed, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let title = title(&changed.name, &changed.id);
    let place = place(&changed.id, &changed.export).map(|export| format!(", in {}", escaped(export)));
    write!(out, "- **{}**{}", escaped(&title), place.unwrap_or_default())?;
    for note in notes(changed) {
        write!(out, "; {}", escaped(&note))?;
    }
    writeln!(out)?;
    for change in changed.fields.iter().take(limit) {
        writeln!(out, "  - {}", field(change))?;
    }
    match changed.fields.len().saturating_sub(limit) {
        0 => Ok(()),
        more => writeln!(out, "  - … and {more} more fields"),
    }
}

fn field(change: &FieldChange) -> String {
    let name = if change.field.is_empty() { "value" } else { &change.field };
    let mut line = format!("{}:", escaped(name));
    let mut element = |tag: &str, text: &str| {
        let _ = write!(line, " <{tag}>{}</{tag}>", escaped(text));
    };
    match Shown::of(change) {
        Shown::Set(value) => element("ins", &value),
        Shown::Unset(value) => element("del", &value),
        Shown::Order => line.push_str(" in another order"),
        Shown::Words(parts) => {
            line.push(' ');
            line.extend(parts.iter().map(part));
        }
        Shown::Elements(removed, added, more) => {
            for value in &removed {
                element("del", value);
            }
            for value in &added {
                element("ins", value);
            }
            if more > 0 {
                let _ = write!(line, " … and {more} more");
            }
        }
    }
    line
}

fn part(part: &Part) -> String {
    match part {
        Part::Same(text) => escaped(text),
        Part::Removed(text) => format!("<del>{}</del>", escaped(text)),
        Part::Added(text) => format!("<ins>{}</ins>", escaped(text)),
    }
}

fn category_counts(difference: &Difference, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let counts = &difference.category_counts;
    if counts.is_empty() {
        return Ok(());
    }
    open(&format!("Categories with another number of products: {}", counts.len()), out)?;
    writeln!(out, "| category | old | new |\n|---|--:|--:|")?;
    for count in counts.iter().take(limit) {
        writeln!(out, "| {} | {} | {} |", escaped(&count.name), count.old, count.new)?;
    }
    if counts.len() > limit {
        writeln!(out)?;
    }
    close(counts.len(), limit, out)
}

/// A text that stands for itself in Markdown and HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in printable(text).chars() {
        match c {
            '\t' => escaped.push(' '),
            '&' | '<' | '>' | '"' | '*' | '_' | '`' | '[' | ']' | '|' | '~' | '#' | '@' | '\\' | '$' | '!' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn texts_are_no_markup() {
        assert_eq!(escaped("<b>a|b</b>"), "&#60;b&#62;a&#124;b&#60;/b&#62;");
        assert_eq!(escaped("@all #1\n[x](y)"), r"&#64;all &#35;1&#92;u{a}&#91;x&#93;(y)");
        assert_eq!(escaped("C++ (fast), 50 %"), "C++ (fast), 50 %");
    }
}
