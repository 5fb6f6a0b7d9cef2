//! Where each product's answer lies in the arena.

use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::arena::{Arena, Span};
use super::packing::Packer;
use crate::resource::{SoftwareItem, SoftwareMore};

/// What stands before the item in a product's answer.
pub(super) const OPENING: &[u8] = br#"{"data":"#;

/// The answers of all products, back to back in the order of their ordinals. Of each the item lies there as lists show it,
/// and behind it, packed, what the product alone shows besides; but for the export, which many have in common.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Documents {
    /// Where each product's texts start, and where the last one's end.
    bounds: Vec<u64>,
    /// The length of each item, without a closing brace.
    item_lengths: Vec<u32>,
    /// Which export each product is from.
    exports: Vec<u32>,
}

impl Documents {
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
        if self.bounds.is_empty() {
            self.bounds.push(arena.len());
        }
        let item = arena.push_open_object(item)?;
        arena.push(&packer.pack(more));
        self.bounds.push(arena.len());
        self.item_lengths.push(u32::try_from(item.length).map_err(serde::ser::Error::custom)?);
        self.exports.push(export);
        Ok(())
    }

    /// What a product shows beyond its item, between the item and `tail`: `,"description":…,"additional_properties":{…}`.
    ///
    /// # Errors
    /// Where it can't be written as JSON.
    pub fn more(more: &SoftwareMore<'_>, tail: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec(more)?;
        // The export comes last, so the answer ends as its tail does.
        let rest = text.strip_suffix(&tail[..tail.len() - 1]).map(<[u8]>::len);
        text.truncate(rest.ok_or_else(|| serde::ser::Error::custom("a product doesn't end with its export"))?);
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
        self.item_lengths.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.item_lengths.is_empty()
    }

    /// The end of the last product's texts; `u64::MAX` for tables that make no sense, beside that many exports.
    #[must_use]
    pub fn end(&self, exports: usize) -> u64 {
        let sound = self.bounds.is_sorted()
            && (self.bounds.len() == self.item_lengths.len() + 1 || (self.bounds.is_empty() && self.is_empty()))
            && self.exports.len() == self.item_lengths.len()
            && self.exports.iter().all(|export| (*export as usize) < exports)
            && self
                .bounds
                .windows(2)
                .zip(&self.item_lengths)
                .all(|(bound, item)| bound[1] - bound[0] >= u64::from(*item));
        if sound { self.bounds.last().copied().unwrap_or(0) } else { u64::MAX }
    }

    /// A product's item, without a closing brace.
    #[must_use]
    pub fn item(&self, ordinal: Ordinal) -> Span {
        let at = ordinal as usize;
        Span { start: self.bounds[at], length: u64::from(self.item_lengths[at]) }
    }

    /// What a product shows beyond its item, packed.
    #[must_use]
    pub fn packed(&self, ordinal: Ordinal) -> Span {
        let item = self.item(ordinal);
        Span { start: item.end(), length: self.bounds[ordinal as usize + 1] - item.end() }
    }

    /// Which export a product is from, as an index into the list of exports.
    #[must_use]
    pub fn export(&self, ordinal: Ordinal) -> usize {
        self.exports[ordinal as usize] as usize
    }
}
