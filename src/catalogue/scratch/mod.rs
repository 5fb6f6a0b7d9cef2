//! A catalogue in scratch files, for directories larger than memory: the same as that of [`CatalogueBuilder`](super::CatalogueBuilder),
//! of exports that are read one at a time.
//!
//! Products are sorted by id and merged with their reviews (`join`), sorted by quality, which numbers them, and by each other order
//! (`order`); those with one website are linked (`links`). In memory are the categories, the glossary, and what is said of each
//! export.

mod attributes;
mod join;
mod links;
mod order;
mod parts;
mod rows;

use std::cmp::Reverse;

use super::arena::{Arena, Span};
use super::builder::{CatalogueBuildError, read_record};
use super::bulk::Bulk;
use super::collate::Collation;
use super::exports::ExportDocument;
use super::merge::{CategoriesBuilder, MergedCategories, website_hash};
use super::quality::Merits;
use super::reviews::{place, shown};
use super::same_as::MAX_LINKS;
use super::{Attribute, MAX_ORDINAL, Order, Ordinal, glossary, product_json, products};
use crate::catalogue::resource::{CategoryResource, ReviewSummary};
use crate::export::Export;
use crate::record::{CalendarDate, Software, SynonymGroup, normalised_url};
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool, SpoolRows};

use self::attributes::AttributeReader;
pub use self::attributes::{AttributeValue, AttributeValues, AttributeValuesBuilder};
use self::links::Links;
use self::order::Ordered;
pub use self::parts::ScratchParts;
use self::parts::StoredExports;
pub use self::rows::StoredReview;
use self::rows::{PlacedProduct, ProductRow, RecordPlace, ReviewKey, ReviewRow};

/// Merges exports into one directory, in scratch files.
#[derive(Debug)]
pub struct ScratchCatalogueBuilder {
    scratch: Scratch,
    collation: Collation,
    /// Without documents, products and reviews.
    exports: Vec<Export>,
    documents: Vec<Bulk>,
    stored: StoredExports,
    categories: CategoriesBuilder,
    /// By id.
    products: ScratchSorter<Keyed<Box<str>, ProductRow>>,
    reviews: ScratchSorter<Keyed<ReviewKey, ReviewRow>>,
}

impl ScratchCatalogueBuilder {
    /// A builder without exports.
    pub fn new(scratch: Scratch) -> Result<Self, CatalogueBuildError> {
        Ok(Self {
            collation: Collation::new()?,
            exports: Vec::new(),
            documents: Vec::new(),
            stored: StoredExports::new(&scratch).map_err(CatalogueBuildError::Scratch)?,
            categories: CategoriesBuilder::default(),
            products: scratch.sorter(),
            reviews: scratch.sorter(),
            scratch,
        })
    }

    /// Adds an export; they come in the order of their ids. `document` holds the same bytes as the export's document.
    pub fn push(&mut self, mut export: Export, document: Bulk) -> Result<(), CatalogueBuildError> {
        let resource = ExportDocument::resource(&export);
        self.stored.push(resource, &std::mem::take(&mut export.document), &export.software_spans)?;
        let number = u32::try_from(self.exports.len()).unwrap_or(u32::MAX);
        export.categories.iter().for_each(|category| self.categories.describe(category));
        let products = std::mem::take(&mut export.software).into_iter().zip(std::mem::take(&mut export.software_spans));
        for (software, span) in products {
            let span = Span { start: span.start as u64, length: span.len() as u64 };
            let row = ProductRow {
                place: RecordPlace { export: number, span },
                name: self.collation.key(&software.name),
                website: website_hash(&software),
                merits: Merits::of(&software),
                stated: software.rating.as_ref().map(|rating| rating.value),
                review_count: software.review_count,
                evidence_checked_on: software.evidence_checked_on.as_deref().and_then(CalendarDate::parse),
                categories: software.categories.iter().map(|name| self.categories.number(name)).collect(),
            };
            let row = Keyed { key: software.id, value: row };
            self.products.push(row).map_err(CatalogueBuildError::Scratch)?;
        }
        for review in std::mem::take(&mut export.reviews) {
            let row = ReviewRow {
                rating: review.rating,
                verified: review.verified,
                created_at_seconds: review.created_at_seconds,
                object: serde_json::to_vec(&shown(&review))?,
            };
            let (Reverse(at), id) = place(&review);
            let key = (review.software_id.clone(), Reverse(at), id.into());
            self.reviews.push(Keyed { key, value: row }).map_err(CatalogueBuildError::Scratch)?;
        }
        self.exports.push(export);
        self.documents.push(document);
        Ok(())
    }

