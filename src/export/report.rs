//! The whole way from files to a report: every layer over every file, then over the set.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::convert::{self, Days};
use super::finding::Faults;
use super::set::ParsedExport;
use super::{
    Code, Export, ExportSet, Finding, IdPrefixes, Limits, LinkReport, Section, SectionKind, Severity, SourceFile,
    Stale, schema, text,
};
use crate::record::CalendarDate;
use crate::scratch::Scratch;

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
        let noun = |count: u64, one: &'static str, many: &'static str| if count == 1 { one } else { many };
        let exports = noun(self.exports, "export", "exports");
        let records = noun(self.records, "record", "records");
        write!(f, "{} {exports} and {} {records}", self.exports, self.records)
    }
}

/// Findings of one code in one file that were counted only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub code: Code,
    #[serde(serialize_with = "file_name")]
    pub file: Arc<Path>,
    /// How many.
    pub count: usize,
}

fn file_name<S: Serializer>(file: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&file.to_string_lossy())
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

    fn count(&self, severity: Severity) -> usize {
        let left_out = self.left_out.iter().filter(|left_out| left_out.code.severity() == severity);
        self.findings.iter().filter(|finding| finding.severity() == severity).count()
            + left_out.map(|left_out| left_out.count).sum::<usize>()
    }
}

/// The latest day that it is anywhere at a moment: evidence that was checked today in Auckland isn't from the future,
/// though UTC is still at yesterday.
pub fn latest_day(now: jiff::Timestamp) -> CalendarDate {
    CalendarDate::from(jiff::tz::offset(14).to_datetime(now).date())
}

/// Reads export files and checks them, one by one and as a set.
///
/// `prefixes` are the operator's, `today` is the last day that isn't in the future. `progress` gets the bytes done and the bytes in all, repeatedly.
pub fn read(
    files: &[PathBuf],
    limits: &Limits,
    prefixes: &IdPrefixes,
    today: CalendarDate,
    progress: &dyn Fn(u64, u64),
) -> io::Result<Report> {
    let sizes: Vec<u64> =
        files.iter().map(|file| std::fs::metadata(file).map_or(0, |metadata| metadata.len())).collect();
    let total = sizes.iter().sum();
    let sources = files.iter().map(|file| Ok(SourceFile::open(file, limits)?.prefixed(prefixes))).collect();
    examine(sources, limits, today, &|done| progress(done, total))
}

/// Checks export files that have been read, one by one and as a set.
///
/// `today` is the last day that isn't in the future. `progress` gets the bytes done, repeatedly.
pub fn examine(
    sources: Vec<Result<SourceFile, Box<Finding>>>,
    limits: &Limits,
    today: CalendarDate,
    progress: &dyn Fn(u64),
) -> io::Result<Report> {
    ExportSet::read(sources.into_iter(), limits, today, &Scratch::in_memory(), progress)?.into_report(limits)
}

/// The number of elements of a section that are left out.
pub(super) fn skipped_elements(export: &ParsedExport<'_>, kind: SectionKind) -> usize {
    let section = &export.contents.sections[kind as usize];
    if export.valid { section.skipped_count() } else { section.len() }
}

/// The layers that look at one file alone.
pub(super) fn parse<'f>(
    file: &'f SourceFile,
    limits: &Limits,
    today: CalendarDate,
) -> (Option<ParsedExport<'f>>, Faults) {
    let (document, mut faults) = text::parse(file.bytes(), limits.max_depth);
    let Some(document) = document else { return (None, faults) };
    faults.append(schema::check(document.root()));
    let (mut contents, found) = convert::read(document.root(), Days { today, stale_before: limits.stale_before });
    faults.append(found);
    if let Some(prefix) = file.id_prefix() {
        contents.id_prefix = Some(prefix.into());
    }
    if let Some(prefix) = contents.id_prefix.clone() {
        contents.prefix_ids(&prefix);
    }
    let valid = skip_invalid(&mut contents.sections, faults.error_places());
    (Some(ParsedExport { file, valid, contents }), faults)
}

/// An error inside an element of one of the envelope's arrays costs that element; any other the whole file. Returns
/// whether the file is left.
fn skip_invalid<'f>(sections: &mut [Section], errors: impl Iterator<Item = &'f Range<usize>>) -> bool {
    let mut valid = true;
    for place in errors {
        let element = sections.iter_mut().find_map(|section| {
            let index = section.element_at(place)?;
            Some((section, index))
        });
        match element {
            Some((section, index)) => section.skip(index),
            None => valid = false,
        }
    }
    valid
}
