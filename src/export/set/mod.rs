//! The third layer: do all the files together form one directory? Ids must be unique, every review
//! needs its product, and every term needs a single definition. Also gives advice on problems that
//! only show up across the set.
//!
//! Products and reviews may not fit in memory, so whatever is compared (ids, names and URLs) gets
//! sorted, on disk if necessary.

mod advice;
mod attribute;
mod category;
mod ids;
mod property;
mod reference;
mod spelling;
mod values;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;

use self::advice::SharedRows;
use self::ids::{IdRows, Products, Repeats};
use self::property::Properties;
use self::values::ValueUses;
use super::convert::Contents;
use super::finding::Findings;
use super::{Code, Finding, Location, SectionKind, SourceFile};
use crate::scratch::Scratch;

pub(super) struct ParsedExport<'f> {
    pub(super) file: &'f SourceFile,
    /// Whether the envelope is valid. If not, nothing in the file is valid.
    pub(super) valid: bool,
    pub(super) contents: Contents,
}

impl ParsedExport<'_> {
    pub(super) fn is_served(&self, kind: SectionKind, index: usize) -> bool {
        self.valid && !self.contents.sections[kind as usize].is_skipped(index)
    }

    fn location(&self, kind: SectionKind, index: usize, key: &str, place: &Range<usize>) -> Location {
        self.file.location(place.clone(), kind.pointer(index, key))
    }
}

/// Checks a set whose documents are added one by one.
pub(super) struct SetCheck {
    /// For each export id, the first document, and whether any document with this id is valid.
    export_ids: HashMap<Box<str>, (Location, bool)>,
    ids: IdRows,
    shared: SharedRows,
    values: ValueUses,
    properties: Properties,
    documents: usize,
    /// Whether every element that should be a product has an id.
    all_have_ids: bool,
}

impl SetCheck {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self {
            export_ids: HashMap::default(),
            ids: IdRows::new(scratch),
            shared: SharedRows::new(scratch),
            values: ValueUses::default(),
            properties: Properties::default(),
            documents: 0,
            all_have_ids: true,
        }
    }

    /// Adds the next document. Its envelope becomes invalid if an earlier file has its id.
    pub(super) fn push(&mut self, export: &mut ParsedExport<'_>, findings: &mut Findings) -> io::Result<()> {
        self.check_export_id(export, findings);
        let (number, contents) = (self.documents, &export.contents);
        self.documents += 1;
        self.all_have_ids &= contents.software.len() == contents.sections[SectionKind::Software as usize].len();
        self.properties.begin(export);
        for entry in &contents.software {
            self.shared.push(number, entry)?;
            self.values.push(number, entry);
            self.properties.push(entry);
        }
        self.ids.push(number, export)
    }

    /// Two folders may contain files with the same name, whose exports would have the same id.
    fn check_export_id(&mut self, export: &mut ParsedExport<'_>, findings: &mut Findings) {
        let file = export.file;
        let Some((first, is_served)) = self.export_ids.get_mut(file.id()) else {
            self.export_ids.insert(file.id().into(), (file.whole(), export.valid));
            return;
        };
        findings.add(Code::DuplicateExportId, file.shared_path(), |code| {
            let message = format!("the export id `{}` is used by two files", file.id());
            let help = "rename one of the files: the file name without .json is the export's id";
            Finding::new(code, file.whole(), message, help).with_related(first.clone(), "first used here")
        });
        let valid = export.valid;
        export.valid &= !*is_served;
        *is_served |= valid;
    }

    /// Reports findings about the set, and marks the elements to skip. Takes the documents again,
    /// in the same order and without their products and reviews.
    ///
    /// `is_complete` says whether every file could be read, so that anything missing really doesn't
    /// exist.
    pub(super) fn finish(
        self,
        exports: &mut [ParsedExport<'_>],
        is_complete: bool,
        findings: &mut Findings,
    ) -> io::Result<()> {
        let products = Products { is_complete, all_have_ids: self.all_have_ids };
        let mut unknown = reference::pinned_products(exports);
        let repeats: Repeats = self.ids.check(exports, products, &mut unknown, findings)?;
        if !(is_complete && self.all_have_ids) {
            unknown.clear();
        }
        reference::check_pins(exports, &unknown, findings);
        reference::check_synonyms(exports, findings);
        let attributes = attribute::check(exports, &self.properties, findings);
        for finding in self.shared.summaries(exports)? {
            findings.add(finding.code, &Arc::clone(&finding.location.file), |_| finding);
        }
        advice::advise_on_terms(exports, &repeats, is_complete, findings);
        category::advise(exports, self.values.categories(), findings);
        spelling::advise(exports, &self.values, findings);
        attribute::advise(exports, &self.properties, &attributes, findings);
        Ok(())
    }
}
