//! Advice on product ids that differ only in case: people, file systems and spreadsheets confuse
//! them.

use std::io;
use std::ops::Range;

use foldhash::{HashSet, HashSetExt as _};

use super::duplicate::Element;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind, SourceFile};
use crate::scratch::{Keyed, Peeked, Scratch, ScratchSorter};

/// A product whose id may change when lower-cased. The key is the lower-cased id, the document and
/// the index; the value is the id and its location.
type CasedRow = Keyed<(String, usize, usize), (Box<str>, Range<usize>)>;

/// An id that differs only in case from an earlier one. The key is the positions of both, the
/// earlier one first; the value is both ids and their locations.
type SimilarRow = Keyed<[(usize, usize); 2], [(Box<str>, Range<usize>); 2]>;

/// An id with its document, index and location.
type PlacedId = ((usize, usize), (Box<str>, Range<usize>));

/// Collects ids that may change when lower-cased. Most ids are already in lower case.
pub(super) struct IdCase {
    cased: ScratchSorter<CasedRow>,
    similar: ScratchSorter<SimilarRow>,
}

impl IdCase {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { cased: scratch.sorter(), similar: scratch.sorter() }
    }

    /// Adds a product's id, with its document and index.
    pub(super) fn push(
        &mut self,
        (id, number, index): &(Box<str>, usize, usize),
        place: &Range<usize>,
    ) -> io::Result<()> {
        if !has_case(id) {
            return Ok(());
        }
        self.cased.push(Keyed { key: (id.to_lowercase(), *number, *index), value: (id.clone(), place.clone()) })
    }

    /// Finishes collecting. The result takes all ids in order and joins them with the collected
    /// ones.
    pub(super) fn join(self) -> io::Result<CaseJoin> {
        Ok(CaseJoin { cased: Peeked::new(self.cased.finish()?)?, similar: self.similar })
    }
}

/// Joins all ids with the collected ones (those that change when lower-cased).
pub(super) struct CaseJoin {
    cased: Peeked<CasedRow>,
    similar: ScratchSorter<SimilarRow>,
}

impl CaseJoin {
    /// Takes the next id in order, with its first element.
    pub(super) fn next(&mut self, id: &str, element: &Element) -> io::Result<()> {
        while self.cased.row.as_ref().is_some_and(|row| *row.key.0 < *id) {
            self.group(None)?;
        }
        if self.cased.row.as_ref().is_some_and(|row| *row.key.0 == *id) && !has_case(id) {
            let place = (element.export, element.index);
            self.group(Some((place, (id.into(), element.place.clone()))))?;
        }
        Ok(())
    }

    /// Takes the ids with the next lower-cased form, along with the id that equals this form, if
    /// any. Ignores duplicates, which have already been reported as errors.
    fn group(&mut self, in_lower_case: Option<PlacedId>) -> io::Result<()> {
        let Some(first) = self.cased.take()? else { return Ok(()) };
        let lower = first.key.0.clone();
        let mut seen = HashSet::new();
        let mut distinct: Vec<_> = in_lower_case.into_iter().collect();
        let mut next = Some(first);
        while let Some(Keyed { key: (_, number, index), value }) = next {
            if seen.insert(value.0.clone()) {
                distinct.push(((number, index), value));
            }
            next =
                if self.cased.row.as_ref().is_some_and(|row| row.key.0 == lower) { self.cased.take()? } else { None };
        }
        distinct.sort_unstable_by_key(|(place, _)| *place);
        let mut distinct = distinct.into_iter();
        let Some((first, earlier)) = distinct.next() else { return Ok(()) };
        distinct
            .try_for_each(|(place, id)| self.similar.push(Keyed { key: [first, place], value: [earlier.clone(), id] }))
    }

    /// Reports each id in a group except the first.
    pub(super) fn finish(mut self, files: &[&SourceFile], findings: &mut Findings) -> io::Result<()> {
        while self.cased.row.is_some() {
            self.group(None)?;
        }
        for row in self.similar.finish()? {
            let Keyed { key: [first, (number, index)], value: [(other, earlier), (id, place)] } = row?;
            let location = |(number, index): (usize, usize), place: Range<usize>| {
                files[number].location(place, SectionKind::Software.pointer(index, "id"))
            };
            findings.add(Code::SimilarId, files[number].shared_path(), || Finding {
                code: Code::SimilarId,
                location: location((number, index), place),
                message: format!("the ids `{other}` and `{id}` differ only in case"),
                help:
                    "if both records describe the same product, remove one; otherwise give one of them an id that can't be confused with the other"
                        .to_owned(),
                related: vec![Related { location: location(first, earlier), note: format!("`{other}` is here") }],
            });
        }
        Ok(())
    }
}

/// Whether an id may change when lower-cased.
fn has_case(id: &str) -> bool {
    id.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
}
