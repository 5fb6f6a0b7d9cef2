//! The JSON of a product: its item, as lists show it, and the fields of its detail which the item doesn't have.

use std::borrow::Cow;

use super::rating::Rating;
use crate::catalogue::resource::{
    AdditionalProperties, CategoryRef, CategoryResource, DetailFields, ExportRef, SameAsRef, SoftwareItem,
    SourceResource,
};
use crate::export::Export;
use crate::record::Software;

/// A product of another export with the same website, and that export's id.
pub(super) type SameAs<'m> = (Cow<'m, Software>, &'m str);

/// A product as lists show it.
pub(super) fn item<'c>(
    software: &Software,
    shown: Rating,
    categories: impl Iterator<Item = &'c CategoryResource>,
) -> Result<Vec<u8>, serde_json::Error> {
    let categories: Vec<_> =
        categories.map(|category| CategoryRef { id: &category.id, name: &category.name }).collect();
    let computed = match (&software.rating, shown.value) {
        (None, Some(rating)) => Some(serde_json::value::to_raw_value(&rating)?),
        _ => None,
    };
    serde_json::to_vec(&SoftwareItem {
        id: &software.id,
        name: &software.name,
        tagline: software.tagline.as_deref(),
        category: categories.first().map(|category| category.name),
        categories,
        rating: software.rating.as_ref().map(|rating| &*rating.text).or(computed.as_deref()),
        review_count: shown.review_count,
        website: &software.url,
        vendor: software.vendor.as_deref(),
        offering_type: software.offering_type.as_str(),
        evidence_status: software.evidence_status.as_str(),
        evidence_checked_on: software.evidence_checked_on.as_deref(),
    })
}

/// The fields of a product's detail which its item doesn't have. `same_as` are the best first.
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
