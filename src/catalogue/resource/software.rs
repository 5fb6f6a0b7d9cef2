//! A product as callers see it, in a list and on its own.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::CategoryResource;
use super::members::{Members, text_or_null, texts};
use crate::export::Export;
use crate::record::{Attribute, Evidence, Language, Software, Source, Translations};

/// A product as shown in lists.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = StoredItem)]
pub struct SoftwareItem<'a> {
    /// Identifier: any text, so percent-encode it in a path.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Short description. In lists, it's cut off after 500 characters with `…`, as are the name and
    /// the vendor.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub tagline: Option<Cow<'a, str>>,
    /// Name of the main category.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub category: Option<Cow<'a, str>>,
    /// All categories, main category first. Lists only contain the first ten.
    #[serde(borrow)]
    pub categories: Vec<CategoryRef<'a>>,
    /// Average rating, by convention 0 to 5.
    #[serde(borrow)]
    #[schema(required, value_type = Option<f64>)]
    pub rating: Option<&'a RawValue>,
    /// Number of reviews that the rating is based on.
    #[schema(required)]
    pub review_count: Option<u64>,
    /// The product's website: a URI. Follow it only if it is `http` or `https`.
    #[serde(borrow)]
    pub website: Cow<'a, str>,
    /// Name of the vendor.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub vendor: Option<Cow<'a, str>>,
    /// `software` or `document-templates`; more values may be added later.
    #[serde(borrow)]
    pub offering_type: Cow<'a, str>,
    /// `vendor-sources-reviewed` or `pending-review`; more values may be added later.
    #[serde(borrow)]
    pub evidence_status: Cow<'a, str>,
    /// When the evidence was checked, `YYYY-MM-DD`.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub evidence_checked_on: Option<Cow<'a, str>>,
    /// The language of the record's own text, as a BCP 47 tag. Absent for English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<Cow<'a, Language>>,
    /// The fields that aren't available in the requested language and are given in the record's own
    /// language instead. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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

    /// The rating as a number.
    pub fn rating_value(&self) -> Option<f64> {
        self.rating.and_then(|rating| rating.get().parse().ok())
    }

    /// Whether a field is available in the language that the item was translated into.
    pub fn is_translated(&self, field: &str) -> bool {
        !self.untranslated.iter().any(|of| of == field)
    }
}

/// A single product's fields in addition to the ones in lists.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct DetailFields<'a> {
    /// Long description, as plain text.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub description: Option<Cow<'a, str>>,
    /// Other names for the product.
    #[serde(borrow, deserialize_with = "texts")]
    pub aliases: Vec<Cow<'a, str>>,
    /// Free-form keywords.
    #[serde(borrow, deserialize_with = "texts")]
    pub tags: Vec<Cow<'a, str>>,
    /// The product's features.
    #[serde(borrow, deserialize_with = "texts")]
    pub features: Vec<Cow<'a, str>>,
    /// Standards that the product is meant for.
    #[serde(borrow, deserialize_with = "texts")]
    pub standards: Vec<Cow<'a, str>>,
    /// Names of products that this one can replace.
    #[serde(borrow, deserialize_with = "texts")]
    pub alternative_to: Vec<Cow<'a, str>>,
    /// Ways to run the product.
    #[serde(borrow, deserialize_with = "texts")]
    pub deployment: Vec<Cow<'a, str>>,
    /// Price, as text.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub pricing: Option<Cow<'a, str>>,
    /// Address of the product's source code: a URI. Follow it only if it is `http` or `https`.
    #[serde(borrow, default, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub repository: Option<Cow<'a, str>>,
    /// Languages that the user interface is available in.
    #[serde(borrow, deserialize_with = "texts")]
    pub languages: Vec<Cow<'a, str>>,
    /// Where the claims come from. The directory doesn't vouch for their accuracy or freshness.
    #[serde(borrow)]
    pub sources: Vec<SourceResource<'a>>,
    /// The evidence for single properties, by their names in the export. Properties that aren't listed
    /// rest on `sources` and `evidence_checked_on`. Absent if there is none.
    #[serde(borrow, default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false, value_type = std::collections::HashMap<String, Vec<EvidenceResource<'a>>>)]
    pub evidence: BTreeMap<Cow<'a, str>, Vec<EvidenceResource<'a>>>,
    /// Where the rating and the review count come from: `stated` in the record, or computed from
    /// its `reviews`; more values may be added later.
    #[schema(required, value_type = Option<String>)]
    pub rating_source: Option<RatingSource>,
    /// Translations, by language tag and field. Absent if there are none.
    #[serde(default, skip_serializing_if = "has_no_text")]
    #[schema(
        required = false,
        nullable = false,
        value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>
    )]
    pub translations: Cow<'a, Translations>,
    /// Properties that the directory doesn't interpret, as given in the export.
    #[serde(borrow)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub additional_properties: Members<'a>,
    /// Where readers can suggest corrections to this record: an https or mailto URI. Absent if its
    /// export names no such address.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub corrections_url: Option<Cow<'a, str>>,
    /// The export that the record comes from.
    #[serde(borrow)]
    pub export: ExportRef<'a>,
    /// Products from other exports that have the same website, best first, at most 20. They're
    /// probably the same product, described by other sources.
    #[serde(borrow)]
    pub same_as: Vec<SameAsRef<'a>>,
}

