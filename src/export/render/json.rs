//! Prints a report as one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use crate::export::{Counts, Finding, LeftOut, LinkReport, Report, Stale};

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
