//! What a check finds: faults, where they are, and how to fix them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::budget::{KEPT_FINDINGS, shortened};
use super::{Code, Severity};
use crate::text::printable::printable;

/// How many characters of an id or name are shown.
const SHOWN_CHARS: usize = 60;

/// A problem or a suggestion, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind, which implies the severity.
    pub code: Code,
    pub location: Location,
    /// The fault, in one line.
    pub message: String,
    pub help: String,
    /// Related locations, such as the first use of an id.
    pub related: Vec<Related>,
}

/// A location in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file's name, as given to the check.
    pub file: Arc<Path>,
    /// The position in the file; `None` if the finding is about the file as a whole.
    pub place: Option<SourceSpan>,
    /// RFC 6901 JSON pointer to the value; empty for the whole document.
    pub pointer: String,
    /// The record that contains the value, if any.
    pub record: Option<Arc<RecordName>>,
}

/// A span of bytes in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceSpan {
    /// Byte offsets, end exclusive.
    pub range: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in Unicode scalar values, from 1.
    pub column: usize,
}

/// Another location that's relevant to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Related {
    pub location: Location,
    pub note: String,
}

/// Identifies a record: an element of one of the envelope's arrays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordName {
    /// The envelope's array, such as `software`.
    pub section: &'static str,
    /// The record's index in the array, from 0.
    pub index: usize,
    /// The id of a product or review as written in its file, at most 600 bytes; `None` if there is
    /// no usable one.
    pub id: Option<String>,
    /// The name of a product or category, or the glossary term, at most 600 bytes; `None` if there
    /// is no usable one.
    pub name: Option<String>,
    #[serde(skip)]
    pub(super) noun: &'static str,
}

impl Location {
    /// A file as a whole.
    pub(super) fn whole(file: impl Into<Arc<Path>>) -> Self {
        Self { file: file.into(), place: None, pointer: String::new(), record: None }
    }
}

impl RecordName {
    pub fn pointer(&self) -> String {
        format!("/{}/{}", self.section, self.index)
    }
}

/// A short, printable name: the record's id and name, or else its position in the array.
impl Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.id.is_none() && self.name.is_none() {
            return write!(f, "{}[{}]", self.section, self.index);
        }
        f.write_str(self.noun)?;
        if let Some(id) = &self.id {
            write!(f, " `{}`", Truncated(id))?;
        }
        if let Some(name) = &self.name {
            write!(f, " \"{}\"", Truncated(name))?;
        }
        Ok(())
    }
}

/// Printable text, shortened to [`SHOWN_CHARS`].
pub(super) struct Truncated<'t>(pub(super) &'t str);

impl Display for Truncated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(SHOWN_CHARS) {
            None => f.write_str(&printable(self.0)),
            Some((end, _)) => {
                f.write_str(&printable(&self.0[..end]))?;
                f.write_char('…')
            }
        }
    }
}

/// Findings with the same code in one file that were counted but not included in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub code: Code,
    #[serde(serialize_with = "file_name")]
    pub file: Arc<Path>,
    pub count: usize,
}

fn file_name<S: Serializer>(file: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&file.to_string_lossy())
}

impl Finding {
    pub(super) fn new(code: Code, location: Location, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, location, message: message.into(), help: help.into(), related: Vec::new() }
    }

    pub(super) fn with_related(mut self, location: Location, note: impl Into<String>) -> Self {
        self.related.push(Related { location, note: note.into() });
        self
    }

    pub const fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The order in a report: by file, location and code.
    pub(super) fn by_place(&self, other: &Self) -> Ordering {
        let start = |finding: &Self| finding.location.place.as_ref().map(|place| place.range.start);
        let by_file = self.location.file.cmp(&other.location.file);
        by_file.then_with(|| start(self).cmp(&start(other))).then_with(|| self.code.cmp(&other.code))
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut finding = serializer.serialize_struct("Finding", 6)?;
        finding.serialize_field("severity", &self.severity())?;
        finding.serialize_field("code", &self.code)?;
        finding.serialize_field("location", &self.location)?;
        finding.serialize_field("message", &self.message)?;
        finding.serialize_field("help", &self.help)?;
        finding.serialize_field("related", &self.related)?;
        finding.end()
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut location = serializer.serialize_struct("Location", 6)?;
        location.serialize_field("file", &self.file.to_string_lossy())?;
        location.serialize_field("line", &self.place.as_ref().map(|place| place.line))?;
        location.serialize_field("column", &self.place.as_ref().map(|place| place.column))?;
        location.serialize_field("range", &self.place.as_ref().map(|place| &place.range))?;
        location.serialize_field("pointer", &self.pointer)?;
        location.serialize_field("record", &self.record)?;
        location.end()
    }
}

