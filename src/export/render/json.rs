//! A report for programs: one JSON document.

use std::io::{self, Write};

use serde::Serialize;

use crate::export::{Counts, Finding, Report};

#[derive(Serialize)]
struct Document<'r> {
    valid: bool,
    #[serde(flatten)]
    counts: Counts,
    errors: usize,
    warnings: usize,
    findings: &'r [Finding],
}

/// Prints a report as one JSON document, with every finding.
///
/// # Errors
/// Where it can't be written.
pub fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        valid: report.is_valid(),
        counts: report.counts,
        errors: report.error_count(),
        warnings: report.warning_count(),
        findings: &report.findings,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
