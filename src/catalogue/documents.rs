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

/// The answers of all products, back to back in the order of their ordinals. Of each, what its item has of its own lies there
/// as lists show it, and behind it, packed, what the product alone shows besides. What many have in common is there once:
/// the rest of the item, and the export.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Documents {
    /// Where each product's texts are. All of it together: products are asked for in any order, and each place of memory is
    /// waited for.
    places: Vec<Place>,
    /// Where the last one's end.
    end: u64,
    /// What products have in common.
    frames: Vec<Frame>,
}

/// Where a product's texts are.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Place {
    /// Where they start.
    start: u64,
    /// The lengths of the two pieces of the item that are its own.
    lengths: [u32; 2],
    /// Which frame it has.
    frame: u32,
}

impl Place {
    /// What the item has of its own.
    const fn own(self) -> Span {
        Span { start: self.start, length: self.lengths[0] as u64 + self.lengths[1] as u64 }
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
        let frame = [self.common(middle)?, self.common(ending)?, export];
        let next = count(self.frames.len())?;
        let start = arena.len();
        let lengths = [count(arena.push(head).length)?, count(arena.push(website).length)?];
        let frame = *self.frames.entry(frame).or_insert(next);
        self.documents.places.push(Place { start, lengths, frame });
        arena.push(&packer.pack(more));
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

    /// The end of the last text; `u64::MAX` for tables that make no sense, beside that many exports.
    #[must_use]
    pub fn end(&self, exports: usize) -> u64 {
        let ends = self.places.iter().skip(1).map(|place| place.start).chain([self.end]);
        let sound = self.places.iter().all(|place| (place.frame as usize) < self.frames.len())
            && self.frames.iter().all(|frame| (frame.export as usize) < exports)
            && self.places.iter().zip(ends).all(|(place, end)| place.own().end() <= end);
        let common = self.frames.iter().map(|frame| frame.middle.end().max(frame.ending.end()));
        if sound { common.fold(self.end, u64::max) } else { u64::MAX }
    }

    /// Id, name and tagline of a product's item: its JSON begins with them.
    #[must_use]
    pub fn head(&self, ordinal: Ordinal) -> Span {
        let place = self.places[ordinal as usize];
        Span { start: place.start, length: u64::from(place.lengths[0]) }
    }

    /// What a product's item has of its own.
    #[must_use]
    pub fn own(&self, ordinal: Ordinal) -> Span {
        self.places[ordinal as usize].own()
    }

    /// A product's item, of this arena.
    #[must_use]
    pub fn item<'t>(&self, ordinal: Ordinal, arena: &'t [u8]) -> OpenObject<'t> {
        let place = self.places[ordinal as usize];
        let frame = self.frames[place.frame as usize];
        let (head, website) = arena[place.own().range()].split_at(place.lengths[0] as usize);
        OpenObject::of([head, &arena[frame.middle.range()], website, &arena[frame.ending.range()]])
    }

    /// What a product shows beyond its item, packed.
    #[must_use]
    pub fn packed(&self, ordinal: Ordinal) -> Span {
        let start = self.places[ordinal as usize].own().end();
        let end = self.places.get(ordinal as usize + 1).map_or(self.end, |next| next.start);
        Span { start, length: end - start }
    }

    /// Which export a product is from, as an index into the list of exports.
    #[must_use]
    pub fn export(&self, ordinal: Ordinal) -> usize {
        self.frames[self.places[ordinal as usize].frame as usize].export as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(documents.end(2), arena.len() as u64);
        for (ordinal, item) in (0..).zip(&items) {
            let mut json = Vec::new();
            documents.item(ordinal, &arena).write(&mut json);
            assert_eq!(json, serde_json::to_vec(item).expect("written"));
            assert!(arena[documents.head(ordinal).range()].starts_with(br#"{"id":""#));
        }
        assert_eq!([0, 1, 2].map(|ordinal| documents.export(ordinal)), [0, 1, 0]);
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
        assert!(documents().end(1) <= arena.len());
        assert_eq!(documents().end(0), u64::MAX, "an export that isn't there");
        let wrong: [fn(&mut Documents); 4] = [
            |documents| documents.places[0].frame = 1,
            |documents| documents.places[0].lengths[1] += 1_000,
            |documents| documents.places.push(Place { start: 0, ..documents.places[0] }),
            |documents| documents.frames[0].ending.length += 1_000,
        ];
        for wrong in wrong {
            let mut documents = documents();
            wrong(&mut documents);
            assert!(documents.end(1) > arena.len());
        }
    }
}
