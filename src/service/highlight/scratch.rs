//! Buffers for the highlights of a product.

use std::ops::Range;

use super::spans::{measure, merge};
use super::{Slots, html};
use crate::resource::{Highlight, TextRange};

/// Buffers, reused for each product and each of its texts.
#[derive(Default)]
pub(super) struct Scratch {
    /// The marked words of a section, by their numbers within a value, and the end of each value's part.
    pub(super) marked: Vec<usize>,
    pub(super) values: Vec<usize>,
    /// The byte ranges of a text's marked words.
    pub(super) places: Vec<Range<usize>>,
    /// The marks, in bytes and in characters.
    pub(super) spans: Vec<(usize, usize)>,
    pub(super) ranges: Vec<TextRange>,
    pub(super) html: String,
    /// The slots that the product's own texts have matches of.
    pub(super) found: Slots,
    /// The product's highlights.
    pub(super) json: Vec<u8>,
}

impl Scratch {
    /// The marked words of some values of the section.
    pub(super) fn marked(&self, values: Range<usize>) -> &[usize] {
        let before = |value: usize| self.values[..value.min(self.values.len())].last().copied().unwrap_or(0);
        &self.marked[before(values.start)..before(values.end)]
    }

    /// Appends a text with its matches, if it has any.
    pub(super) fn write(&mut self, field: &str, text: &str, by: Option<&str>) -> Result<(), serde_json::Error> {
        let Self { places, spans, ranges, html, json, .. } = self;
        merge(text, places, spans);
        if spans.is_empty() {
            return Ok(());
        }
        html::write(html, text, spans);
        measure(text, spans, ranges);
        if json.len() > 1 {
            json.push(b',');
        }
        let highlight = Highlight {
            field: field.into(),
            html: html.as_str().into(),
            ranges: ranges.as_slice().into(),
            by: by.map(Into::into),
        };
        highlight.write(json)
    }
}
