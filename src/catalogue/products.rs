//! A generation's products and reviews. Each product's JSON consists of its item, as shown in lists,
//! and its compressed details.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::BuildHasher as _;
use std::io::{self, Cursor};

use bytes::Bytes;
use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use zstd::bulk;
use zstd::dict::DecoderDictionary;
use zstd::zstd_safe::{CParameter, DCtx, get_error_name, get_frame_content_size};

use super::product_json::{ProductJson, hash as hash_text, members};
use super::resource::{DetailFields, RatingSource, SoftwareDetail};
use super::{CatalogueBuildError, Columns, Ordinal, Reviews};
use crate::record::{CalendarDate, JsonMembers};
use crate::scratch::{Bulk, BulkWriter, Span};

/// The beginning and end of the response body for a product's details.
const OPENING: &[u8] = br#"{"data":{"#;
const CLOSING: &[u8] = b"}}";

/// How every item begins.
const ID: &[u8] = br#"{"id":"#;

/// The ranges of the products' JSON in an arena, contiguous and in ordinal order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProductSpans {
    /// The start of each product's item, plus the end of the last product.
    starts: Vec<u64>,
    /// The length of each item in bytes. The details, which are the members of an object without its
    /// braces, follow their item.
    item_lengths: Vec<u32>,
    /// The products whose item is shortened, in order. Their details have all of the product's
    /// members.
    shortened: Vec<Ordinal>,
    content_hashes: Vec<u64>,
    detail_hashes: Vec<u64>,
    dictionary: Span,
}

impl ProductSpans {
    fn len(&self) -> usize {
        self.item_lengths.len()
    }

    /// The ranges of a product's item and details.
    fn of(&self, ordinal: Ordinal) -> [Span; 2] {
        let at = ordinal as usize;
        let (start, end, item) = (self.starts[at], self.starts[at + 1], u64::from(self.item_lengths[at]));
        let fields = start.saturating_add(item);
        [Span { start, length: item }, Span { start: fields, length: end.saturating_sub(fields) }]
    }

    fn place(&self, at: usize) -> ProductPlace {
        let (start, item_length) = (self.starts[at], self.item_lengths[at]);
        let length = self.starts[at + 1].saturating_sub(start);
        let is_shortened = u32::try_from(at).is_ok_and(|ordinal| self.shortened.binary_search(&ordinal).is_ok());
        ProductPlace {
            start,
            item_length,
            // A record is smaller than its file, which is less than 4 GiB.
            detail_length: u32::try_from(length).unwrap_or(u32::MAX).saturating_sub(item_length),
            is_shortened,
            detail_hash: self.detail_hashes[at],
        }
    }

    /// Whether all ranges lie within an arena of this length.
    fn fit(&self, end: u64) -> bool {
        let fits = |ordinal: Ordinal| {
            let (next, [_, fields]) = (self.starts[ordinal as usize + 1], self.of(ordinal));
            fields.start <= next && next <= end
        };
        self.starts.len() == self.len() + 1
            && self.content_hashes.len() == self.len()
            && self.detail_hashes.len() == self.len()
            && self.dictionary.end() <= end
            && (0..).take(self.len()).all(fits)
    }
}

/// Hashes an id's JSON literal.
fn hash(id: &str) -> u64 {
    FixedState::default().hash_one(id)
}

pub(super) struct ProductWriter {
    spans: ProductSpans,
    compressor: Compressor,
}

impl ProductWriter {
    /// Creates a writer that appends to an arena, given a sample of details.
    pub(super) fn new(arena: &mut BulkWriter, sample: &[Vec<u8>]) -> Result<Self, CatalogueBuildError> {
        let compressor = Compressor::train(sample).map_err(CatalogueBuildError::Product)?;
        let dictionary = arena.push(compressor.dictionary())?;
        let spans = ProductSpans {
            starts: vec![arena.len()],
            item_lengths: Vec::new(),
            shortened: Vec::new(),
            content_hashes: Vec::new(),
            detail_hashes: Vec::new(),
            dictionary,
        };
        Ok(Self { spans, compressor })
    }

