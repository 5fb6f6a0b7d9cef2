//! Where each product's answer lies in the arena.

use std::collections::HashMap;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::arena::{Arena, Span};
use super::object::OpenObject;
use super::packing::Packer;
use crate::resource::{SoftwareItem, SoftwareMore};

/// What stands before the item in a product's answer.
pub(super) const OPENING: &[u8] = br#"{"data":"#;

/// The members of an item that begin a piece of it. Id, name and tagline, and the website, are a product's own; what comes
/// between and behind them, categories, ratings, vendor, kind and evidence, many have alike. Quotation marks inside of texts
/// are escaped, so nothing else looks like these.
const CUTS: [&[u8]; 3] = [br#","category":"#, br#","website":"#, br#","vendor":"#];

/// The answers of all products, back to back in the order of their ordinals. Of each there is a head with the lengths of what
/// follows, what its item has of its own as lists show it, and, packed, what the product alone shows besides. What many have in
/// common is there once: the rest of the item, and the export.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Documents {
    /// Where each product's texts are.
    places: Vec<Place>,
    /// Where the last one's end.
    end: u64,
    /// What products have in common.
    frames: Vec<Frame>,
}

/// Where a product's texts begin. Products are asked for in any order and each place of memory is waited for, so what is there
/// is said there, and in no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place(u64);

impl Place {
    /// The place so many bytes from the beginning of the arena.
    pub(super) const fn at(start: u64) -> Self {
        Self(start)
    }

    /// How many bytes come before it.
    pub(super) const fn start(self) -> u64 {
        self.0
    }

    /// So many bytes of what is there, or fewer where the arena ends.
    pub(super) fn beginning(self, arena: &[u8], length: usize) -> &[u8] {
        let start = usize::try_from(self.0).unwrap_or(usize::MAX).min(arena.len());
        &arena[start..start.saturating_add(length).min(arena.len())]
    }
}

/// What a product's texts begin with, as `postcard` writes it: one or two bytes for each number.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// Which frame the product has.
    frame: u32,
    /// The lengths of the two pieces of the item that are its own, and of what is packed, in bytes.
    lengths: [u32; 3],
}

/// A product's own texts.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Texts<'t> {
    /// Id, name and tagline: its JSON begins with them.
    pub(super) head: &'t [u8],
    website: &'t [u8],
    /// What it shows beyond its item, packed.
    pub(super) packed: &'t [u8],
    frame: u32,
    /// How long all of it is, in bytes.
    length: usize,
}

impl<'t> Texts<'t> {
    /// Those at the beginning of these bytes; `None` where there are none.
    pub(super) fn read(bytes: &'t [u8]) -> Option<Self> {
        let (Head { frame, lengths }, rest) = postcard::take_from_bytes(bytes).ok()?;
        let [head, website, packed] = lengths.map(|length| length as usize);
        let (head, rest) = rest.split_at_checked(head)?;
        let (website, rest) = rest.split_at_checked(website)?;
        let (packed, rest) = rest.split_at_checked(packed)?;
        Some(Self { head, website, packed, frame, length: bytes.len() - rest.len() })
    }
}

/// What a product has in common with others.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Frame {
    /// What stands between the pieces of the item that are its own.
    middle: Span,
    /// What stands behind them.
    ending: Span,
    /// The export that the product is from.
    export: u32,
}

/// Answers being written.
#[derive(Debug, Default)]
pub struct DocumentsWriter {
    documents: Documents,
    /// What items have in common, by what it is.
    common: HashMap<Vec<u8>, u32>,
    /// Frames: their two texts, by the order in which these came, and their export.
    frames: HashMap<[u32; 3], u32>,
}

impl DocumentsWriter {
    /// Appends the next product: its item; what it shows besides, as [`Documents::more`] writes it; and its export.
    ///
    /// # Errors
    /// Where it can't be written as JSON.
    pub fn push(
        &mut self,
        arena: &mut Arena,
        packer: &Packer,
        item: &SoftwareItem<'_>,
        more: &[u8],
        export: u32,
    ) -> Result<(), serde_json::Error> {
        let mut item = serde_json::to_vec(item)?;
        item.pop();
        let [head, middle, website, ending] = pieces(&item).ok_or_else(|| error("an item lacks one of its members"))?;
        let rest = packer.pack(more);
        let frame = [self.common(middle)?, self.common(ending)?, export];
        let next = count(self.frames.len())?;
        let frame = *self.frames.entry(frame).or_insert(next);
        let lengths = [count(head.len())?, count(website.len())?, count(rest.len())?];
        self.documents.places.push(Place(arena.len()));
        let opening = postcard::to_stdvec(&Head { frame, lengths }).map_err(error)?;
        for text in [&opening, head, website, &rest] {
            arena.push(text);
        }
        self.documents.end = arena.len();
        Ok(())
    }

