//! The records of one generation, laid out for serving: every answer's JSON written once, and integer columns to filter
//! and sort by. A product is known by its *ordinal*, its place in the order of quality.
//!
//! Made once per generation by [`Draft`]; nothing here knows an index or HTTP, and of files only that the documents for
//! download may be in one ([`Bulk`]).

mod arena;
mod bulk;
mod collate;
mod columns;
mod documents;
mod draft;
mod exports;
mod filter;
mod glossary;
mod ids;
mod members;
mod object;
mod packing;
mod quality;
mod reviews;

pub use arena::{Arena, Span, fetch};
pub use bulk::Bulk;
pub use collate::Collation;
pub use columns::{Columns, Order, STARS, SortedOrder};
pub use documents::{Documents, DocumentsWriter, Place};
pub use draft::{Draft, DraftError, Prepared};
pub use exports::{ExportDocument, StoredExport};
pub use filter::{Admission, Filter};
pub use glossary::GlossaryEntry;
pub use members::{Member, Members};
pub use object::OpenObject;
pub use packing::{Packer, Pieces, Unpacker};
pub use reviews::{Reviews, ReviewsOf};

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use self::documents::Texts;
use self::ids::Ids;
use crate::resource::CategoryResource;

/// Bytes that are enough for all the texts of most products, and for what most items have of their own.
const MOST_DETAILS: usize = 512;
const MOST_ITEMS: usize = 192;

/// A product's place in the order of quality, from 0: the best is first. Stable within a generation only.
pub type Ordinal = u32;

/// The records of one generation, ready to serve.
#[derive(Debug)]
pub struct Catalogue {
    /// Everything but the texts.
    pub tables: Tables,
    ids: Ids,
    /// The texts that [`Tables`] points into.
    arena: Bytes,
    unpacker: Unpacker,
    /// The exports as they were validated, compressed.
    downloads: Bulk,
    /// Whether one of them turned out to be damaged.
    damaged: AtomicBool,
}

/// Everything of a catalogue that is decoded when a generation is opened.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tables {
    /// Where each product's answer lies.
    pub documents: Documents,
    /// What unpacks the parts of it that are packed.
    pub pieces: Pieces,
    /// What products are filtered and sorted by.
    pub columns: Arc<Columns>,
    /// The categories, by name.
    pub categories: Vec<CategoryResource>,
    /// The same, each as a JSON object.
    pub category_objects: Vec<Span>,
    /// The reviews.
    pub reviews: Reviews,
    /// The glossary, by term.
    pub glossary: Vec<GlossaryEntry>,
    /// The exports, by id.
    pub exports: Vec<ExportDocument>,
}

