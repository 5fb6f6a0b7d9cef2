//! Merges exports of any size into one directory.
//!
//! Products are sorted by id and merged with their reviews, then sorted by quality, which assigns
//! their ordinals, and by every other order (`rows`). Products with the same website are
//! linked (`links`). Categories, the glossary and each export's details are always kept in memory.

mod categories;
mod links;
mod rows;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::hash::BuildHasher as _;
use std::io;

use foldhash::quality::FixedState;

use self::categories::{CategoriesBuilder, MergedCategories};
use self::links::{Links, MAX_LINKS, RecordPlace};
pub use self::rows::StoredReview;
use self::rows::{Ordered, ProductRow, ReviewKey, ReviewRow, SortKeys};
use super::CatalogueBuildError;
use super::exports::ExportDocument;
use super::product_json::{ProductJson, SameAs};
use super::quality::{Merits, Rating};
use super::reviews::{Stars, place, shown};
use super::{Collation, MAX_ORDINAL, Order, Ordinal};
use crate::catalogue::resource::{CategoryResource, ExportResource};
use crate::export::{Export, ExportSet, SetExport};
use crate::record::{Attributes, Language, Languages, Pin, Software, SynonymGroup, normalised_url};
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool, SpoolRows};

/// Merges exports into one directory.
#[derive(Debug)]
struct Merger {
    collation: Collation,
    categories: CategoriesBuilder,
    languages: Languages,
    /// By id.
    products: ScratchSorter<Keyed<Box<str>, (SortKeys, ProductRow)>>,
    reviews: ScratchSorter<Keyed<ReviewKey, ReviewRow>>,
}

#[derive(Debug)]
pub(super) struct MergedExport {
    pub(super) set: SetExport,
    pub(super) resource: ExportResource,
}

impl Merger {
    /// Adds an export from a set. Exports must be added in id order.
    fn push(&mut self, set: &ExportSet, number: u32, export: &SetExport) -> io::Result<()> {
        let of_export = &export.export;
        let language = of_export.language.as_ref();
        self.languages.add_own(language.unwrap_or(&Language::english()));
        for category in &of_export.categories {
            self.categories.describe(category, language);
            self.languages.add_translations(&category.translations);
        }
        of_export.glossary.iter().for_each(|term| self.languages.add_translations(&term.translations));
        of_export.attributes.iter().for_each(|attribute| self.languages.add_translations(&attribute.translations));
        set.for_each_product(export, |at, software| {
            self.push_product(RecordPlace { export: number, at }, software, language)
        })?;
        set.for_each_review(export, |review| {
            let row = ReviewRow {
                rating: review.rating,
                verified: review.verified,
                created_at_seconds: review.created_at_seconds,
                object: serde_json::to_vec(&shown(review))?,
            };
            let (Reverse(at), id) = place(review);
            let key = (review.software_id.clone(), Reverse(at), id.into());
            self.reviews.push(Keyed { key, value: row })
        })
    }

    fn push_product(&mut self, place: RecordPlace, software: &Software, language: Option<&Language>) -> io::Result<()> {
        self.languages.add_translations(&software.translations);
        let keys = SortKeys {
            name: self.collation.key(&software.name),
            website: FixedState::default().hash_one(&*normalised_url(&software.url)),
            merits: Merits::of(software),
        };
        let row = ProductRow {
            place,
            categories: software
                .categories
                .iter()
                .map(|name| self.categories.number(name, language))
                .collect::<io::Result<_>>()?,
            evidence_checked_on: software.checked_on(),
            shown: Rating::stated(software),
            stars: Stars::default(),
            reviews: (0, 0),
        };
        self.products.push(Keyed { key: software.id.clone(), value: (keys, row) })
    }
}

impl Merger {
    /// Joins, sorts and links all products.
    fn finish(
        self,
        exports: Vec<MergedExport>,
        records: Spool<Software>,
        scratch: &Scratch,
    ) -> Result<Merged, CatalogueBuildError> {
        let Self { collation, categories, languages, products, reviews } = self;
        let MergedCategories { categories, places } = categories.finish(&collation);
        let joined = rows::join(products, reviews, &places, scratch)?;
        if joined.products.len() > u64::from(MAX_ORDINAL) {
            return Err(CatalogueBuildError::TooMany);
        }
        let ordered = rows::order(joined.products, joined.mean, exports.len() > 1, scratch)?;
        let (scratch, mut attributes) = (scratch.clone(), Attributes::default());
        let declared = exports.iter().flat_map(|merged| &merged.set.export.attributes);
        declared.for_each(|attribute| attributes.declare(attribute.clone()));
        let reviews = joined.reviews;
        Ok(Merged { scratch, collation, exports, attributes, languages, records, categories, ordered, reviews })
    }
}

/// A directory merged from exports.
#[derive(Debug)]
pub struct Merged {
    pub(super) scratch: Scratch,
    pub(super) collation: Collation,
    pub(super) exports: Vec<MergedExport>,
    pub attributes: Attributes,
    pub languages: Languages,
    records: Spool<Software>,
    pub(super) categories: Vec<CategoryResource>,
    ordered: Ordered,
    reviews: Spool<StoredReview>,
}