    pub(super) fn push(
        &mut self,
        arena: &mut BulkWriter,
        json: &ProductJson,
    ) -> Result<ProductPlace, CatalogueBuildError> {
        let ProductJson { item, detail, is_shortened, content_hash } = json;
        if *is_shortened {
            self.spans.shortened.push(u32::try_from(self.spans.len()).map_err(|_| CatalogueBuildError::TooMany)?);
        }
        self.spans.detail_hashes.push(json.detail_hash());
        self.spans.content_hashes.push(*content_hash);
        let length = u32::try_from(item.len()).map_err(io::Error::other).map_err(CatalogueBuildError::Product)?;
        self.spans.item_lengths.push(length);
        let detail = self.compressor.compress(members(detail)).map_err(CatalogueBuildError::Product)?;
        arena.push(item)?;
        arena.push(&detail)?;
        self.spans.starts.push(arena.len());
        Ok(self.spans.place(self.spans.len() - 1))
    }

    pub(super) const fn dictionary(&self) -> Span {
        self.spans.dictionary
    }

    /// Returns the ranges of what was written.
    pub(super) fn finish(self) -> ProductSpans {
        self.spans
    }
}

/// Where a product's JSON is in its generation's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProductPlace {
    start: u64,
    item_length: u32,
    /// The length of its compressed details in bytes.
    detail_length: u32,
    is_shortened: bool,
    detail_hash: u64,
}

/// Reads the JSON of single products from a generation's text, without opening the generation.
#[derive(Debug)]
pub struct ProductReader {
    texts: Bulk,
    dictionary: Dictionary,
}

impl ProductReader {
    /// A reader for a text that has its compression dictionary at `dictionary`.
    pub fn new(texts: Bulk, dictionary: Span) -> io::Result<Self> {
        Ok(Self { dictionary: Dictionary::new(&texts.read(dictionary)?)?, texts })
    }

    /// Reads a product; an error if it's damaged.
    pub fn read(&self, place: ProductPlace) -> io::Result<StoredProduct> {
        let item_length = u64::from(place.item_length);
        let length = item_length + u64::from(place.detail_length);
        let mut item = self.texts.read(Span { start: place.start, length })?;
        let compressed = item.split_off(place.item_length as usize);
        let mut detail = vec![b'{'];
        self.dictionary.decompress(&compressed, &mut detail)?;
        detail.push(b'}');
        let is_whole = hash_text(&[&item, &detail]) == place.detail_hash;
        is_whole
            .then_some(StoredProduct { item, detail, is_shortened: place.is_shortened })
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

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
    ordinal: Ordinal,
    source: io::Error,
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
    spans: ProductSpans,
    arena: Bytes,
    /// Ordinals by the hash of the id's JSON literal. The ids themselves are in the items.
    ids: HashTable<Ordinal>,
    dictionary: Dictionary,
}

/// The stored tables of the records.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordTables {
    pub(super) products: ProductSpans,
    pub(super) columns: Columns,
    pub(super) reviews: Reviews,
}

impl Records {
    /// Opens records whose text is in an arena. `None` if the tables don't match the arena or each
    /// other, an item doesn't start with a unique id, or the dictionary is damaged.
    pub(super) fn open(tables: RecordTables, arena: Bytes) -> Option<Self> {
        let RecordTables { products: spans, mut columns, reviews } = tables;
        let end = arena.len() as u64;
        if !spans.fit(end) || columns.len() != spans.len() || !reviews.fit(spans.len(), end) {
            return None;
        }
        columns.profile();
        let dictionary = Dictionary::new(&arena[spans.dictionary.range()]).ok()?;
        let mut records = Self { columns, reviews, spans, arena, ids: HashTable::new(), dictionary };
        records.ids = records.hash_ids()?;
        Some(records)
    }

