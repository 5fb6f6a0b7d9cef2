//! Product attributes as readers see them: names, values and filters.

use std::borrow::Cow;

use super::edition::{Edition, Lang};
use super::language::Texts;
use super::links::of_search;
use crate::catalogue::resource::SoftwareDetail;
use crate::record::{Attribute, AttributeType, Attributes, BUILT_IN, Language, Property};
use crate::service::parameter::definition::ATTRIBUTE;
use crate::text::shorten::shortened;

/// How many of a fact's values rows show, and how much of their text, in characters.
const MAX_VALUES: usize = 3;
const MAX_CHARACTERS: usize = 80;

/// The attributes that pages show, built-in ones first.
pub(super) fn shown(attributes: &Attributes) -> impl Iterator<Item = &Attribute> {
    attributes.iter().map(|(_, attribute)| attribute).filter(|attribute| !attribute.hidden)
}

pub(super) fn is_built_in(attribute: &Attribute) -> bool {
    BUILT_IN.iter().any(|(property, _)| *attribute.property == **property)
}

/// An attribute's name. Built-in names are in the page's language, unless an export renames the
/// attribute.
pub(super) fn name<'a>(
    t: &'static Texts,
    language: Option<&'a Language>,
    attribute: &'a Attribute,
) -> (&'a str, Lang<'a>) {
    if !BUILT_IN.contains(&(&*attribute.property, &*attribute.label)) {
        let find = |language: &_| attribute.find_label(language);
        return (attribute.label_in(language), Lang::named(t, language, attribute.language.as_ref(), find));
    }
    let name = match &*attribute.property {
        "standards" => t.standards,
        "deployment" => t.deployment,
        "languages" => t.languages,
        "vendor" => t.vendor,
        "tags" => t.tags,
        _ => &attribute.label,
    };
    (name, Lang::default())
}

/// An attribute's value, or a range of them in filter notation.
pub(super) fn value<'v>(t: &'static Texts, attribute: &Attribute, value: &'v str) -> Cow<'v, str> {
    let one = |value: &'v str| match attribute.kind {
        AttributeType::Text => Cow::Borrowed(value),
        AttributeType::Number => value.replace('.', t.decimal_point).into(),
        AttributeType::Boolean => Cow::Borrowed(if value == "true" { t.yes } else { t.no }),
        AttributeType::Date => t.day(value),
    };
    let is_day = attribute.kind == AttributeType::Date;
    match value.split_once("..").filter(|_| attribute.kind.is_ordered()) {
        None => one(value),
        Some(("", to)) => t.up_to.replace("{}", &one(to)).into(),
        Some((from, "")) => (if is_day { t.or_later } else { t.or_more }).replace("{}", &one(from)).into(),
        Some((from, to)) => match from.strip_suffix("-01-01") {
            // A whole year.
            Some(year) if is_day && to.strip_suffix("-12-31") == Some(year) => year.into(),
            _ => [&*one(from), t.range_to, &*one(to)].concat().into(),
        },
    }
}

/// The value with its unit, for use without a heading that names the unit.
pub(super) fn measured<'v>(t: &'static Texts, attribute: &Attribute, text: &'v str) -> Cow<'v, str> {
    let value = value(t, attribute, text);
    match &attribute.unit {
        Some(unit) => format!("{value} {unit}").into(),
        None => value,
    }
}

/// What a product's record says about an attribute.
#[derive(Debug)]
pub(super) struct Fact<'a> {
    pub(super) property: &'a str,
    pub(super) name: (&'a str, Lang<'a>),
    /// The language of the values.
    pub(super) lang: Lang<'a>,
    /// Each value with the URL of the products that have it. Empty if the record has no value, or
    /// one of the wrong type.
    pub(super) values: Vec<(String, String)>,
}