/// A product plus what the directory adds to it.
#[derive(Debug)]
pub struct MergedProduct<'m> {
    pub ordinal: Ordinal,
    pub software: Cow<'m, Software>,
    pub row: ProductRow,
    /// The product's position in each of [`Order::ALL`].
    pub ranks: [u32; Order::COUNT],
    /// Products from other exports that may share this product's website, best first.
    links: Vec<RecordPlace>,
}

impl MergedProduct<'_> {
    /// The product's quality as a number that depends on no other product, highest first.
    pub fn quality(&self) -> i64 {
        Merits::of(&self.software).number(self.row.shown)
    }
}

impl Merged {
    /// Merges a set of exports. `progress` receives the number of exports done and the total.
    pub fn of(
        set: ExportSet,
        scratch: &Scratch,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Self, CatalogueBuildError> {
        let collation = Collation::new()?;
        let (categories, products, reviews) = (CategoriesBuilder::default(), scratch.sorter(), scratch.sorter());
        let languages = Languages::default();
        let mut merger = Merger { collation, categories, languages, products, reviews };
        let mut resources = Vec::with_capacity(set.exports.len());
        for (number, export) in (0..).zip(set.by_id()) {
            merger.push(&set, number, export)?;
            resources.push(ExportDocument::resource(export)?);
            progress(resources.len() as u64, set.exports.len() as u64);
        }
        let (exports, records) = set.into_parts();
        let exports = exports.into_iter().zip(resources);
        let exports = exports.map(|(set, resource)| MergedExport { set, resource }).collect();
        merger.finish(exports, records, scratch)
    }

    pub fn software_count(&self) -> u64 {
        self.ordered.products.len()
    }

    pub(super) const fn real(&self) -> u32 {
        self.ordered.real
    }

    pub const fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// The total size of the export documents in bytes.
    pub fn document_bytes(&self) -> u64 {
        self.exports.iter().map(|merged| merged.resource.size_bytes).sum()
    }

    pub fn synonyms(&self) -> impl Iterator<Item = &SynonymGroup> {
        self.exports.iter().flat_map(|merged| &merged.set.export.synonyms)
    }

    /// The documents' exports, in id order.
    pub fn exports(&self) -> impl Iterator<Item = &Export> {
        self.exports.iter().map(|merged| &merged.set.export)
    }

    pub fn pins(&self) -> impl Iterator<Item = &Pin> {
        self.exports.iter().flat_map(|merged| &merged.set.export.pins)
    }

    /// The language of a product's own text, if it isn't English.
    pub fn language(&self, product: &MergedProduct<'_>) -> Option<&Language> {
        self.exports[product.row.place.export as usize].set.export.language.as_ref()
    }

    pub fn categories<'c>(&'c self, indices: &'c [u32]) -> impl Iterator<Item = &'c CategoryResource> {
        indices.iter().map(|at| &self.categories[*at as usize])
    }

    /// The products in ordinal order.
    pub fn products(&self) -> impl Iterator<Item = Result<MergedProduct<'_>, CatalogueBuildError>> {
        self.every(1)
    }

    /// Every product whose ordinal is a multiple of this number.
    pub(super) fn every(&self, step: u64) -> impl Iterator<Item = Result<MergedProduct<'_>, CatalogueBuildError>> {
        let mut ranks = self.ordered.ranks.rows();
        let mut links = self.ordered.links.rows().peekable();
        let mut read = move |(ordinal, row): (Ordinal, io::Result<ProductRow>)| {
            let row = row?;
            let ranks = ranks.next().ok_or(io::ErrorKind::UnexpectedEof).map_err(io::Error::from)??;
            let is_of_row = |links: &io::Result<Links>| links.as_ref().map_or(true, |links| links.of == ordinal);
            let links = links.next_if(is_of_row).transpose()?.map(|links| links.to).unwrap_or_default();
            if !u64::from(ordinal).is_multiple_of(step) {
                return Ok(None);
            }
            let software = self.records.get(row.place.at)?;
            Ok(Some(MergedProduct { ordinal, software, row, ranks, links }))
        };
        (0..).zip(self.ordered.products.rows()).filter_map(move |row| read(row).transpose())
    }

    /// The reviews in order, grouped by product.
    pub fn reviews(&self) -> impl Iterator<Item = Result<StoredReview, CatalogueBuildError>> {
        self.reviews.rows().map(|review| Ok(review?))
    }

    pub(super) fn reviews_at(&self, (place, count): (u64, u64)) -> SpoolRows<StoredReview> {
        self.reviews.rows_from(place, count)
    }

    pub fn json(&self, product: &MergedProduct<'_>) -> Result<ProductJson, CatalogueBuildError> {
        let mut same_as: Vec<SameAs<'_>> = Vec::new();
        if !product.links.is_empty() {
            let website = normalised_url(&product.software.url);
            for place in product.links.iter().take(MAX_LINKS) {
                let software = self.records.get(place.at)?;
                if normalised_url(&software.url) == website {
                    same_as.push((software, &self.exports[place.export as usize].set.export.id));
                }
            }
        }
        let MergedProduct { software, row, .. } = product;
        let (language, categories) = (self.language(product), self.categories(&row.categories));
        let export = &self.exports[row.place.export as usize].set.export;
        Ok(ProductJson::new(software, language, row.shown, categories, export, &same_as)?)
    }
}

#[cfg(test)]
mod tests;
