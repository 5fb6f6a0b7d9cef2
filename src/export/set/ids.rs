//! Checks unique ids and references to products by sorting.

use std::io;
use std::ops::Range;

use foldhash::HashSet;

use super::ParsedExport;
use super::duplicate::{Duplicate, DuplicateReport, Element, Identity, PRODUCTS, PairCounts, REVIEWS, Repeats, TERMS};
use super::id_case::IdCase;
use super::orphan::{Orphan, Products};
use crate::export::finding::Findings;
use crate::export::{Code, SectionKind, SourceFile};
use crate::record::identity;
use crate::scratch::{Keyed, Peeked, Scratch, ScratchSorter};

/// A row for sorting elements by id. The key is the id, the document and the index; the value is
/// the id's location and whether the element is valid by itself.
type IdRow = Keyed<(Box<str>, usize, usize), (Range<usize>, bool)>;

/// A review without a product. The key is its document and index; the value is the location of its
/// reference, the product's id, whether that product exists, and how many other reviews this one
/// represents.
type OrphanRow = Keyed<(usize, usize), (Range<usize>, Box<str>, bool, usize)>;

/// An element to leave out: its document and index.
type Skip = (usize, usize);

/// The ids of products and reviews.
pub(super) struct IdRows {
    scratch: Scratch,
    products: ScratchSorter<IdRow>,
    reviews: ScratchSorter<IdRow>,
    /// Reviews, keyed by the products they refer to.
    references: ScratchSorter<IdRow>,
    case: IdCase,
    /// For each document, how many products and reviews have an id.
    counts: [Vec<usize>; 2],
}

impl IdRows {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            products: scratch.sorter(),
            reviews: scratch.sorter(),
            references: scratch.sorter(),
            case: IdCase::new(scratch),
            counts: Default::default(),
        }
    }

    /// Adds a document's ids.
    pub(super) fn push(&mut self, number: usize, export: &ParsedExport<'_>) -> io::Result<()> {
        for entry in &export.contents.software {
            let is_served = export.is_served(SectionKind::Software, entry.index);
            let key = (entry.value.id.clone(), number, entry.index);
            self.case.push(&key, &entry.key)?;
            self.products.push(Keyed { key, value: (entry.key.clone(), is_served) })?;
        }
        for entry in &export.contents.reviews {
            let is_served = export.is_served(SectionKind::Reviews, entry.index);
            let (review, product) = (&entry.value.review, entry.value.software_id.clone());
            let key = (review.id.clone(), number, entry.index);
            self.reviews.push(Keyed { key, value: (entry.key.clone(), is_served) })?;
            let key = (review.software_id.clone(), number, entry.index);
            self.references.push(Keyed { key, value: (product, is_served) })?;
        }
        self.counts[0].push(export.contents.software.len());
        self.counts[1].push(export.contents.reviews.len());
        Ok(())
    }

    /// Reports duplicates and reviews without a product, and marks them to be left out. Removes the
    /// ids of all products from `wanted`. Returns the files that repeat another one.
    pub(super) fn check(
        self,
        exports: &mut [ParsedExport<'_>],
        of: Products,
        wanted: &mut HashSet<Box<str>>,
        findings: &mut Findings,
    ) -> io::Result<Repeats> {
        let Self { scratch, products, reviews, references, case, counts } = self;
        let files: Vec<_> = exports.iter().map(|export| export.file).collect();
        let mut repeats = Repeats::default();
        let mut orphans = Orphans { rows: scratch.sorter(), skips: Vec::new(), open: None, products: of };
        let mut references = Peeked::new(references.finish()?)?;
        let mut case = case.join()?;
        let mut unique = Unique::new(&PRODUCTS, &scratch);
        unique.read(products, |id, element, is_served| {
            case.next(id, element)?;
            wanted.remove(id);
            while references.row.as_ref().is_some_and(|row| *row.key.0 <= *id) {
                let Some(row) = references.take()? else { break };
                let exists = *row.key.0 == *id;
                if !(exists && is_served) {
                    orphans.push(row, exists)?;
                }
            }
            Ok(())
        })?;
        while let Some(row) = references.take()? {
            orphans.push(row, false)?;
        }
        unique.report(exports, &files, &counts[0], &mut repeats, findings)?;

        let mut unique = Unique::new(&REVIEWS, &scratch);
        unique.read(reviews, |_, _, _| Ok(()))?;
        unique.report(exports, &files, &counts[1], &mut repeats, findings)?;

        let mut terms = scratch.sorter();
        for (number, export) in exports.iter().enumerate() {
            for entry in &export.contents.glossary {
                let is_served = export.is_served(SectionKind::Glossary, entry.index);
                let key = (identity(&entry.value.term.term).into(), number, entry.index);
                terms.push(Keyed { key, value: (entry.key.clone(), is_served) })?;
            }
        }
        let mut unique = Unique::new(&TERMS, &scratch);
        unique.read(terms, |_, _, _| Ok(()))?;
        let counts: Vec<_> = exports.iter().map(|export| export.contents.glossary.len()).collect();
        unique.report(exports, &files, &counts, &mut repeats, findings)?;
        orphans.report(exports, &files, findings)?;
        case.finish(&files, findings)?;
        Ok(repeats)
    }
}

