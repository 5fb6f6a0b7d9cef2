//! One generation, laid out for serving: the JSON for every response, plus integer columns for
//! filtering and sorting. A product's number is its *ordinal*, its position in quality order.
//!
//! The [`Catalogue`] contains the categories, the glossary and the exports. The [`Records`] contain
//! the products and reviews. [`CatalogueWriter`] writes both once per
//! generation. Nothing here depends on an index or on HTTP. Only downloadable exports may be stored
//! elsewhere ([`Bulk`]).

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use foldhash::HashMap;
use foldhash::quality::FixedState;
use serde::{Deserialize, Serialize};

use self::products::RecordTables;
use crate::catalogue::resource::{CategoryResource, ExportResource, GlossarySourceResource, GlossaryTermResource};
use crate::record::{Attributes, GlossaryTerm, Ids, Language, Languages, MAX_ATTRIBUTES, former_slug, identity};
use crate::scratch::decode;

mod attributes;
mod collate;
mod columns;
mod exports;
mod filter;
mod merge;
mod product_json;
mod products;
mod quality;
pub mod resource;
mod reviews;
mod write;

pub use crate::scratch::{Bulk, BulkReader, Span};
pub use attributes::{AttributeColumn, AttributeLabels, AttributeSummary};
pub use collate::{Collation, CollationError};
pub use columns::{Columns, Order, Places, STARS, SortedBy, SortedOrder, whole_stars};
use exports::StoredDocument;
pub use exports::{ExportDocument, StoredExport};
pub use filter::{Admission, AttributeCondition, Filter, SoftwareFilter, admitted};
pub use merge::{Merged, MergedProduct, StoredReview};
pub use product_json::{LIST_CATEGORIES, ObjectWriter, ProductJson, shorten};
pub use products::{DamagedText, ProductPlace, ProductReader, ProductVersion, Record, Records, StoredProduct, fetch};
pub use reviews::{ReviewEntry, ReviewFilter, ReviewSort, Reviews, ReviewsOf};
pub use write::{CatalogueParts, CatalogueWriter, MAX_DOWNLOADS};

/// A product's position in quality order, starting from 0 for the best. It's stable only within a
/// generation.
pub type Ordinal = u32;

/// The highest possible ordinal: sort keys for candidates have 30 bits for it.
pub const MAX_ORDINAL: Ordinal = Ordinal::MAX >> 2;

/// One generation's categories, glossary and exports, ready to serve.
#[derive(Debug)]
pub struct Catalogue {
    /// Everything except the text.
    pub tables: Tables,
    /// The text that [`Tables`] points into.
    arena: Bytes,
    /// The validated exports, compressed.
    downloads: Vec<Bulk>,
    /// Whether any of the downloads turned out to be damaged.
    damaged: AtomicBool,
    /// Hashes of all categories and of the whole glossary.
    collection_hashes: [u64; 2],
    /// For each former id, the current ids of the categories and glossary terms that had it.
    renamed: [Renamed; 2],
    named: Named,
    /// The indices of the glossary's terms by id.
    terms: HashMap<String, usize>,
    own_language: String,
}

/// The tables of a catalogue, decoded when a generation is opened.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tables {
    pub attributes: Attributes,
    /// Indexed by attribute number.
    pub attribute_summaries: Vec<AttributeSummary>,
    pub languages: Languages,
    /// The categories, sorted by name, parsed from their objects.
    #[serde(skip)]
    pub categories: Vec<CategoryResource>,
    /// The same data as JSON objects.
    pub category_objects: Vec<Span>,
    /// The glossary, sorted by term.
    pub glossary: Vec<GlossaryEntry>,
    /// The exports, sorted by id.
    pub exports: Vec<ExportDocument>,
    /// The names in `alternative_to`, sorted by id.
    pub alternatives: Vec<Alternatives>,
}

/// A glossary term, for glossary searches and as ready-made response data.
#[derive(Debug, Serialize, Deserialize)]
pub struct GlossaryEntry {
    /// Parsed from `object`.
    #[serde(skip)]
    pub term: GlossaryTermResource,
    /// The same data as a JSON object.
    pub object: Span,
}