    fn hash_ids(&self) -> Option<HashTable<Ordinal>> {
        let mut ids = HashTable::with_capacity(self.len());
        for ordinal in (0..).take(self.len()) {
            let id = self.id(ordinal)?;
            let is_same = |other: &Ordinal| self.has_id(*other, id);
            match ids.entry(hash(id), is_same, |other| self.id(*other).map_or(0, hash)) {
                Entry::Vacant(entry) => entry.insert(ordinal),
                Entry::Occupied(_) => return None,
            };
        }
        Some(ids)
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// A product's id as a JSON literal. `None` if the item doesn't start with one.
    fn id(&self, ordinal: Ordinal) -> Option<&str> {
        let mut json = serde_json::Deserializer::from_slice(self.item(ordinal).strip_prefix(ID)?);
        <&RawValue>::deserialize(&mut json).ok().map(RawValue::get)
    }

    /// Whether a product's id is this JSON literal.
    fn has_id(&self, ordinal: Ordinal, literal: &str) -> bool {
        self.item(ordinal)[ID.len()..].starts_with(literal.as_bytes())
    }

    pub fn find(&self, id: &str) -> Option<Ordinal> {
        let literal = serde_json::to_string(id).ok()?;
        self.ids.find(hash(&literal), |ordinal| self.has_id(*ordinal, &literal)).copied()
    }

    /// The product with this id, as a response body.
    pub fn get(&self, id: &str) -> Result<Option<Record>, DamagedText> {
        let record = |ordinal| {
            let body = self.body(ordinal).map_err(|source| DamagedText { ordinal, source })?;
            Ok(Record { detail_hash: self.detail_hash(ordinal), body: body.into() })
        };
        self.find(id).map(record).transpose()
    }

    /// Whether a product is so large that reading it takes a while.
    pub fn is_large(&self, id: &str) -> bool {
        self.find(id).is_some_and(|ordinal| self.len_of(ordinal) > LARGE_BYTES)
    }

    /// The ids of all products, in ordinal order.
    pub fn ids(&self) -> impl Iterator<Item = String> + '_ {
        (0..).take(self.len()).filter_map(|ordinal| serde_json::from_str(self.id(ordinal)?).ok())
    }

    /// The versions of all products, sorted by id.
    pub fn versions(&self) -> Vec<ProductVersion> {
        let version = |(at, id): (usize, String)| ProductVersion {
            id: id.into(),
            hash: self.spans.content_hashes[at],
            evidence_checked_on: self.columns.evidence_checked_on[at],
            place: self.spans.place(at),
        };
        let mut versions: Vec<_> = self.ids().enumerate().map(version).collect();
        versions.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        versions
    }

    /// A hash of a product's content, excluding its export's name, licence and date.
    pub fn content_hash(&self, ordinal: Ordinal) -> u64 {
        self.spans.content_hashes[ordinal as usize]
    }

    /// A hash of a product's details, including its export's name, licence and date.
    pub fn detail_hash(&self, ordinal: Ordinal) -> u64 {
        self.spans.detail_hashes[ordinal as usize]
    }

    /// The text, and where its compression dictionary is.
    pub fn texts(&self) -> (Bulk, Span) {
        (Bulk::Memory(self.arena.clone()), self.spans.dictionary)
    }

    fn item(&self, ordinal: Ordinal) -> &[u8] {
        let [item, _] = self.spans.of(ordinal);
        &self.arena[item.range()]
    }

    /// Products as shown in lists, in the given order.
    pub fn items(&self, ordinals: impl Iterator<Item = Ordinal> + Clone) -> impl Iterator<Item = Bytes> {
        fetch(ordinals.clone().map(|ordinal| self.item(ordinal)));
        ordinals.map(|ordinal| self.arena.slice_ref(self.item(ordinal)))
    }

    /// Prefetches everything stored for these products.
    pub fn prefetch(&self, ordinals: impl Iterator<Item = Ordinal>) {
        fetch(ordinals.map(|ordinal| {
            let [item, detail] = self.spans.of(ordinal);
            &self.arena[Span { start: item.start, length: item.length + detail.length }.range()]
        }));
    }

    /// Whether a product's item has only part of its text or categories.
    pub fn is_shortened(&self, ordinal: Ordinal) -> bool {
        self.spans.shortened.binary_search(&ordinal).is_ok()
    }

    /// Appends the members of a product's details, without braces.
    fn append_members(&self, ordinal: Ordinal, out: &mut Vec<u8>) -> io::Result<()> {
        let [_, detail] = self.spans.of(ordinal);
        self.dictionary.decompress(&self.arena[detail.range()], out)
    }

