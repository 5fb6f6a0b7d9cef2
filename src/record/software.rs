//! A software product and the evidence for what's said about it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{AdditionalProperty, Translations, raw};

/// A product in the directory: an export record and its optional properties.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Software {
    /// Unique in the directory and never empty. Any string will do, because ids are only compared.
    pub id: Box<str>,
    /// Never empty.
    pub name: Box<str>,
    /// The product's website: a valid URI with any scheme.
    pub url: Box<str>,
    /// Short description.
    pub tagline: Option<Box<str>>,
    /// Long description in plain text.
    pub description: Option<Box<str>>,
    /// Category names as written, the main one first; each slug only once.
    pub categories: Box<[Box<str>]>,
    pub vendor: Option<Box<str>>,
    pub tags: Box<[Box<str>]>,
    pub features: Box<[Box<str>]>,
    /// Standards that the product is for, such as `ISO 9001`.
    pub standards: Box<[Box<str>]>,
    /// Names of products that this product can replace.
    pub alternative_to: Box<[Box<str>]>,
    pub aliases: Box<[Box<str>]>,
    /// How the product can be run, such as `cloud` or `on-premises`.
    pub deployment: Box<[Box<str>]>,
    pub pricing: Option<Box<str>>,
    /// Languages of the product's user interface.
    pub languages: Box<[Box<str>]>,
    /// Defaults to `software`.
    pub offering_type: OfferingType,
    pub evidence_status: EvidenceStatus,
    /// When the evidence was checked, in the form `YYYY-MM-DD`. Not necessarily a date that exists.
    pub evidence_checked_on: Option<Box<str>>,
    /// Where the claims come from, in the order given.
    pub sources: Box<[Source]>,
    /// The rating stated in the record.
    pub rating: Option<Rating>,
    /// The number of reviews stated in the record.
    pub review_count: Option<u64>,
    /// Translations of name, tagline and description.
    pub translations: Translations,
    /// All other properties in their original order, including known ones whose value has a type
    /// that the directory can't use.
    #[serde(with = "raw::properties")]
    pub additional_properties: Box<[AdditionalProperty]>,
}

impl Software {
    /// A built-in attribute's values; `None` for any other property.
    pub fn built_in(&self, property: &str) -> Option<&[Box<str>]> {
        match property {
            "standards" => Some(&self.standards),
            "deployment" => Some(&self.deployment),
            "languages" => Some(&self.languages),
            "vendor" => Some(self.vendor.as_slice()),
            "tags" => Some(&self.tags),
            _ => None,
        }
    }
}

/// A record's rating: the number for sorting, and its text, so that it's returned digit for digit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rating {
    /// Always finite. From 0 to 5 by convention, but any number is served.
    pub value: f64,
    /// The number as written in the export.
    #[serde(with = "raw")]
    pub text: Box<RawValue>,
}

/// A source of evidence, which an export writes as a pair of a label and a URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub label: Box<str>,
    /// A valid URI.
    pub url: Box<str>,
}

/// Whether a record is a software application or a set of document templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfferingType {
    Software,
    DocumentTemplates,
}

impl OfferingType {
    /// All values, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::Software, Self::DocumentTemplates];

    /// The value as written in exports and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::DocumentTemplates => "document-templates",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceStatus {
    /// The vendor's sources were reviewed. The sources and the date of the check are stated.
    VendorSourcesReviewed,
    PendingReview,
}

impl EvidenceStatus {
    /// All values, in the order of the specification.
    pub const ALL: [Self; 2] = [Self::VendorSourcesReviewed, Self::PendingReview];

    /// The value as written in exports and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VendorSourcesReviewed => "vendor-sources-reviewed",
            Self::PendingReview => "pending-review",
        }
    }
}
