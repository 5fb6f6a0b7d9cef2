//! Where each product's answer lies in the arena.

use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::arena::{Arena, Span};
use crate::resource::{SoftwareItem, SoftwareMore};

/// What stands before the item in a product's answer.
const OPENING: &[u8] = br#"{"data":"#;

/// The answers of all products, back to back in the order of their ordinals: `{"data":{item…,more…}}`. The item's
/// members come first, so one text serves the single product and its line in a list.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Documents {
    /// Where each answer starts, and where the last one ends.
    bounds: Vec<u64>,
    /// The length of each item, without a closing brace.
    item_lengths: Vec<u32>,
}

impl Documents {
    /// Appends the next product.
    ///
    /// # Errors
    /// Where it can't be written as JSON.
    pub fn push(
        &mut self,
        arena: &mut Arena,
        item: &SoftwareItem<'_>,
        more: &SoftwareMore<'_>,
    ) -> Result<(), serde_json::Error> {
        if self.bounds.is_empty() {
            self.bounds.push(arena.len());
        }
        arena.push(OPENING);
        let item = arena.push_open_object(item)?;
        let more = serde_json::to_vec(more)?;
        arena.push(b",");
        arena.push(&more[1..]);
        arena.push(b"}");
        self.bounds.push(arena.len());
        self.item_lengths.push(u32::try_from(item.length).map_err(serde::ser::Error::custom)?);
        Ok(())
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

    /// The end of the last answer; `u64::MAX` for tables that make no sense.
    #[must_use]
    pub fn end(&self) -> u64 {
        let sound = self.bounds.is_sorted()
            && (self.bounds.len() == self.item_lengths.len() + 1 || (self.bounds.is_empty() && self.is_empty()))
            && self
                .bounds
                .windows(2)
                .zip(&self.item_lengths)
                .all(|(bound, item)| bound[1] - bound[0] >= OPENING.len() as u64 + u64::from(*item));
        if sound { self.bounds.last().copied().unwrap_or(0) } else { u64::MAX }
    }

    /// A product's whole answer.
    #[must_use]
    pub fn detail(&self, ordinal: Ordinal) -> Span {
        let at = ordinal as usize;
        Span { start: self.bounds[at], length: self.bounds[at + 1] - self.bounds[at] }
    }

    /// A product's item, without a closing brace.
    #[must_use]
    pub fn item(&self, ordinal: Ordinal) -> Span {
        let at = ordinal as usize;
        Span { start: self.bounds[at] + OPENING.len() as u64, length: u64::from(self.item_lengths[at]) }
    }
}
