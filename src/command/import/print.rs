//! Prints an import's findings, listing each cause only once.

use crate::command::print_note;
use crate::curate::tabular::{Findings, Group, Level};
use crate::text::printable::printable;

pub(in crate::command) fn findings(findings: &Findings) {
    for group in findings.groups() {
        print_note(&printable(&heading(group)));
        if group.level == Level::Note {
            continue;
        }
        for (row, value) in &group.examples {
            print_note(&printable(&if value.is_empty() { format!("  {row}") } else { format!("  {row}: {value}") }));
        }
        let more = group.count - group.examples.len();
        if more > 0 && !group.examples.is_empty() {
            print_note(&format!("  and {more} more"));
        }
        if !group.fix.is_empty() {
            print_note(&printable(&format!("  fix: {}", group.fix)));
        }
    }
}

fn heading(group: &Group) -> String {
    let Group { level, column, message, count, examples, .. } = group;
    let place = if column.is_empty() { String::new() } else { format!("{column}: ") };
    let example = match examples.first() {
        Some((row, value)) if *level == Level::Note && !value.is_empty() => format!(", such as {value} in {row}"),
        _ => String::new(),
    };
    format!("{}: {place}{message} ({count}{example})", level.as_str())
}
