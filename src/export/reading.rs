//! Reads sets of exports of any size. Each file is read once, and checked both on its own and
//! together with the others.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::convert::{self, Contents, Entry};
use super::finding::{Faults, Findings};
use super::record_name::name_records;
use super::section::Cut;
use super::set::{ParsedExport, SetCheck};
use super::{Export, Finding, IdPrefixes, Limits, Report, Section, SectionKind, SourceFile, schema, text};
use crate::record::{CalendarDate, Review, Software};
use crate::scratch::{Bulk, Scratch, Spool, SpoolWriter};

/// The latest date anywhere on Earth at a given moment. Evidence that was checked today in Auckland
/// isn't from the future, even if it's still yesterday in UTC.
pub fn latest_day(now: jiff::Timestamp) -> CalendarDate {
    CalendarDate::from(jiff::tz::offset(14).to_datetime(now).date())
}

/// Reads export files and checks them, one by one and as a set.
///
/// `prefixes` are the operator's prefixes, and `today` is the last date that isn't in the future.
/// `progress` is called repeatedly with the number of bytes processed so far and the total.
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

/// Checks export files that have already been read, one by one and as a set.
///
/// `today` is the last date that isn't in the future. `progress` is called repeatedly with the
/// number of bytes processed so far.
pub fn examine(
    sources: Vec<Result<SourceFile, Box<Finding>>>,
    limits: &Limits,
    today: CalendarDate,
    progress: &dyn Fn(u64),
) -> io::Result<Report> {
    ExportSet::read(sources.into_iter(), limits, today, &Scratch::in_memory(), progress)?.into_report(limits)
}

/// A set of exports that has been read and checked.
#[derive(Debug)]
pub struct ExportSet {
    /// The report, without its list of exports.
    pub report: Report,
    /// The valid exports, in file order.
    pub exports: Vec<SetExport>,
    records: Spool<Software>,
    reviews: Spool<Review>,
}

#[derive(Debug)]
pub struct SetExport {
    /// The export without its document, products and reviews.
    pub export: Export,
    pub document: Bulk,
    software: Elements,
    reviews: Elements,
}

/// A document's elements within the set's rows.
#[derive(Debug)]
struct Elements {
    /// The first element's row number.
    place: u64,
    /// For each element, whether it's served. Elements that aren't are valid by themselves, but
    /// failed a check of the whole set.
    served: Vec<bool>,
}

impl SetExport {
    pub fn review_count(&self) -> usize {
        self.reviews.count()
    }
}

impl Elements {
    fn count(&self) -> usize {
        self.served.iter().filter(|served| **served).count()
    }

    fn visit<T: Clone + serde::de::DeserializeOwned>(
        &self,
        rows: &Spool<T>,
        mut each: impl FnMut(u64, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut served = self.served.iter();
        rows.visit(self.place, self.served.len() as u64, |place, row| {
            if served.next() == Some(&true) { each(place, row) } else { Ok(()) }
        })
    }

    /// Takes the document's elements from the front of `rows`, and returns those that are served.
    fn take<T>(&self, rows: &mut impl Iterator<Item = io::Result<T>>) -> io::Result<Vec<T>> {
        let mut taken = Vec::with_capacity(self.count());
        for served in &self.served {
            let row = rows.next().ok_or(io::ErrorKind::UnexpectedEof)??;
            taken.extend(served.then_some(row));
        }
        Ok(taken)
    }
}

impl ExportSet {
    /// Reads and checks export files. `today` is the last date that isn't in the future, and
    /// `progress` is called repeatedly with the number of bytes processed so far.
    pub fn read(
        sources: impl Iterator<Item = Result<SourceFile, Box<Finding>>>,
        limits: &Limits,
        today: CalendarDate,
        scratch: &Scratch,
        progress: &dyn Fn(u64),
    ) -> io::Result<Self> {
        let mut reading = Reading {
            report: Report::default(),
            findings: Findings::default(),
            documents: Vec::new(),
            elements: Vec::new(),
            check: SetCheck::new(scratch),
            records: scratch.spool(),
            reviews: scratch.spool(),
        };
        let mut done = 0;
        for source in sources {
            reading.report.counts.files += 1;
            match source {
                Ok(file) => {
                    done += file.bytes().len() as u64;
                    reading.push(file, limits, today, scratch)?;
                }
                Err(finding) => {
                    reading.findings.add(finding.code, &Arc::clone(&finding.location.file), |_| *finding);
                }
            }
            progress(done);
        }
        reading.finish(limits, scratch)
    }

