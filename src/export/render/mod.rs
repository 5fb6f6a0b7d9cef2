//! Renders a report: as text like a compiler's, as a JSON document, as GitHub workflow commands, or
//! as SARIF.

mod github;
mod json;
mod links;
mod sarif;
mod stale;
mod statistics;
mod text;
mod window;

pub use github::github;
pub use json::json;
pub use sarif::sarif;
pub use statistics::statistics;
pub use text::{Style, text};

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Code, Finding, LeftOut, Location, Report};

use crate::text::count::{Grouped, counted};

/// How many findings with the same code are printed per file; the rest are only counted.
const PRINTED: usize = 20;

#[derive(Debug)]
pub(crate) enum Item<'r> {
    Finding(&'r Finding),
    /// The number of further findings with this code in the file.
    More(LeftOut),
}

/// The findings file by file: up to [`PRINTED`] with the same code, then how many more there are.
pub(crate) fn items(report: &Report) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut left_out = report.left_out.iter().peekable();
    for of_file in report.findings.chunk_by(|a, b| a.location.file == b.location.file) {
        let file = &of_file[0].location.file;
        let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
        for finding in of_file {
            let count = counts.entry(finding.code).or_default();
            *count += 1;
            if *count <= PRINTED {
                items.push(Item::Finding(finding));
            }
        }
        while let Some(more) = left_out.next_if(|more| more.file == *file) {
            *counts.entry(more.code).or_default() += more.count;
        }
        let rest = counts.into_iter().filter(|(_, count)| *count > PRINTED);
        items.extend(
            rest.map(|(code, count)| Item::More(LeftOut { code, file: Arc::clone(file), count: count - PRINTED })),
        );
    }
    items
}

/// The last line of a report: how much was checked and what was found.
fn summary(report: &Report) -> String {
    let (errors, warnings) = (report.error_count(), report.warning_count());
    let notes = match report.note_count() {
        0 => String::new(),
        notes => format!(", {}", counted(notes, "note")),
    };
    let skipped = match report.counts.skipped_records {
        0 => String::new(),
        skipped => format!(" ({} invalid)", Grouped(skipped)),
    };
    format!(
        "Checked {}, {}{skipped}: {}, {}{notes}.",
        counted(report.counts.files, "file"),
        counted(report.counts.records, "record"),
        counted(errors, "error"),
        counted(warnings, "warning")
    )
}

/// Where a finding is in its file: the record and the JSON pointer.
fn inside(location: &Location) -> Option<String> {
    let pointer = || format!("at {}", location.pointer);
    match &location.record {
        Some(record) if location.pointer.is_empty() => Some(record.to_string()),
        Some(record) => Some(format!("{record}, {}", pointer())),
        None => (!location.pointer.is_empty()).then(pointer),
    }
}