    /// Appends the members that a product's item doesn't have, as a JSON object. If the item is
    /// shortened, these are all of the product's members.
    pub fn append_detail(&self, ordinal: Ordinal, out: &mut Vec<u8>) -> Result<(), DamagedText> {
        out.push(b'{');
        self.append_members(ordinal, out).map_err(|source| DamagedText { ordinal, source })?;
        out.push(b'}');
        Ok(())
    }

    /// The total length of a product's item and details, in bytes.
    pub fn len_of(&self, ordinal: Ordinal) -> usize {
        let [item, detail] = self.spans.of(ordinal).map(|span| &self.arena[span.range()]);
        item.len() + text_len(detail).unwrap_or_default()
    }

    /// A product, ready to be parsed.
    pub fn stored(&self, ordinal: Ordinal) -> Result<StoredProduct, DamagedText> {
        let item = self.arena.slice_ref(self.item(ordinal));
        let mut detail = Vec::with_capacity(self.len_of(ordinal));
        self.append_detail(ordinal, &mut detail)?;
        Ok(StoredProduct { item, detail, is_shortened: self.is_shortened(ordinal) })
    }

    fn body(&self, ordinal: Ordinal) -> io::Result<Vec<u8>> {
        self.prefetch(std::iter::once(ordinal));
        let [item, detail] = self.spans.of(ordinal).map(|span| &self.arena[span.range()]);
        let length = text_len(detail).ok_or(io::ErrorKind::InvalidData)?;
        let mut body = Vec::new();
        body.try_reserve_exact(OPENING.len() + item.len() + length + CLOSING.len())?;
        body.extend_from_slice(OPENING);
        if !self.is_shortened(ordinal) {
            body.extend_from_slice(members(item));
            body.push(b',');
        }
        self.append_members(ordinal, &mut body)?;
        body.extend_from_slice(CLOSING);
        Ok(body)
    }

    /// A review as a JSON object.
    pub fn object(&self, span: Span) -> Bytes {
        self.arena.slice(span.range())
    }
}

/// A product's JSON, which [`StoredProduct::read`] parses.
#[derive(Debug)]
pub struct StoredProduct {
    item: Bytes,
    detail: Vec<u8>,
    is_shortened: bool,
}

impl StoredProduct {
    pub const fn size_bytes(&self) -> usize {
        self.item.len() + self.detail.len()
    }

    /// The properties as the export's record has them. A main category is among the categories, and
    /// a rating that's computed from reviews isn't a property. `export` contains the export's id.
    pub fn properties(&self) -> Result<JsonMembers<'_>, serde_json::Error> {
        let detail = self.read()?;
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_slice(&self.detail)?;
        if !self.is_shortened {
            members.append(&mut serde_json::from_slice(&self.item)?);
        }
        let is_computed = detail.detail.rating_source == Some(RatingSource::Reviews);
        for derived in ["category", "language", "untranslated", "rating_source", "same_as", "additional_properties"] {
            members.remove(derived);
        }
        if is_computed {
            members.remove("rating");
            members.remove("review_count");
        }
        members.retain(|_, value| !matches!(value.get(), "null" | "[]"));
        if let Some(website) = members.remove("website") {
            members.insert("url".to_owned(), website);
        }
        let mut properties: JsonMembers<'_> =
            members.into_iter().map(|(name, value)| (name.into(), Cow::Borrowed(value))).collect();
        let SoftwareDetail { item, detail } = detail;
        let categories: Vec<_> = item.categories.iter().map(|category| &category.name).collect();
        let sources: Vec<_> = detail.sources.iter().map(|source| [&source.label, &source.url]).collect();
        if !categories.is_empty() {
            properties.insert("categories".into(), Cow::Owned(to_raw_value(&categories)?));
        }
        if !sources.is_empty() {
            properties.insert("sources".into(), Cow::Owned(to_raw_value(&sources)?));
        }
        properties.insert("export".into(), Cow::Owned(to_raw_value(&detail.export.id)?));
        properties.extend(detail.additional_properties.0.into_iter().map(|(name, value)| (name, Cow::Borrowed(value))));
        Ok(properties)
    }

    pub fn read(&self) -> Result<SoftwareDetail<'_>, serde_json::Error> {
        SoftwareDetail::read(if self.is_shortened { &self.detail } else { &self.item }, &self.detail)
    }

    /// Reads only the fields that aren't in lists.
    pub fn detail(&self) -> Result<DetailFields<'_>, serde_json::Error> {
        serde_json::from_slice(&self.detail)
    }
}