/// The products that say they can replace something.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Alternatives {
    /// The slug of its name.
    pub id: Box<str>,
    /// Its name, as the best of the products has it.
    pub name: Box<str>,
    /// In ascending order, so the best come first.
    pub products: Vec<Ordinal>,
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("the catalogue's tables can't be decoded")]
    Tables(#[from] postcard::Error),
    #[error("the catalogue's tables don't match its text")]
    Misfit,
    #[error("a category, glossary term or export in the catalogue can't be read")]
    Object(#[source] serde_json::Error),
    #[error(transparent)]
    Text(#[from] DamagedText),
    #[error("the catalogue's downloadable documents can't be read")]
    Downloads(#[source] io::Error),
}

/// The language of most products, according to their exports. One without a language is in English.
fn own_language(exports: &[ExportDocument]) -> &str {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::from([("en", 0)]);
    for ExportDocument { resource, .. } in exports {
        *counts.entry(resource.language.as_ref().map_or("en", Language::as_str)).or_default() +=
            resource.software_count;
    }
    counts.into_iter().max_by_key(|(tag, count)| (*count, *tag == "en")).map_or("en", |(tag, _)| tag)
}

impl Tables {
    /// Whether all ranges lie within an arena of length `end` and download parts of these lengths.
    fn fit(&self, end: u64, downloads: &[u64]) -> bool {
        self.category_objects.iter().all(|span| span.end() <= end)
            && self.glossary.iter().all(|entry| entry.object.end() <= end)
            && self.exports.iter().all(|export| export.object.end() <= end && export.fits(downloads))
    }

    /// Parses the resources from their objects. All ranges must lie within the arena.
    fn read_objects(&mut self, arena: &[u8]) -> Result<(), serde_json::Error> {
        let objects = self.category_objects.iter();
        self.categories = objects.map(|span| serde_json::from_slice(&arena[span.range()])).collect::<Result<_, _>>()?;
        for entry in &mut self.glossary {
            entry.term = serde_json::from_slice(&arena[entry.object.range()])?;
        }
        for export in &mut self.exports {
            export.resource = serde_json::from_slice(&arena[export.object.range()])?;
        }
        Ok(())
    }
}

type Renamed = HashMap<String, Vec<String>>;

fn renamed<'n>(names: impl Iterator<Item = (&'n str, &'n str)>) -> Renamed {
    let mut renamed = Renamed::default();
    for (name, id) in names {
        let former = former_slug(name);
        if former != id {
            renamed.entry(former).or_default().push(id.to_owned());
        }
    }
    renamed
}

/// Categories by the [`identity`] of their ids and names.
type Named = HashMap<String, Vec<u32>>;

/// Ids take precedence over categories' own names, and those over translations.
fn named(categories: &[CategoryResource]) -> Named {
    let mut named = Named::default();
    for (at, category) in (0..).zip(categories) {
        for (_, name) in category.translations.of("name") {
            let same = named.entry(identity(name)).or_default();
            if same.last() != Some(&at) {
                same.push(at);
            }
        }
    }
    named.extend((0..).zip(categories).map(|(at, category)| (identity(&category.name), vec![at])));
    named.extend((0..).zip(categories).map(|(at, category)| (category.id.clone(), vec![at])));
    named
}

impl Catalogue {
    /// Reads a catalogue and its records from their parts.
    pub fn open(tables: &[u8], arena: Bytes, downloads: Vec<Bulk>) -> Result<(Self, Records), CatalogueError> {
        let (records, tables): (RecordTables, Tables) = decode(tables)?;
        let lengths: Vec<u64> =
            downloads.iter().map(Bulk::len).collect::<io::Result<_>>().map_err(CatalogueError::Downloads)?;
        let records = Records::open(records, arena.clone()).ok_or(CatalogueError::Misfit)?;
        let has_categories = records.columns.category_count() <= tables.category_objects.len();
        let has_attributes = [records.columns.attributes.len(), tables.attribute_summaries.len()]
            == [tables.attributes.len(); 2]
            && tables.attributes.len() <= MAX_ATTRIBUTES;
        if !has_categories || !has_attributes || !tables.fit(arena.len() as u64, &lengths) {
            return Err(CatalogueError::Misfit);
        }
        Ok((Self::of_tables(tables, arena, downloads)?, records))
    }

    /// The catalogue with these tables, whose ranges must lie within the arena.
    fn of_tables(mut tables: Tables, arena: Bytes, downloads: Vec<Bulk>) -> Result<Self, CatalogueError> {
        tables.read_objects(&arena).map_err(CatalogueError::Object)?;
        let objects = |spans: &mut dyn Iterator<Item = Span>| {
            let mut hasher = FixedState::default().build_hasher();
            spans.for_each(|span| hasher.write(&arena[span.range()]));
            hasher.finish()
        };
        let categories = objects(&mut tables.category_objects.iter().copied());
        let glossary = objects(&mut tables.glossary.iter().map(|entry| entry.object));
        let collection_hashes = [categories, glossary];
        let categories = tables.categories.iter().map(|category| (&*category.name, &*category.id));
        let terms = tables.glossary.iter().map(|entry| (&*entry.term.term, &*entry.term.id));
        let renamed = [renamed(categories), renamed(terms)];
        let named = named(&tables.categories);
        let damaged = AtomicBool::new(false);
        let terms = tables.glossary.iter().enumerate().map(|(at, entry)| (entry.term.id.clone(), at)).collect();
        let own_language = own_language(&tables.exports).to_owned();
        Ok(Self { tables, arena, downloads, damaged, collection_hashes, renamed, named, terms, own_language })
    }

    pub fn own_language(&self) -> &str {
        &self.own_language
    }

    /// A resource other than a product, as a JSON object.
    pub fn object(&self, span: Span) -> Bytes {
        self.arena.slice(span.range())
    }

    pub const fn categories_hash(&self) -> u64 {
        self.collection_hashes[0]
    }

    pub const fn glossary_hash(&self) -> u64 {
        self.collection_hashes[1]
    }

    /// The current ids of the categories that had this id in an earlier version.
    pub fn renamed_categories(&self, former: &str) -> Vec<String> {
        self.renamed[0].get(former).cloned().unwrap_or_default()
    }

    /// The current ids of the glossary terms that had this id in an earlier version.
    pub fn renamed_terms(&self, former: &str) -> Vec<String> {
        self.renamed[1].get(former).cloned().unwrap_or_default()
    }

    pub fn find_category(&self, id: &str) -> Option<u32> {
        let found = self.named.get(id)?;
        found.iter().copied().find(|at| self.tables.categories[*at as usize].id == id)
    }

    /// The indices of the categories with this id or, if there's none, with this name, own or
    /// translated; case doesn't matter. Several categories may share a translation.
    pub fn categories_named(&self, id_or_name: &str) -> &[u32] {
        self.named.get(&identity(id_or_name)).map_or(&[], Vec::as_slice)
    }

    pub fn category_by_id(&self, id: &str) -> Option<&CategoryResource> {
        self.find_category(id).map(|at| &self.tables.categories[at as usize])
    }

    pub fn alternatives(&self, id: &str) -> Option<&Alternatives> {
        let all = &self.tables.alternatives;
        all.binary_search_by(|of| (*of.id).cmp(id)).ok().map(|at| &all[at])
    }

    pub fn term(&self, id: &str) -> Option<&GlossaryEntry> {
        self.terms.get(id).map(|at| &self.tables.glossary[*at])
    }

    pub fn export(&self, id: &str) -> Option<&ExportDocument> {
        Some(&self.tables.exports[self.find_export(id)? as usize])
    }

    pub fn find_export(&self, id: &str) -> Option<u32> {
        let at = self.tables.exports.binary_search_by(|export| (*export.resource.id).cmp(id));
        at.ok().and_then(|at| u32::try_from(at).ok())
    }

    /// Whether a downloadable document turned out to be damaged on disk. If so, the generation
    /// should be written again.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    fn note_damage(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogueBuildError {
    #[error(transparent)]
    Collation(#[from] CollationError),
    #[error("a record can't be written as JSON")]
    Json(#[from] serde_json::Error),
    #[error("a scratch file in the index folder can't be used")]
    Scratch(#[from] io::Error),
    #[error("a product can't be compressed")]
    Product(#[source] io::Error),
    #[error("an export can't be compressed")]
    Compress(#[source] io::Error),
    #[error("the catalogue's tables can't be encoded")]
    Encode(#[from] postcard::Error),
    #[error("a directory can have at most {} products", MAX_ORDINAL)]
    TooMany,
    #[error("the products have more than {} categories or values of an attribute", u32::MAX)]
    TooManyValues,
}

/// An index into a column's values.
fn index(at: usize) -> Result<u32, CatalogueBuildError> {
    u32::try_from(at).map_err(|_| CatalogueBuildError::TooManyValues)
}

/// How many entries of a list are read between checks of whether to go on.
const AT_ONCE: usize = 4096;

/// A list's entries, for as long as `pays` agrees to read this many more. They're only counted or
/// compared with a filter, so a million take a few milliseconds.
pub fn read_while<T>(entries: &[T], mut pays: impl FnMut(usize) -> bool) -> impl Iterator<Item = &T> {
    entries.chunks(AT_ONCE).take_while(move |some| pays(some.len())).flatten()
}

/// The content of a [`Catalogue`], apart from the exports' documents.
#[derive(Debug, Clone, Default)]
pub struct Contents {
    pub attributes: Attributes,
    /// Indexed by attribute number.
    pub attribute_summaries: Vec<AttributeSummary>,
    pub languages: Languages,
    /// Sorted by name.
    pub categories: Vec<CategoryResource>,
    /// Sorted by term.
    pub glossary: Vec<GlossaryTermResource>,
    /// Sorted by id.
    pub exports: Vec<ExportResource>,
}

impl Merged {
    /// The combined glossary of all exports, sorted by term.
    fn glossary(&self) -> Vec<GlossaryTermResource> {
        let terms = self.exports().flat_map(|of| of.glossary.iter().map(move |term| (term, of.language.as_ref())));
        let mut terms: Vec<_> = terms.collect();
        terms.sort_by_cached_key(|(term, _)| (self.collation.key(&term.term), term.term.clone()));
        let ids = Ids::of(terms.iter().map(|(term, _)| &*term.term));
        let owned = |texts: &[Box<str>]| texts.iter().map(ToString::to_string).collect();
        let resource = |(term, language): (&GlossaryTerm, Option<&Language>)| GlossaryTermResource {
            id: ids.id(&term.term),
            term: term.term.to_string(),
            definition: term.definition.to_string(),
            abbreviations: owned(&term.abbreviations),
            synonyms: owned(&term.synonyms),
            related: owned(&term.related),
            source: term.source.as_ref().map(|source| GlossarySourceResource {
                title: source.title.as_deref().map(str::to_owned),
                url: source.url.as_deref().map(str::to_owned),
            }),
            language: language.cloned(),
            translations: term.translations.clone(),
            untranslated: Vec::new(),
        };
        terms.into_iter().map(resource).collect()
    }

    /// The merged directory's catalogue, given its attributes' summaries.
    pub fn contents(&self, attribute_summaries: Vec<AttributeSummary>) -> Contents {
        Contents {
            attributes: self.attributes.clone(),
            attribute_summaries,
            languages: self.languages.clone(),
            categories: self.categories.clone(),
            glossary: self.glossary(),
            exports: self.exports.iter().map(|merged| merged.resource.clone()).collect(),
        }
    }
}

impl Catalogue {
    /// A catalogue whose exports can't be downloaded.
    pub fn of(contents: Contents) -> Result<Self, CatalogueError> {
        let mut arena = Vec::new();
        let category_objects =
            contents.categories.iter().map(|category| push(&mut arena, category)).collect::<Result<_, _>>()?;
        let glossary =
            contents.glossary.into_iter().map(|term| Ok(GlossaryEntry { object: push(&mut arena, &term)?, term }));
        let glossary = glossary.collect::<Result<_, CatalogueError>>()?;
        let exports = contents.exports.into_iter().map(|export| {
            let object = push(&mut arena, &export)?;
            Ok(ExportDocument { resource: export, object, signature: None, stored: StoredDocument::default() })
        });
        let exports = exports.collect::<Result<_, CatalogueError>>()?;
        let tables = Tables {
            attributes: contents.attributes,
            attribute_summaries: contents.attribute_summaries,
            languages: contents.languages,
            categories: Vec::new(),
            category_objects,
            glossary,
            exports,
            alternatives: Vec::new(),
        };
        Self::of_tables(tables, arena.into(), Vec::new())
    }
}

/// Appends a value to an arena as a JSON object.
fn push(arena: &mut Vec<u8>, value: &impl Serialize) -> Result<Span, CatalogueError> {
    let start = arena.len();
    serde_json::to_writer(&mut *arena, value).map_err(CatalogueError::Object)?;
    Ok(Span { start: start as u64, length: (arena.len() - start) as u64 })
}
