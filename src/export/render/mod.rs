//! Renders a report: as text like a compiler's, as a JSON document, as GitHub workflow commands, or
//! as SARIF.

mod github;
mod sarif;
mod text;
mod window;

pub use github::github;
pub use sarif::sarif;
pub use text::{Style, statistics, text};

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::{Code, Counts, Finding, LeftOut, LinkReport, Location, Report, Stale};
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

#[derive(Serialize)]
struct Document<'r> {
    valid: bool,
    #[serde(flatten)]
    counts: Counts,
    errors: usize,
    warnings: usize,
    notes: usize,
    findings: &'r [Finding],
    left_out: &'r [LeftOut],
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<&'r Stale>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<&'r LinkReport>,
}

/// Prints the findings in the report, and how many more there are.
pub fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        valid: report.is_valid(),
        counts: report.counts,
        errors: report.error_count(),
        warnings: report.warning_count(),
        notes: report.note_count(),
        findings: &report.findings,
        left_out: &report.left_out,
        stale: report.stale.as_ref(),
        links: report.links.as_ref(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