/// Prefetches slices into the CPU cache. They're far apart in memory, but waiting for all of them
/// at once barely takes longer than waiting for one.
pub fn fetch<'t>(texts: impl Iterator<Item = &'t [u8]>) {
    /// The size of a cache line, in bytes.
    const LINE: usize = 64;
    let read = texts.fold(0, |read, text| text.iter().step_by(LINE).fold(read, |read, byte| read ^ byte));
    std::hint::black_box(read);
}

/// The dictionary size in bytes, which is the zstd tool's default.
const DICTIONARY_BYTES: usize = 110 * 1024;

/// The maximum number of bytes that one byte of a frame can decode to: a 128 KiB block that repeats
/// a single byte takes up four bytes (RFC 8878, section 3.1.1.2).
const MAX_EXPANSION: usize = 32 * 1024;

pub(super) struct Compressor {
    compressor: bulk::Compressor<'static>,
    dictionary: Vec<u8>,
}

impl Compressor {
    /// Trains the dictionary on a sample. If the sample is too small, the dictionary is left empty.
    pub(super) fn train(sample: &[Vec<u8>]) -> io::Result<Self> {
        let dictionary = zstd::dict::from_samples(sample, DICTIONARY_BYTES).unwrap_or_default();
        let mut compressor = bulk::Compressor::with_dictionary(zstd::DEFAULT_COMPRESSION_LEVEL, &dictionary)?;
        // There's only one dictionary, and storing its id would waste four bytes per string.
        compressor.set_parameter(CParameter::DictIdFlag(false))?;
        Ok(Self { compressor, dictionary })
    }

    /// Compresses a string into a zstd frame whose header contains the string's length.
    pub(super) fn compress(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        self.compressor.compress(text)
    }

    pub(super) fn dictionary(&self) -> &[u8] {
        &self.dictionary
    }
}

pub(super) struct Dictionary(DecoderDictionary<'static>);

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").finish_non_exhaustive()
    }
}

impl Dictionary {
    pub(super) fn new(bytes: &[u8]) -> io::Result<Self> {
        DecoderDictionary::try_copy(bytes).map(Self)
    }

    /// Decompresses a frame and appends the result to `out`.
    pub(super) fn decompress(&self, frame: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        thread_local! {
            static CONTEXT: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
        }
        let start = out.len();
        out.try_reserve(text_len(frame).ok_or(io::ErrorKind::InvalidData)?)?;
        let mut rest = Cursor::new(out);
        rest.set_position(start as u64);
        let decompress = |context: &RefCell<DCtx<'static>>| {
            context.borrow_mut().decompress_using_ddict(&mut rest, frame, self.0.as_ddict())
        };
        match CONTEXT.with(decompress) {
            Ok(_) => Ok(()),
            Err(code) => Err(io::Error::new(io::ErrorKind::InvalidData, get_error_name(code))),
        }
    }
}

