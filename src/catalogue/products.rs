//! Product JSON: each product's item, as shown in lists, and its compressed detail fields.

use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::ops::Range;

use bytes::Bytes;
use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::compression::{Compressor, Dictionary, text_len};
use super::prefetch::fetch;
use super::product_json::{ID, is_whole};
use super::{CatalogueBuildError, Ordinal};
use crate::scratch::{BulkWriter, Span};

/// The beginning and end of the response body for a product's details.
const OPENING: &[u8] = br#"{"data":"#;
const CLOSING: &[u8] = b"}";

/// The ranges of the products' JSON in an arena, contiguous and in ordinal order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProductSpans {
    /// The start of each product's item, plus the end of the last product.
    starts: Vec<u64>,
    /// The length of each item in bytes. Detail fields follow their item.
    item_lengths: Vec<u32>,
    /// See [`content_hash`].
    content_hashes: Vec<u64>,
    /// See [`detail_hash`].
    detail_hashes: Vec<u64>,
    /// The compression dictionary.
    dictionary: Span,
}

impl ProductSpans {
    /// The number of products.
    fn len(&self) -> usize {
        self.item_lengths.len()
    }

    /// The ranges of a product's item and detail fields.
    fn of(&self, ordinal: Ordinal) -> [Span; 2] {
        let at = ordinal as usize;
        let (start, end, item) = (self.starts[at], self.starts[at + 1], u64::from(self.item_lengths[at]));
        let fields = start.saturating_add(item);
        [Span { start, length: item }, Span { start: fields, length: end.saturating_sub(fields) }]
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

/// A hash of a product's content: its item and detail fields, but not its export's name, licence
/// and date, because changing those would change every record in the export at once.
pub fn content_hash(item: &[u8], fields: &[u8]) -> u64 {
    let export = export_members(fields).unwrap_or(fields.len()..fields.len());
    hash_parts(&[item, &fields[..export.start], &fields[export.end..]])
}

/// A hash of all of a product's details.
pub fn detail_hash(item: &[u8], fields: &[u8]) -> u64 {
    hash_parts(&[item, fields])
}

fn hash_parts(parts: &[&[u8]]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for part in parts {
        hasher.write(part);
    }
    hasher.finish()
}

/// The range of the members of `export` that follow its `id`, in the JSON of
/// [`DetailFields`](crate::catalogue::resource::DetailFields). Quotes in strings are escaped, and a
/// record's own `export` property comes earlier, so the last object with that name is the member
/// itself.
fn export_members(fields: &[u8]) -> Option<Range<usize>> {
    let last = memmem::rfind(fields, br#""export":{"id":""#)?;
    let start = last + memmem::find(&fields[last..], br#"","name":""#)?;
    Some(start..start + memmem::find(&fields[start..], br#"},"same_as":["#)?)
}

/// Hashes an id's JSON literal.
fn hash(id: &str) -> u64 {
    FixedState::default().hash_one(id)
}

/// Writes product JSON to an arena.
pub(super) struct ProductWriter {
    spans: ProductSpans,
    compressor: Compressor,
}

impl ProductWriter {
    /// Creates a writer that appends to an arena, given a sample of detail fields.
    pub(super) fn new(arena: &mut BulkWriter, sample: &[Vec<u8>]) -> Result<Self, CatalogueBuildError> {
        let compressor = Compressor::train(sample).map_err(CatalogueBuildError::Product)?;
        let dictionary = arena.push(compressor.dictionary()).map_err(CatalogueBuildError::Scratch)?;
        let spans = ProductSpans {
            starts: vec![arena.len()],
            item_lengths: Vec::new(),
            content_hashes: Vec::new(),
            detail_hashes: Vec::new(),
            dictionary,
        };
        Ok(Self { spans, compressor })
    }

    /// Appends the next product: its item and its detail fields, both JSON objects. The item must
    /// start with the id. If the detail fields also start with it, they contain all fields. Returns
    /// the content hash.
    pub(super) fn push(
        &mut self,
        arena: &mut BulkWriter,
        item: &[u8],
        fields: &[u8],
    ) -> Result<u64, CatalogueBuildError> {
        let hash = content_hash(item, fields);
        self.spans.detail_hashes.push(detail_hash(item, fields));
        let length = u32::try_from(item.len()).map_err(io::Error::other).map_err(CatalogueBuildError::Product)?;
        self.spans.content_hashes.push(hash);
        self.spans.item_lengths.push(length);
        let fields = self.compressor.compress(fields).map_err(CatalogueBuildError::Product)?;
        arena.push(item).and_then(|_| arena.push(&fields)).map_err(CatalogueBuildError::Scratch)?;
        self.spans.starts.push(arena.len());
        Ok(hash)
    }

    /// Returns the ranges of what was written.
    pub(super) fn finish(self) -> ProductSpans {
        self.spans
    }
}

/// Looks up product JSON by ordinal or id.
#[derive(Debug)]
pub(super) struct Products {
    spans: ProductSpans,
    arena: Bytes,
    /// Ordinals by the hash of the id's JSON literal. The ids themselves are in the items.
    ids: HashTable<Ordinal>,
    dictionary: Dictionary,
}

impl Products {
    /// Opens the products in an arena. `None` if the ranges exceed it, an item doesn't start with a
    /// unique id, or the dictionary is damaged.
    pub(super) fn open(spans: ProductSpans, arena: Bytes) -> Option<Self> {
        if !spans.fit(arena.len() as u64) {
            return None;
        }
        let dictionary = Dictionary::new(&arena[spans.dictionary.range()]).ok()?;
        let mut products = Self { spans, arena, ids: HashTable::new(), dictionary };
        products.ids = products.hash_ids()?;
        Some(products)
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

    /// The number of products.
    pub(super) fn len(&self) -> usize {
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

    pub(super) fn find(&self, id: &str) -> Option<Ordinal> {
        let literal = serde_json::to_string(id).ok()?;
        self.ids.find(hash(&literal), |ordinal| self.has_id(*ordinal, &literal)).copied()
    }

    /// All ids, in ordinal order.
    pub(super) fn ids(&self) -> impl Iterator<Item = String> + '_ {
        (0..).take(self.len()).filter_map(|ordinal| serde_json::from_str(self.id(ordinal)?).ok())
    }

    pub(super) fn content_hash(&self, ordinal: Ordinal) -> u64 {
        self.spans.content_hashes[ordinal as usize]
    }

    pub(super) fn detail_hash(&self, ordinal: Ordinal) -> u64 {
        self.spans.detail_hashes[ordinal as usize]
    }

    /// A product's item.
    pub(super) fn item(&self, ordinal: Ordinal) -> &[u8] {
        let [item, _] = self.spans.of(ordinal);
        &self.arena[item.range()]
    }

    /// Prefetches everything stored for these products.
    pub(super) fn prefetch(&self, ordinals: impl Iterator<Item = Ordinal>) {
        fetch(ordinals.map(|ordinal| {
            let [item, fields] = self.spans.of(ordinal);
            &self.arena[Span { start: item.start, length: item.length + fields.length }.range()]
        }));
    }

    /// Appends the detail fields missing from a product's item.
    pub(super) fn append_detail_fields(&self, ordinal: Ordinal, out: &mut Vec<u8>) -> io::Result<()> {
        let [_, fields] = self.spans.of(ordinal);
        self.dictionary.decompress(&self.arena[fields.range()], out)
    }

    /// The total length of a product's item and detail fields.
    pub(super) fn detail_len(&self, ordinal: Ordinal) -> usize {
        let [item, fields] = self.spans.of(ordinal).map(|span| &self.arena[span.range()]);
        item.len() + text_len(fields).unwrap_or_default()
    }

    /// Returns a product's details as a response body.
    pub(super) fn detail(&self, ordinal: Ordinal) -> io::Result<Vec<u8>> {
        self.prefetch(std::iter::once(ordinal));
        let [item, fields] = self.spans.of(ordinal).map(|span| &self.arena[span.range()]);
        let length = text_len(fields).ok_or(io::ErrorKind::InvalidData)?;
        let mut detail = Vec::new();
        detail.try_reserve_exact(OPENING.len() + item.len() + length + CLOSING.len())?;
        detail.extend_from_slice(OPENING);
        // Join the two objects: a comma replaces the braces between them.
        detail.extend_from_slice(&item[..item.len() - 1]);
        let comma = detail.len();
        self.append_detail_fields(ordinal, &mut detail)?;
        if is_whole(&detail[comma..]) {
            detail.drain(OPENING.len()..comma);
        } else {
            *detail.get_mut(comma).ok_or(io::ErrorKind::InvalidData)? = b',';
        }
        detail.extend_from_slice(CLOSING);
        Ok(detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    const IDS: [&str; 7] = ["b", "a", "", "\"", "ü😀", "a b", "a\\\n"];

    fn item(id: &str) -> String {
        serde_json::json!({"id": id, "name": "a"}).to_string()
    }

    fn written(ids: &[&str]) -> (ProductSpans, Vec<u8>) {
        let mut arena = Scratch::in_memory().bulk();
        arena.push(b"before").expect("in memory");
        let mut writer = ProductWriter::new(&mut arena, &[]).expect("a writer");
        for (number, id) in ids.iter().enumerate() {
            let fields = format!(r#"{{"tags":["{number}"]}}"#);
            writer.push(&mut arena, item(id).as_bytes(), fields.as_bytes()).expect("written");
        }
        (writer.finish(), arena.finish().and_then(|arena| arena.read_all()).expect("in memory").to_vec())
    }

    #[test]
    fn each_id_finds_its_product_and_other_ids_find_nothing() {
        let (spans, arena) = written(&IDS);
        let products = Products::open(spans, arena.into()).expect("intact");
        for (ordinal, id) in (0..).zip(IDS) {
            assert_eq!(products.find(id), Some(ordinal), "{id:?}");
            assert_eq!(products.item(ordinal), item(id).as_bytes());
            let mut fields = b"before ".to_vec();
            products.append_detail_fields(ordinal, &mut fields).expect("intact");
            assert_eq!(fields, format!(r#"before {{"tags":["{ordinal}"]}}"#).as_bytes());
            let mut detail = serde_json::from_str::<serde_json::Value>(&item(id)).expect("JSON");
            detail["tags"] = serde_json::json!([ordinal.to_string()]);
            let body = serde_json::json!({"data": detail}).to_string();
            assert_eq!(String::from_utf8(products.detail(ordinal).expect("intact")).expect("text"), body);
        }
        assert_eq!(["A", "a ", "c", "ü", "a\",\"name"].map(|id| products.find(id)), [None; 5]);
        assert_eq!(products.ids().collect::<Vec<_>>(), IDS);
    }

    #[test]
    fn the_content_hash_ignores_the_exports_own_details() {
        let fields = |id: &str, name: &str, as_of: &str, own: &str| {
            format!(
                r#"{{"additional_properties":{{"export":{{"id":"x","name":"{own}"}},"note":"\"export\":{{"}},"export":{{"id":"{id}","name":"{name}","license":"l","as_of":{as_of}}},"same_as":[{{"id":"b","export":"e"}}]}}"#
            )
        };
        let hash = |fields: &str| content_hash(item("a").as_bytes(), fields.as_bytes());
        let one = fields("tools", "Tools", "null", "own");
        for same in [
            fields("tools", "\\\"},\\\"same_as\\\":[", "null", "own"),
            fields("tools", "Tools", r#""2026-01-01""#, "own"),
        ] {
            serde_json::from_str::<serde_json::Value>(&same).expect("JSON");
            assert_eq!(hash(&one), hash(&same), "{same}");
            assert_ne!(detail_hash(b"", one.as_bytes()), detail_hash(b"", same.as_bytes()));
        }
        for other in [fields("tool", "Tools", "null", "own"), fields("tools", "Tools", "null", "other")] {
            assert_ne!(hash(&one), hash(&other), "{other}");
        }
        assert_ne!(hash("{}"), hash(r#"{"tags":[]}"#));
    }

    #[test]
    fn an_empty_directory_has_no_products() {
        let (spans, arena) = written(&[]);
        let products = Products::open(spans, arena.into()).expect("intact");
        assert_eq!((products.len(), products.find(""), products.ids().count()), (0, None, 0));
    }

    #[test]
    fn two_products_with_the_same_id_are_rejected() {
        let (spans, arena) = written(&["a", "b", "a"]);
        assert!(Products::open(spans, arena.into()).is_none());
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
            assert!(Products::open(spans, arena.into()).is_none(), "{number}");
        }
    }

    #[test]
    fn damaged_details_are_an_error() {
        let (spans, mut arena) = written(&["a"]);
        let [_, fields] = spans.of(0);
        // The frame's header is intact. Its only block claims to be longer than it is.
        arena[usize::try_from(fields.start).expect("an index") + 6] ^= 0x80;
        Products::open(spans, arena.into()).expect("fits").detail(0).expect_err("damaged");
    }
}
