//! Buffers for a product's highlights.

use std::ops::Range;

use super::spans::{measure, merge};
use super::{Slots, html};
use crate::catalogue::resource::{Highlight, TextRange};
use crate::record::Language;
use crate::search::field::Section;

/// The buffers, which are reused for every product and text.
#[derive(Default)]
pub(super) struct Scratch {
    /// These three fields are one nested list: the product's marked words, numbered within a value;
    /// where each value ends in `marked`; and where each section ends in `values`.
    pub(super) marked: Vec<usize>,
    pub(super) values: Vec<usize>,
    pub(super) sections: Vec<usize>,
    /// Byte ranges of the marked words in the text.
    pub(super) places: Vec<Range<usize>>,
    /// The marked ranges, in bytes and in characters.
    pub(super) spans: Vec<(usize, usize)>,
    pub(super) ranges: Vec<TextRange>,
    pub(super) html: String,
    /// The slots that the product's own text matches.
    pub(super) found: Slots,
    pub(super) json: Vec<u8>,
    /// Where the current hit's array starts in `json`.
    hit: usize,
}

/// Once a hit's highlights reach this size in bytes, no more are added. A single highlight takes up
/// to 7 KiB: 240 characters and [`MAX_RANGES`] ranges.
const MAX_HIT_BYTES: usize = 16 * 1024;

/// The maximum number of marks in a value's text.
const MAX_RANGES: usize = 100;

impl Scratch {
    pub(super) fn marked(&self, values: Range<usize>) -> &[usize] {
        &self.marked[end_of(&self.values, values.start)..end_of(&self.values, values.end)]
    }

    pub(super) fn section(&self, section: Section) -> Range<usize> {
        let section = section as usize;
        end_of(&self.sections, section)..end_of(&self.sections, section + 1)
    }

    /// Starts the next hit's array.
    pub(super) fn begin_hit(&mut self) {
        self.hit = self.json.len();
        self.json.push(b'[');
    }

    /// Appends text with its first matches, if there are any and the hit's array has room for them.
    pub(super) fn write(
        &mut self,
        field: &str,
        text: &str,
        by: Option<&str>,
        language: Option<&Language>,
    ) -> Result<(), serde_json::Error> {
        let Self { places, spans, ranges, html, json, .. } = self;
        if json.len() - self.hit > MAX_HIT_BYTES {
            return Ok(());
        }
        merge(text, places, spans);
        spans.truncate(MAX_RANGES);
        if spans.is_empty() {
            return Ok(());
        }
        let is_ascii = text.is_ascii();
        html::write(html, text, is_ascii, spans);
        measure(text, is_ascii, spans, ranges);
        if json.last() != Some(&b'[') {
            json.push(b',');
        }
        let highlight = Highlight {
            field: field.into(),
            html: html.as_str().into(),
            ranges: ranges.as_slice().into(),
            by: by.map(Into::into),
            language: language.map(|language| language.as_str().into()),
        };
        highlight.write(json)
    }
}

/// The offset at which the first `parts` parts end.
fn end_of(ends: &[usize], parts: usize) -> usize {
    ends[..parts.min(ends.len())].last().copied().unwrap_or(0)
}
