//! A software product and the evidence for what is said of it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{AdditionalProperty, raw};

/// One product of the directory: an export record and its optional properties.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Software {
    /// Identifier, unique in the directory, never empty. Any text: only ever compared.
    pub id: Box<str>,
    /// Name, never empty.
    pub name: Box<str>,
    /// Address of the product's website: a valid URI of any scheme.
    pub url: Box<str>,
    /// Short description.
    pub tagline: Option<Box<str>>,
    /// Long description, plain text.
    pub description: Option<Box<str>>,
    /// Category names as written, the main one first; no two have one slug.
    pub categories: Box<[Box<str>]>,
    pub vendor: Option<Box<str>>,
    /// Free key words.
    pub tags: Box<[Box<str>]>,
    pub features: Box<[Box<str>]>,
    /// Standards it is for, such as `ISO 9001`.
    pub standards: Box<[Box<str>]>,
    /// Names of products that it can replace.
    pub alternative_to: Box<[Box<str>]>,
    /// Other names of the product.
    pub aliases: Box<[Box<str>]>,
    /// How it can be run, such as `cloud` or `on-premises`.
    pub deployment: Box<[Box<str>]>,
    pub pricing: Option<Box<str>>,
    /// Languages of its user interface.
    pub languages: Box<[Box<str>]>,
    /// The kind of offering; `software` by default.
    pub offering_type: OfferingType,
    /// How far the evidence was reviewed.
    pub evidence_status: EvidenceStatus,
    /// When the evidence was checked: text of the form `YYYY-MM-DD`, not necessarily a day that exists.
    pub evidence_checked_on: Option<Box<str>>,
    /// Where the claims come from, in the order given.
    pub sources: Box<[Source]>,
    /// The rating that the record states.
    pub rating: Option<Rating>,
    /// The number of reviews that the record states.
    pub review_count: Option<u64>,
    /// All other properties, in the order written; and known ones with a value of a type that the directory can't use.
    #[serde(with = "raw::properties")]
    pub additional_properties: Box<[AdditionalProperty]>,
}

/// A stated rating: the number for ordering, and its text so that it comes back to the digit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rating {
    /// The value; finite. 0 to 5 by convention, but any number is served.
    pub value: f64,
    /// The number as the export writes it.
    #[serde(with = "raw")]
    pub text: Box<RawValue>,
}

/// A source of evidence: an export writes a pair of label and URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The source's name.
    pub label: Box<str>,
    /// Where it is: a valid URI.
    pub url: Box<str>,
}

/// Whether a record is a software application or a set of document templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfferingType {
    /// A software application.
    Software,
    DocumentTemplates,
}

impl OfferingType {
    /// All values, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::Software, Self::DocumentTemplates];

    /// The value as exports and answers write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::DocumentTemplates => "document-templates",
        }
    }
}

/// How far a record's evidence was reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceStatus {
    /// The vendor's sources were reviewed; sources and the date of the check are stated.
    VendorSourcesReviewed,
    /// Not reviewed yet.
    PendingReview,
}

impl EvidenceStatus {
    /// All values, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::VendorSourcesReviewed, Self::PendingReview];

    /// The value as exports and answers write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VendorSourcesReviewed => "vendor-sources-reviewed",
            Self::PendingReview => "pending-review",
        }
    }
}
