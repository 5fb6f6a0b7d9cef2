//! A product as callers see it, in a list and on its own.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::record::{AdditionalProperty, Language, Translations};

/// A product as shown in lists.
#[derive(Debug, Serialize, ToSchema)]
pub struct SoftwareItem<'a> {
    /// Identifier: any text, so percent-encode it in a path.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
    /// Short description. In lists, it's cut off after 500 characters with `…`, as are the name and
    /// the vendor.
    #[schema(required)]
    pub tagline: Option<&'a str>,
    /// Name of the main category.
    #[schema(required)]
    pub category: Option<&'a str>,
    /// All categories, main category first. Lists only contain the first ten.
    pub categories: Vec<CategoryRef<'a>>,
    /// Average rating, by convention 0 to 5.
    #[schema(required, value_type = Option<f64>)]
    pub rating: Option<&'a RawValue>,
    /// Number of reviews that the rating is based on.
    #[schema(required)]
    pub review_count: Option<u64>,
    /// The product's website: a URI. Follow it only if it is `http` or `https`.
    pub website: &'a str,
    /// Name of the vendor.
    #[schema(required)]
    pub vendor: Option<&'a str>,
    /// `software` or `document-templates`; more values may be added later.
    pub offering_type: &'a str,
    /// `vendor-sources-reviewed` or `pending-review`; more values may be added later.
    pub evidence_status: &'a str,
    /// When the evidence was checked, `YYYY-MM-DD`.
    #[schema(required)]
    pub evidence_checked_on: Option<&'a str>,
    /// The language of the record's own text, as a BCP 47 tag. Absent for English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<&'a Language>,
    /// The fields that aren't available in the requested language and are given in the record's own
    /// language instead. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub untranslated: Vec<String>,
}

impl SoftwareItem<'_> {
    /// The field names, in order.
    pub const FIELDS: [&'static str; 14] = [
        "id",
        "name",
        "tagline",
        "category",
        "categories",
        "rating",
        "review_count",
        "website",
        "vendor",
        "offering_type",
        "evidence_status",
        "evidence_checked_on",
        "language",
        "untranslated",
    ];
}

/// A single product's fields in addition to the ones in lists.
#[derive(Debug, Serialize, ToSchema)]
pub struct DetailFields<'a> {
    /// Long description, as plain text.
    #[schema(required)]
    pub description: Option<&'a str>,
    /// Other names for the product.
    pub aliases: &'a [Box<str>],
    /// Free-form keywords.
    pub tags: &'a [Box<str>],
    /// The product's features.
    pub features: &'a [Box<str>],
    /// Standards that the product is meant for.
    pub standards: &'a [Box<str>],
    /// Names of products that this one can replace.
    pub alternative_to: &'a [Box<str>],
    /// Ways to run the product.
    pub deployment: &'a [Box<str>],
    /// Price, as text.
    #[schema(required)]
    pub pricing: Option<&'a str>,
    /// Languages that the user interface is available in.
    pub languages: &'a [Box<str>],
    /// Where the claims come from. The directory doesn't vouch for their accuracy or freshness.
    pub sources: Vec<SourceResource<'a>>,
    /// Where the rating and the review count come from: `stated` in the record, or computed from
    /// its `reviews`; more values may be added later.
    #[schema(required, value_type = Option<String>)]
    pub rating_source: Option<RatingSource>,
    /// Translations, by language tag and field. Absent if there are none.
    #[serde(skip_serializing_if = "Translations::is_empty")]
    #[schema(
        required = false,
        nullable = false,
        value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>
    )]
    pub translations: &'a Translations,
    /// Properties that the directory doesn't interpret, as given in the export.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub additional_properties: AdditionalProperties<'a>,
    /// The export that the record comes from.
    pub export: ExportRef<'a>,
    /// Products from other exports that have the same website, best first, at most 20. They're
    /// probably the same product, described by other sources.
    pub same_as: Vec<SameAsRef<'a>>,
}

/// A single product.
#[derive(Debug, Serialize, ToSchema)]
pub struct SoftwareDetail<'a> {
    /// The fields shown in lists.
    #[serde(flatten)]
    pub item: SoftwareItem<'a>,
    /// The additional fields.
    #[serde(flatten)]
    pub detail: DetailFields<'a>,
}

/// A category that a product is in.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct CategoryRef<'a> {
    /// Identifier.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
}

/// A source of evidence.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = Source)]
pub struct SourceResource<'a> {
    /// Name of the source.
    pub label: &'a str,
    /// The source's address: a URI.
    pub url: &'a str,
}

/// The export that a record comes from. Exports with different licences are never mixed.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct ExportRef<'a> {
    /// Identifier.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
    /// Licence: a URI.
    pub license: &'a str,
    /// Snapshot date, as stated.
    #[schema(required)]
    pub as_of: Option<&'a str>,
}

/// A product from another export that has the same website.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = SameAs)]
pub struct SameAsRef<'a> {
    /// Identifier.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
    /// The identifier of the product's export.
    pub export: &'a str,
}

/// Where a rating comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatingSource {
    /// The record states it.
    Stated,
    /// Computed from the directory's reviews.
    Reviews,
}

/// Properties as written in the export, serialised as an object.
#[derive(Debug, Clone, Copy)]
pub struct AdditionalProperties<'a>(pub &'a [AdditionalProperty]);

impl Serialize for AdditionalProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
