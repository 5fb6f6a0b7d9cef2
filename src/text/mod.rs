//! Words and their characters: analysis, stemming, English lists, escaping for terminals, HTML
//! and Markdown, and counts with their nouns.

pub mod analyse;
pub(crate) mod count;
pub(crate) mod domain;
pub mod english;
pub(crate) mod fold;
pub mod html;
pub mod language;
pub mod markdown;
pub mod meaning;
pub mod nearest;
pub mod printable;
pub mod shorten;
pub mod stem;

/// Appends formatted text to a string.
pub(crate) fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = std::fmt::Write::write_fmt(text, arguments);
}

/// Whether a word is in a list, whose words are separated by spaces.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.as_bytes().split(|byte| *byte == b' ').any(|listed| listed == word.as_bytes())
}