/// A finding in a document, without the document's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: Code,
    pub(super) span: Range<usize>,
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) help: String,
    pub(super) related: Vec<(Range<usize>, String, String)>,
}

impl Fault {
    pub(super) fn new(
        code: Code,
        span: Range<usize>,
        pointer: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let (pointer, message, help) = (shortened(pointer.into()), shortened(message.into()), shortened(help.into()));
        Self { code, span, pointer, message, help, related: Vec::new() }
    }

    /// Adds another location, with its pointer and a description.
    pub(super) fn with_related(
        mut self,
        span: Range<usize>,
        pointer: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        self.related.push((span, shortened(pointer.into()), shortened(note.into())));
        self
    }
}

/// The findings in one document: the first ones for each code, the total counts, and the locations
/// of all other errors.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) kept: Vec<Fault>,
    counts: BTreeMap<Code, usize>,
    /// The locations of the errors that were only counted.
    other_errors: Vec<Range<usize>>,
}

impl Faults {
    /// Counts a finding. Returns whether it's among the first findings with its code, the only ones
    /// that the report describes.
    pub(super) fn count(&mut self, code: Code, span: &Range<usize>) -> bool {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        let is_kept = *count <= KEPT_FINDINGS;
        if !is_kept && code.severity() == Severity::Error {
            self.other_errors.push(span.clone());
        }
        is_kept
    }

    /// Adds a finding that has been counted.
    pub(super) fn keep(&mut self, fault: Fault) {
        self.kept.push(fault);
    }

    /// Counts a finding, and adds it to the report if there's room.
    pub(super) fn add(&mut self, fault: Fault) {
        if self.count(fault.code, &fault.span) {
            self.keep(fault);
        }
    }

    /// Adds another layer's findings. No two layers share a code.
    pub(super) fn append(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.other_errors.extend(other.other_errors);
        for (code, count) in other.counts {
            *self.counts.entry(code).or_default() += count;
        }
    }

    pub(super) fn error_places(&self) -> impl Iterator<Item = &Range<usize>> {
        let kept = self.kept.iter().filter(|fault| fault.code.severity() == Severity::Error);
        kept.map(|fault| &fault.span).chain(&self.other_errors)
    }
}

/// The findings in a set of files: the first ones for each code and file, and the total counts.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<(Arc<Path>, Code), usize>,
}

impl Findings {
    /// Counts a finding. If it's among the first with its code in its file, describes and adds it.
    pub(super) fn add(&mut self, code: Code, file: &Arc<Path>, describe: impl FnOnce(Code) -> Finding) {
        let count = self.counts.entry((Arc::clone(file), code)).or_default();
        *count += 1;
        if *count <= KEPT_FINDINGS {
            let mut finding = describe(code);
            finding.message = shortened(finding.message);
            finding.related.iter_mut().for_each(|related| related.note = shortened(std::mem::take(&mut related.note)));
            self.kept.push(finding);
        }
    }

    pub(super) fn extend(&mut self, file: &Arc<Path>, faults: Faults, located: impl Fn(Fault) -> Finding) {
        self.kept.extend(faults.kept.into_iter().map(located));
        for (code, count) in faults.counts {
            *self.counts.entry((Arc::clone(file), code)).or_default() += count;
        }
    }

    /// Adds findings that are in other files or have other codes.
    pub(super) fn append(&mut self, other: Self) {
        self.kept.extend(other.kept);
        for (of, count) in other.counts {
            *self.counts.entry(of).or_default() += count;
        }
    }

    /// The locations of all findings in the report, including related locations.
    pub(super) fn locations_mut(&mut self) -> impl Iterator<Item = &mut Location> {
        self.kept.iter_mut().flat_map(|finding| {
            let related = finding.related.iter_mut().map(|related| &mut related.location);
            std::iter::once(&mut finding.location).chain(related)
        })
    }

    /// The findings, ordered by file, location and code, and how many more there are.
    pub(super) fn finish(mut self) -> (Vec<Finding>, Vec<LeftOut>) {
        self.kept.sort_by(Finding::by_place);
        for finding in &self.kept {
            if let Some(count) = self.counts.get_mut(&(Arc::clone(&finding.location.file), finding.code)) {
                *count -= 1;
            }
        }
        let left_out = self.counts.into_iter().filter(|(_, count)| *count > 0);
        (self.kept, left_out.map(|((file, code), count)| LeftOut { code, file, count }).collect())
    }
}