    /// A set of exports that were read and checked earlier.
    pub fn of(exports: Vec<Export>, scratch: &Scratch) -> io::Result<Self> {
        let (mut records, mut reviews) = (scratch.spool(), scratch.spool());
        let set = |mut export: Export| {
            let document = scratch.keep(std::mem::take(&mut export.document))?;
            let software = keep(std::mem::take(&mut export.software), &mut records)?;
            let reviews = keep(std::mem::take(&mut export.reviews), &mut reviews)?;
            Ok(SetExport { export, document, software, reviews })
        };
        let exports = exports.into_iter().map(set).collect::<io::Result<_>>()?;
        Ok(Self { report: Report::default(), exports, records: records.finish()?, reviews: reviews.finish()? })
    }

    pub fn software_count(&self) -> u64 {
        self.exports.iter().map(|of| of.export.software_spans.len() as u64).sum()
    }

    /// Calls a function with each product in an export and its position among the records.
    pub fn for_each_product(
        &self,
        export: &SetExport,
        each: impl FnMut(u64, &Software) -> io::Result<()>,
    ) -> io::Result<()> {
        export.software.visit(&self.records, each)
    }

    /// Calls a function with each review in an export.
    pub fn for_each_review(
        &self,
        export: &SetExport,
        mut each: impl FnMut(&Review) -> io::Result<()>,
    ) -> io::Result<()> {
        export.reviews.visit(&self.reviews, |_, review| each(review))
    }

    pub fn by_id(&self) -> impl Iterator<Item = &SetExport> {
        let mut exports: Vec<_> = self.exports.iter().collect();
        exports.sort_by(|a, b| a.export.id.cmp(&b.export.id));
        exports.into_iter()
    }

    /// The exports, ordered by id, and the records by position.
    pub fn into_parts(mut self) -> (Vec<SetExport>, Spool<Software>) {
        self.exports.sort_by(|a, b| a.export.id.cmp(&b.export.id));
        (self.exports, self.records)
    }

    /// Returns the report, including its list of exports, in memory.
    pub fn into_report(self, limits: &Limits) -> io::Result<Report> {
        let Self { mut report, exports, records, reviews } = self;
        let (mut records, mut reviews) = (records.into_rows(), reviews.into_rows());
        for set in exports {
            let (software, reviews) = (set.software.take(&mut records)?, set.reviews.take(&mut reviews)?);
            report.exports.push(Export { document: set.document.read_all()?, software, reviews, ..set.export });
        }
        if let Some(max_age) = limits.max_age {
            report.add_stale(max_age);
        }
        Ok(report)
    }
}

fn keep<T: serde::Serialize>(elements: Vec<T>, rows: &mut SpoolWriter<T>) -> io::Result<Elements> {
    let (place, indices) = read_elements(elements.into_iter().enumerate(), rows)?;
    Ok(Elements { place, served: vec![true; indices.len()] })
}

struct Reading {
    report: Report,
    findings: Findings,
    /// For each document that has been checked on its own: its index in the report's files, whether its
    /// envelope is valid, and what's in it except products and reviews.
    documents: Vec<(usize, bool, Contents)>,
    /// The documents' products and reviews.
    elements: Vec<[ReadElements; 2]>,
    check: SetCheck,
    records: SpoolWriter<Software>,
    reviews: SpoolWriter<Review>,
}

/// Elements that are valid by themselves: the first element's row number in the set, and all
/// elements' indices in the document.
type ReadElements = (u64, Vec<usize>);

impl Reading {
    fn push(&mut self, file: SourceFile, limits: &Limits, today: CalendarDate, scratch: &Scratch) -> io::Result<()> {
        let (export, faults) = parse(&file, limits, today);
        let mut findings = Findings::default();
        findings.extend(file.shared_path(), faults, |fault| file.finding(fault));
        name_records(findings.locations_mut(), std::slice::from_ref(&file), export.as_slice(), limits);
        self.findings.append(findings);
        if let Some(mut export) = export {
            self.check.push(&mut export, &mut self.findings)?;
            let (software, reviews) =
                (std::mem::take(&mut export.contents.software), std::mem::take(&mut export.contents.reviews));
            let software = software.into_iter().filter(|of| export.is_served(SectionKind::Software, of.index));
            let software = software.filter_map(|of| Some((of.index, of.value.software?)));
            let reviews = reviews.into_iter().filter(|of| export.is_served(SectionKind::Reviews, of.index));
            let reviews = reviews.map(|of| (of.index, of.value.review));
            let (software, reviews) =
                (read_elements(software, &mut self.records)?, read_elements(reviews, &mut self.reviews)?);
            self.elements.push([software, reviews]);
            self.documents.push((self.report.files.len(), export.valid, export.contents));
        }
        self.report.files.push(file.release(scratch)?);
        Ok(())
    }

