//! What a check says: what is wrong, where, and how to mend it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{Code, Severity};

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind it is; also says how bad it is.
    pub code: Code,
    /// Where it is.
    pub location: Location,
    /// What is wrong, in one line.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// Other places that belong to it, such as the first use of an id.
    pub related: Vec<Related>,
}

/// Where something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as it was named to the check.
    pub file: Arc<Path>,
    /// The place in the file; `None` where the finding is about the file as a whole.
    pub place: Option<Place>,
    /// RFC 6901 JSON pointer to the value; empty for the whole document.
    pub pointer: String,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Byte offsets, end exclusive.
    pub range: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in Unicode scalar values, from 1.
    pub column: usize,
}

/// Another place that belongs to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Related {
    /// Where it is.
    pub location: Location,
    /// What is there.
    pub note: String,
}

impl Finding {
    /// How bad it is.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.code.severity()
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
        let mut location = serializer.serialize_struct("Location", 5)?;
        location.serialize_field("file", &self.file.to_string_lossy())?;
        location.serialize_field("line", &self.place.as_ref().map(|place| place.line))?;
        location.serialize_field("column", &self.place.as_ref().map(|place| place.column))?;
        location.serialize_field("range", &self.place.as_ref().map(|place| &place.range))?;
        location.serialize_field("pointer", &self.pointer)?;
        location.end()
    }
}

/// A finding in one document that doesn't know yet which file the document is in.
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
        let (pointer, message, help) = (pointer.into(), message.into(), help.into());
        Self { code, span, pointer, message, help, related: Vec::new() }
    }

    /// Adds another place, with its pointer and what is there.
    #[must_use]
    pub(super) fn with_related(
        mut self,
        span: Range<usize>,
        pointer: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        self.related.push((span, pointer.into(), note.into()));
        self
    }
}
