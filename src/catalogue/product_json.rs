//! The JSON of a product: its item, as lists show it, and the fields of its detail which the item doesn't have.

use memchr::memmem;

use super::rating::Rating;
use crate::export::Export;
use crate::record::Software;
use crate::resource::{
    AdditionalProperties, CategoryRef, CategoryResource, DetailFields, ExportRef, SameAsRef, SoftwareItem,
    SourceResource,
};

/// A product as lists show it.
///
/// # Errors
/// Where it can't be written as JSON.
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

/// The fields of a product's detail which its item doesn't have. `same_as` are the products of other exports with its website, the
/// best first, each with its export's id.
///
/// # Errors
/// Where they can't be written as JSON.
pub(super) fn detail_fields(
    software: &Software,
    shown: Rating,
    export: &Export,
    same_as: &[(Software, &str)],
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

/// What the first detail field begins with that is never highlighted: those with highlights are before it. Nowhere else is this in
/// the fields, for in a string each quote is escaped.
const FIRST_WITHOUT_HIGHLIGHTS: &[u8] = br#","deployment":"#;

/// Removes the detail fields that are never highlighted from a buffer, which has all of them from `start`.
pub(super) fn truncate_to_highlighted(buffer: &mut Vec<u8>, start: usize) {
    if let Some(length) = memmem::find(&buffer[start..], FIRST_WITHOUT_HIGHLIGHTS) {
        buffer.truncate(start + length);
        buffer.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn fields_with_highlights_stay_whole() {
        let odd = [r#","deployment":""#, r#"\"#, r#"","deployment":["#, ""];
        let fields = json!({
            "description": odd[0], "aliases": odd, "tags": odd, "features": [], "standards": odd, "alternative_to": odd,
        });
        let all =
            fields.to_string().replace('}', r#","deployment":["cloud"],"additional_properties":{"deployment":1}}"#);
        let mut buffer = format!("before{all}").into_bytes();
        truncate_to_highlighted(&mut buffer, "before".len());
        assert!(buffer.starts_with(b"before"));
        let left: Value = serde_json::from_slice(&buffer["before".len()..]).expect("JSON");
        assert_eq!(left, fields);
    }
}
