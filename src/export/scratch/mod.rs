//! Sets of exports beyond memory: files are read one by one, each twice. The first reading checks them, each alone and all as a set;
//! the second one makes exports of them.
//!
//! Errors and findings are those of [`examine`](super::examine), but for the advice on products across the set: shared URLs and names,
//! near misses of categories, ids alike but for case.

mod exports;
mod ids;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::convert::Contents;
use super::finding::Findings;
use super::record_name::name_records;
use super::report::{parse, skipped_elements};
use super::set::duplicate::Repeats;
use super::set::orphan::Products;
use super::set::{self, ParsedExport};
use super::{Counts, Finding, Limits, Report, Section, SectionKind, SourceFile};
use crate::record::CalendarDate;
use crate::scratch::{Scratch, ScratchSorter, Spool};

pub use self::exports::ScratchExports;
use self::ids::IdRows;

/// A set of exports that was checked, with copies of its files in scratch files.
#[derive(Debug)]
pub struct ScratchSet {
    /// The report, without exports. Its files are scratch files.
    pub report: Report,
    /// The documents with valid envelopes by their ids: of each its file in the report.
    order: Vec<usize>,
    /// The elements that are left out because of other files.
    skips: Spool<Skip>,
    limits: Limits,
    today: CalendarDate,
}

/// An element that is left out, in the order of the exports' ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Skip {
    /// The place of its document among those with valid envelopes.
    export: usize,
    /// As in [`SectionKind`].
    section: u8,
    index: usize,
    /// Whether it is valid by itself.
    is_served: bool,
}

/// The part of a checked document that stays in memory.
struct CheckedDocument {
    /// Its file in the report.
    file: usize,
    valid: bool,
    /// Without products and reviews.
    contents: Contents,
    counts: ElementCounts,
}

/// The elements of a document that aren't in memory.
#[derive(Debug, Clone, Copy, Default)]
struct ElementCounts {
    products: usize,
    /// The products with an id, and the reviews with one.
    named: [usize; 2],
    /// The products that are valid by themselves.
    served_products: usize,
    reviews: usize,
    /// The reviews that are invalid by themselves.
    skipped_reviews: usize,
}

/// Reads and checks export files that are the exports of one folder. `today` is the last day that isn't in the future; `progress` gets
/// the bytes done, repeatedly.
pub fn examine_scratch(
    sources: impl Iterator<Item = Result<SourceFile, Box<Finding>>>,
    limits: &Limits,
    today: CalendarDate,
    scratch: &Scratch,
    progress: &dyn Fn(u64),
) -> io::Result<ScratchSet> {
    let mut reading = Reading {
        report: Report::default(),
        findings: Findings::default(),
        documents: Vec::new(),
        rows: IdRows::new(scratch),
        all_have_ids: true,
    };
    let mut done = 0;
    for source in sources {
        reading.report.counts.files += 1;
        match source {
            Ok(file) => {
                done += file.bytes().len() as u64;
                reading.read(file, limits, today, scratch)?;
            }
            Err(finding) => {
                reading.findings.add(finding.code, &Arc::clone(&finding.location.file), || *finding);
            }
        }
        progress(done);
    }
    reading.finish(limits, today, scratch)
}

/// The first reading.
struct Reading {
    report: Report,
    findings: Findings,
    documents: Vec<CheckedDocument>,
    rows: IdRows,
    /// Whether every element that should be a product has an id.
    all_have_ids: bool,
}

impl Reading {
    /// Checks a file alone, and takes it out of memory.
    fn read(&mut self, file: SourceFile, limits: &Limits, today: CalendarDate, scratch: &Scratch) -> io::Result<()> {
        let (export, faults) = parse(&file, limits, today);
        let mut findings = Findings::default();
        findings.extend(file.shared_path(), faults, |fault| file.finding(fault));
        name_records(&mut findings, std::slice::from_ref(&file), export.as_slice(), limits);
        self.findings.append(findings);
        if let Some(export) = export {
            let counts = self.rows.push(self.documents.len(), &export)?;
            let ParsedExport { valid, mut contents, .. } = export;
            self.all_have_ids &= contents.software.len() == counts.products;
            (contents.software, contents.reviews) = (Vec::new(), Vec::new());
            for kind in [SectionKind::Software, SectionKind::Reviews] {
                contents.sections[kind as usize] = Section::default();
            }
            self.documents.push(CheckedDocument { file: self.report.files.len(), valid, contents, counts });
        }
        self.report.files.push(file.release(scratch)?);
        Ok(())
    }

