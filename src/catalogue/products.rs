//! The texts of products: of each the item as lists show it, and the rest of its detail, compressed.

use std::io;

use bytes::Bytes;
use fst::{Map, MapBuilder};
use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::arena::{Arena, Span, fetch};
use super::compression::{Compressor, Dictionary, text_len};

/// The beginning of a detail's response body. The item follows, and then the rest.
const OPENING: &[u8] = br#"{"data":"#;

/// The spans of the products' texts in an arena. They lie back to back in the order of ordinals.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProductSpans {
    /// Where each product's item begins, and where the last product ends.
    starts: Vec<u64>,
    /// The length of each item in bytes. The rest of the detail follows it.
    item_lengths: Vec<u32>,
    /// The length of the longest rest, decompressed.
    longest_rest: u64,
    /// The dictionary of the compression.
    dictionary: Span,
    /// An FST from ids to ordinals.
    ids: Span,
}

impl ProductSpans {
    /// The number of products.
    fn len(&self) -> usize {
        self.item_lengths.len()
    }

    /// A product's item and the rest of its detail.
    fn of(&self, ordinal: Ordinal) -> [Span; 2] {
        let at = ordinal as usize;
        let (start, end, item) = (self.starts[at], self.starts[at + 1], u64::from(self.item_lengths[at]));
        let rest = start.saturating_add(item);
        [Span { start, length: item }, Span { start: rest, length: end.saturating_sub(rest) }]
    }

    /// Whether all spans lie in this arena and each rest states a length that a rest has.
    fn fit(&self, arena: &[u8]) -> bool {
        let end = arena.len() as u64;
        let fits = |ordinal: Ordinal| {
            let (next, [_, rest]) = (self.starts[ordinal as usize + 1], self.of(ordinal));
            let text_len = || text_len(&arena[rest.range()]);
            rest.start <= next && next <= end && text_len().is_some_and(|length| length as u64 <= self.longest_rest)
        };
        self.starts.len() == self.len() + 1
            && [self.dictionary, self.ids].iter().all(|span| span.end() <= end)
            && (0..).take(self.len()).all(fits)
    }
}

/// Writes the texts of products to an arena.
pub(super) struct ProductWriter {
    spans: ProductSpans,
    compressor: Compressor,
    ids: Vec<(Box<str>, Ordinal)>,
}

impl ProductWriter {
    /// A writer of products to the end of an arena, with a sample of the details' rests.
    ///
    /// # Errors
    /// Where the compression can't be set up.
    pub(super) fn new(arena: &mut Arena, sample: &[Vec<u8>]) -> io::Result<Self> {
        let compressor = Compressor::train(sample)?;
        let dictionary = arena.push(compressor.dictionary());
        let starts = vec![arena.len()];
        let ids = Span { start: 0, length: 0 };
        let spans = ProductSpans { starts, item_lengths: Vec::new(), longest_rest: 0, dictionary, ids };
        Ok(Self { spans, compressor, ids: Vec::new() })
    }

    /// Appends the next product: its item without the closing brace, and the rest of its detail.
    ///
    /// # Errors
    /// Where the rest can't be compressed or the item is longer than 4 GiB.
    pub(super) fn push(&mut self, arena: &mut Arena, id: &str, item: &[u8], rest: &[u8]) -> io::Result<()> {
        let ordinal = Ordinal::try_from(self.ids.len()).map_err(io::Error::other)?;
        self.ids.push((id.into(), ordinal));
        self.spans.item_lengths.push(u32::try_from(item.len()).map_err(io::Error::other)?);
        arena.push(item);
        arena.push(&self.compressor.compress(rest)?);
        self.spans.starts.push(arena.len());
        self.spans.longest_rest = self.spans.longest_rest.max(rest.len() as u64);
        Ok(())
    }

    /// Writes the map of ids.
    ///
    /// # Errors
    /// Where two products have the same id.
    pub(super) fn finish(mut self, arena: &mut Arena) -> Result<ProductSpans, fst::Error> {
        self.ids.sort_unstable();
        let mut map = MapBuilder::memory();
        map.extend_iter(self.ids.iter().map(|(id, ordinal)| (&**id, u64::from(*ordinal))))?;
        self.spans.ids = arena.push(&map.into_inner()?);
        Ok(self.spans)
    }
}

/// The texts of products, by ordinal and id.
#[derive(Debug)]
pub(super) struct Products {
    spans: ProductSpans,
    arena: Bytes,
    ids: Map<Bytes>,
    dictionary: Dictionary,
}

impl Products {
    /// Opens the products in an arena. `None` where the spans don't fit it, or the dictionary or the map of ids is damaged.
    pub(super) fn open(spans: ProductSpans, arena: Bytes) -> Option<Self> {
        if !spans.fit(&arena) {
            return None;
        }
        let ids = Map::new(arena.slice(spans.ids.range())).ok()?;
        let are_whole = ids.len() == spans.len() && ids.as_fst().verify().is_ok();
        let dictionary = Dictionary::new(&arena[spans.dictionary.range()]).ok()?;
        are_whole.then_some(Self { spans, arena, ids, dictionary })
    }

