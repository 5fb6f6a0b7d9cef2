//! Ids that must be unique, and references to products, checked by sorting.

use std::io;
use std::ops::Range;

use super::{ElementCounts, Skips};
use crate::export::finding::Findings;
use crate::export::set::ParsedExport;
use crate::export::set::duplicate::{
    Duplicate, DuplicateReport, Element, Identity, PRODUCTS, PairCounts, REVIEWS, Repeats,
};
use crate::export::set::orphan::{Orphan, Products};
use crate::export::{Code, SectionKind, SourceFile};
use crate::scratch::{Keyed, Scratch, ScratchSorter, SortedRows};

/// An element by an id: the id, the number of its document and its index; where the id stands, and whether it is valid by itself.
type IdRow = Keyed<(Box<str>, usize, usize), (Range<usize>, bool)>;

/// A review without a product by its document and index: where it says what it is about, the product's id, whether that exists, and
/// the number of other reviews that it stands for.
type OrphanRow = Keyed<(usize, usize), (Range<usize>, Box<str>, bool, usize)>;

/// The ids of products and reviews.
pub(super) struct IdRows {
    products: ScratchSorter<IdRow>,
    reviews: ScratchSorter<IdRow>,
    /// Reviews by the products that they are about.
    references: ScratchSorter<IdRow>,
}

impl IdRows {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { products: scratch.sorter(), reviews: scratch.sorter(), references: scratch.sorter() }
    }

    /// Adds the ids of a document.
    pub(super) fn push(&mut self, number: usize, export: &ParsedExport<'_>) -> io::Result<ElementCounts> {
        let section = |kind: SectionKind| &export.contents.sections[kind as usize];
        let mut counts = ElementCounts {
            products: section(SectionKind::Software).len(),
            named: [export.contents.software.len(), export.contents.reviews.len()],
            reviews: section(SectionKind::Reviews).len(),
            skipped_reviews: section(SectionKind::Reviews).skipped_count(),
            served_products: 0,
        };
        for entry in &export.contents.software {
            let is_served = export.is_served(SectionKind::Software, entry.index);
            counts.served_products += usize::from(is_served && entry.value.software.is_some());
            let key = (entry.value.id.clone(), number, entry.index);
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
        Ok(counts)
    }

    /// Reports duplicates and reviews without a product, and marks them to be left out.
    #[expect(clippy::too_many_arguments, reason = "one call")]
    pub(super) fn check(
        self,
        files: &[&SourceFile],
        counts: &[ElementCounts],
        products: Products,
        repeats: &mut Repeats,
        skips: &mut Skips<'_>,
        findings: &mut Findings,
        scratch: &Scratch,
    ) -> io::Result<()> {
        let mut orphans = Orphans { rows: scratch.sorter(), open: None, products };
        let mut references = Peeked::new(self.references.finish()?)?;
        let mut unique = Unique::new(&PRODUCTS, scratch);
        unique.read(self.products, skips, |product, is_served, skips| {
            while references.row.as_ref().is_some_and(|row| *row.key.0 <= *product) {
                let Some(row) = references.take()? else { break };
                let exists = *row.key.0 == *product;
                if !(exists && is_served) {
                    orphans.push(row, exists, skips)?;
                }
            }
            Ok(())
        })?;
        while let Some(row) = references.take()? {
            orphans.push(row, false, skips)?;
        }
        let elements: Vec<_> = counts.iter().map(|of| of.named[0]).collect();
        unique.report(files, &elements, repeats, findings)?;

        let mut unique = Unique::new(&REVIEWS, scratch);
        unique.read(self.reviews, skips, |_, _, _| Ok(()))?;
        let elements: Vec<_> = counts.iter().map(|of| of.named[1]).collect();
        unique.report(files, &elements, repeats, findings)?;
        orphans.report(files, findings)
    }
}

/// Rows with the next one in sight.
struct Peeked<T> {
    rows: SortedRows<T>,
    row: Option<T>,
}

impl Peeked<IdRow> {
    fn new(mut rows: SortedRows<IdRow>) -> io::Result<Self> {
        Ok(Self { row: rows.next().transpose()?, rows })
    }

    fn take(&mut self) -> io::Result<Option<IdRow>> {
        let next = self.rows.next().transpose()?;
        Ok(std::mem::replace(&mut self.row, next))
    }
}

/// Finds the duplicates of an id.
struct Unique<'u> {
    identity: &'u Identity,
    /// By document and index.
    duplicates: ScratchSorter<Keyed<(usize, usize), Duplicate>>,
    common: PairCounts,
}

impl<'u> Unique<'u> {
    fn new(identity: &'u Identity, scratch: &Scratch) -> Self {
        Self { identity, duplicates: scratch.sorter(), common: PairCounts::default() }
    }

    /// Marks all but the first valid element with an id to be left out. `ends` gets each id, and whether an element with it is valid.
    fn read(
        &mut self,
        rows: ScratchSorter<IdRow>,
        skips: &mut Skips<'_>,
        mut ends: impl FnMut(&str, bool, &mut Skips<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut open: Option<(Box<str>, Element, bool)> = None;
        for row in rows.finish()? {
            let Keyed { key: (id, document, index), value: (place, is_valid) } = row?;
            let element = Element { export: document, index, place };
            match &mut open {
                Some((of, earlier, is_served)) if *of == id => {
                    *self.common.entry((document, earlier.export)).or_default() += 1;
                    if *is_served {
                        skips.push(document, self.identity.section, index, is_valid)?;
                    }
                    *is_served |= is_valid;
                    let duplicate = Duplicate { element, earlier: earlier.clone(), shown: id };
                    self.duplicates.push(Keyed { key: (document, index), value: duplicate })?;
                }
                _ => {
                    if let Some((id, _, is_served)) = open.replace((id, element, is_valid)) {
                        ends(&id, is_served, skips)?;
                    }
                }
            }
        }
        open.map_or(Ok(()), |(id, _, is_served)| ends(&id, is_served, skips))
    }

    fn report(
        self,
        files: &[&SourceFile],
        elements: &[usize],
        repeats: &mut Repeats,
        findings: &mut Findings,
    ) -> io::Result<()> {
        let (identity, common) = (self.identity, &self.common);
        let mut report = DuplicateReport { identity, files, elements, common, repeats, summarised: Repeats::default() };
        for row in self.duplicates.finish()? {
            report.add(&row?.value, findings);
        }
        Ok(())
    }
}

/// Collects reviews without a product, which come by the ids of these.
struct Orphans {
    rows: ScratchSorter<OrphanRow>,
    /// One that stands for those of the same document and product that follow.
    open: Option<OrphanRow>,
    products: Products,
}

impl Orphans {
    fn push(&mut self, review: IdRow, product_exists: bool, skips: &mut Skips<'_>) -> io::Result<()> {
        let Keyed { key: (product, document, index), value: (place, is_valid) } = review;
        skips.push(document, SectionKind::Reviews, index, is_valid)?;
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

    fn report(mut self, files: &[&SourceFile], findings: &mut Findings) -> io::Result<()> {
        self.open.take().map_or(Ok(()), |open| self.rows.push(open))?;
        for row in self.rows.finish()? {
            let Keyed { key: (document, index), value: (place, product, product_exists, others) } = row?;
            let orphan = Orphan { file: files[document], index, place, product: &product, product_exists };
            self.products.report(&orphan, others, findings);
        }
        Ok(())
    }
}
