//! Writes a catalogue's parts: the JSON for every response, and the columns.

use std::collections::BTreeMap;
use std::io;

use super::CatalogueBuildError;
use super::attributes::AttributeColumnsBuilder;
use super::exports::{ExportDocument, StoredDocument};
use super::merge::{Merged, MergedExport, MergedProduct};
use super::products::{ProductWriter, RecordTables};
use super::reviews::{ReviewEntry, Reviews, Stars};
use super::{Alternatives, Columns, GlossaryEntry, Ordinal, ProductVersion, SortedOrder, Tables, index};
use crate::record::slug;
use crate::scratch::{Bulk, BulkWriter, Span};

/// How many products the compression dictionary is trained on, and how many bytes from each.
const SAMPLE: u64 = 2000;
const SAMPLE_BYTES: usize = 4 * 1024;
/// The maximum number of download parts. Each part is a file that a server keeps open, so if there
/// are more exports than this, they share parts.
pub const MAX_DOWNLOADS: usize = 128;

/// The longest name in `alternative_to` that gets a page, in bytes. Others aren't names.
const MAX_REPLACED: usize = 200;

#[derive(Debug)]
pub struct CatalogueParts {
    /// The encoded record tables and [`Tables`].
    pub tables: Bulk,
    pub texts: Bulk,
    /// The validated exports, compressed. Each has its own part unless there are too many.
    pub downloads: Vec<Bulk>,
}

pub struct CatalogueWriter<'m> {
    merged: &'m Merged,
    documents: Vec<StoredDocument>,
    downloads: Vec<Bulk>,
    texts: BulkWriter,
    products: ProductWriter,
    attributes: AttributeColumnsBuilder<'m>,
    columns: Columns,
    /// The products with reviews, and the ranges of their reviews.
    reviewed: Vec<(Ordinal, Stars, (u64, u64))>,
    alternatives: BTreeMap<String, Alternatives>,
}

impl<'m> CatalogueWriter<'m> {
    pub fn new(merged: &'m Merged) -> Result<Self, CatalogueBuildError> {
        let step = merged.software_count().div_ceil(SAMPLE).max(1);
        let sample = merged.every(step).map(|product| {
            let mut detail = merged.json(&product?)?.detail;
            detail.truncate(SAMPLE_BYTES);
            Ok(detail)
        });
        let sample = sample.collect::<Result<Vec<_>, CatalogueBuildError>>()?;
        // Do this first: the documents are large, and indexing, which may be running at the same
        // time, uses more and more memory.
        let (documents, downloads) = downloads(merged)?;
        let mut texts = merged.scratch.bulk();
        // The text takes up less space than the documents.
        let bytes = merged.exports.iter().map(|merged| merged.resource.size_bytes).sum::<u64>();
        texts.reserve(usize::try_from(bytes).unwrap_or_default());
        let products = ProductWriter::new(&mut texts, &sample)?;
        let columns = Columns { category_bounds: vec![0], real: merged.real(), ..Columns::default() };
        let attributes = AttributeColumnsBuilder::new(&merged.attributes);
        Ok(Self {
            merged,
            documents,
            downloads,
            texts,
            products,
            attributes,
            columns,
            reviewed: Vec::new(),
            alternatives: BTreeMap::new(),
        })
    }

    /// Writes the next product. Returns its version.
    pub fn push(&mut self, product: &MergedProduct<'_>) -> Result<ProductVersion, CatalogueBuildError> {
        let json = self.merged.json(product)?;
        let place = self.products.push(&mut self.texts, &json)?;
        self.attributes.push(&product.software)?;
        let columns = &mut self.columns;
        columns.categories.extend_from_slice(&product.row.categories);
        columns.category_bounds.push(index(columns.categories.len())?);
        columns.exports.push(product.row.place.export);
        columns.offering_type.push(product.software.offering_type);
        columns.evidence_status.push(product.software.evidence_status);
        columns.evidence_checked_on.push(product.row.evidence_checked_on);
        let oldest = product.software.oldest_evidence();
        columns.older_evidence.extend(
            oldest.filter(|_| oldest != product.row.evidence_checked_on).map(|oldest| (product.ordinal, oldest)),
        );
        columns.rating.push(product.row.shown.value);
        for (order, rank) in columns.orders.iter_mut().zip(product.ranks) {
            order.ranks.push(rank);
        }
        if product.row.reviews.1 > 0 {
            self.reviewed.push((product.ordinal, product.row.stars, product.row.reviews));
        }
        self.add_alternatives(product);
        let (id, evidence_checked_on) = (product.software.id.clone(), product.row.evidence_checked_on);
        Ok(ProductVersion { id, hash: json.content_hash, evidence_checked_on, place })
    }

