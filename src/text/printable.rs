//! Makes other people's text safe for a terminal or a language model: nothing in it is hidden from
//! the reader.

use std::borrow::Cow;

/// The text with its hidden characters escaped as `\n`, `\r` or `\u{…}`, so that it can neither
/// steer a terminal nor reorder or forge lines. Tabs are kept.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 16);
    for (c, is_hidden) in marked_hidden(text) {
        match c {
            '\n' => printable.push_str("\\n"),
            '\r' => printable.push_str("\\r"),
            _ if is_hidden => printable.extend(c.escape_unicode()),
            _ => printable.push(c),
        }
    }
    Cow::Owned(printable)
}

/// Whether the text has a hidden character.
pub(crate) fn has_hidden(text: &str) -> bool {
    marked_hidden(text).any(|(_, is_hidden)| is_hidden)
}

/// Each character and whether it's hidden: an [invisible](is_invisible) one, unless it shapes the
/// preceding character as scripts and emoji require (a variation selector, and a joiner after
/// that).
pub(crate) fn marked_hidden(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut is_after_visible, mut is_after_selector) = (false, false);
    text.chars().map(move |c| {
        let is_selector = is_after_visible && matches!(c, '\u{fe00}'..='\u{fe0f}');
        let is_joiner = (is_after_visible || is_after_selector) && matches!(c, '\u{200c}' | '\u{200d}');
        let is_hidden = is_invisible(c) && !is_selector && !is_joiner;
        (is_after_visible, is_after_selector) = (!is_invisible(c), is_selector);
        (c, is_hidden)
    })
}

/// Whether a character is invisible: a control character except the tab, a line or paragraph
/// separator, a blank Braille cell, an interlinear annotation, or a default-ignorable code point
/// (`DerivedCoreProperties.txt`, Unicode 17).
pub(crate) fn is_invisible(c: char) -> bool {
    if c < '\u{7f}' {
        return c < ' ' && c != '\t';
    }
    c.is_control()
        || matches!(u32::from(c),
            0xAD | 0x034F | 0x061C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
            | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(printable("a\u{1b}[31m\u{9b}1m\r\n\u{7f}"), r"a\u{1b}[31m\u{9b}1m\r\n\u{7f}");
        assert_eq!(printable("\u{202e}\u{2066}\u{200f}\u{2028}"), r"\u{202e}\u{2066}\u{200f}\u{2028}");
        assert_eq!(printable("a\u{ad}b\u{34f}\u{2800}\u{fffa}\u{e0041}"), r"a\u{ad}b\u{34f}\u{2800}\u{fffa}\u{e0041}");
        assert_eq!(printable("é\t安 😀"), "é\t安 😀");
    }

    #[test]
    fn joiners_and_selectors_shape_a_visible_character_and_are_hidden_elsewhere() {
        for shown in ["می‌خواهم", "👩‍🔬", "❤\u{fe0f}\u{200d}🔥", "क्‍ष"] {
            assert_eq!(printable(shown), shown);
        }
        assert_eq!(printable("\u{200d}a"), r"\u{200d}a");
        assert_eq!(printable("a\u{fe0f}\u{fe01}"), "a\u{fe0f}\\u{fe01}", "selectors in a row carry a message");
        assert_eq!(printable("a\u{200d}\u{200c}"), "a\u{200d}\\u{200c}");
        assert_eq!(printable("a\u{e0100}"), r"a\u{e0100}");
    }
}
