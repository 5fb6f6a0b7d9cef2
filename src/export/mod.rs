//! From the files of the data folder to validated records, or to findings that say file, line, column, JSON pointer,
//! what is wrong and how to mend it.

use bytes::Bytes;

use crate::record::{Category, GlossaryTerm, Review, Software, SynonymGroup};

/// One validated export document.
#[derive(Debug)]
pub struct Export {
    /// Identifier: the file's stem.
    pub id: Box<str>,
    /// Name of the export.
    pub name: Box<str>,
    /// Licence: a valid URI.
    pub license: Box<str>,
    /// Snapshot date as stated.
    pub as_of: Option<Box<str>>,
    /// The document for download: the file's own bytes; where elements were skipped as invalid, without those.
    pub document: Bytes,
    /// Its products, in the order of the file.
    pub software: Vec<Software>,
    /// For each product the byte range of its element in `document`.
    pub software_spans: Vec<std::ops::Range<usize>>,
    /// Its categories with their descriptions.
    pub categories: Vec<Category>,
    /// Its reviews.
    pub reviews: Vec<Review>,
    /// Its glossary.
    pub glossary: Vec<GlossaryTerm>,
    /// Its synonyms.
    pub synonyms: Vec<SynonymGroup>,
}