    /// Checks the set.
    fn finish(self, limits: &Limits, scratch: &Scratch) -> io::Result<ExportSet> {
        let Self { mut report, mut findings, documents, elements, check, records, reviews } = self;
        let is_complete = documents.len() == report.counts.files;
        let parsed = |(file, valid, contents): (usize, bool, Contents)| ParsedExport {
            file: &report.files[file],
            valid,
            contents,
        };
        let mut exports: Vec<_> = documents.into_iter().map(parsed).collect();
        let mut of_set = Findings::default();
        check.finish(&mut exports, is_complete, &mut of_set)?;
        name_records(of_set.locations_mut(), &report.files, &exports, limits);
        findings.append(of_set);
        let (mut set, mut counts, mut skipped) = (Vec::new(), report.counts, report.skipped);
        for (export, elements) in exports.into_iter().zip(elements) {
            let count = export.contents.sections[SectionKind::Software as usize].len();
            let [_, others @ ..] = SectionKind::ALL;
            let skipped_others: usize = others.into_iter().map(|kind| skipped_elements(&export, kind)).sum();
            let export = set_export(export, elements, scratch)?;
            let skipped_software = count - export.as_ref().map_or(0, |of| of.export.software_spans.len());
            counts.records += count;
            counts.skipped_records += skipped_software;
            skipped.records += (skipped_software + skipped_others) as u64;
            set.extend(export);
        }
        skipped.exports = (counts.files - set.len()) as u64;
        (report.counts, report.skipped) = (counts, skipped);
        (report.findings, report.left_out) = findings.finish();
        Ok(ExportSet { report, exports: set, records: records.finish()?, reviews: reviews.finish()? })
    }
}

fn read_elements<T: serde::Serialize>(
    elements: impl Iterator<Item = (usize, T)>,
    rows: &mut SpoolWriter<T>,
) -> io::Result<ReadElements> {
    let (mut place, mut indices) = (None, Vec::new());
    for (index, element) in elements {
        let at = rows.push(element)?;
        place.get_or_insert(at);
        indices.push(index);
    }
    Ok((place.unwrap_or_default(), indices))
}

/// The valid part of a document; `None` if the envelope isn't valid.
fn set_export(
    export: ParsedExport<'_>,
    elements: [ReadElements; 2],
    scratch: &Scratch,
) -> io::Result<Option<SetExport>> {
    let ParsedExport { file, valid, contents } = export;
    if !valid {
        return Ok(None);
    }
    let sections = contents.sections;
    let section = |kind: SectionKind| &sections[kind as usize];
    let cut = Cut::new(&sections);
    let document =
        if cut.is_empty() { file.content().clone() } else { scratch.keep(cut.apply(&file.content().read_all()?))? };
    let spans = elements[0].1.iter().filter(|index| !section(SectionKind::Software).is_skipped(**index));
    let software_spans = cut.moved(spans.map(|index| section(SectionKind::Software).span(*index)));
    let [software, reviews] = elements;
    let elements = |(place, indices): ReadElements, kind: SectionKind| Elements {
        place,
        served: indices.into_iter().map(|index| !section(kind).is_skipped(index)).collect(),
    };
    let (software, reviews) = (elements(software, SectionKind::Software), elements(reviews, SectionKind::Reviews));
    let export = Export {
        id: file.id().into(),
        // What was signed is the whole file.
        signature: file.signature().filter(|_| cut.is_empty()).cloned(),
        modified: file.modified(),
        software_spans,
        categories: served(contents.categories, section(SectionKind::Categories)).collect(),
        glossary: served(contents.glossary, section(SectionKind::Glossary)).map(|term| term.term).collect(),
        synonyms: served(contents.synonyms, section(SectionKind::Synonyms)).collect(),
        pins: served(contents.pins, section(SectionKind::Pins)).map(|pinned| pinned.pin).collect(),
        attributes: served(contents.attributes, section(SectionKind::Attributes)).collect(),
        ..contents.envelope
    };
    Ok(Some(SetExport { export, document, software, reviews }))
}

fn served<T>(entries: Vec<Entry<T>>, section: &Section) -> impl Iterator<Item = T> {
    entries.into_iter().filter(|entry| !section.is_skipped(entry.index)).map(|entry| entry.value)
}

#[cfg(test)]
mod tests;

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
    let (mut contents, found) = convert::read(document.root(), today);
    faults.append(found);
    if let Some(prefix) = file.id_prefix() {
        contents.envelope.id_prefix = prefix.into();
    }
    contents.prefix_ids();
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
