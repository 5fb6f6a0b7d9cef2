//! The second reading: exports, one at a time.

use std::io;
use std::iter::Peekable;

use super::{ScratchSet, Skip};
use crate::export::Export;
use crate::export::report::{into_export, parse};
use crate::scratch::SpoolRows;

/// The exports of a set by their ids.
#[derive(Debug)]
pub struct ScratchExports<'s> {
    set: &'s ScratchSet,
    /// The place of the next one.
    next: usize,
    skips: Peekable<SpoolRows<Skip>>,
}

impl<'s> ScratchExports<'s> {
    pub(super) fn new(set: &'s ScratchSet) -> Self {
        Self { set, next: 0, skips: set.skips.rows().peekable() }
    }

    fn read(&mut self, at: usize) -> io::Result<Export> {
        let file = self.set.file(self.set.order[at])?;
        let (export, _) = parse(&file, &self.set.limits, self.set.today);
        let mut export = export.ok_or_else(changed)?;
        let is_due = |skip: &io::Result<Skip>| skip.as_ref().map_or(true, |skip| skip.export <= at);
        while let Some(skip) = self.skips.next_if(is_due) {
            let skip = skip?;
            export.contents.sections[usize::from(skip.section)].skip(skip.index);
        }
        into_export(export).ok_or_else(changed)
    }
}

/// A scratch file has no name, so only a failing disk changes it.
fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a scratch file isn't what was written")
}

impl Iterator for ScratchExports<'_> {
    type Item = io::Result<Export>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next;
        if at == self.set.order.len() {
            return None;
        }
        self.next += 1;
        Some(self.read(at))
    }
}
