//! Builds a catalogue of validated exports: writes the JSON of every response once, and the columns.

use std::io;
use std::path::Path;

use super::arena::{Arena, Span};
use super::attributes::AttributeColumnsBuilder;
use super::bulk::Bulk;
use super::collate::{Collation, CollationError};
use super::columns::{Columns, SortedOrder};
use super::exports::{ExportDocument, StoredDocument};
use super::merge::{Entry, merge_categories, merge_software};
use super::products::{ProductSpans, ProductWriter};
use super::records::RecordTables;
use super::reviews::Reviews;
use super::same_as::{MAX_LINKS, SameAs};
use super::{Attribute, AttributeColumn, MAX_ORDINAL, Ordinal, ProductVersion, Tables, glossary, product_json};
use crate::catalogue::resource::{CategoryResource, ExportResource};
use crate::export::{self, Export};
use crate::record::{Software, normalised_url};

/// Why a catalogue can't be built.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueBuildError {
    /// The order of names can't be computed.
    #[error(transparent)]
    Collation(#[from] CollationError),
    #[error("a record can't be written as JSON")]
    Json(#[from] serde_json::Error),
    #[error("the record at byte {1} of the export `{0}` can't be read again")]
    Record(Box<str>, u64),
    #[error("a scratch file in the index folder can't be used")]
    Scratch(#[source] io::Error),
    #[error("a product can't be compressed")]
    Product(#[source] io::Error),
    #[error("an export can't be compressed")]
    Compress(#[source] io::Error),
    #[error("the catalogue's tables can't be encoded")]
    Encode(#[from] postcard::Error),
    #[error("a directory holds at most {} products", MAX_ORDINAL)]
    TooMany,
}

/// The number of products that the compression is trained with, and the bytes that are taken of each.
const SAMPLE: usize = 2000;
const SAMPLE_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub struct CatalogueParts {
    /// The encoded spans of products and [`Tables`].
    pub tables: Vec<u8>,
    /// The texts.
    pub arena: Vec<u8>,
    /// The exports as they were validated, compressed.
    pub downloads: Vec<u8>,
    /// The encoded [`ProductVersion`]s, by id.
    pub versions: Vec<u8>,
}

/// A builder of catalogues. Its products are in the order of quality.
#[derive(Debug)]
pub struct CatalogueBuilder {
    /// The exports without their products and reviews, which are in the entries.
    exports: Vec<Export>,
    documents: Vec<Bulk>,
    /// What lists show of the exports.
    resources: Vec<ExportResource>,
    entries: Vec<Entry>,
    categories: Vec<CategoryResource>,
    by_name: Vec<Ordinal>,
    same_as: SameAs,
    /// How many products aren't demo records; all, where every product is one.
    real: u32,
    collation: Collation,
}

impl CatalogueBuilder {
    /// Merges exports into one directory. With a folder for scratch files, the documents of the exports are kept there and not in
    /// memory.
    pub fn new(mut exports: Vec<Export>, scratch: Option<&Path>) -> Result<Self, CatalogueBuildError> {
        let collation = Collation::new()?;
        exports.sort_by(|a, b| a.id.cmp(&b.id));
        let resources = exports.iter().map(ExportDocument::resource).collect();
        // First, so that they aren't in memory beside what is made of the records.
        let documents = exports.iter_mut().map(|export| Bulk::store(std::mem::take(&mut export.document), scratch));
        let documents = documents.collect::<io::Result<_>>().map_err(CatalogueBuildError::Scratch)?;
        let (categories, of_products) = merge_categories(&exports, &collation);
        let mut keyed = merge_software(&mut exports, of_products, &collation);
        if keyed.len() > MAX_ORDINAL as usize {
            return Err(CatalogueBuildError::TooMany);
        }
        keyed.sort_by(|a, b| a.quality.cmp(&b.quality).then_with(|| a.name.cmp(&b.name)).then_with(|| a.id.cmp(&b.id)));
        let mut by_name: Vec<Ordinal> = (0..).take(keyed.len()).collect();
        by_name.sort_by(|a, b| {
            let (a, b) = (&keyed[*a as usize], &keyed[*b as usize]);
            a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id))
        });
        let real = keyed.partition_point(|keyed| !keyed.quality.is_demo());
        let real = u32::try_from(if real == 0 { keyed.len() } else { real }).unwrap_or(u32::MAX);
        let same_as = SameAs::new(keyed.iter().map(|keyed| (keyed.entry.export, keyed.website)));
        let entries = keyed.into_iter().map(|keyed| keyed.entry).collect();
        Ok(Self { exports, documents, resources, entries, categories, by_name, same_as, real, collation })
    }

    /// The number of products.
    pub fn software_count(&self) -> usize {
        self.entries.len()
    }

    /// The products in the order of their ordinals, each with its categories.
    pub fn software(
        &self,
    ) -> impl Iterator<Item = Result<(Software, impl Iterator<Item = &CategoryResource>), CatalogueBuildError>> {
        self.entries.iter().map(|entry| Ok((self.record(entry)?, self.categories_of(entry))))
    }

    fn record(&self, entry: &Entry) -> Result<Software, CatalogueBuildError> {
        let export = &self.exports[entry.export as usize];
        let span = export.software_spans[entry.index as usize].clone();
        let span = Span { start: span.start as u64, length: span.len() as u64 };
        read_record(export, &self.documents[entry.export as usize], span)
    }

    /// The products of other exports with the website of this one, the best first, each with its export's id.
    fn same_as(&self, ordinal: Ordinal, website: &str) -> Result<Vec<(Software, &str)>, CatalogueBuildError> {
        let website = normalised_url(website);
        let mut same = Vec::new();
        for candidate in self.same_as.candidates(ordinal, self.entries[ordinal as usize].export).take(MAX_LINKS) {
            let entry = &self.entries[candidate as usize];
            let software = self.record(entry)?;
            if normalised_url(&software.url) == website {
                same.push((software, &*self.exports[entry.export as usize].id));
            }
        }
        Ok(same)
    }

    fn categories_of(&self, entry: &Entry) -> impl Iterator<Item = &CategoryResource> {
        entry.categories.iter().map(|at| &self.categories[*at as usize])
    }

    /// The synonym groups of all exports.
    pub fn synonyms(&self) -> impl Iterator<Item = &crate::record::SynonymGroup> {
        self.exports.iter().flat_map(|export| &export.synonyms)
    }

    /// Writes the three parts.
    pub fn finish(&self) -> Result<CatalogueParts, CatalogueBuildError> {
        // The texts are shorter than the documents. Memory that isn't written to isn't taken.
        let bytes = self.resources.iter().map(|resource| resource.size_bytes).sum::<u64>();
        let mut arena = Arena::with_capacity(usize::try_from(bytes).unwrap_or_default());
        // First, as a document is large and indexing, which may go on beside this, takes more and more memory.
        let (documents, downloads) = self.downloads()?;
        let (products, attributes, versions) = self.products(&mut arena)?;
        let mut reviews = Reviews::default();
        for (ordinal, entry) in (0..).zip(&self.entries) {
            if !entry.reviews.is_empty() {
                reviews.push(&mut arena, ordinal, entry.reviews.iter().collect())?;
            }
        }
        let category_objects =
            self.categories.iter().map(|category| arena.push_json(category)).collect::<Result<_, _>>()?;
        let mut exports = Vec::with_capacity(self.exports.len());
        for (resource, document) in self.resources.iter().zip(documents) {
            exports.push(ExportDocument::push(&mut arena, resource.clone(), document)?);
        }
        let glossary = glossary::entries(&self.exports, &self.collation, &mut arena)?;
        let records = RecordTables { products, columns: self.columns(attributes), reviews };
        let tables = Tables { categories: self.categories.clone(), category_objects, glossary, exports };
        Ok(CatalogueParts {
            tables: postcard::to_stdvec(&(records, tables))?,
            arena: arena.into_bytes(),
            downloads: downloads.into_bytes(),
            versions: postcard::to_stdvec(&versions)?,
        })
    }

    /// Compresses the documents of the exports.
    fn downloads(&self) -> Result<(Vec<StoredDocument>, Arena), CatalogueBuildError> {
        let mut downloads = Arena::default();
        let documents = self.documents.iter().zip(&self.exports).zip(&self.resources);
        let documents = documents.map(|((document, export), resource)| -> Result<_, CatalogueBuildError> {
            let span = Span { start: 0, length: resource.size_bytes };
            let document = document.read(span).map_err(CatalogueBuildError::Scratch)?;
            let (stored, compressed) = StoredDocument::compress(downloads.len(), &document, &export.software_spans)
                .map_err(CatalogueBuildError::Compress)?;
            downloads.push(&compressed);
            Ok(stored)
        });
        Ok((documents.collect::<Result<_, _>>()?, downloads))
    }

    /// Writes the texts of all products, and collects their attributes and, by id, their versions.
    fn products(
        &self,
        arena: &mut Arena,
    ) -> Result<(ProductSpans, [AttributeColumn; Attribute::COUNT], Vec<ProductVersion>), CatalogueBuildError> {
        let step = self.entries.len().div_ceil(SAMPLE).max(1);
        let mut sample = Vec::new();
        for ordinal in (0..).take(self.entries.len()).step_by(step) {
            let mut fields = self.detail_fields(ordinal, &self.record(&self.entries[ordinal as usize])?)?;
            fields.truncate(SAMPLE_BYTES);
            sample.push(fields);
        }
        let mut products = ProductWriter::new(arena, &sample).map_err(CatalogueBuildError::Product)?;
        let mut attributes = AttributeColumnsBuilder::default();
        let mut versions = Vec::with_capacity(self.entries.len());
        for (ordinal, entry) in (0..).zip(&self.entries) {
            let software = self.record(entry)?;
            attributes.push(&software);
            let (item, fields) = (self.item(entry, &software)?, self.detail_fields(ordinal, &software)?);
            let hash = products.push(arena, &item, &fields).map_err(CatalogueBuildError::Product)?;
            let evidence_checked_on = entry.evidence_checked_on;
            versions.push(ProductVersion { id: software.id, hash, evidence_checked_on });
        }
        versions.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok((products.finish(), attributes.finish(), versions))
    }

    fn item(&self, entry: &Entry, software: &Software) -> Result<Vec<u8>, serde_json::Error> {
        product_json::item(software, entry.shown, self.categories_of(entry))
    }

    fn detail_fields(&self, ordinal: Ordinal, software: &Software) -> Result<Vec<u8>, CatalogueBuildError> {
        let entry = &self.entries[ordinal as usize];
        let same_as = self.same_as(ordinal, &software.url)?;
        let export = &self.exports[entry.export as usize];
        Ok(product_json::detail_fields(software, entry.shown, export, &same_as)?)
    }

    fn columns(&self, attributes: [AttributeColumn; Attribute::COUNT]) -> Columns {
        let mut columns = Columns { category_bounds: vec![0], real: self.real, attributes, ..Columns::default() };
        for entry in &self.entries {
            columns.categories.extend_from_slice(&entry.categories);
            columns.category_bounds.push(u32::try_from(columns.categories.len()).unwrap_or(u32::MAX));
            columns.offering_type.push(entry.offering_type);
            columns.evidence_status.push(entry.evidence_status);
            columns.evidence_checked_on.push(entry.evidence_checked_on);
            columns.rating.push(entry.shown.value);
        }
        columns.name = SortedOrder::new(self.by_name.clone());
        // Sorting the order of names stably by another value leaves names to break its ties.
        let by = |compare: fn(&Entry, &Entry) -> std::cmp::Ordering| {
            let mut ordinals = self.by_name.clone();
            ordinals.sort_by(|a, b| compare(&self.entries[*a as usize], &self.entries[*b as usize]));
            SortedOrder::new(ordinals)
        };
        columns.rating_descending = by(|a, b| {
            let value = |entry: &Entry| entry.shown.value.unwrap_or(f64::NEG_INFINITY);
            value(b).total_cmp(&value(a))
        });
        columns.review_count_descending = by(|a, b| b.shown.review_count.cmp(&a.shown.review_count));
        columns.evidence_checked_on_descending = by(|a, b| b.evidence_checked_on.cmp(&a.evidence_checked_on));
        columns
    }
}

/// Reads a product again from the document of its export.
pub(super) fn read_record(export: &Export, document: &Bulk, span: Span) -> Result<Software, CatalogueBuildError> {
    let record = document.read(span).map_err(CatalogueBuildError::Scratch)?;
    let unreadable = || CatalogueBuildError::Record(export.id.clone(), span.start);
    let mut software = export::read_record(&record).ok_or_else(unreadable)?;
    if !export.id_prefix.is_empty() {
        software.id = format!("{}{}", export.id_prefix, software.id).into();
    }
    Ok(software)
}
