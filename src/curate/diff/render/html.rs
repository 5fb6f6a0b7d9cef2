//! Renders a difference as part of an HTML page.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::change_text::ChangeText;
use super::{Options, notes, place, sections, title};
use crate::curate::diff::words::{self, Part};
use crate::curate::diff::{Changed, Changes, Difference, Entry, FieldChange};
use crate::text::count::counted;
use crate::text::html;
use crate::text::printable::printable;

/// The heading of products, the only elements with pages of their own.
const PRODUCTS: &str = "Products";

/// Once the HTML has this many bytes, no more elements are added, so that browsers can display it
/// quickly.
const FULL_BYTES: usize = 2 << 20;

/// The longest id that is linked, in bytes.
const LONGEST_LINKED: usize = 1024;

/// The characters to encode in a link. Dots are included because `.` and `..` would change the
/// path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Renders a difference as HTML: a summary, and a list per section. It has a few megabytes at most.
/// Texts from records are escaped. Products in the new set link to their pages, `/software/{id}`.
pub fn html(difference: &Difference, options: &Options<'_>) -> String {
    if difference.is_empty() {
        return format!(
            "<p><bdi>{}</bdi> and <bdi>{}</bdi> do not differ.</p>\n",
            escaped(options.old),
            escaped(options.new)
        );
    }
    let summary = &difference.summary;
    let mut html = format!(
        "<p class=\"summary\">{}.</p>\n<p class=\"quiet\">{} → {}, {} → {} with reviewed sources.</p>\n",
        escaped(&summary.to_string()),
        summary.old_software,
        counted(summary.new_software, "product"),
        summary.old_reviewed,
        summary.new_reviewed
    );
    for (heading, changes) in sections(difference) {
        if !changes.is_empty() {
            section(heading, changes, options.limit, &mut html);
        }
    }
    category_counts(difference, options.limit, &mut html);
    html
}

fn section(heading: &str, changes: &Changes, limit: usize, html: &mut String) {
    let _ = writeln!(html, "<h3>{heading}</h3>\n<ul class=\"changes\">");
    let lists = [("added", "+", "Added", &changes.added), ("removed", "−", "Removed", &changes.removed)];
    for (class, mark, what, entries) in lists {
        let mut shown = 0;
        for Entry { name, id, export, .. } in entries.iter().take(limit) {
            if html.len() >= FULL_BYTES {
                break;
            }
            shown += 1;
            let title = if class == "added" { linked(heading, name, id) } else { bdi(&words::cut(&title(name, id))) };
            let _ = writeln!(html, "<li class=\"{class}\">{}{title}{}</li>", marked(mark, what), within(id, export));
        }
        more(entries.len(), shown, what, html);
    }
    let mut shown = 0;
    for entry in changes.changed.iter().take(limit) {
        if html.len() >= FULL_BYTES {
            break;
        }
        shown += 1;
        changed(heading, entry, limit, html);
    }
    more(changes.changed.len(), shown, "Changed", html);
    html.push_str("</ul>\n");
}

/// A visual mark, and a word for screen readers.
fn marked(mark: &str, what: &str) -> String {
    format!("<span class=\"mark\" aria-hidden=\"true\">{mark}</span><span class=\"hidden\">{what}: </span>")
}

fn more(count: usize, shown: usize, what: &str, html: &mut String) {
    if let Some(more) = count.checked_sub(shown).filter(|more| *more > 0) {
        let _ = writeln!(html, "<li class=\"more\">… and {more} more {}</li>", what.to_lowercase());
    }
}

fn changed(heading: &str, changed: &Changed, limit: usize, html: &mut String) {
    let Changed { name, id, export, .. } = changed;
    let (mark, title, export) = (marked("~", "Changed"), linked(heading, name, id), within(id, export));
    let _ = write!(html, "<li class=\"changed\">{mark}{title}{export}");
    for note in notes(changed) {
        let _ = write!(html, "; {}", escaped(&note));
    }
    html.push('\n');
    let mut shown = 0;
    if !changed.fields.is_empty() {
        html.push_str("<dl>\n");
        for change in changed.fields.iter().take(limit) {
            if html.len() >= FULL_BYTES {
                break;
            }
            shown += 1;
            let name = if change.field.is_empty() { "value" } else { &change.field };
            let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", bdi(&words::cut(name)), field(change));
        }
        html.push_str("</dl>\n");
    }
    if let Some(more) = changed.fields.len().checked_sub(shown).filter(|more| *more > 0) {
        let _ = writeln!(html, "<p>… and {}</p>", counted(more, "more field"));
    }
    html.push_str("</li>\n");
}

fn field(change: &FieldChange) -> String {
    match ChangeText::of(change) {
        ChangeText::Set(value) => element("ins", &value),
        ChangeText::Unset(value) => element("del", &value),
        ChangeText::Order => "in another order".to_owned(),
        ChangeText::Words(parts) => parts.iter().map(part).collect(),
        ChangeText::Elements(removed, added, more) => {
            let removed = removed.iter().map(|value| element("del", value));
            let added = added.iter().map(|value| element("ins", value));
            let mut elements = removed.chain(added).collect::<Vec<_>>().join(" ");
            if more > 0 {
                let _ = write!(elements, " … and {more} more");
            }
            elements
        }
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Same(text) => escaped(text),
        Part::Removed(text) => element("del", text),
        Part::Added(text) => element("ins", text),
    }
}

fn category_counts(difference: &Difference, limit: usize, html: &mut String) {
    let counts = &difference.category_counts;
    if counts.is_empty() {
        return;
    }
    html.push_str("<h3>Products by category</h3>\n<ul class=\"changes\">\n");
    for count in counts.iter().take(limit) {
        let _ = writeln!(html, "<li>{}: {} → {}</li>", bdi(&words::cut(&count.name)), count.old, count.new);
    }
    more(counts.len(), limit, "Categories", html);
    html.push_str("</ul>\n");
}

fn linked(heading: &str, name: &str, id: &str) -> String {
    let text = bdi(&words::cut(&title(name, id)));
    if heading != PRODUCTS || id.len() > LONGEST_LINKED {
        return text;
    }
    format!("<a href=\"/software/{}\">{text}</a>", utf8_percent_encode(id, ENCODED))
}

fn within(id: &str, export: &str) -> String {
    place(id, export).map(|export| format!(" <span class=\"quiet\">in {}</span>", bdi(export))).unwrap_or_default()
}

fn element(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>", escaped(text))
}

/// Isolates a text so that its writing direction doesn't affect the surroundings.
fn bdi(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

fn escaped(text: &str) -> String {
    html::escape(&printable(text))
}
