//! Shortens long text for lists.

use std::borrow::Cow;

use unicode_segmentation::GraphemeCursor;

use super::printable::printable;

/// How many code points of a product's text are shown in lists, before the `…`.
pub(crate) const LIST_CHARS: usize = 500;

/// Whether the text has more than `max_chars` code points.
pub(crate) fn is_longer(text: &str, max_chars: usize) -> bool {
    text.len() > max_chars && text.chars().nth(max_chars).is_some()
}

/// Text as it's shown in lists.
pub(crate) fn in_list(text: &str) -> Cow<'_, str> {
    shortened(text, LIST_CHARS)
}

/// The text, or its first `max_chars` code points and `…`. A grapheme cluster is kept as a whole or
/// dropped, unless the text begins with one longer than that.
pub(crate) fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    let limit = if text.len() > max_chars { text.char_indices().nth(max_chars) } else { None };
    let Some((limit, _)) = limit else { return Cow::Borrowed(text) };
    let mut cursor = GraphemeCursor::new(limit, text.len(), true);
    let is_between = cursor.is_boundary(text, 0) == Ok(true);
    let mut before = || cursor.prev_boundary(text, 0).ok().flatten().filter(|end| *end > 0);
    let end = if is_between { limit } else { before().unwrap_or(limit) };
    Cow::Owned(format!("{}…", &text[..end]))
}

/// Text for one line of the terminal or a file, shortened to `max_chars`. Control characters are
/// replaced.
pub(crate) fn in_line(text: &str, max_chars: usize) -> String {
    printable(&shortened(&text.replace(['\n', '\r'], " "), max_chars)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_graphemes() {
        for whole in ["", "abcd", "äöüß", "e\u{301}e\u{301}"] {
            assert_eq!((shortened(whole, 4), is_longer(whole, 4)), (Cow::Borrowed(whole), false));
        }
        for (text, short) in [
            ("abcde", "abcd…"),
            ("äöüßé", "äöüß…"),
            ("abce\u{301}", "abc…"),
            ("ab👩\u{200d}🔬", "ab…"),
            ("ab🇩🇪🇫🇷", "ab🇩🇪…"),
            ("abc\r\nd", "abc…"),
            ("a\u{301}\u{302}\u{303}\u{304}b", "a\u{301}\u{302}\u{303}…"),
        ] {
            assert_eq!((&*shortened(text, 4), is_longer(text, 4)), (short, true), "{text:?}");
        }
    }
}