impl<'s> DetailFields<'s> {
    /// `same_as` contains the best of the products with the same website, each with its export's id.
    pub(in crate::catalogue) fn new(
        software: &'s Software,
        rating_source: Option<RatingSource>,
        export: &'s Export,
        same_as: &'s [(Cow<'s, Software>, &'s str)],
    ) -> Self {
        let texts = |texts: &'s [Box<str>]| texts.iter().map(|text| Cow::Borrowed(&**text)).collect();
        Self {
            description: software.description.as_deref().map(Cow::Borrowed),
            aliases: texts(&software.aliases),
            tags: texts(&software.tags),
            features: texts(&software.features),
            standards: texts(&software.standards),
            alternative_to: texts(&software.alternative_to),
            deployment: texts(&software.deployment),
            pricing: software.pricing.as_deref().map(Cow::Borrowed),
            repository: software.repository.as_deref().map(Cow::Borrowed),
            languages: texts(&software.languages),
            sources: software.sources.iter().map(SourceResource::from).collect(),
            evidence: software.evidence.iter().map(EvidenceResource::of_property).collect(),
            rating_source,
            translations: Cow::Borrowed(&software.translations),
            additional_properties: (&*software.additional_properties).into(),
            corrections_url: export
                .corrections
                .as_ref()
                .map(|template| template.url([&software.id, &software.name, &export.id, &software.url]).into()),
            export: ExportRef {
                id: Cow::Borrowed(&export.id),
                name: Cow::Borrowed(&export.name),
                license: Cow::Borrowed(&export.license),
                as_of: export.as_of.as_deref().map(Cow::Borrowed),
            },
            same_as: same_as
                .iter()
                .map(|(software, export)| SameAsRef {
                    id: Cow::Borrowed(&software.id),
                    name: Cow::Borrowed(&software.name),
                    export: Cow::Borrowed(export),
                })
                .collect(),
        }
    }
}

/// A single product.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SoftwareDetail<'a> {
    /// The fields shown in lists.
    #[serde(flatten)]
    pub item: SoftwareItem<'a>,
    /// The additional fields.
    #[serde(flatten)]
    pub detail: DetailFields<'a>,
}

impl<'a> SoftwareDetail<'a> {
    /// Reads a product from its item and the members that it has in addition, both JSON objects.
    pub fn read(item: &'a [u8], detail: &'a [u8]) -> Result<Self, serde_json::Error> {
        Ok(Self { item: serde_json::from_slice(item)?, detail: serde_json::from_slice(detail)? })
    }