    /// Checks the set.
    fn finish(self, limits: &Limits, today: CalendarDate, scratch: &Scratch) -> io::Result<ScratchSet> {
        let Self { mut report, mut findings, documents, rows, all_have_ids } = self;
        let is_complete = documents.len() == report.counts.files;
        let counts: Vec<_> = documents.iter().map(|document| document.counts).collect();
        let mut by_id: Vec<usize> = (0..documents.len()).filter(|at| documents[*at].valid).collect();
        by_id.sort_by(|a, b| report.files[documents[*a].file].id().cmp(report.files[documents[*b].file].id()));
        let order = by_id.iter().map(|at| documents[*at].file).collect();
        let mut place = vec![None; documents.len()];
        by_id.iter().enumerate().for_each(|(at, document)| place[*document] = Some(at));

        let exports = documents.into_iter().map(|document| {
            let CheckedDocument { file, valid, contents, .. } = document;
            ParsedExport { file: &report.files[file], valid, contents }
        });
        let mut exports: Vec<_> = exports.collect();
        let mut of_set = Findings::default();
        let (mut repeats, mut skips) = (Repeats::default(), Skips { place: &place, rows: scratch.sorter() });
        let files: Vec<_> = exports.iter().map(|export| export.file).collect();
        let products = Products { is_complete, all_have_ids };
        rows.check(&files, &counts, products, &mut repeats, &mut skips, &mut of_set, scratch)?;
        set::examine_terms(&mut exports, &mut repeats, is_complete, &mut of_set);
        for (at, export) in exports.iter().enumerate() {
            for kind in [SectionKind::Glossary, SectionKind::Synonyms] {
                let section = &export.contents.sections[kind as usize];
                let skipped = (0..section.len()).filter(|index| section.is_skipped(*index));
                // Counted below.
                skipped.into_iter().try_for_each(|index| skips.push(at, kind, index, false))?;
            }
        }
        let (skips, set_skips) = skips.finish(by_id.len(), scratch)?;
        let mut total = Counts { files: report.counts.files, ..Counts::default() };
        for (at, (export, of)) in exports.iter().zip(&counts).enumerate() {
            let [products, reviews] = place[at].map_or([0, 0], |place| set_skips[place]);
            let served = if export.valid { of.served_products.saturating_sub(products) } else { 0 };
            let others = [SectionKind::Categories, SectionKind::Glossary, SectionKind::Synonyms];
            let others: usize = others.iter().map(|kind| skipped_elements(export, *kind)).sum();
            let reviews = if export.valid { of.skipped_reviews + reviews } else { of.reviews };
            total.records += of.products;
            total.skipped_records += of.products - served;
            report.skipped.records += (of.products - served + reviews + others) as u64;
        }
        drop(exports);
        locate(&mut of_set, &report.files, limits)?;
        findings.append(of_set);
        report.counts = total;
        report.skipped.exports = (total.files - by_id.len()) as u64;
        (report.findings, report.left_out) = findings.finish();
        Ok(ScratchSet { report, order, skips, limits: *limits, today })
    }
}

/// Collects the elements that are left out.
struct Skips<'p> {
    /// The place of each document among those with valid envelopes.
    place: &'p [Option<usize>],
    rows: ScratchSorter<Skip>,
}

impl Skips<'_> {
    fn push(&mut self, document: usize, section: SectionKind, index: usize, is_served: bool) -> io::Result<()> {
        let Some(export) = self.place[document] else { return Ok(()) };
        self.rows.push(Skip { export, section: section as u8, index, is_served })
    }

    /// Returns them sorted, and of each export how many products and reviews are left out that are valid by themselves.
    fn finish(self, exports: usize, scratch: &Scratch) -> io::Result<(Spool<Skip>, Vec<[usize; 2]>)> {
        let mut skips = scratch.spool();
        let mut counts = vec![[0, 0]; exports];
        let mut last: Option<Skip> = None;
        for skip in self.rows.finish()? {
            let skip = skip?;
            // One may be left out for two reasons.
            if last.replace(skip) == Some(skip) {
                continue;
            }
            if skip.is_served {
                counts[skip.export][usize::from(skip.section == SectionKind::Reviews as u8)] += 1;
            }
            skips.push(skip)?;
        }
        Ok((skips.finish()?, counts))
    }
}

/// Finds line, column and record of findings in files that are out of memory: each of these is read again.
fn locate(findings: &mut Findings, files: &[SourceFile], limits: &Limits) -> io::Result<()> {
    let paths: BTreeSet<_> = findings.locations_mut().map(|location| Arc::clone(&location.file)).collect();
    for file in files.iter().filter(|file| paths.contains(file.shared_path())) {
        let file = file.reload()?;
        for location in findings.locations_mut().filter(|location| location.file == *file.shared_path()) {
            if let Some(place) = location.place.take() {
                location.place = file.location(place.range, String::new()).place;
            }
        }
        name_records(findings, &[file], &[], limits);
    }
    Ok(())
}

impl ScratchSet {
    pub fn export_count(&self) -> usize {
        self.order.len()
    }

    /// The exports by their ids, one at a time in memory.
    pub fn exports(&self) -> ScratchExports<'_> {
        ScratchExports::new(self)
    }

    /// Reads a file of the set again.
    fn file(&self, at: usize) -> io::Result<SourceFile> {
        self.report.files[at].reload()
    }
}

#[cfg(test)]
mod tests;
