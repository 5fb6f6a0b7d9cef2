//! The third layer: do all files together make one directory? Ids must be unique, reviews must have
//! their product, and terms one definition. Also gives advice on what only shows across the set.

mod advice;
mod category;
pub(super) mod duplicate;
mod id_case;
mod identity;
pub(super) mod orphan;
mod spelling;
mod synonym;

use std::ops::Range;

use super::convert::Contents;
use super::finding::Findings;
use super::{Location, SectionKind, SourceFile};

pub(super) struct ParsedExport<'f> {
    pub(super) file: &'f SourceFile,
    /// Whether the envelope is valid. If not, nothing in the file is.
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

/// The number of products in all exports, to size tables upfront: a growing table is in memory
/// twice, and a build's memory peaks while it checks a large set.
fn product_count(exports: &[ParsedExport<'_>]) -> usize {
    exports.iter().map(|export| export.contents.software.len()).sum()
}

/// Reports the errors and warnings of the set, and marks the elements to skip.
///
/// `is_complete` says that every file could be read, so what isn't there doesn't exist.
pub(super) fn examine(exports: &mut [ParsedExport<'_>], is_complete: bool, findings: &mut Findings) {
    let repeats = identity::check(exports, is_complete, findings);
    synonym::check(exports, findings);
    advice::advise(exports, &repeats, is_complete, findings);
    category::advise(exports, findings);
    spelling::advise(exports, findings);
    id_case::advise(exports, findings);
}

/// Like [`examine`], for glossaries and synonyms only, after products and reviews were checked.
pub(super) fn examine_terms(
    exports: &mut [ParsedExport<'_>],
    repeats: &mut duplicate::Repeats,
    is_complete: bool,
    findings: &mut Findings,
) {
    identity::check_terms(exports, repeats, findings);
    synonym::check(exports, findings);
    advice::advise_on_terms(exports, repeats, is_complete, findings);
}