    /// Joins, sorts and links all products.
    pub fn finish(self) -> Result<(ScratchCatalogue, ScratchParts), CatalogueBuildError> {
        let MergedCategories { categories, places } = self.categories.finish(&self.collation);
        let joined = join::join(self.products, self.reviews, &places, &self.scratch);
        let joined = joined.map_err(CatalogueBuildError::Scratch)?;
        if joined.products.len() > u64::from(MAX_ORDINAL) {
            return Err(CatalogueBuildError::TooMany);
        }
        let has_links = self.exports.len() > 1;
        let ordered = order::order(&joined, has_links, &self.scratch).map_err(CatalogueBuildError::Scratch)?;
        let glossary = |arena: &mut Arena| glossary::entries(&self.exports, &self.collation, arena);
        let parts = self.stored.finish(&categories, glossary, ordered.real, &self.scratch)?;
        let catalogue = ScratchCatalogue {
            scratch: self.scratch,
            exports: self.exports,
            documents: self.documents,
            categories,
            ordered,
            reviews: joined.reviews,
        };
        Ok((catalogue, parts))
    }
}

/// A directory merged from exports, in scratch files.
#[derive(Debug)]
pub struct ScratchCatalogue {
    scratch: Scratch,
    exports: Vec<Export>,
    documents: Vec<Bulk>,
    categories: Vec<CategoryResource>,
    ordered: Ordered,
    reviews: Spool<StoredReview>,
}

/// A product with the additions of the directory.
#[derive(Debug)]
pub struct MergedProduct {
    /// Its place in the order of quality.
    pub ordinal: Ordinal,
    /// The record.
    pub software: Software,
    /// Its categories, as indices into the list of categories, the main one first.
    pub categories: Box<[u32]>,
    /// The values of each of [`Attribute::ALL`], in the order of the record.
    pub attributes: [Vec<AttributeValue>; Attribute::COUNT],
    /// Its place in each order of [`Order::ALL`].
    pub ranks: [u32; Order::COUNT],
    /// The rating shown.
    pub rating: Option<f64>,
    /// The day of the evidence check.
    pub evidence_checked_on: Option<CalendarDate>,
    /// Whether it is a demo record among real ones.
    pub is_demo: bool,
    /// The product as lists show it, a JSON object.
    pub item: Vec<u8>,
    /// The fields of its detail which the item doesn't have, a JSON object.
    pub detail: Vec<u8>,
    pub reviews: ReviewSummary,
}

impl MergedProduct {
    /// The day of its evidence check as a number, in the order of days.
    pub fn checked_day(&self) -> Option<u32> {
        self.evidence_checked_on.map(CalendarDate::number)
    }

    /// Its content hash: it changes with the product, and not with others.
    pub fn content_hash(&self) -> u64 {
        products::content_hash(&self.item, &self.detail)
    }
}

impl ScratchCatalogue {
    /// The number of products.
    pub const fn software_count(&self) -> u64 {
        self.ordered.products.len()
    }

    /// The scratch files.
    pub const fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// The synonym groups of all exports.
    pub fn synonyms(&self) -> impl Iterator<Item = &SynonymGroup> {
        self.exports.iter().flat_map(|export| &export.synonyms)
    }

    pub fn categories<'c>(&'c self, indices: &'c [u32]) -> impl Iterator<Item = &'c CategoryResource> {
        indices.iter().map(|at| &self.categories[*at as usize])
    }

    /// The records in the order of their ordinals, each with the indices of its categories.
    pub fn software(&self) -> impl Iterator<Item = Result<(Software, Box<[u32]>), CatalogueBuildError>> {
        self.ordered.products.rows().map(|product| {
            let product = product.map_err(CatalogueBuildError::Scratch)?;
            Ok((self.record(product.place)?, product.categories))
        })
    }

