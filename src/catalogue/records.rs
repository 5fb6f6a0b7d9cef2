//! A generation's products and reviews.

use std::io;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::products::fetch;
use super::products::{ProductPlace, ProductSpans, Products, StoredProduct};
use super::{Columns, Ordinal, Reviews};
use crate::record::CalendarDate;
use crate::scratch::{Bulk, Span};

/// What distinguishes one version of a product from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProductVersion {
    pub id: Box<str>,
    /// The product's content hash.
    pub hash: u64,
    pub evidence_checked_on: Option<CalendarDate>,
    pub place: ProductPlace,
}

/// The error for a product whose text can't be decompressed.
#[derive(Debug, thiserror::Error)]
#[error("the text of product {ordinal} is damaged")]
pub struct DamagedText {
    pub(super) ordinal: Ordinal,
    pub(super) source: io::Error,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub detail_hash: u64,
    /// The product's detail as a response body, `{"data":{…}}`.
    pub body: Bytes,
}

/// The size in bytes of a product's detail that takes a tenth of a millisecond to decompress.
const LARGE_BYTES: usize = 128 * 1024;

/// A generation's products and their reviews.
#[derive(Debug)]
pub struct Records {
    pub columns: Columns,
    pub reviews: Reviews,
    products: Products,
    arena: Bytes,
}

/// The stored tables of the records.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordTables {
    pub(super) products: ProductSpans,
    pub(super) columns: Columns,
    pub(super) reviews: Reviews,
}

impl Records {
    /// Opens records whose text is in an arena; `None` if the tables don't match the arena.
    pub(super) fn open(tables: RecordTables, arena: Bytes) -> Option<Self> {
        let RecordTables { products, mut columns, reviews } = tables;
        let products = Products::open(products, arena.clone())?;
        let end = arena.len() as u64;
        if columns.len() != products.len() || !reviews.fit(products.len(), end) {
            return None;
        }
        columns.profile();
        Some(Self { columns, reviews, products, arena })
    }

    pub fn len(&self) -> usize {
        self.products.len()
    }

    pub fn find(&self, id: &str) -> Option<Ordinal> {
        self.products.find(id)
    }

    /// The product with this id, as a response body.
    pub fn get(&self, id: &str) -> Result<Option<Record>, DamagedText> {
        let record = |ordinal| {
            let body = self.products.body(ordinal).map_err(|source| DamagedText { ordinal, source })?;
            Ok(Record { detail_hash: self.detail_hash(ordinal), body: body.into() })
        };
        self.find(id).map(record).transpose()
    }

    /// Whether a product is so large that reading it takes a while.
    pub fn is_large(&self, id: &str) -> bool {
        self.find(id).is_some_and(|ordinal| self.len_of(ordinal) > LARGE_BYTES)
    }

    /// A hash of a product's content, excluding its export's name, licence and date.
    pub fn content_hash(&self, ordinal: Ordinal) -> u64 {
        self.products.content_hash(ordinal)
    }

    /// A hash of a product's details, including its export's name, licence and date.
    pub fn detail_hash(&self, ordinal: Ordinal) -> u64 {
        self.products.detail_hash(ordinal)
    }

    /// The ids of all products, in ordinal order.
    pub fn ids(&self) -> impl Iterator<Item = String> + '_ {
        self.products.ids()
    }

    /// The versions of all products, sorted by id.
    pub fn versions(&self) -> Vec<ProductVersion> {
        let version = |(ordinal, id): (Ordinal, String)| ProductVersion {
            id: id.into(),
            hash: self.content_hash(ordinal),
            evidence_checked_on: self.columns.evidence_checked_on[ordinal as usize],
            place: self.products.place(ordinal),
        };
        let mut versions: Vec<_> = (0..).zip(self.ids()).map(version).collect();
        versions.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        versions
    }

    /// The text, and where its compression dictionary is.
    pub fn texts(&self) -> (Bulk, Span) {
        (Bulk::Memory(self.arena.clone()), self.products.dictionary())
    }

    pub fn len_of(&self, ordinal: Ordinal) -> usize {
        self.products.len_of(ordinal)
    }

    /// A product, ready to be parsed.
    pub fn stored(&self, ordinal: Ordinal) -> Result<StoredProduct, DamagedText> {
        self.products.stored(ordinal).map_err(|source| DamagedText { ordinal, source })
    }

    /// Products as shown in lists, in the given order.
    pub fn items(&self, ordinals: impl Iterator<Item = Ordinal> + Clone) -> impl Iterator<Item = Bytes> {
        fetch(ordinals.clone().map(|ordinal| self.products.item(ordinal)));
        ordinals.map(|ordinal| self.arena.slice_ref(self.products.item(ordinal)))
    }

    /// Whether a product's item has only part of its text or categories.
    pub fn is_shortened(&self, ordinal: Ordinal) -> bool {
        self.products.is_shortened(ordinal)
    }

    /// Appends the members that a product's item doesn't have, as a JSON object. If the item is
    /// shortened, these are all of the product's members.
    pub fn append_detail(&self, ordinal: Ordinal, buffer: &mut Vec<u8>) -> Result<(), DamagedText> {
        self.products.append_detail(ordinal, buffer).map_err(|source| DamagedText { ordinal, source })
    }

    pub fn prefetch(&self, ordinals: impl Iterator<Item = Ordinal>) {
        self.products.prefetch(ordinals);
    }

    /// A review as a JSON object.
    pub fn object(&self, span: Span) -> Bytes {
        self.arena.slice(span.range())
    }
}
