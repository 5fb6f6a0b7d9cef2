//! Lists attributes, and checks that a request names existing ones.

use super::parameter::definition::{ATTRIBUTE, FACETS, LIST_SORT};
use super::parameter::{MAX_REPORTED, Reason, Refusal};
use super::{AttributeCondition, AttributeSort, Facet, Page, PageRequest, ServiceError, SoftwareFilter};
use crate::catalogue::Catalogue;
use crate::catalogue::resource::{AttributeResource, Localised};
use crate::record::{Attribute, AttributeType, Attributes, Language};
use crate::text::nearest::Nearest;

/// Lists attributes: the built-in ones first, then those declared by exports.
pub fn list_attributes(
    catalogue: &Catalogue,
    page: PageRequest,
    language: Option<&Language>,
) -> Result<Page, ServiceError> {
    let tables = &catalogue.tables;
    let objects = tables.attributes.iter().zip(&tables.attribute_summaries).map(|((_, attribute), summary)| {
        let own = attribute.language.as_ref();
        let mut texts = language.map(|language| Localised::new(language, own, &attribute.translations));
        let label = texts.as_mut().and_then(|texts| texts.translation("label", true));
        let (untranslated, is_any) = texts.map(|texts| (texts.untranslated, texts.is_any)).unwrap_or_default();
        let json = serde_json::to_vec(&AttributeResource {
            property: &attribute.property,
            label: label.unwrap_or(&attribute.label),
            kind: attribute.kind.as_str(),
            unit: attribute.unit.as_deref(),
            software_count: summary.products.into(),
            language: own,
            translations: &attribute.translations,
            untranslated,
        })?;
        Ok((json.into(), is_any))
    });
    let objects = objects.skip(page.range().start).take(page.range().len());
    Page::localised(objects, page.pagination(tables.attributes.len() as u64))
}

/// Rejects attributes that the directory doesn't have, and values that an attribute can't have.
pub fn refuse_attributes(
    catalogue: &Catalogue,
    filter: &SoftwareFilter,
    facets: &[Facet],
    sort: Option<&AttributeSort>,
) -> Vec<Refusal> {
    let attributes = &catalogue.tables.attributes;
    let mut nearest = Nearest::default();
    let mut refused = Vec::new();
    let mut refuse = |name: &'static str, message: Option<String>| {
        let count = refused.iter().filter(|refusal: &&Refusal| refusal.parameter == name).count();
        if let Some(message) = message.filter(|_| count < MAX_REPORTED) {
            refused.push(Refusal { parameter: name.to_owned(), reason: Reason::Invalid, message });
        }
    };
    for AttributeCondition { property, value } in &filter.attributes {
        let message = match attribute(attributes, property, &mut nearest) {
            Ok(attribute) => attribute.kind.range(value).is_none().then(|| wrong_value(attribute, value)),
            Err(unknown) => Some(format!("{}: {unknown}", ATTRIBUTE.name)),
        };
        refuse(ATTRIBUTE.name, message);
    }
    for property in facets.iter().filter_map(Facet::property) {
        let unknown = attribute(attributes, property, &mut nearest).err();
        refuse(FACETS.name, unknown.map(|unknown| format!("{}: {unknown}", FACETS.name)));
    }
    if let Some(AttributeSort { property, .. }) = sort {
        let message = match attribute(attributes, property, &mut nearest) {
            Ok(Attribute { kind: AttributeType::Text, .. }) => Some(format!(
                "{} can't use {property}: it's a text attribute, which may have several values per product. Sort by \
                 an attribute with numbers, dates, or true and false instead.",
                LIST_SORT.name
            )),
            Ok(_) => None,
            Err(unknown) => Some(format!("{}: {unknown}", LIST_SORT.name)),
        };
        refuse(LIST_SORT.name, message);
    }
    refused
}

/// Looks up an attribute by its property. The error completes a sentence and lists the existing
/// attributes.
fn attribute<'a>(attributes: &'a Attributes, property: &str, nearest: &mut Nearest) -> Result<&'a Attribute, String> {
    if let Some(number) = attributes.number(property) {
        return Ok(attributes.get(number));
    }
    let names = || attributes.iter().map(|(_, attribute)| &*attribute.property);
    let near = nearest.name(property, names()).map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
    let allowed = names().collect::<Vec<_>>().join(", ");
    Err(format!("there is no attribute {property:?}.{near} Allowed: {allowed}."))
}

fn wrong_value(Attribute { property, kind, .. }: &Attribute, value: &str) -> String {
    let allowed = match kind {
        AttributeType::Text => "text",
        AttributeType::Number => "a number or a range of numbers, such as 10, 10..50, 10.. or ..50",
        AttributeType::Boolean => "true or false",
        AttributeType::Date => {
            "a valid date or a range of dates, such as 2025-01-31, 2025-01-01..2025-12-31 or 2025-01-01.."
        }
    };
    format!("{} {property} must be {allowed}; this is {value:?}.", ATTRIBUTE.name)
}
