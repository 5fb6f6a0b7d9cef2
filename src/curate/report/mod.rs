//! A report for curators, as HTML and Markdown: how complete and up to date the records in a set of
//! exports are.
//!
//! [`collect`] creates a document of sections, tables and a histogram; [`html`] and [`markdown`]
//! render the same content. The document depends only on the records and the day.

mod agenda;
mod collect;
mod document;
mod html;
mod markdown;

pub use agenda::Agenda;
pub use collect::collect;
pub use document::Document;
pub use html::html;
pub use markdown::{checklist, markdown};