/// Why a catalogue can't be read back.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The tables don't decode.
    #[error("the catalogue's tables can't be decoded")]
    Tables(#[from] postcard::Error),
    /// A span points outside the texts.
    #[error("the catalogue's tables don't fit its texts")]
    Misfit,
    /// The documents for download can't be read.
    #[error("the catalogue's documents for download can't be read")]
    Downloads(#[source] std::io::Error),
}

impl Tables {
    /// Whether they make sense beside so many bytes of texts and of documents for download. The products' own texts are for
    /// whoever reads them to tell.
    fn fit(&self, end: u64, downloads_end: u64) -> bool {
        self.documents.fit(end, self.exports.len())
            && self.columns.len() == self.documents.len()
            && self.category_objects.len() == self.categories.len()
            && self.category_objects.iter().all(|span| span.end() <= end)
            && self.reviews.spans().all(|span| span.end() <= end)
            && self.glossary.iter().all(|entry| entry.object.end() <= end)
            && self.exports.iter().all(|export| export.end() <= end && export.download_end() <= downloads_end)
    }
}

impl Catalogue {
    /// Reads a catalogue back from its three parts.
    ///
    /// # Errors
    /// Where a part is damaged or they don't belong together.
    pub fn open(tables: &[u8], arena: Bytes, downloads: Bulk) -> Result<Self, CatalogueError> {
        let mut tables: Tables = postcard::from_bytes(tables)?;
        let downloads_end = downloads.len().map_err(CatalogueError::Downloads)?;
        if !tables.fit(arena.len() as u64, downloads_end) {
            return Err(CatalogueError::Misfit);
        }
        let ids = Ids::new(tables.documents.heads(&arena)).ok_or(CatalogueError::Misfit)?;
        let unpacker = Unpacker::new(&tables.pieces).ok_or(CatalogueError::Misfit)?;
        if let Some(columns) = Arc::get_mut(&mut tables.columns) {
            columns.profile();
        }
        Ok(Self { tables, ids, arena, unpacker, downloads, damaged: AtomicBool::new(false) })
    }

    /// How many products there are.
    #[must_use]
    pub fn software_count(&self) -> usize {
        self.tables.documents.len()
    }

    /// The place of the product with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Place> {
        self.ids.find(id, |place| {
            // All that most products have is on its way while the id is compared.
            fetch(std::iter::once(place.beginning(&self.arena, MOST_DETAILS)));
            Some(self.texts(place).head)
        })
    }

    /// The product with this id.
    #[must_use]
    pub fn ordinal(&self, id: &str) -> Option<Ordinal> {
        self.find(id).and_then(|place| self.tables.documents.ordinal(place))
    }

    /// Where a product is.
    #[must_use]
    pub fn place(&self, ordinal: Ordinal) -> Place {
        self.tables.documents.place(ordinal)
    }

    /// The ids of all products, in the order of ordinals.
    pub fn ids(&self) -> impl Iterator<Item = String> + '_ {
        // Each was written when the items were; the table was made of them.
        self.tables.documents.places().filter_map(|place| ids::of(self.texts(place).head))
    }

    /// A product as a whole answer, `{"data":{…}}`: unpacked and put together, about what copying it costs.
    #[must_use]
    pub fn detail(&self, place: Place) -> Bytes {
        let texts = self.texts(place);
        let tail = self.text(self.tables.exports[self.tables.documents.export(texts)].tail);
        let [head, middle, website, ending] = self.tables.documents.item(texts, &self.arena).pieces();
        let more = self.unpacker.unpack(texts.packed);
        Bytes::from([documents::OPENING, head, middle, website, ending, &more, tail].concat())
    }

    /// A product's members, to read some of them.
    #[must_use]
    pub fn members(&self, ordinal: Ordinal) -> Members<'_> {
        let texts = self.texts(self.place(ordinal));
        Members {
            item: self.tables.documents.item(texts, &self.arena),
            packed: texts.packed,
            unpacker: &self.unpacker,
            more: OnceCell::new(),
        }
    }

    /// Brings what products show, each alone, into the processor's cache.
    pub fn fetch(&self, ordinals: impl Iterator<Item = Ordinal>) {
        fetch(ordinals.map(|ordinal| self.place(ordinal).beginning(&self.arena, MOST_DETAILS)));
    }

    /// Some products as lists show them, in the order given.
    pub fn items(&self, ordinals: impl Iterator<Item = Ordinal> + Clone) -> impl Iterator<Item = OpenObject<'_>> {
        fetch(ordinals.clone().map(|ordinal| self.place(ordinal).beginning(&self.arena, MOST_ITEMS)));
        ordinals.map(|ordinal| self.tables.documents.item(self.texts(self.place(ordinal)), &self.arena))
    }

    /// What is at a place: each was read when the generation was opened.
    fn texts(&self, place: Place) -> Texts<'_> {
        Texts::read(place.beginning(&self.arena, self.arena.len())).unwrap_or_default()
    }

    /// A resource other than a product.
    #[must_use]
    pub fn object(&self, span: Span) -> OpenObject<'_> {
        OpenObject::of([self.text(span), b"", b"", b""])
    }

    /// The text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &[u8] {
        &self.arena[span.range()]
    }

    /// Whether a document for download turned out to be damaged on disk, so that the generation should be written again.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    fn note_damage(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }
}