    fn add_alternatives(&mut self, product: &MergedProduct<'_>) {
        for name in product.software.alternative_to.iter().filter(|name| name.len() <= MAX_REPLACED) {
            let id = slug(name);
            if id.is_empty() {
                continue;
            }
            let of = self.alternatives.entry(id).or_insert_with_key(|id| Alternatives {
                id: id.as_str().into(),
                name: name.clone(),
                products: Vec::new(),
            });
            if of.products.last() != Some(&product.ordinal) {
                of.products.push(product.ordinal);
            }
        }
    }

    /// Where the text has its compression dictionary.
    pub const fn dictionary(&self) -> Span {
        self.products.dictionary()
    }

    /// Writes everything except the products.
    pub fn finish(self) -> Result<CatalogueParts, CatalogueBuildError> {
        let Self { merged, documents, downloads, mut texts, products, attributes, mut columns, reviewed, alternatives } =
            self;
        let products = products.finish();
        let (attributes, attribute_summaries) = attributes.finish();
        columns.attributes = attributes;
        columns.orders = columns.orders.map(|order| SortedOrder::of_ranks(order.ranks));
        let reviews = reviews(merged, &reviewed, &mut texts)?;
        let category_objects = merged.categories.iter().map(|category| texts.push_json(category));
        let category_objects = category_objects.collect::<io::Result<_>>()?;
        let exports = merged.exports.iter().zip(documents);
        let exports = exports
            .map(|(merged, stored)| {
                let resource = merged.resource.clone();
                let signature = merged.set.export.signature.as_ref().map(|signature| signature.text.clone());
                Ok(ExportDocument { object: texts.push_json(&resource)?, resource, signature, stored })
            })
            .collect::<io::Result<_>>()?;
        let glossary = merged.glossary().into_iter();
        let glossary = glossary.map(|term| Ok(GlossaryEntry { object: texts.push_json(&term)?, term }));
        let glossary = glossary.collect::<io::Result<_>>()?;
        let tables = Tables {
            attributes: merged.attributes.clone(),
            attribute_summaries,
            languages: merged.languages.clone(),
            // Categories aren't stored; they're parsed from their objects.
            categories: Vec::new(),
            category_objects,
            glossary,
            exports,
            alternatives: alternatives.into_values().collect(),
        };
        let mut encoded = merged.scratch.bulk();
        encoded.push_encoded(&(RecordTables { products, columns, reviews }, tables))?;
        Ok(CatalogueParts { tables: encoded.finish()?, texts: texts.finish()?, downloads })
    }
}

/// Compresses the exports' documents.
fn downloads(merged: &Merged) -> Result<(Vec<StoredDocument>, Vec<Bulk>), CatalogueBuildError> {
    let count = merged.exports.len().min(MAX_DOWNLOADS);
    let mut downloads: Vec<_> = std::iter::repeat_with(|| merged.scratch.bulk()).take(count).collect();
    let mut documents = Vec::with_capacity(merged.exports.len());
    for (part, MergedExport { set, .. }) in (0..).take(MAX_DOWNLOADS).cycle().zip(&merged.exports) {
        let download = &mut downloads[part as usize];
        let document = set.document.read_all()?;
        let (stored, compressed) =
            StoredDocument::compress((part, download.len()), &document, &set.export.software_spans)
                .map_err(CatalogueBuildError::Compress)?;
        download.push(&compressed)?;
        documents.push(stored);
    }
    Ok((documents, downloads.into_iter().map(BulkWriter::finish).collect::<io::Result<_>>()?))
}

fn reviews(merged: &Merged, reviewed: &[(Ordinal, Stars, (u64, u64))], texts: &mut BulkWriter) -> io::Result<Reviews> {
    let mut reviews = Reviews::default();
    for (ordinal, stars, place) in reviewed {
        let entries = merged.reviews_at(*place).map(|review| {
            let review = review?.row;
            Ok(ReviewEntry {
                object: texts.push(&review.object)?,
                rating: review.rating,
                verified: review.verified,
                created_at_seconds: review.created_at_seconds,
            })
        });
        reviews.push(*ordinal, entries.collect::<io::Result<_>>()?, *stars);
    }
    Ok(reviews)
}