    /// Writes what products have in common.
    #[must_use]
    pub fn finish(mut self, arena: &mut Arena) -> Documents {
        let mut common: Vec<_> = self.common.into_iter().collect();
        common.sort_unstable_by_key(|(_, at)| *at);
        let spans: Vec<_> = common.iter().map(|(text, _)| arena.push(text)).collect();
        let mut frames: Vec<_> = self.frames.into_iter().collect();
        frames.sort_unstable_by_key(|(_, at)| *at);
        let frame = |[middle, ending, export]: [u32; 3]| Frame {
            middle: spans[middle as usize],
            ending: spans[ending as usize],
            export,
        };
        self.documents.frames = frames.into_iter().map(|(of, _)| frame(of)).collect();
        self.documents
    }

    fn common(&mut self, text: &[u8]) -> Result<u32, serde_json::Error> {
        if let Some(at) = self.common.get(text) {
            return Ok(*at);
        }
        let at = count(self.common.len())?;
        self.common.insert(text.to_vec(), at);
        Ok(at)
    }
}

/// An item in pieces: its own, common, its own, common.
fn pieces(item: &[u8]) -> Option<[&[u8]; 4]> {
    let find = |cut: &[u8], from: usize| Some(from + memmem::find(&item[from..], cut)?);
    let middle = find(CUTS[0], 0)?;
    let website = find(CUTS[1], middle)? + CUTS[1].len();
    let ending = find(CUTS[2], website)?;
    Some([&item[..middle], &item[middle..website], &item[website..ending], &item[ending..]])
}

fn count<T: TryInto<u32, Error: std::fmt::Display>>(count: T) -> Result<u32, serde_json::Error> {
    count.try_into().map_err(error)
}

fn error(what: impl std::fmt::Display) -> serde_json::Error {
    serde::ser::Error::custom(what)
}

impl Documents {
    /// What a product shows beyond its item, between the item and `tail`: `,"description":…,"additional_properties":{…}`.
    ///
    /// # Errors
    /// Where it can't be written as JSON.
    pub fn more(more: &SoftwareMore<'_>, tail: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec(more)?;
        // The export comes last, so the answer ends as its tail does.
        let rest = text.strip_suffix(&tail[..tail.len() - 1]).map(<[u8]>::len);
        text.truncate(rest.ok_or_else(|| error("a product doesn't end with its export"))?);
        if let Some(brace) = text.first_mut() {
            *brace = b',';
        }
        Ok(text)
    }

    /// What every product's answer ends with, by its export: `,"export":{…}}}`.
    ///
    /// # Errors
    /// Where it can't be written as JSON.
    pub fn tail<T: Serialize>(export: &T) -> Result<Vec<u8>, serde_json::Error> {
        let mut tail = br#","export":"#.to_vec();
        serde_json::to_writer(&mut tail, export)?;
        tail.extend_from_slice(b"}}");
        Ok(tail)
    }

    /// How many products there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether what products have in common is in an arena of so many bytes, and they have these many exports.
    #[must_use]
    pub fn fit(&self, end: u64, exports: usize) -> bool {
        let is_there =
            |frame: &Frame| frame.middle.end() <= end && frame.ending.end() <= end && (frame.export as usize) < exports;
        self.frames.iter().all(is_there)
    }

