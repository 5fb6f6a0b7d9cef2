//! A loaded export as callers see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::record::Language;

/// One of the export files that make up the directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Export)]
pub struct ExportResource {
    /// Identifier: the file's name without `.json`.
    pub id: String,
    /// The export's name.
    pub name: String,
    /// The prefix that the directory adds to the ids of the export's products and reviews; null if
    /// there is none.
    #[schema(required)]
    pub id_prefix: Option<String>,
    /// Licence of the export's content: a URI.
    pub license: String,
    /// Snapshot date, as stated; a record's own evidence date takes precedence.
    #[schema(required)]
    pub as_of: Option<String>,
    /// Number of products in the export.
    pub software_count: u64,
    /// Number of categories that the export describes.
    pub category_count: u64,
    /// Number of reviews in the export.
    pub review_count: u64,
    /// Number of glossary terms that the export defines.
    pub glossary_count: u64,
    /// Size of the document in bytes.
    pub size_bytes: u64,
    /// SHA-256 hash of the document, in hexadecimal. It changes whenever the document does, and you
    /// can use it to verify a download.
    pub sha256: String,
    /// When the export's file was last modified (RFC 3339 in UTC); null if the export isn't a file,
    /// such as a bundled one.
    #[schema(required)]
    pub changed_at: Option<String>,
    /// The language of the export's text, as a BCP 47 tag; detected if the export doesn't state it.
    /// Absent for English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<Language>,
}

/// The exports and records that were left out because they're invalid. Zero unless the server runs
/// with `--skip-invalid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Skipped)]
pub struct SkippedResource {
    /// Export files left out entirely.
    pub export_count: u64,
    /// Products, categories, reviews, glossary terms and synonym groups left out, including those
    /// in exports left out entirely. Records in a file that can't be parsed aren't counted.
    pub record_count: u64,
}
