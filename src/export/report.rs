//! The result of reading a set of export files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Code, Export, Finding, IdPrefixes, LeftOut, LinkReport, Severity, SourceFile, Stale, source};
use crate::text::count::counted;

/// The result of reading a set of export files.
#[derive(Debug, Default)]
pub struct Report {
    /// The valid exports, in file order. If the set isn't [valid](Self::is_valid), some are
    /// missing, and the caller decides whether to serve the others.
    pub exports: Vec<Export>,
    /// The findings by file and location: the first hundred for each code and file.
    pub findings: Vec<Finding>,
    /// How many more findings there are, by file and code.
    pub left_out: Vec<LeftOut>,
    /// The files that could be read, with their bytes.
    pub files: Vec<SourceFile>,
    pub counts: Counts,
    /// How much is missing from `exports` because it's invalid.
    pub skipped: Skipped,
    /// The products with stale evidence, if the limits define what's stale.
    pub stale: Option<Stale>,
    pub links: Option<LinkReport>,
}

/// The number of exports and records that are left out of a set because they are invalid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Exports left out entirely: the file can't be read, isn't JSON, or its envelope is invalid.
    pub exports: u64,
    /// Products, reviews and other elements left out, including everything in exports left out.
    /// Elements in a file that can't be parsed aren't counted.
    pub records: u64,
}

impl Skipped {
    /// Whether the set is complete.
    pub const fn is_none(self) -> bool {
        self.exports == 0 && self.records == 0
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {}", counted(self.exports, "export"), counted(self.records, "record"))
    }
}

/// How much was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// The number of files, including unreadable ones.
    pub files: usize,
    /// The number of elements of `software`, including invalid ones.
    pub records: usize,
    /// The number of invalid records. Records in files that couldn't be parsed aren't counted.
    pub skipped_records: usize,
}

impl Report {
    /// Whether there are no errors, so the set may be published.
    pub fn is_valid(&self) -> bool {
        self.error_count() == 0
    }

    pub fn error_count(&self) -> usize {
        self.count(Severity::Error)
    }

    pub fn warning_count(&self) -> usize {
        self.count(Severity::Warning)
    }

    /// The number of findings for each code, including those left out.
    pub fn code_counts(&self) -> BTreeMap<Code, usize> {
        let mut counts = BTreeMap::new();
        let kept = self.findings.iter().map(|finding| (finding.code, 1));
        for (code, count) in kept.chain(self.left_out.iter().map(|left_out| (left_out.code, left_out.count))) {
            *counts.entry(code).or_default() += count;
        }
        counts
    }

    /// The exports for which the operator has set a prefix but there is no file.
    pub fn unused_prefixes<'p>(&self, prefixes: &'p IdPrefixes) -> impl Iterator<Item = &'p str> {
        let exports = prefixes.keys().map(|export| &**export);
        exports.filter(|export| self.files.iter().all(|file| file.id() != *export))
    }

    pub fn note_count(&self) -> usize {
        self.count(Severity::Note)
    }

    fn count(&self, severity: Severity) -> usize {
        let left_out = self.left_out.iter().filter(|left_out| left_out.code.severity() == severity);
        self.findings.iter().filter(|finding| finding.severity() == severity).count()
            + left_out.map(|left_out| left_out.count).sum::<usize>()
    }
}

/// Adds a finding about the folder's files whose names look almost like an export's, if any.
pub fn mention_ignored_files(report: &mut Report, folder: &Path) {
    if let Some(finding) = source::ignored_files_finding(folder) {
        let at = report.findings.partition_point(|finding| &*finding.location.file < folder);
        report.findings.insert(at, finding);
    }
}
