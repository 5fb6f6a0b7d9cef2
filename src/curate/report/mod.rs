//! A report for curators: how complete and how recent the records of a set of exports are, as HTML and as Markdown.
//!
//! [`collect`] makes a document of sections, tables and a histogram; [`html`] and [`markdown`] write the same content. The document
//! depends on the records and the day only.

mod age;
mod collect;
mod document;
mod duplicates;
mod html;
mod markdown;
mod tally;

pub use collect::collect;
pub use document::Document;
pub use html::html;
pub use markdown::markdown;
