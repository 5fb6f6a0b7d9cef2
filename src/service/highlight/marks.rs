//! A product's marked words, and the highlights written from them, in buffers that are reused.

use std::ops::Range;

use super::Slots;
use crate::catalogue::resource::{Highlight, TextRange};
use crate::record::Language;
use crate::record::Section;
use crate::text::html::{is_special, push_escaped};

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
        write(html, text, is_ascii, spans);
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

/// Longer text is shortened to an excerpt of this many characters.
const EXCERPT: usize = 240;
/// How much of the excerpt precedes the first match, in characters.
const LEAD: usize = 60;

/// Replaces `html` with the text, or with an excerpt around its first match. Everything is escaped
/// except for our own marks.
pub(super) fn write(html: &mut String, text: &str, is_ascii: bool, spans: &[(usize, usize)]) {
    let (from, to) = excerpt(text, is_ascii, spans.first().map_or(0, |span| span.0));
    html.clear();
    let push = if text[from..to].bytes().fold(false, |any, byte| any | is_special(byte)) { push_escaped } else { push };
    if from > 0 {
        html.push('…');
    }
    let mut at = from;
    for (start, end) in spans.iter().copied().filter(|(start, end)| *start >= from && *end <= to) {
        push(html, &text[at..start]);
        html.push_str("<mark>");
        push(html, &text[start..end]);
        html.push_str("</mark>");
        at = end;
    }
    push(html, &text[at..to]);
    if to < text.len() {
        html.push('…');
    }
}

/// The byte range of the text to show. It begins and ends between words if possible.
fn excerpt(text: &str, is_ascii: bool, first_match: usize) -> (usize, usize) {
    // Text never has more characters than bytes.
    if text.len() <= EXCERPT || (!is_ascii && text.chars().count() <= EXCERPT) {
        return (0, text.len());
    }
    let start = before(&text[..first_match], is_ascii, LEAD);
    let from = if start == 0 {
        0
    } else {
        text[start..first_match].find(char::is_whitespace).map_or(start, |at| start + at).min(first_match)
    };
    let from = first_match - text[from..first_match].trim_start().len();
    let end = from + behind(&text[from..], is_ascii, EXCERPT);
    if end == text.len() {
        return (from, end);
    }
    let to = text[from..end].rfind(char::is_whitespace).map_or(end, |at| from + at);
    (from, if to > first_match { to } else { end })
}

/// The byte offset of the character that's `count` characters before the text's last character; 0
/// if there's no such character.
fn before(text: &str, is_ascii: bool, count: usize) -> usize {
    if is_ascii {
        return text.len().saturating_sub(count + 1);
    }
    text.char_indices().rev().nth(count).map_or(0, |(at, _)| at)
}

/// The byte offset after the first `count` characters, or the text's length if it has fewer.
fn behind(text: &str, is_ascii: bool, count: usize) -> usize {
    if is_ascii {
        return text.len().min(count);
    }
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}

/// Appends text that needs no escaping.
fn push(html: &mut String, text: &str) {
    html.push_str(text);
}

/// Merges matches that overlap or have only white space between them.
pub(super) fn merge(text: &str, places: &[Range<usize>], merged: &mut Vec<(usize, usize)>) {
    merged.clear();
    for Range { start, end } in places.iter().cloned() {
        match merged.last_mut() {
            Some(last) if start <= last.1 || text[last.1..start].chars().all(char::is_whitespace) => {
                last.1 = end.max(last.1);
            }
            _ => merged.push((start, end)),
        }
    }
}

/// Converts byte spans to a start and length in characters.
pub(super) fn measure(text: &str, is_ascii: bool, spans: &[(usize, usize)], ranges: &mut Vec<TextRange>) {
    let (mut at, mut count) = (0, 0);
    let mut characters_to = |end: usize| {
        count += if is_ascii { end - at } else { text[at..end].chars().count() } as u64;
        at = end;
        count
    };
    ranges.clear();
    ranges.extend(spans.iter().map(|(start, end)| {
        let start = characters_to(*start);
        TextRange { start, length: characters_to(*end) - start }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str, spans: &[(usize, usize)]) -> String {
        let mut html = "what was there before".to_owned();
        write(&mut html, text, text.is_ascii(), spans);
        html
    }

    #[test]
    fn a_records_own_markup_is_escaped() {
        let text = "<script>audit</script> & \"more\"";
        let start = text.find("audit").expect("it is there");
        assert_eq!(
            html(text, &[(start, start + 5)]),
            "&lt;script&gt;<mark>audit</mark>&lt;/script&gt; &amp; &quot;more&quot;"
        );
    }

    #[test]
    fn long_text_is_shortened_to_an_excerpt_around_its_first_match() {
        let text = format!("{}audit {}", "lorem ipsum ".repeat(30), "dolor sit ".repeat(60));
        let start = text.find("audit").expect("it is there");
        let html = html(&text, &[(start, start + 5)]);
        assert!(html.starts_with('…') && html.ends_with('…'), "{html}");
        assert!(html.contains("<mark>audit</mark>"), "{html}");
        assert!(html.chars().count() < 280, "{html}");
    }

    #[test]
    fn ranges_are_measured_in_characters_rather_than_bytes() {
        let mut ranges = vec![TextRange { start: 9, length: 9 }];
        for text in ["an audit, and one more", "än äudit, añd one more"] {
            let spans: Vec<_> =
                ["udit", "d o", "e"].map(|part| text.rfind(part).map(|at| (at, at + part.len()))).into();
            measure(text, text.is_ascii(), &spans.into_iter().flatten().collect::<Vec<_>>(), &mut ranges);
            let pairs: Vec<_> = ranges.iter().map(|range| (range.start, range.length)).collect();
            assert_eq!(pairs, [(4, 4), (12, 3), (21, 1)], "{text}");
        }
    }
}
