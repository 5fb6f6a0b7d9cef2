//! Renders a difference as text for a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{ChangeText, Options, Part, notes, place, title};
use crate::curate::diff::{Changed, Changes, Difference, Entry, FieldChange};
use crate::text::count::counted;
use crate::text::printable::printable;

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
const HEADING: Style = Style::new().bold();

/// Writes a difference with ANSI escape codes, which `anstream` strips if they aren't supported.
/// Changed words are shown as `[-…-]` and `{+…+}`, like `git diff --word-diff`.
pub fn text(difference: &Difference, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut printer = Printer { limit: options.limit, out };
    for (heading, changes) in difference.sections() {
        if !changes.is_empty() {
            printer.section(heading, changes)?;
        }
    }
    printer.category_counts(difference)?;
    if difference.is_empty() {
        writeln!(out, "{} and {} do not differ", printable(options.old), printable(options.new))
    } else {
        writeln!(out, "{}", printable(&difference.summary.to_string()))
    }
}

struct Printer<'o> {
    limit: usize,
    out: &'o mut dyn Write,
}

impl Printer<'_> {
    fn section(&mut self, heading: &str, changes: &Changes) -> io::Result<()> {
        writeln!(self.out, "{HEADING}{heading}{HEADING:#}")?;
        for (mark, style, entries) in [('+', ADDED, &changes.added), ('-', REMOVED, &changes.removed)] {
            for Entry { name, id, export, .. } in entries.iter().take(self.limit) {
                write!(self.out, "  {style}{mark} {}{style:#}", printable(&title(name, id)))?;
                self.place(id, export)?;
                writeln!(self.out)?;
            }
            self.more(mark, style, entries.len())?;
        }
        for changed in changes.changed.iter().take(self.limit) {
            self.changed(changed)?;
        }
        self.more('~', CHANGED, changes.changed.len())?;
        writeln!(self.out)
    }

    fn more(&mut self, mark: char, style: Style, count: usize) -> io::Result<()> {
        match count.saturating_sub(self.limit) {
            0 => Ok(()),
            more => writeln!(self.out, "  {style}{mark}{style:#} … and {more} more; raise --limit to see them"),
        }
    }

    fn changed(&mut self, changed: &Changed) -> io::Result<()> {
        write!(self.out, "  {CHANGED}~ {}{CHANGED:#}", printable(&title(&changed.name, &changed.id)))?;
        self.place(&changed.id, &changed.export)?;
        for note in notes(changed) {
            write!(self.out, "; {}", printable(&note))?;
        }
        writeln!(self.out)?;
        changed.fields.iter().take(self.limit).try_for_each(|change| self.field(change))?;
        match changed.fields.len().saturating_sub(self.limit) {
            0 => Ok(()),
            more => writeln!(self.out, "      … and {}", counted(more, "more field")),
        }
    }

    fn place(&mut self, id: &str, export: &str) -> io::Result<()> {
        place(id, export).map_or(Ok(()), |export| write!(self.out, ", {}", printable(export)))
    }

    fn field(&mut self, change: &FieldChange) -> io::Result<()> {
        write!(self.out, "      {}:", printable(change.name()))?;
        match ChangeText::of(change) {
            ChangeText::Set(value) => self.elements(&[], &[value])?,
            ChangeText::Unset(value) => self.elements(&[value], &[])?,
            ChangeText::Order => write!(self.out, " in a different order")?,
            ChangeText::Words(parts) => {
                write!(self.out, " ")?;
                parts.iter().try_for_each(|part| self.part(part))?;
            }
            ChangeText::Elements(removed, added, more) => {
                self.elements(&removed, &added)?;
                if more > 0 {
                    write!(self.out, " … and {more} more")?;
                }
            }
        }
        writeln!(self.out)
    }

    fn elements(&mut self, removed: &[String], added: &[String]) -> io::Result<()> {
        let removed = removed.iter().map(|value| ('-', REMOVED, value));
        let added = added.iter().map(|value| ('+', ADDED, value));
        for (place, (mark, style, value)) in removed.chain(added).enumerate() {
            let separator = if place == 0 { "" } else { "," };
            write!(self.out, "{separator} {style}{mark}{}{style:#}", printable(value))?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Part) -> io::Result<()> {
        match part {
            Part::Same(text) => write!(self.out, "{}", printable(text)),
            Part::Removed(text) => write!(self.out, "{REMOVED}[-{}-]{REMOVED:#}", printable(text)),
            Part::Added(text) => write!(self.out, "{ADDED}{{+{}+}}{ADDED:#}", printable(text)),
        }
    }

    fn category_counts(&mut self, difference: &Difference) -> io::Result<()> {
        let counts = &difference.category_counts;
        if counts.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "{HEADING}Products by category{HEADING:#}")?;
        for count in counts.iter().take(self.limit) {
            writeln!(self.out, "  {}: {} → {}", printable(&count.name), count.old, count.new)?;
        }
        self.more('~', CHANGED, counts.len())?;
        writeln!(self.out)
    }
}
