//! Renders a difference as HTML: as part of a page, or as a complete page without scripts or
//! external resources.

use askama::Template;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Options, Part, cut, notes, place, title};
use crate::curate::diff::{Changed, Changes, Difference, Entry, FieldChange};
use crate::text::printable::printable;

/// The pages' style sheet.
const STYLE: &str = include_str!("../../../../templates/static/style.css");

/// The heading for products, the only section whose elements have pages.
const PRODUCTS: &str = "Products";

/// Once the HTML reaches this many bytes, no more elements are added, so that browsers can display
/// it quickly.
const FULL_BYTES: usize = 2 << 20;

/// Maximum length of an id that gets linked, in bytes.
const LONGEST_LINKED: usize = 1024;

/// The characters to encode in a link. Dots are included because `.` and `..` would change the
/// path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

#[derive(Template)]
#[template(path = "diff.html")]
struct Fragment<'a> {
    difference: &'a Difference,
    old: String,
    new: String,
    summary: String,
    sections: Vec<(&'static str, Vec<String>)>,
}

#[derive(Template)]
#[template(path = "diff-page.html")]
struct Page<'a> {
    style: &'static str,
    old: String,
    new: String,
    difference: &'a str,
}

/// An element of a section's list.
#[derive(Template)]
#[template(path = "diff-element.html")]
enum Element {
    Entry {
        kind: Kind,
        title: String,
        href: Option<String>,
        export: Option<String>,
        notes: Vec<String>,
        fields: Vec<Field>,
        more_fields: usize,
    },
    /// Elements that aren't shown.
    More { count: usize, what: &'static str },
    /// The number of products in a category.
    Count { name: String, old: usize, new: usize },
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    class: &'static str,
    mark: &'static str,
    /// The word that screen readers announce.
    word: &'static str,
}

const ADDED: Kind = Kind { class: "added", mark: "+", word: "Added" };
const REMOVED: Kind = Kind { class: "removed", mark: "−", word: "Removed" };
const CHANGED: Kind = Kind { class: "changed", mark: "~", word: "Changed" };

struct Field {
    name: String,
    parts: Vec<Part>,
}

/// Renders a difference as part of a page, at most a few megabytes long: a summary, and a list per
/// section. Text from records is escaped. Products in the new set link to their pages,
/// `software/{id}`, relative to the preview's address.
pub fn html(difference: &Difference, options: &Options<'_>) -> Result<String, askama::Error> {
    let mut full = Full(0);
    let mut shown = Vec::new();
    for (heading, changes) in difference.sections() {
        if !changes.is_empty() {
            shown.push((heading, section(heading, changes, options.limit, &mut full)?));
        }
    }
    let counts = &difference.category_counts;
    if !counts.is_empty() {
        let elements = counts.iter().take(options.limit).map(|count| Element::Count {
            name: printed(&cut(&count.name)),
            old: count.old,
            new: count.new,
        });
        let mut list = elements.map(|element| element.render()).collect::<Result<Vec<_>, _>>()?;
        list.extend(more(counts.len(), options.limit, "categories")?);
        shown.push(("Products by category", list));
    }
    let part = Fragment {
        difference,
        old: printed(options.old),
        new: printed(options.new),
        summary: printed(&difference.summary.to_string()),
        sections: shown,
    };
    part.render()
}

/// Renders a difference as a complete page.
pub fn page(difference: &Difference, options: &Options<'_>) -> Result<String, askama::Error> {
    let part = html(difference, options)?;
    Page { style: STYLE, old: printed(options.old), new: printed(options.new), difference: &part }.render()
}

/// The number of bytes written so far.
struct Full(usize);

impl Full {
    /// Renders up to `limit` entries, as long as there's room. `element` receives the number of
    /// bytes written so far.
    fn list<T>(
        &mut self,
        entries: &[T],
        limit: usize,
        element: impl Fn(&T, usize) -> Element,
    ) -> Result<Vec<String>, askama::Error> {
        let mut list = Vec::new();
        for entry in entries.iter().take(limit) {
            if self.0 >= FULL_BYTES {
                break;
            }
            let html = element(entry, self.0).render()?;
            self.0 += html.len();
            list.push(html);
        }
        Ok(list)
    }
}

fn section(heading: &str, changes: &Changes, limit: usize, full: &mut Full) -> Result<Vec<String>, askama::Error> {
    let mut list = Vec::new();
    for (kind, entries) in [(ADDED, &changes.added), (REMOVED, &changes.removed)] {
        let shown = full.list(entries, limit, |entry, _| self::entry(heading, kind, entry))?;
        let rest = more(entries.len(), shown.len(), kind.class)?;
        list.extend(shown.into_iter().chain(rest));
    }
    let shown = full.list(&changes.changed, limit, |entry, written| changed(heading, entry, limit, written))?;
    let rest = more(changes.changed.len(), shown.len(), CHANGED.class)?;
    list.extend(shown.into_iter().chain(rest));
    Ok(list)
}

fn more(count: usize, shown: usize, what: &'static str) -> Result<Option<String>, askama::Error> {
    let more = count.checked_sub(shown).filter(|more| *more > 0);
    more.map(|count| Element::More { count, what }.render()).transpose()
}

fn entry(heading: &str, kind: Kind, Entry { name, id, export, .. }: &Entry) -> Element {
    Element::Entry {
        kind,
        title: printed(&cut(&title(name, id))),
        href: if kind == ADDED { href(heading, id) } else { None },
        export: place(id, export).map(printed),
        notes: Vec::new(),
        fields: Vec::new(),
        more_fields: 0,
    }
}

fn changed(heading: &str, changed: &Changed, limit: usize, written: usize) -> Element {
    let Changed { name, id, export, .. } = changed;
    let (mut fields, mut bytes) = (Vec::new(), written);
    for change in changed.fields.iter().take(limit) {
        if bytes >= FULL_BYTES {
            break;
        }
        let field = Field { name: printed(&cut(change.name())), parts: parts(change) };
        bytes += field.name.len() + field.parts.iter().map(|part| text(part).len()).sum::<usize>();
        fields.push(field);
    }
    Element::Entry {
        kind: CHANGED,
        title: printed(&cut(&title(name, id))),
        href: href(heading, id),
        export: place(id, export).map(printed),
        notes: notes(changed).iter().map(|note| printed(note)).collect(),
        more_fields: changed.fields.len() - fields.len(),
        fields,
    }
}

fn parts(change: &FieldChange) -> Vec<Part> {
    let printed = |part| match part {
        Part::Same(text) => Part::Same(printed(&text)),
        Part::Removed(text) => Part::Removed(printed(&text)),
        Part::Added(text) => Part::Added(printed(&text)),
    };
    super::parts(change).into_iter().map(printed).collect()
}

fn text(part: &Part) -> &str {
    match part {
        Part::Same(text) | Part::Removed(text) | Part::Added(text) => text,
    }
}

fn href(heading: &str, id: &str) -> Option<String> {
    let is_linked = heading == PRODUCTS && id.len() <= LONGEST_LINKED;
    is_linked.then(|| format!("software/{}", utf8_percent_encode(id, ENCODED)))
}

fn printed(text: &str) -> String {
    printable(text).into_owned()
}
