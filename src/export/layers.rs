//! The layers that check a single file, one after the other: text, schema, conversion.

use std::ops::Range;

use super::convert::{self, Days};
use super::finding::Faults;
use super::set::ParsedExport;
use super::{Limits, Section, SectionKind, SourceFile, schema, text};
use crate::record::CalendarDate;

/// How many of a section's elements are left out.
pub(super) fn skipped_elements(export: &ParsedExport<'_>, kind: SectionKind) -> usize {
    let section = &export.contents.sections[kind as usize];
    if export.valid { section.skipped_count() } else { section.len() }
}

/// Runs the layers that look at a single file.
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

/// Skips all elements of the envelope's arrays that contain an error. Returns whether the rest of
/// the file is valid.
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
