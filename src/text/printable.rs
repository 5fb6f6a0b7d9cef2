//! Makes untrusted text safe to print on a terminal.

use std::borrow::Cow;

/// Escapes control characters and bidirectional formatting, so that the text can't control a
/// terminal, or reorder or forge lines. Tabs are kept.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) { printable.extend(c.escape_unicode()) } else { printable.push(c) }
    }
    Cow::Owned(printable)
}

/// Whether a character is a control character other than a tab, or bidirectional formatting.
pub(crate) fn is_escaped(c: char) -> bool {
    let is_formatting =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_formatting || (c.is_control() && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_and_bidirectional_formatting_are_escaped() {
        assert_eq!(printable("a\u{1b}[31m\u{9b}1m\r\n\u{7f}"), r"a\u{1b}[31m\u{9b}1m\u{d}\u{a}\u{7f}");
        assert_eq!(printable("\u{202e}\u{2066}\u{200f}\u{2028}"), r"\u{202e}\u{2066}\u{200f}\u{2028}");
        assert_eq!(printable("é\t安 😀"), "é\t安 😀");
    }
}