    /// The number of products.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The ordinal of an id.
    pub(super) fn find(&self, id: &str) -> Option<Ordinal> {
        self.ids.get(id)?.try_into().ok().filter(|ordinal: &Ordinal| (*ordinal as usize) < self.len())
    }

    /// All ids, in the order of their bytes.
    pub(super) fn ids(&self) -> Vec<String> {
        // They were texts when the map was made.
        self.ids.stream().into_str_keys().unwrap_or_default()
    }

    /// A product's item, without the closing brace.
    pub(super) fn item(&self, ordinal: Ordinal) -> &[u8] {
        let [item, _] = self.spans.of(ordinal);
        &self.arena[item.range()]
    }

    /// All that is stored of a product.
    pub(super) fn stored(&self, ordinal: Ordinal) -> &[u8] {
        let [item, rest] = self.spans.of(ordinal);
        &self.arena[Span { start: item.start, length: item.length + rest.length }.range()]
    }

    /// A product's detail as a response body.
    ///
    /// # Errors
    /// Where its text is damaged.
    pub(super) fn detail(&self, ordinal: Ordinal) -> io::Result<Vec<u8>> {
        // The frame's cache misses overlap with those of the item.
        fetch(std::iter::once(self.stored(ordinal)));
        let [item, rest] = self.spans.of(ordinal).map(|span| &self.arena[span.range()]);
        let length = text_len(rest).ok_or(io::ErrorKind::InvalidData)?;
        let mut detail = Vec::with_capacity(OPENING.len() + item.len() + length);
        detail.extend_from_slice(OPENING);
        detail.extend_from_slice(item);
        self.dictionary.decompress(rest, &mut detail)?;
        Ok(detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 7] = ["b", "a", "", "\"", "ü😀", "a b", "a\\\n"];

    fn written(ids: &[&str]) -> Result<(ProductSpans, Vec<u8>), fst::Error> {
        let mut arena = Arena::default();
        arena.push(b"before");
        let mut writer = ProductWriter::new(&mut arena, &[])?;
        for id in ids {
            let item = format!(r#"{{"id":"{id}""#);
            writer.push(&mut arena, id, item.as_bytes(), format!(r#","tags":["of {id}"]}}}}"#).as_bytes())?;
        }
        Ok((writer.finish(&mut arena)?, arena.into_bytes()))
    }

    #[test]
    fn every_product_is_found_by_its_id_and_no_other_is() {
        let (spans, arena) = written(&IDS).expect("written");
        let products = Products::open(spans, arena.into()).expect("whole");
        for (ordinal, id) in (0..).zip(IDS) {
            assert_eq!(products.find(id), Some(ordinal), "{id:?}");
            let item = format!(r#"{{"id":"{id}""#);
            assert_eq!(products.item(ordinal), item.as_bytes());
            let detail = format!(r#"{{"data":{item},"tags":["of {id}"]}}}}"#);
            assert_eq!(products.detail(ordinal).expect("whole"), detail.as_bytes());
        }
        assert_eq!(["A", "a ", "c", "ü"].map(|id| products.find(id)), [None; 4]);
        let mut sorted = IDS;
        sorted.sort_unstable();
        assert_eq!(products.ids(), sorted);
    }

    #[test]
    fn empty_directory_has_no_product() {
        let (spans, arena) = written(&[]).expect("written");
        let products = Products::open(spans, arena.into()).expect("whole");
        assert_eq!((products.len(), products.find(""), products.ids()), (0, None, Vec::new()));
    }

    #[test]
    fn two_products_with_one_id_are_refused() {
        written(&["a", "b", "a"]).expect_err("the second `a`");
    }

    #[test]
    fn spans_that_do_not_fit_the_arena_are_refused() {
        let wrong: [fn(&mut ProductSpans, &mut Vec<u8>); 10] = [
            |spans, _| spans.starts[1] = u64::MAX,
            |spans, _| spans.starts[2] = 0,
            |spans, _| spans.starts.truncate(2),
            |spans, _| spans.item_lengths[0] += 1,
            |spans, _| spans.item_lengths[0] = u32::MAX,
            |spans, _| spans.longest_rest -= 1,
            |spans, _| spans.ids.length -= 1,
            |spans, _| spans.ids.start = u64::MAX,
            |spans, _| spans.dictionary.length = u64::MAX,
            |spans, arena| arena[usize::try_from(spans.ids.start).expect("an index") + 20] ^= 1,
        ];
        for (number, wrong) in wrong.into_iter().enumerate() {
            let (mut spans, mut arena) = written(&["a", "b", "c"]).expect("written");
            wrong(&mut spans, &mut arena);
            assert!(Products::open(spans, arena.into()).is_none(), "{number}");
        }
    }

    #[test]
    fn damaged_detail_is_an_error() {
        let (spans, mut arena) = written(&["a"]).expect("written");
        let [_, rest] = spans.of(0);
        // The header of the frame is whole, so the spans fit. Its only block is said to be longer than it is.
        arena[usize::try_from(rest.start).expect("an index") + 6] ^= 0x80;
        Products::open(spans, arena.into()).expect("fits").detail(0).expect_err("damaged");
    }
}
