//! Words and their characters: analysis, stemming, English lists, and escaping for terminals, HTML
//! and Markdown.

pub mod analyse;
pub mod english;
pub mod html;
pub mod markdown;
pub mod nearest;
pub mod printable;
pub mod shorten;
pub mod stem;
