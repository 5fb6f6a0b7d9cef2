//! A product's JSON consists of its item, as shown in lists, and the detail fields missing from the
//! item. If the item is shortened, the detail fields are all of the product's fields.

use std::borrow::Cow;

use super::rating::Rating;
use crate::catalogue::resource::{
    AdditionalProperties, CategoryRef, CategoryResource, DetailFields, ExportRef, SameAsRef, SoftwareItem,
    SourceResource,
};
use crate::export::Export;
use crate::record::{Language, Software};
use crate::text::shorten::{LIST_CHARS, is_longer, shortened};

/// A product from another export that has the same website, and that export's id.
pub(super) type SameAs<'m> = (Cow<'m, Software>, &'m str);

/// The maximum number of categories that lists show per product.
const LIST_CATEGORIES: usize = 10;

/// How much of a product's text and categories an item contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What lists show of a product, shortened if necessary.
    List,
    Whole,
}

impl Extent {
    fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::List => shortened(text, LIST_CHARS),
            Self::Whole => Cow::Borrowed(text),
        }
    }
}

/// Whether lists shorten a product's text or omit categories.
pub(super) fn is_shortened(software: &Software) -> bool {
    let texts = [Some(&software.name), software.tagline.as_ref(), software.vendor.as_ref()];
    software.categories.len() > LIST_CATEGORIES || texts.into_iter().flatten().any(|text| is_longer(text, LIST_CHARS))
}

/// Builds a product's item. `language` is the language of its own text.
pub(super) fn item<'c>(
    software: &Software,
    language: Option<&Language>,
    shown: Rating,
    categories: impl Iterator<Item = &'c CategoryResource>,
    extent: Extent,
) -> Result<Vec<u8>, serde_json::Error> {
    let most = if extent == Extent::List { LIST_CATEGORIES } else { usize::MAX };
    let categories: Vec<_> =
        categories.take(most).map(|category| CategoryRef { id: &category.id, name: &category.name }).collect();
    let name = extent.of(&software.name);
    let tagline = software.tagline.as_deref().map(|tagline| extent.of(tagline));
    let vendor = software.vendor.as_deref().map(|vendor| extent.of(vendor));
    let computed = match (&software.rating, shown.value) {
        (None, Some(rating)) => Some(serde_json::value::to_raw_value(&rating)?),
        _ => None,
    };
    serde_json::to_vec(&SoftwareItem {
        id: &software.id,
        name: &name,
        tagline: tagline.as_deref(),
        category: categories.first().map(|category| category.name),
        categories,
        rating: software.rating.as_ref().map(|rating| &*rating.text).or(computed.as_deref()),
        review_count: shown.review_count,
        website: &software.url,
        vendor: vendor.as_deref(),
        offering_type: software.offering_type.as_str(),
        evidence_status: software.evidence_status.as_str(),
        evidence_checked_on: software.evidence_checked_on.as_deref(),
        language,
        untranslated: Vec::new(),
    })
}

/// How every item begins.
pub(super) const ID: &[u8] = br#"{"id":"#;

/// Whether stored detail fields are all of a product's fields, because its item is shortened.
pub(super) fn is_whole(fields: &[u8]) -> bool {
    fields.starts_with(ID)
}

/// A product's details as a JSON object, combined from its item and its stored detail fields.
pub fn joined(item: &[u8], fields: &[u8]) -> Vec<u8> {
    if is_whole(fields) {
        return fields.to_vec();
    }
    let (item, fields) = (item.strip_suffix(b"}").unwrap_or(item), fields.strip_prefix(b"{").unwrap_or(fields));
    [item, b",", fields].concat()
}

/// The detail fields missing from a product's item. `same_as` contains the best of the products
/// with the same website.
pub(super) fn detail_fields(
    software: &Software,
    shown: Rating,
    export: &Export,
    same_as: &[SameAs<'_>],
) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&DetailFields {
        description: software.description.as_deref(),
        aliases: &software.aliases,
        tags: &software.tags,
        features: &software.features,
        standards: &software.standards,
        alternative_to: &software.alternative_to,
        deployment: &software.deployment,
        pricing: software.pricing.as_deref(),
        languages: &software.languages,
        sources: software
            .sources
            .iter()
            .map(|source| SourceResource { label: &source.label, url: &source.url })
            .collect(),
        rating_source: shown.source,
        translations: &software.translations,
        additional_properties: AdditionalProperties(&software.additional_properties),
        export: ExportRef {
            id: &export.id,
            name: &export.name,
            license: &export.license,
            as_of: export.as_of.as_deref(),
        },
        same_as: same_as
            .iter()
            .map(|(software, export)| SameAsRef { id: &software.id, name: &software.name, export })
            .collect(),
    })
}