    /// An attribute's values, as written in the record; empty if they have the wrong type.
    pub fn values(&self, attribute: &Attribute) -> Vec<Cow<'_, str>> {
        if let Some(texts) = self.texts(&attribute.property) {
            return texts.iter().map(|text| Cow::Borrowed(&**text)).collect();
        }
        let json = self.detail.additional_properties.get(&attribute.property);
        let values = json.and_then(|json| attribute.kind.values(json.get())).unwrap_or_default();
        values.into_iter().map(|value| String::from(value).into()).collect()
    }

    /// The text of a property that contains one or several; `None` for other properties.
    pub fn texts(&self, property: &str) -> Option<&[Cow<'_, str>]> {
        let Self { item, detail } = self;
        Some(match property {
            "tagline" => item.tagline.as_slice(),
            "vendor" => item.vendor.as_slice(),
            "description" => detail.description.as_slice(),
            "aliases" => &detail.aliases,
            "tags" => &detail.tags,
            "features" => &detail.features,
            "standards" => &detail.standards,
            "alternative_to" => &detail.alternative_to,
            "deployment" => &detail.deployment,
            "languages" => &detail.languages,
            _ => return None,
        })
    }
}

#[expect(clippy::ptr_arg, reason = "serde passes a reference")]
fn has_no_text(translations: &Cow<'_, Translations>) -> bool {
    translations.is_empty()
}

/// A category that a product is in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CategoryRef<'a> {
    /// Identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
}

impl<'a> From<&'a CategoryResource> for CategoryRef<'a> {
    fn from(category: &'a CategoryResource) -> Self {
        Self { id: Cow::Borrowed(&category.id), name: Cow::Borrowed(&category.name) }
    }
}

/// A source of evidence.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Source)]
pub struct SourceResource<'a> {
    /// Name of the source.
    #[serde(borrow)]
    pub label: Cow<'a, str>,
    /// The source's address: a URI.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
}

impl<'a> From<&'a Source> for SourceResource<'a> {
    fn from(source: &'a Source) -> Self {
        Self { label: Cow::Borrowed(&source.label), url: Cow::Borrowed(&source.url) }
    }
}

/// A source for the value of a single property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Evidence)]
pub struct EvidenceResource<'a> {
    /// The source's address: a URI. Follow it only if it is `http` or `https`.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// Name of the source, if it's one of the record's `sources`.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub label: Option<Cow<'a, str>>,
    /// When the source was checked, `YYYY-MM-DD`. If it's null, `evidence_checked_on` applies.
    #[schema(required, value_type = Option<String>)]
    pub checked_on: Option<Cow<'a, str>>,
    /// What the source says.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub quote: Option<Cow<'a, str>>,
    /// The address of a copy that doesn't change: a URI. Follow it only if it is `http` or `https`.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub archived: Option<Cow<'a, str>>,
}

impl<'a> EvidenceResource<'a> {
    fn of_property(Evidence { property, sources }: &'a Evidence) -> (Cow<'a, str>, Vec<Self>) {
        let text = |text: &'a Option<Box<str>>| text.as_deref().map(Cow::Borrowed);
        let sources = sources.iter().map(|source| Self {
            source: Cow::Borrowed(&source.url),
            label: text(&source.label),
            checked_on: source.checked_on.map(|day| day.to_string().into()),
            quote: text(&source.quote),
            archived: text(&source.archived),
        });
        (Cow::Borrowed(&**property), sources.collect())
    }
}

/// The export that a record comes from. Exports with different licences are never mixed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ExportRef<'a> {
    /// Identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Licence: a URI.
    #[serde(borrow)]
    pub license: Cow<'a, str>,
    /// Snapshot date, as stated.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub as_of: Option<Cow<'a, str>>,
}

/// A product from another export that has the same website.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = SameAs)]
pub struct SameAsRef<'a> {
    /// Identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The identifier of the product's export.
    #[serde(borrow)]
    pub export: Cow<'a, str>,
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
