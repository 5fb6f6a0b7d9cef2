//! Reads exports that are written in the test itself.

use software_directory::export::{self, Limits, Report, SourceFile};
use software_directory::record::CalendarDate;

/// Reads files, each given as a name and its text, as of 1 June 2025.
pub(crate) fn examine(files: &[(&str, &str)]) -> Report {
    let open = |(name, text): &(&str, &str)| SourceFile::from_bytes(name.as_ref(), (*text).to_owned().into());
    let today = CalendarDate::parse("2025-06-01").expect("a date");
    export::examine(files.iter().map(open).collect(), &Limits::default(), today, &|_| {}).expect("in memory")
}

/// An envelope with a name and a licence, followed by these members.
pub(crate) fn envelope(rest: &str) -> String {
    format!(r#"{{"name": "N", "license": "https://example.org/", {rest}}}"#)
}

/// Reads one file with an envelope with these members.
pub(crate) fn examine_envelope(rest: &str) -> Report {
    examine(&[("x.json", &envelope(rest))])
}

/// A valid record with these additional properties, each preceded by a comma.
pub(crate) fn record(id: &str, more: &str) -> String {
    format!(
        r#"{{"id": "{id}", "name": "{id} name", "url": "https://{id}.example/", "evidence_status": "pending-review"{more}}}"#
    )
}

/// Numbered records, each with the additional properties that `more` returns for its number.
pub(crate) fn records(count: usize, more: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| record(&format!("p{n}"), &more(n))).collect::<Vec<_>>().join(",")
}

/// Each finding's code and JSON pointer.
pub(crate) fn found(report: &Report) -> Vec<(&'static str, &str)> {
    report.findings.iter().map(|finding| (finding.code.as_str(), &*finding.location.pointer)).collect()
}
