//! The result of reading a set of export files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Code, Export, Finding, IdPrefixes, LeftOut, LinkReport, Severity, SourceFile, Stale, stray};
use crate::text::count::counted;

/// The result of reading a set of export files.
#[derive(Debug, Default)]
pub struct Report {
    /// The valid exports, in the order of the files. Complete only if [`is_valid`](Self::is_valid); else the caller decides whether
    /// to serve them.
    pub exports: Vec<Export>,
    /// The findings by file and place, the first hundred of each code and file.
    pub findings: Vec<Finding>,
    /// How many more findings there are, by file and code.
    pub left_out: Vec<LeftOut>,
    /// The files that could be read, with their bytes.
    pub files: Vec<SourceFile>,
    /// How much was looked at.
    pub counts: Counts,
    /// The invalid part, which `exports` doesn't have.
    pub skipped: Skipped,
    /// The products with stale evidence, where the limits say what that is.
    pub stale: Option<Stale>,
    /// What came of asking for the links, if that was done.
    pub links: Option<LinkReport>,
}

/// The number of exports and records that are left out of a set because they are invalid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Exports left out as a whole: the file can't be read, isn't JSON, or its envelope is invalid.
    pub exports: u64,
    /// Products, categories, reviews, glossary terms and synonym groups left out, those of exports left out included. The
    /// records of a file that can't be parsed are not known and not counted.
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

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Files, the unreadable ones included.
    pub files: usize,
    /// Elements of `software`, the invalid ones included.
    pub records: usize,
    /// Records that are not among the valid ones. Those of files that couldn't be parsed are not known.
    pub skipped_records: usize,
}

impl Report {
    /// Whether there is no error, so that the set may be published.
    pub fn is_valid(&self) -> bool {
        self.error_count() == 0
    }

    pub fn error_count(&self) -> usize {
        self.count(Severity::Error)
    }

    /// Number of warnings.
    pub fn warning_count(&self) -> usize {
        self.count(Severity::Warning)
    }

    /// The number of findings of each code, those left out included.
    pub fn code_counts(&self) -> BTreeMap<Code, usize> {
        let mut counts = BTreeMap::new();
        let kept = self.findings.iter().map(|finding| (finding.code, 1));
        for (code, count) in kept.chain(self.left_out.iter().map(|left_out| (left_out.code, left_out.count))) {
            *counts.entry(code).or_default() += count;
        }
        counts
    }

    /// The exports that the operator has a prefix for, and that no file is.
    pub fn unused_prefixes<'p>(&self, prefixes: &'p IdPrefixes) -> impl Iterator<Item = &'p str> {
        prefixes.iter().map(|(export, _)| export).filter(|export| self.files.iter().all(|file| file.id() != *export))
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

/// Mentions the files of a folder that are almost named like exports in the report of its exports.
pub fn mention_ignored_files(report: &mut Report, folder: &Path) {
    if let Some(finding) = stray::finding(folder) {
        let at = report.findings.partition_point(|finding| &*finding.location.file < folder);
        report.findings.insert(at, finding);
    }
}
