//! Turns the files in the data folder into validated records, or into findings that state the file,
//! line, column and JSON pointer, what's wrong, and how to fix it.
//!
//! There are three layers: `text` (is it JSON?), `schema` (does it follow the published rules?),
//! and `set` (do all the files together form one directory?). `convert` creates records and gives
//! advice along the way. [`read`] reports all findings in all files at once, and [`render`] shows
//! them.

mod budget;
mod claims;
mod code;
mod convert;
mod finding;
mod id_prefix;
mod link_report;
mod links;
mod near_miss;
mod pointer;
mod reading;
mod record_name;
pub mod render;
mod report;
mod schema;
mod section;
mod set;
mod signature;
mod source;
mod stale;
mod text;

pub use code::{Code, Severity};
pub use convert::write_compact;
pub use finding::{Finding, LeftOut, Location, RecordName, Related, SourceSpan};
pub use id_prefix::{IdPrefixes, is_id_prefix, prefix_ids};
pub use link_report::{LinkGroup, LinkReport, LinkTarget};
pub use links::{LinkAnswer, SourceClaim, WebLinks};
pub use reading::{ExportSet, SetExport, examine, latest_day, read};
pub use report::{Counts, Report, Skipped, mention_ignored_files};
pub use schema::ascii_url;
pub use signature::{SIGNATURE_EXTENSION, Signature, TrustedKeys, is_public_key, read_signature, signature_path};
pub use source::{FindError, Limits, SourceFile, find_files};
pub use stale::{MaxAge, Stale, StaleCategory, StaleProduct};

use bytes::Bytes;
use section::{Section, SectionKind, Sections};

use crate::record::{Attribute, Category, Corrections, GlossaryTerm, Language, Pin, Review, Software, SynonymGroup};

/// One validated export document.
#[derive(Debug, Default)]
pub struct Export {
    /// Identifier: the file name without its extension.
    pub id: Box<str>,
    /// The prefix for the product and review ids in its document; empty if they're already full
    /// ids.
    pub id_prefix: Box<str>,
    /// The export's name.
    pub name: Box<str>,
    /// Licence: a valid URI.
    pub license: Box<str>,
    /// The snapshot date that the export states.
    pub as_of: Option<Box<str>>,
    /// What the export contains.
    pub description: Option<Box<str>>,
    /// Where readers can suggest corrections.
    pub corrections: Option<Corrections>,
    /// The language of the export's text: the one stated, or else the one that the text is clearly
    /// in. `None` means English.
    pub language: Option<Language>,
    /// The signature of `document`, if trusted keys are named and nothing was skipped.
    pub signature: Option<Signature>,
    /// When its file was last modified; `None` for a document that doesn't come from a file.
    pub modified: Option<std::time::SystemTime>,
    /// The document for download: the file's own bytes, without elements that were skipped as
    /// invalid.
    pub document: Bytes,
    /// The export's products, in file order.
    pub software: Vec<Software>,
    /// For each product, the byte range of its element in `document`.
    pub software_spans: Vec<std::ops::Range<usize>>,
    pub categories: Vec<Category>,
    pub reviews: Vec<Review>,
    pub glossary: Vec<GlossaryTerm>,
    pub synonyms: Vec<SynonymGroup>,
    pub pins: Vec<Pin>,
    pub attributes: Vec<Attribute>,
}

/// The JSON Schema of export documents (draft 2020-12, with `format` asserted). The second layer
/// enforces the same rules.
pub const fn schema() -> &'static str {
    schema::PUBLISHED
}

/// The schema for editors: an export that follows it has none of the warnings that a schema can
/// express.
pub fn editor_schema() -> String {
    schema::completed()
}
