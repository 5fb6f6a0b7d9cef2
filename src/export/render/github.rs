//! Prints a report as workflow commands, which GitHub shows as annotations:
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>.

use std::io::{self, Write};

use super::{Item, inside, items, summary};
use crate::export::{Code, Finding, LeftOut, Location, Related, Report, Severity};
use crate::text::append;
use crate::text::count::Grouped;

/// What GitHub calls a note.
const NOTICE: &str = "notice";

/// Prints the first findings of each kind in a file, and how many more there are. A finding's
/// related locations become notices.
pub fn github(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for item in items(report) {
        match item {
            Item::Finding(finding) => {
                writeln!(out, "{}", command(finding))?;
                for related in finding.related.iter().filter(|related| related.location != finding.location) {
                    writeln!(out, "{}", notice(finding, related))?;
                }
            }
            Item::More(LeftOut { code, file, count }) => {
                let (level, title, file) = (level(code), code.as_str(), property(&file.to_string_lossy()));
                writeln!(out, "::{level} file={file},title={title}::and {} more of this kind", Grouped(count))?;
            }
        }
    }
    writeln!(out, "{}", summary(report))
}

fn command(finding: &Finding) -> String {
    let mut message = format!("{}\n{}", finding.message, finding.help);
    if let Some(inside) = inside(&finding.location) {
        append(&mut message, format_args!("\n{inside}"));
    }
    for related in &finding.related {
        append(&mut message, format_args!("\n{}: {}", related.note, place(&related.location)));
    }
    annotation(level(finding.code), &finding.location, finding.code, &message)
}

/// A notice at one of a finding's related locations.
fn notice(finding: &Finding, related: &Related) -> String {
    let mut message = format!("{}: see {}, {}", related.note, place(&finding.location), finding.message);
    if let Some(inside) = inside(&related.location) {
        append(&mut message, format_args!("\n{inside}"));
    }
    annotation(NOTICE, &related.location, finding.code, &message)
}

const fn level(code: Code) -> &'static str {
    match code.severity() {
        Severity::Note => NOTICE,
        severity => severity.as_str(),
    }
}

fn annotation(level: &str, location: &Location, code: Code, message: &str) -> String {
    let mut command = format!("::{level} file={}", property(&location.file.to_string_lossy()));
    if let Some(place) = &location.place {
        append(&mut command, format_args!(",line={},col={}", place.line, place.column));
    }
    append(&mut command, format_args!(",title={}::{}", property(code.as_str()), data(message)));
    command
}

fn place(location: &Location) -> String {
    let file = location.file.display();
    location.place.as_ref().map_or_else(|| file.to_string(), |place| format!("{file}:{}:{}", place.line, place.column))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property's value.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn command_delimiters_are_escaped() {
        assert_eq!(data("100 %: a,\r\nb"), "100 %25: a,%0D%0Ab");
        assert_eq!(property("C:\\a,b%.json"), "C%3A\\a%2Cb%25.json");
    }
}
