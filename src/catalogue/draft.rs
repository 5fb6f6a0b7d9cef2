//! From validated exports to a catalogue: merges them, puts the products in the order of quality, and writes every
//! answer once.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::arena::{Arena, Span};
use super::bulk::Bulk;
use super::collate::{Collation, CollationError};
use super::columns::{Columns, SortedOrder};
use super::documents::{Documents, DocumentsWriter};
use super::exports::{ExportDocument, StoredDocument};
use super::glossary::GlossaryEntry;
use super::packing::Packer;
use super::quality::{Quality, mean_rating};
use super::reviews::{self, Reviews};
use super::{Ordinal, Tables};
use crate::export::{self, Export};
use crate::record::{CalendarDate, EvidenceStatus, OfferingType, Review, Software, slug};
use crate::resource::{
    AdditionalProperties, CategoryRef, CategoryResource, ExportRef, ExportResource, GlossarySourceResource,
    GlossaryTermResource, RatingSource, SoftwareItem, SoftwareMore, SourceResource,
};

/// Why a catalogue can't be laid out.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The order of names can't be computed.
    #[error(transparent)]
    Collation(#[from] CollationError),
    /// A record can't be written as JSON.
    #[error("a record can't be written as JSON")]
    Json(#[from] serde_json::Error),
    /// A record that was read before can't be read again.
    #[error("the record {1} of the export `{0}` can't be read again")]
    Record(Box<str>, u32),
    /// A scratch file can't be written or read.
    #[error("a scratch file in the index folder can't be used")]
    Scratch(#[source] io::Error),
    /// A document can't be compressed.
    #[error("an export can't be compressed")]
    Compress(#[source] std::io::Error),
    /// The tables can't be encoded.
    #[error("the catalogue's tables can't be encoded")]
    Encode(#[from] postcard::Error),
    /// More records than ordinals.
    #[error("a directory holds at most {} products", Ordinal::MAX / 2)]
    TooMany,
}

/// How many products the packing of texts is fitted to.
const SAMPLE: usize = 1000;

/// A catalogue laid out, in its three parts.
#[derive(Debug)]
pub struct Prepared {
    /// The encoded [`Tables`].
    pub tables: Vec<u8>,
    /// The texts.
    pub arena: Vec<u8>,
    /// The exports as they were validated, compressed.
    pub downloads: Vec<u8>,
}

/// A product with what the rest of the directory adds to it. The record itself is read again from its document when it is
/// needed: in memory all records take twice what their documents do.
#[derive(Debug)]
struct Entry {
    /// The index of its export, and that of the product there.
    export: u32,
    index: u32,
    reviews: Box<[Review]>,
    categories: Box<[u32]>,
    offering_type: OfferingType,
    evidence_status: EvidenceStatus,
    evidence_checked_on: Option<CalendarDate>,
    shown: Rating,
}

/// The rating that a product shows.
#[derive(Debug, Clone, Copy)]
struct Rating {
    value: Option<f64>,
    review_count: Option<u64>,
    source: Option<RatingSource>,
}

/// A directory being laid out: its products in the order of quality.
#[derive(Debug)]
pub struct Draft {
    /// The exports without their products and reviews, which are in the entries.
    exports: Vec<Export>,
    documents: Vec<Bulk>,
    /// What lists show of the exports.
    resources: Vec<ExportResource>,
    entries: Vec<Entry>,
    categories: Vec<CategoryResource>,
    by_name: Vec<Ordinal>,
    collation: Collation,
}

impl Draft {
    /// Merges exports into one directory. With a folder for scratch files, the documents of the exports are kept there and not in
    /// memory.
    ///
    /// # Errors
    /// Where names can't be ordered, there are too many products, or a scratch file can't be written.
    pub fn new(mut exports: Vec<Export>, scratch: Option<&Path>) -> Result<Self, DraftError> {
        let collation = Collation::new()?;
        exports.sort_by(|a, b| a.id.cmp(&b.id));
        let resources = exports.iter().map(ExportDocument::resource).collect();
        let (categories, category_at) = merge_categories(&exports, &collation);
        let mut keyed: Vec<_> = merge_software(&mut exports, &category_at, &collation);
        if keyed.len() > Ordinal::MAX as usize / 2 {
            return Err(DraftError::TooMany);
        }
        keyed.sort_by(|a, b| {
            a.quality.compare(&b.quality).then_with(|| a.name.cmp(&b.name)).then_with(|| a.id.cmp(&b.id))
        });
        let mut by_name: Vec<Ordinal> = (0..).take(keyed.len()).collect();
        by_name.sort_by(|a, b| {
            let (a, b) = (&keyed[*a as usize], &keyed[*b as usize]);
            a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id))
        });
        let entries = keyed.into_iter().map(|keyed| keyed.entry).collect();
        let documents = exports.iter_mut().map(|export| store(std::mem::take(&mut export.document), scratch));
        let documents = documents.collect::<io::Result<_>>().map_err(DraftError::Scratch)?;
        Ok(Self { exports, documents, resources, entries, categories, by_name, collation })
    }

    /// The number of products.
    #[must_use]
    pub fn software_count(&self) -> usize {
        self.entries.len()
    }

    /// The products in the order of their ordinals, each with its categories.
    ///
    /// # Errors
    /// Where a record can't be read again, which is a bug.
    pub fn software(
        &self,
    ) -> impl Iterator<Item = Result<(Software, impl Iterator<Item = &CategoryResource>), DraftError>> {
        self.entries.iter().map(|entry| Ok((self.record(entry)?, self.categories_of(entry))))
    }

    fn record(&self, entry: &Entry) -> Result<Software, DraftError> {
        let export = &self.exports[entry.export as usize];
        let span = export.software_spans[entry.index as usize].clone();
        let span = Span { start: span.start as u64, length: span.len() as u64 };
        let record = self.documents[entry.export as usize].read(span).map_err(DraftError::Scratch)?;
        export::read_record(&record).ok_or_else(|| DraftError::Record(export.id.clone(), entry.index))
    }

    fn categories_of(&self, entry: &Entry) -> impl Iterator<Item = &CategoryResource> {
        entry.categories.iter().map(|at| &self.categories[*at as usize])
    }

    /// The synonym groups of all exports.
    pub fn synonyms(&self) -> impl Iterator<Item = &crate::record::SynonymGroup> {
        self.exports.iter().flat_map(|export| &export.synonyms)
    }

    /// Writes every answer and column. Frees the documents of the exports.
    ///
    /// # Errors
    /// Where something can't be written.
    pub fn prepare(&mut self) -> Result<Prepared, DraftError> {
        // The answers are about as long as the documents. Memory that isn't written to isn't taken.
        let bytes = self.resources.iter().map(|resource| resource.size_bytes).sum::<u64>();
        let mut arena = Arena::with_capacity(usize::try_from(bytes).unwrap_or_default());
        let mut downloads = Arena::default();
        let mut documents = DocumentsWriter::default();
        let mut reviews = Reviews::default();
        let tails =
            self.exports.iter().map(|export| Documents::tail(&export_ref(export))).collect::<Result<Vec<_>, _>>()?;
        let step = self.entries.len().div_ceil(SAMPLE).max(1);
        let sample = self
            .entries
            .iter()
            .step_by(step)
            .map(|entry| self.more(entry, &self.record(entry)?, &tails))
            .collect::<Result<Vec<_>, _>>()?;
        let packer = Packer::new(&sample);
        // Nothing else comes between them: documents lie back to back.
        for entry in &self.entries {
            self.push_document(&mut arena, &mut documents, &packer, &tails, entry)?;
        }
        let documents = documents.finish(&mut arena);
        for (ordinal, entry) in (0..).zip(&self.entries) {
            if !entry.reviews.is_empty() {
                reviews.push(&mut arena, ordinal, entry.reviews.iter().collect())?;
            }
        }
        let category_objects =
            self.categories.iter().map(|category| arena.push_open_object(category)).collect::<Result<_, _>>()?;
        let stored = self
            .documents
            .drain(..)
            .zip(&self.exports)
            .zip(&self.resources)
            .map(|((document, export), resource)| {
                let span = Span { start: 0, length: resource.size_bytes };
                let document = document.read(span).map_err(DraftError::Scratch)?;
                StoredDocument::push(&mut downloads, &document, &export.software_spans).map_err(DraftError::Compress)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let exports = self
            .resources
            .iter()
            .zip(&tails)
            .zip(stored)
            .map(|((resource, tail), stored)| ExportDocument::push(&mut arena, resource.clone(), tail, stored))
            .collect::<Result<_, _>>()?;
        let glossary = self.glossary(&mut arena)?;
        let tables = Tables {
            documents,
            pieces: packer.pieces(),
            columns: Arc::new(self.columns()),
            categories: self.categories.clone(),
            category_objects,
            reviews,
            glossary,
            exports,
        };
        Ok(Prepared {
            tables: postcard::to_stdvec(&tables)?,
            arena: arena.into_bytes(),
            downloads: downloads.into_bytes(),
        })
    }

    fn push_document(
        &self,
        arena: &mut Arena,
        documents: &mut DocumentsWriter,
        packer: &Packer,
        tails: &[Vec<u8>],
        entry: &Entry,
    ) -> Result<(), DraftError> {
        let software = &self.record(entry)?;
        let categories: Vec<_> =
            self.categories_of(entry).map(|category| CategoryRef { id: &category.id, name: &category.name }).collect();
        let computed = match (&software.rating, entry.shown.value) {
            (None, Some(rating)) => Some(serde_json::value::to_raw_value(&rating)?),
            _ => None,
        };
        let item = SoftwareItem {
            id: &software.id,
            name: &software.name,
            tagline: software.tagline.as_deref(),
            category: categories.first().map(|category| category.name),
            categories,
            rating: software.rating.as_ref().map(|rating| &*rating.text).or(computed.as_deref()),
            review_count: entry.shown.review_count,
            website: &software.url,
            vendor: software.vendor.as_deref(),
            offering_type: software.offering_type.as_str(),
            evidence_status: software.evidence_status.as_str(),
            evidence_checked_on: software.evidence_checked_on.as_deref(),
        };
        Ok(documents.push(arena, packer, &item, &self.more(entry, software, tails)?, entry.export)?)
    }

    /// What a product's answer shows between its item and its tail.
    fn more(&self, entry: &Entry, software: &Software, tails: &[Vec<u8>]) -> Result<Vec<u8>, DraftError> {
        let more = SoftwareMore {
            description: software.description.as_deref(),
            aliases: &software.aliases,
            tags: &software.tags,
            features: &software.features,
            standards: &software.standards,
            deployment: &software.deployment,
            pricing: software.pricing.as_deref(),
            languages: &software.languages,
            sources: software
                .sources
                .iter()
                .map(|source| SourceResource { label: &source.label, url: &source.url })
                .collect(),
            rating_source: entry.shown.source,
            additional_properties: AdditionalProperties(&software.additional_properties),
            export: export_ref(&self.exports[entry.export as usize]),
        };
        Ok(Documents::more(&more, &tails[entry.export as usize])?)
    }

    fn columns(&self) -> Columns {
        let mut columns = Columns { category_bounds: vec![0], ..Columns::default() };
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
        columns
    }

    fn glossary(&self, arena: &mut Arena) -> Result<Vec<GlossaryEntry>, DraftError> {
        let mut terms: Vec<_> = self.exports.iter().flat_map(|export| &export.glossary).collect();
        terms.sort_by_cached_key(|term| (self.collation.key(&term.term), term.term.clone()));
        let owned = |texts: &[Box<str>]| texts.iter().map(ToString::to_string).collect();
        terms
            .into_iter()
            .map(|term| {
                let term = GlossaryTermResource {
                    id: slug(&term.term),
                    term: term.term.to_string(),
                    definition: term.definition.to_string(),
                    abbreviations: owned(&term.abbreviations),
                    synonyms: owned(&term.synonyms),
                    related: owned(&term.related),
                    source: term.source.as_ref().map(|source| GlossarySourceResource {
                        title: source.title.as_deref().map(str::to_owned),
                        url: source.url.as_deref().map(str::to_owned),
                    }),
                };
                Ok(GlossaryEntry { object: arena.push_open_object(&term)?, term })
            })
            .collect()
    }
}

/// All categories, described or only used, by name; and where each slug stands among them. The first name and the first
/// description win.
fn merge_categories(exports: &[Export], collation: &Collation) -> (Vec<CategoryResource>, HashMap<String, u32>) {
    let mut merged: BTreeMap<String, CategoryResource> = BTreeMap::new();
    let mut meet = |name: &str, description: Option<&str>, uses: u64| {
        let id = slug(name);
        let category = merged.entry(id.clone()).or_insert_with(|| CategoryResource {
            id,
            name: name.to_owned(),
            description: None,
            software_count: 0,
        });
        category.software_count += uses;
        if category.description.is_none() {
            category.description = description.map(str::to_owned);
        }
    };
    for category in exports.iter().flat_map(|export| &export.categories) {
        meet(&category.name, category.description.as_deref(), 0);
    }
    for name in exports.iter().flat_map(|export| &export.software).flat_map(|software| &software.categories) {
        meet(name, None, 1);
    }
    let mut categories: Vec<_> = merged.into_values().collect();
    categories.sort_by_cached_key(|category| (collation.key(&category.name), category.id.clone()));
    let at = (0..).zip(&categories).map(|(at, category)| (category.id.clone(), at)).collect();
    (categories, at)
}

/// An export as its products name it.
fn export_ref(export: &Export) -> ExportRef<'_> {
    ExportRef { id: &export.id, name: &export.name, license: &export.license, as_of: export.as_of.as_deref() }
}

/// Keeps the document of an export in memory, or in a file without a name in the folder for scratch files.
fn store(document: Bytes, scratch: Option<&Path>) -> io::Result<Bulk> {
    let Some(folder) = scratch else { return Ok(Bulk::Memory(document)) };
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&document)?;
    Ok(Bulk::File(Arc::new(file)))
}

/// A product with what it is sorted by.
struct Keyed {
    quality: Quality,
    /// The collation key of its name.
    name: Vec<u8>,
    id: Box<str>,
    entry: Entry,
}

/// Takes products and reviews out of the exports.
fn merge_software(exports: &mut [Export], category_at: &HashMap<String, u32>, collation: &Collation) -> Vec<Keyed> {
    let mut reviews: HashMap<Box<str>, Vec<Review>> = HashMap::new();
    for review in exports.iter_mut().flat_map(|export| std::mem::take(&mut export.reviews)) {
        reviews.entry(review.software_id.clone()).or_default().push(review);
    }
    let shown: Vec<_> = exports
        .iter()
        .flat_map(|export| &export.software)
        .map(|software| Rating::of(software, reviews.get(&software.id).map_or(&[], Vec::as_slice)))
        .collect();
    let mean = mean_rating(shown.iter().filter_map(|shown| shown.value));
    let pairs = (0..).zip(exports).flat_map(|(at, export)| {
        let software = std::mem::take(&mut export.software);
        (0..).zip(software).map(move |(index, software)| (at, index, software))
    });
    pairs
        .zip(shown)
        .map(|((export, index, software), shown)| {
            let categories = software.categories.iter().filter_map(|name| category_at.get(&slug(name)).copied());
            Keyed {
                quality: Quality::of(&software, shown.value, shown.review_count, mean),
                name: collation.key(&software.name),
                entry: Entry {
                    export,
                    index,
                    reviews: reviews.remove(&software.id).unwrap_or_default().into(),
                    categories: categories.collect(),
                    offering_type: software.offering_type,
                    evidence_status: software.evidence_status,
                    evidence_checked_on: software.evidence_checked_on.as_deref().and_then(CalendarDate::parse),
                    shown,
                },
                id: software.id,
            }
        })
        .collect()
}

impl Rating {
    /// The stated rating, or else that of the reviews.
    fn of(software: &Software, reviews: &[Review]) -> Self {
        let summed = reviews::summary(&reviews.iter().collect::<Vec<_>>());
        let stated = software.rating.as_ref().map(|rating| rating.value);
        let source = match (stated, summed.average) {
            (Some(_), _) => Some(RatingSource::Stated),
            (None, Some(_)) => Some(RatingSource::Reviews),
            (None, None) => None,
        };
        Self {
            value: stated.or(summed.average),
            review_count: software.review_count.or((summed.count > 0).then_some(summed.count)),
            source,
        }
    }
}