    /// Where each product's texts are in this arena, and what its item begins with; `None` where they aren't what the next one
    /// comes behind, or name a frame that isn't there.
    pub(super) fn heads<'t>(
        &self,
        arena: &'t [u8],
    ) -> impl ExactSizeIterator<Item = (Place, Option<&'t [u8]>)> + use<'_, 't> {
        (0..self.places.len()).map(move |at| {
            let place = self.places[at];
            let end = self.places.get(at + 1).map_or(self.end, |next| next.0);
            let texts = Texts::read(place.beginning(arena, arena.len()))
                .filter(|texts| place.0 + texts.length as u64 == end && (texts.frame as usize) < self.frames.len());
            (place, texts.map(|texts| texts.head))
        })
    }

    /// Where the products' texts begin, in the order of ordinals.
    pub(super) fn places(&self) -> impl ExactSizeIterator<Item = Place> + '_ {
        self.places.iter().copied()
    }

    /// Where a product's texts begin.
    #[must_use]
    pub fn place(&self, ordinal: Ordinal) -> Place {
        self.places[ordinal as usize]
    }

    /// Whose texts begin there.
    #[must_use]
    pub fn ordinal(&self, place: Place) -> Option<Ordinal> {
        self.places.binary_search(&place).ok()?.try_into().ok()
    }

    /// The item whose own texts these are, of this arena.
    pub(super) fn item<'t>(&self, texts: Texts<'t>, arena: &'t [u8]) -> OpenObject<'t> {
        let frame = self.frames[texts.frame as usize];
        OpenObject::of([texts.head, &arena[frame.middle.range()], texts.website, &arena[frame.ending.range()]])
    }

    /// Which export the product is from whose texts these are, as an index into the list of exports.
    pub(super) fn export(&self, texts: Texts<'_>) -> usize {
        self.frames[texts.frame as usize].export as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Documents {
        fn is_sound(&self, arena: &[u8], exports: usize) -> bool {
            self.fit(arena.len() as u64, exports) && self.heads(arena).all(|(_, head)| head.is_some())
        }
    }

    fn item<'a>(id: &'a str, name: &'a str, vendor: Option<&'a str>) -> SoftwareItem<'a> {
        SoftwareItem {
            id,
            name,
            tagline: Some(r#"says ,"category":"website","vendor": of itself"#),
            category: None,
            categories: Vec::new(),
            rating: None,
            review_count: Some(3),
            website: r#"https://example.com/,"vendor":"#,
            vendor,
            offering_type: "software",
            evidence_status: "pending-review",
            evidence_checked_on: None,
        }
    }

    #[test]
    fn items_come_back_whole_and_what_they_have_in_common_is_kept_once() {
        let items = [item("a", "Alpha", None), item("b", "Beta", Some("Maker")), item("c", "Gamma", None)];
        let (mut arena, packer, mut writer) = (Arena::default(), Packer::new(&[]), DocumentsWriter::default());
        for (item, export) in items.iter().zip([0, 1, 0]) {
            writer.push(&mut arena, &packer, item, b",\"more\":1", export).expect("written");
        }
        let documents = writer.finish(&mut arena);
        let arena = arena.into_bytes();
        assert!(documents.is_sound(&arena, 2));
        let texts = |ordinal| Texts::read(documents.place(ordinal).beginning(&arena, usize::MAX)).expect("there");
        for (ordinal, item) in (0..).zip(&items) {
            let mut json = Vec::new();
            documents.item(texts(ordinal), &arena).write(&mut json);
            assert_eq!(json, serde_json::to_vec(item).expect("written"));
            assert!(texts(ordinal).head.starts_with(br#"{"id":""#));
            assert_eq!(documents.ordinal(documents.place(ordinal)), Some(ordinal));
        }
        assert_eq!(documents.ordinal(Place(1)), None);
        assert_eq!([0, 1, 2].map(|ordinal| documents.export(texts(ordinal))), [0, 1, 0]);
        assert_eq!(memmem::find_iter(&arena, r#","vendor":null"#).count(), 1, "of two products");
        assert_eq!(memmem::find_iter(&arena, r#","category":null"#).count(), 1, "of three");
    }

    #[test]
    fn tables_that_make_no_sense_are_told() {
        let mut arena = Arena::default();
        let mut writer = DocumentsWriter::default();
        writer.push(&mut arena, &Packer::new(&[]), &item("a", "Alpha", None), b"", 0).expect("written");
        let stored = postcard::to_stdvec(&writer.finish(&mut arena)).expect("encoded");
        let documents = || postcard::from_bytes::<Documents>(&stored).expect("decoded");
        let arena = arena.into_bytes();
        assert!(documents().is_sound(&arena, 1));
        assert!(!documents().is_sound(&arena, 0), "an export that isn't there");
        let wrong: [fn(&mut Documents, &mut Vec<u8>); 6] = [
            |documents, _| documents.frames.clear(),
            |documents, _| documents.places.push(Place(1)),
            |documents, _| documents.places[0] = Place(u64::MAX),
            |documents, _| documents.frames[0].ending.length += 1_000,
            |documents, _| documents.end += 1,
            // The head's second number: how long the item's beginning is.
            |_, arena| arena[1] += 1,
        ];
        for wrong in wrong {
            let (mut documents, mut arena) = (documents(), arena.clone());
            wrong(&mut documents, &mut arena);
            assert!(!documents.is_sound(&arena, 1));
        }
    }
}