    /// The products in the order of their ordinals, with the values of their attributes.
    pub fn products(&self, attributes: &AttributeValues) -> MergedProducts<'_> {
        MergedProducts {
            catalogue: self,
            ordinal: 0,
            products: self.ordered.products.rows(),
            ranks: self.ordered.ranks.rows(),
            links: self.ordered.links.rows(),
            next_links: None,
            attributes: attributes.reader(),
        }
    }

    /// The reviews, those of a product together and in order.
    pub fn reviews(&self) -> impl Iterator<Item = Result<StoredReview, CatalogueBuildError>> {
        self.reviews.rows().map(|review| review.map_err(CatalogueBuildError::Scratch))
    }

    fn record(&self, place: RecordPlace) -> Result<Software, CatalogueBuildError> {
        let at = place.export as usize;
        read_record(&self.exports[at], &self.documents[at], place.span)
    }
}

/// The products of an [`ScratchCatalogue`], in the order of their ordinals.
#[derive(Debug)]
pub struct MergedProducts<'c> {
    catalogue: &'c ScratchCatalogue,
    /// That of the next product.
    ordinal: Ordinal,
    products: SpoolRows<PlacedProduct>,
    ranks: SpoolRows<[u32; Order::COUNT]>,
    links: SpoolRows<Links>,
    /// The next product with links.
    next_links: Option<Links>,
    attributes: AttributeReader,
}

impl MergedProducts<'_> {
    fn merged(&mut self, product: PlacedProduct, ordinal: Ordinal) -> Result<MergedProduct, CatalogueBuildError> {
        let catalogue = self.catalogue;
        let lost = || CatalogueBuildError::Scratch(std::io::ErrorKind::UnexpectedEof.into());
        let ranks = self.ranks.next().ok_or_else(lost)?.map_err(CatalogueBuildError::Scratch)?;
        let software = catalogue.record(product.place)?;
        let export = &catalogue.exports[product.place.export as usize];
        let same_as = self.same_as(ordinal, &software.url)?;
        let item = product_json::item(&software, product.shown, catalogue.categories(&product.categories))?;
        let detail = product_json::detail_fields(&software, product.shown, export, &same_as)?;
        Ok(MergedProduct {
            ordinal,
            evidence_checked_on: software.evidence_checked_on.as_deref().and_then(CalendarDate::parse),
            software,
            categories: product.categories,
            attributes: self.attributes.of(ordinal).map_err(CatalogueBuildError::Scratch)?,
            ranks,
            rating: product.shown.value,
            is_demo: ordinal >= catalogue.ordered.real,
            item,
            detail,
            reviews: product.stars.summary(),
        })
    }

    /// The products of other exports with the website of this one, the best first, each with its export's id.
    fn same_as(&mut self, ordinal: Ordinal, website: &str) -> Result<Vec<(Software, &str)>, CatalogueBuildError> {
        let catalogue = self.catalogue;
        let links = match self.next_links.take() {
            Some(links) => Some(links),
            None => self.links.next().transpose().map_err(CatalogueBuildError::Scratch)?,
        };
        let Some(links) = links else { return Ok(Vec::new()) };
        if links.of != ordinal {
            self.next_links = Some(links);
            return Ok(Vec::new());
        }
        let website = normalised_url(website);
        let mut same = Vec::new();
        for place in links.to.iter().take(MAX_LINKS) {
            let software = catalogue.record(*place)?;
            if normalised_url(&software.url) == website {
                same.push((software, &*catalogue.exports[place.export as usize].id));
            }
        }
        Ok(same)
    }
}

impl Iterator for MergedProducts<'_> {
    type Item = Result<MergedProduct, CatalogueBuildError>;

    fn next(&mut self) -> Option<Self::Item> {
        let product = self.products.next()?;
        let ordinal = self.ordinal;
        self.ordinal += 1;
        Some(product.map_err(CatalogueBuildError::Scratch).and_then(|product| self.merged(product, ordinal)))
    }
}

#[cfg(test)]
mod tests;