/// The uncompressed length in a frame's header; `None` if the frame is too short to contain that
/// much text.
pub(super) fn text_len(frame: &[u8]) -> Option<usize> {
    let length = get_frame_content_size(frame).ok().flatten()?.try_into().ok()?;
    (length <= frame.len().saturating_mul(MAX_EXPANSION)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::SortedOrder;
    use crate::record::{EvidenceStatus, OfferingType};
    use crate::scratch::Scratch;

    const IDS: [&str; 7] = ["b", "a", "", "\"", "ü😀", "a b", "a\\\n"];

    fn item(id: &str) -> String {
        serde_json::json!({"id": id, "name": "a"}).to_string()
    }

    fn json(item: &str, detail: &str) -> ProductJson {
        ProductJson {
            item: item.into(),
            detail: detail.into(),
            is_shortened: detail.starts_with(r#"{"id""#),
            content_hash: 0,
        }
    }

    fn written(ids: &[&str]) -> (ProductSpans, Vec<u8>) {
        let mut arena = Scratch::in_memory().bulk();
        arena.push(b"before").expect("in memory");
        let mut writer = ProductWriter::new(&mut arena, &[]).expect("a writer");
        for (number, id) in ids.iter().enumerate() {
            let detail = format!(r#"{{"tags":["{number}"]}}"#);
            writer.push(&mut arena, &json(&item(id), &detail)).expect("written");
        }
        (writer.finish(), arena.finish().and_then(|arena| arena.read_all()).expect("in memory").to_vec())
    }

    fn open(spans: ProductSpans, arena: impl Into<Bytes>) -> Option<Records> {
        let count = spans.len();
        let columns = Columns {
            category_bounds: vec![0; count + 1],
            exports: vec![0; count],
            offering_type: vec![OfferingType::Software; count],
            evidence_status: vec![EvidenceStatus::PendingReview; count],
            evidence_checked_on: vec![None; count],
            rating: vec![None; count],
            orders: std::array::from_fn(|_| SortedOrder::of_ranks((0..).take(count).collect())),
            ..Columns::default()
        };
        Records::open(RecordTables { products: spans, columns, reviews: Reviews::default() }, arena.into())
    }

    #[test]
    fn each_id_finds_its_product_and_other_ids_find_nothing() {
        let (spans, arena) = written(&IDS);
        let products = open(spans, arena).expect("intact");
        for (ordinal, id) in (0..).zip(IDS) {
            assert_eq!(products.find(id), Some(ordinal), "{id:?}");
            assert_eq!(products.item(ordinal), item(id).as_bytes());
            let mut detail = b"before ".to_vec();
            products.append_detail(ordinal, &mut detail).expect("intact");
            assert_eq!(detail, format!(r#"before {{"tags":["{ordinal}"]}}"#).as_bytes());
            let mut whole = serde_json::from_str::<serde_json::Value>(&item(id)).expect("JSON");
            whole["tags"] = serde_json::json!([ordinal.to_string()]);
            let body = serde_json::json!({"data": whole}).to_string();
            assert_eq!(String::from_utf8(products.body(ordinal).expect("intact")).expect("text"), body);
        }
        assert_eq!(["A", "a ", "c", "ü", "a\",\"name"].map(|id| products.find(id)), [None; 5]);
        assert_eq!(products.ids().collect::<Vec<_>>(), IDS);
    }

    #[test]
    fn the_details_of_a_shortened_item_have_all_members() {
        let mut arena = Scratch::in_memory().bulk();
        let mut writer = ProductWriter::new(&mut arena, &[]).expect("a writer");
        let whole = r#"{"id":"b","name":"long","tags":[]}"#;
        writer.push(&mut arena, &json(&item("a"), r#"{"tags":[]}"#)).expect("written");
        writer.push(&mut arena, &json(r#"{"id":"b","name":"l…"}"#, whole)).expect("written");
        let arena = arena.finish().and_then(|arena| arena.read_all()).expect("in memory");
        let products = open(writer.finish(), arena).expect("intact");
        let bodies = [0, 1].map(|ordinal| String::from_utf8(products.body(ordinal).expect("intact")).expect("text"));
        assert_eq!(
            bodies,
            [r#"{"data":{"id":"a","name":"a","tags":[]}}"#.to_owned(), format!(r#"{{"data":{whole}}}"#)]
        );
    }

    #[test]
    fn an_empty_directory_has_no_products() {
        let (spans, arena) = written(&[]);
        let products = open(spans, arena).expect("intact");
        assert_eq!((products.len(), products.find(""), products.ids().count()), (0, None, 0));
    }

    #[test]
    fn two_products_with_the_same_id_are_rejected() {
        let (spans, arena) = written(&["a", "b", "a"]);
        assert!(open(spans, arena).is_none());
    }

    #[test]
    fn mismatched_spans_and_items_are_rejected() {
        let wrong: [fn(&mut ProductSpans, &mut Vec<u8>); 8] = [
            |spans, _| spans.starts[1] = u64::MAX,
            |spans, _| spans.starts[2] = 0,
            |spans, _| spans.starts[0] += 1,
            |spans, _| spans.starts.truncate(2),
            |spans, _| spans.item_lengths[0] = u32::MAX,
            |spans, _| spans.item_lengths[0] = 0,
            |spans, _| spans.dictionary.length = u64::MAX,
            |spans, arena| arena[usize::try_from(spans.starts[1]).expect("an index") + ID.len()] = b'a',
        ];
        for (number, wrong) in wrong.into_iter().enumerate() {
            let (mut spans, mut arena) = written(&["a", "b", "c"]);
            wrong(&mut spans, &mut arena);
            assert!(open(spans, arena).is_none(), "{number}");
        }
    }

    #[test]
    fn damaged_details_are_an_error() {
        let (spans, mut arena) = written(&["a"]);
        let [_, detail] = spans.of(0);
        // The frame's header is intact. Its only block claims to be longer than it is.
        arena[usize::try_from(detail.start).expect("an index") + 6] ^= 0x80;
        open(spans, arena).expect("fits").body(0).expect_err("damaged");
    }

    fn texts() -> Vec<Vec<u8>> {
        (0..1000).map(|n| format!(r#","description":"product {n}","tags":["tag-{}"]}}"#, n % 7).into()).collect()
    }

    fn decompressed(dictionary: &Dictionary, frame: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = b"before ".to_vec();
        dictionary.decompress(frame, &mut out).map(|()| out)
    }

    #[test]
    fn strings_round_trip_with_and_without_a_dictionary() {
        let unseen: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for (sample, has_dictionary) in [(texts(), true), (Vec::new(), false), (texts()[..2].to_vec(), false)] {
            let mut compressor = Compressor::train(&sample).expect("set up");
            assert_eq!(!compressor.dictionary().is_empty(), has_dictionary);
            let dictionary = Dictionary::new(compressor.dictionary()).expect("a dictionary");
            for text in texts().iter().map(Vec::as_slice).chain([&b""[..], b"x", &unseen]) {
                let frame = compressor.compress(text).expect("compressed");
                assert_eq!(text_len(&frame), Some(text.len()));
                assert_eq!(decompressed(&dictionary, &frame).expect("intact"), [b"before ", text].concat());
            }
        }
    }

    #[test]
    fn a_dictionary_halves_the_size_of_a_short_string() {
        let mut compressor = Compressor::train(&texts()).expect("set up");
        let mut plain = Compressor::train(&[]).expect("set up");
        let text = &texts()[500];
        let [with, without] = [&mut compressor, &mut plain].map(|by| by.compress(text).expect("compressed").len());
        assert!(with * 2 < without, "{with} and {without} bytes");
    }

    #[test]
    fn a_damaged_frame_is_an_error_or_decodes_to_the_stated_length() {
        let mut compressor = Compressor::train(&texts()).expect("set up");
        let dictionary = Dictionary::new(compressor.dictionary()).expect("a dictionary");
        let frame = compressor.compress(&texts()[500]).expect("compressed");
        for end in 0..frame.len() {
            decompressed(&dictionary, &frame[..end]).expect_err("cut short");
        }
        for (at, bit) in (0..frame.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = frame.clone();
            damaged[at] ^= 1 << bit;
            if let Ok(text) = decompressed(&dictionary, &damaged) {
                assert_eq!(text.len() - b"before ".len(), text_len(&damaged).expect("a length"));
            }
        }
    }

    #[test]
    fn a_frame_with_an_impossible_length_is_rejected() {
        let stating = |length: u64| [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &length.to_le_bytes()].concat();
        assert_eq!([1000, 1 << 59].map(|length| text_len(&stating(length))), [Some(1000), None]);
    }

    #[test]
    fn a_damaged_dictionary_is_rejected() {
        let dictionary = Compressor::train(&texts()).expect("set up").dictionary().to_vec();
        Dictionary::new(&dictionary[..16]).expect_err("cut short");
    }
}
