//! The part of a line that is shown around a finding. An export may be a single line of many
//! megabytes.

use std::ops::Range;

use crate::export::SourceFile;
use crate::text::printable::printable;

/// Maximum number of bytes shown before a finding, and from its start onwards.
const BEFORE: usize = 60;
const BEHIND: usize = 70;

/// Extra bytes read to see whether the line continues and where its characters begin.
const MARGIN: usize = 4;

const ELLIPSIS: &str = "…";

/// An excerpt of a line, and the finding's byte range in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

impl Window {
    pub(super) fn of(file: &SourceFile, place: &Range<usize>) -> Self {
        let from = place.start.saturating_sub(BEFORE + MARGIN);
        let bytes = file.part(from..place.start.saturating_add(BEHIND + MARGIN));
        Self::around(&bytes, &(place.start - from..place.end.saturating_sub(from)))
    }

    /// Invalid UTF-8 is shown as U+FFFD.
    pub(super) fn around(bytes: &[u8], place: &Range<usize>) -> Self {
        let start = place.start.min(bytes.len());
        let mut from = start.saturating_sub(BEFORE);
        let mut to = (start + BEHIND).min(bytes.len());
        while from > 0 && from < start && is_continuation(bytes[from]) {
            from += 1;
        }
        while to < bytes.len() && to > start && is_continuation(bytes[to]) {
            to -= 1;
        }
        let line_start = bytes[from..start].iter().rposition(|byte| *byte == b'\n').map(|at| from + at + 1);
        let line_end = bytes[start..to].iter().position(|byte| matches!(byte, b'\n' | b'\r')).map(|at| start + at);
        let is_cut_before = line_start.is_none() && from > 0 && bytes[from - 1] != b'\n';
        let is_cut_behind = line_end.is_none() && to < bytes.len() && !matches!(bytes[to], b'\n' | b'\r');
        let (from, to) = (line_start.unwrap_or(from), line_end.unwrap_or(to));
        let end = place.end.clamp(start, to);

        let mut text = String::new();
        if is_cut_before {
            text.push_str(ELLIPSIS);
        }
        text.push_str(&printable(&String::from_utf8_lossy(&bytes[from..start])));
        let shown_start = text.len();
        text.push_str(&printable(&String::from_utf8_lossy(&bytes[start..end])));
        let shown_end = text.len();
        text.push_str(&printable(&String::from_utf8_lossy(&bytes[end..to])));
        if is_cut_behind {
            text.push_str(ELLIPSIS);
        }
        Self { text, range: shown_start..shown_end }
    }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_shown_whole() {
        let text = "one\n  \"two\": 2,\r\nthree";
        let at = text.find('2').expect("a 2");
        assert_eq!(
            Window::around(text.as_bytes(), &(at..at + 1)),
            Window { text: "  \"two\": 2,".to_owned(), range: 9..10 }
        );
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides_between_characters() {
        let text = format!("{}!{}", "é".repeat(1000), "€".repeat(1000));
        let window = Window::around(text.as_bytes(), &(2000..2001));
        assert_eq!(window.text, format!("…{}!{}…", "é".repeat(30), "€".repeat(23)));
        assert_eq!(&window.text[window.range], "!");
    }

    #[test]
    fn invalid_utf_8_is_shown_as_replacement_characters() {
        let window = Window::around(b"a\xe9\xffb", &(1..2));
        assert_eq!(window.text, "a\u{fffd}\u{fffd}b");
        assert_eq!(&window.text[window.range], "\u{fffd}");
    }

    #[test]
    fn a_finding_at_the_end_of_the_file_is_shown() {
        assert_eq!(Window::around(b"[1\n", &(3..3)), Window { text: String::new(), range: 0..0 });
        assert_eq!(Window::around(b"[1", &(2..2)), Window { text: "[1".to_owned(), range: 2..2 });
    }
}
