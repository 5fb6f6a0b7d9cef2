//! Words and their characters: analysis, stemming, English lists, and escaping for terminals, HTML
//! and Markdown.

pub mod analyse;
pub mod english;
pub(crate) mod fold;
pub mod html;
pub mod markdown;
pub mod meaning;
pub mod nearest;
pub mod printable;
pub mod punctuation;
pub mod shorten;
pub mod stem;