/// Finds elements whose id is already in use.
struct Unique<'u> {
    identity: &'u Identity,
    /// The duplicates, sorted by document and index.
    duplicates: ScratchSorter<Keyed<(usize, usize), Duplicate>>,
    common: PairCounts,
    skips: Vec<Skip>,
}

impl<'u> Unique<'u> {
    fn new(identity: &'u Identity, scratch: &Scratch) -> Self {
        Self { identity, duplicates: scratch.sorter(), common: PairCounts::default(), skips: Vec::new() }
    }

    /// Skips all elements with the same id except the first valid one. `ends` receives each id, its
    /// first element, and whether any element with it is valid.
    fn read(
        &mut self,
        rows: ScratchSorter<IdRow>,
        mut ends: impl FnMut(&str, &Element, bool) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut open: Option<(Box<str>, Element, bool)> = None;
        for row in rows.finish()? {
            let Keyed { key: (id, document, index), value: (place, is_valid) } = row?;
            let element = Element { export: document, index, place };
            match &mut open {
                Some((of, earlier, is_served)) if *of == id => {
                    *self.common.entry((document, earlier.export)).or_default() += 1;
                    if *is_served {
                        self.skips.push((document, index));
                    }
                    *is_served |= is_valid;
                    let duplicate = Duplicate { element, earlier: earlier.clone(), shown: id };
                    self.duplicates.push(Keyed { key: (document, index), value: duplicate })?;
                }
                _ => {
                    if let Some((id, element, is_served)) = open.replace((id, element, is_valid)) {
                        ends(&id, &element, is_served)?;
                    }
                }
            }
        }
        open.map_or(Ok(()), |(id, element, is_served)| ends(&id, &element, is_served))
    }

    fn report(
        self,
        exports: &mut [ParsedExport<'_>],
        files: &[&SourceFile],
        elements: &[usize],
        repeats: &mut Repeats,
        findings: &mut Findings,
    ) -> io::Result<()> {
        let (identity, common) = (self.identity, &self.common);
        apply(exports, identity.section, &self.skips);
        let mut report = DuplicateReport { identity, files, elements, common, repeats, summarised: Repeats::default() };
        for row in self.duplicates.finish()? {
            let Keyed { key: (document, index), value: mut duplicate } = row?;
            if identity.section == SectionKind::Glossary {
                // Terms are compared by slug.
                let terms = &exports[document].contents.glossary;
                if let Some(entry) = terms.iter().find(|entry| entry.index == index) {
                    duplicate.shown.clone_from(&entry.value.term.term);
                }
            }
            report.add(&duplicate, findings);
        }
        Ok(())
    }
}

fn apply(exports: &mut [ParsedExport<'_>], section: SectionKind, skips: &[Skip]) {
    for (export, index) in skips {
        exports[*export].contents.sections[section as usize].skip(*index);
    }
}

/// Collects reviews without a product. They arrive ordered by product id.
struct Orphans {
    rows: ScratchSorter<OrphanRow>,
    skips: Vec<Skip>,
    /// A review that represents all following reviews of the same product in the same document.
    open: Option<OrphanRow>,
    products: Products,
}

impl Orphans {
    fn push(&mut self, review: IdRow, product_exists: bool) -> io::Result<()> {
        let Keyed { key: (product, document, index), value: (place, _) } = review;
        self.skips.push((document, index));
        if let Some(open) = self.open.as_mut().filter(|open| open.key.0 == document && open.value.1 == product) {
            open.value.3 += 1;
            return Ok(());
        }
        let row = Keyed { key: (document, index), value: (place, product, product_exists, 0) };
        if self.products.orphan_code(product_exists) == Code::ReviewWithoutProduct {
            self.open.replace(row).map_or(Ok(()), |open| self.rows.push(open))
        } else {
            self.rows.push(row)
        }
    }

    fn report(
        mut self,
        exports: &mut [ParsedExport<'_>],
        files: &[&SourceFile],
        findings: &mut Findings,
    ) -> io::Result<()> {
        apply(exports, SectionKind::Reviews, &self.skips);
        self.open.take().map_or(Ok(()), |open| self.rows.push(open))?;
        for row in self.rows.finish()? {
            let Keyed { key: (document, index), value: (place, product, product_exists, others) } = row?;
            let orphan = Orphan { file: files[document], index, place, product: &product, product_exists };
            self.products.report(&orphan, others, findings);
        }
        Ok(())
    }
}