impl<'a> Fact<'a> {
    pub(super) fn new(edition: Edition<'a>, attribute: &'a Attribute, product: &'a SoftwareDetail<'_>) -> Self {
        let Edition { t, base, language, .. } = edition;
        let values = product.values(attribute).into_iter().map(|value| {
            let href = if is_built_in(attribute) {
                of_search(base, &attribute.property, &value)
            } else {
                of_search(base, ATTRIBUTE.name, &format!("{}:{value}", attribute.property))
            };
            (measured(t, attribute, &value).into_owned(), href)
        });
        let lang = match attribute.kind {
            AttributeType::Text => edition.own(product.item.language.as_deref()),
            // Formatted in the page's language.
            AttributeType::Number | AttributeType::Boolean | AttributeType::Date => Lang::default(),
        };
        Self { property: &attribute.property, name: name(t, language, attribute), lang, values: values.collect() }
    }
}

impl Fact<'_> {
    /// The first values.
    pub(super) fn brief(&self) -> String {
        let shown = self.values.iter().take(MAX_VALUES).map(|(value, _)| &**value).collect::<Vec<_>>().join(", ");
        let more = self.values.len().saturating_sub(MAX_VALUES);
        let shown = shortened(&shown, MAX_CHARACTERS);
        if more == 0 { shown.into_owned() } else { format!("{shown} +{more}") }
    }
}

/// Whether pages show a property at a glance: those marked in the table of properties, and the
/// attributes that exports declare.
pub(super) fn is_at_a_glance(property: &str) -> bool {
    Property::of_software(property).is_none_or(|property| property.at_a_glance)
}

/// What a product's record says at a glance, the price first. The price has no URL.
pub(super) fn at_a_glance<'a>(edition: Edition<'a>, product: &'a SoftwareDetail<'_>) -> Vec<Fact<'a>> {
    let attributes = shown(&edition.catalogue.tables.attributes).filter(|of| is_at_a_glance(&of.property));
    let price = product.detail.pricing.as_ref().map(|price| Fact {
        property: "pricing",
        name: (edition.t.pricing, Lang::default()),
        lang: edition.own(product.item.language.as_deref()),
        values: vec![(price.to_string(), String::new())],
    });
    let facts = attributes.map(|of| Fact::new(edition, of, product)).filter(|fact| !fact.values.is_empty());
    price.into_iter().chain(facts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::pages::language;

    fn attribute(kind: AttributeType, unit: Option<&str>) -> Attribute {
        Attribute { kind, unit: unit.map(Into::into), ..Attribute::new("price", "Price", AttributeType::Text) }
    }

    #[test]
    fn values_and_ranges_are_in_the_readers_language() {
        let [number, day, flag] = [AttributeType::Number, AttributeType::Date, AttributeType::Boolean]
            .map(|kind| attribute(kind, (kind == AttributeType::Number).then_some("EUR")));
        let german = language::Language::German.texts();
        for (attribute, text, shown) in [
            (&number, "12.5", "12,5 EUR"),
            (&number, "0..12.5", "0 bis 12,5 EUR"),
            (&number, "..10", "bis 10 EUR"),
            (&number, "10..", "ab 10 EUR"),
            (&day, "2024-05-01", "1. Mai 2024"),
            (&day, "2024-01-01..2024-12-31", "2024"),
            (&day, "2024-01-01..2025-12-31", "1. Januar 2024 bis 31. Dezember 2025"),
            (&day, "2024-05-01..", "ab dem 1. Mai 2024"),
            (&flag, "false", "Nein"),
            (&attribute(AttributeType::Text, None), "1..2", "1..2"),
        ] {
            assert_eq!(measured(german, attribute, text), shown);
        }
    }

    #[test]
    fn built_in_attributes_are_translated_unless_an_export_names_them() {
        let german = language::Language::German.texts();
        let known = Attribute::new("tags", "Tags", AttributeType::Text);
        assert_eq!(name(german, None, &known), ("Schlagwörter", Lang::default()));
        let renamed = Attribute::new("tags", "Topics", AttributeType::Text);
        assert_eq!(name(german, None, &renamed), ("Topics", Lang::of(german, "en")));
    }
}
