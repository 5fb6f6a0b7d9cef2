//! The analysed text of a document, in the order in which the index stores its words.

use std::borrow::Cow;

use super::field::Field;
use crate::catalogue::resource::CategoryResource;
use crate::record::{Attributes, Language, Software};
use crate::text::stem::Inflected;

/// One piece of a document's text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) field: Field,
    pub(super) content: &'a str,
    /// The text's language, unless that's English.
    pub(super) language: Option<&'a Language>,
    /// Whether this is the record's own text rather than a translation.
    pub(super) is_own: bool,
}

impl Text<'_> {
    pub(super) fn is_english(&self) -> bool {
        self.language.is_none_or(Language::is_english)
    }

    /// The language that the text's words are stemmed in, in addition to English.
    pub(super) fn inflected(&self) -> Option<Inflected> {
        Inflected::of(self.language?.primary())
    }
}

/// A product's translated text. In each section it comes after the product's own text.
pub(super) fn translated_values<'a>(
    software: &'a Software,
    categories: &'a [&'a CategoryResource],
) -> impl Iterator<Item = Text<'a>> {
    let of_categories =
        |property: &'static str| categories.iter().flat_map(move |category| category.translations.of(property));
    let names = of_categories("name").map(|text| (Field::Category, text));
    let descriptions = of_categories("description").map(|text| (Field::CategoryDescription, text));
    let of_record = [(Field::Name, "name"), (Field::Tagline, "tagline"), (Field::Description, "description")];
    let of_record = of_record
        .into_iter()
        .flat_map(|(field, property)| software.translations.of(property).map(move |text| (field, text)));
    let texts = names.chain(of_record).chain(descriptions);
    texts.map(|(field, (language, text))| Text { field, content: text, language: Some(language), is_own: false })
}

/// A product's own text, in `language`. `declared` contains the values of the attributes that
/// exports declare.
pub(super) fn values<'a>(
    software: &'a Software,
    language: Option<&'a Language>,
    categories: &'a [&'a CategoryResource],
    attributes: &'a Attributes,
    declared: &'a [Cow<'a, [Box<str>]>],
) -> impl Iterator<Item = Text<'a>> {
    let one = |field: Field, value: &'a Option<Box<str>>| value.as_deref().map(|text| (field, text));
    let many = |field: Field, values: &'a [Box<str>]| values.iter().map(move |text| (field, &**text));
    let built_in = |field: Field, property: &str| {
        let values = software.built_in(property).filter(|_| attributes.is_searchable(property));
        many(field, values.unwrap_or_default())
    };
    std::iter::once((Field::Name, &*software.name))
        .chain(many(Field::Alias, &software.aliases))
        .chain(one(Field::Tagline, &software.tagline))
        .chain(categories.iter().map(|category| (Field::Category, category.name.as_str())))
        .chain(built_in(Field::Tag, "tags"))
        .chain(built_in(Field::Vendor, "vendor"))
        .chain(built_in(Field::Standard, "standards"))
        .chain(many(Field::AlternativeTo, &software.alternative_to))
        .chain(declared.iter().flat_map(move |values| many(Field::Tag, values)))
        .chain(many(Field::Feature, &software.features))
        .chain(built_in(Field::Setting, "deployment"))
        .chain(built_in(Field::Setting, "languages"))
        // This makes every software product match the second word of "audit software".
        .chain(std::iter::once((Field::Setting, software.offering_type.as_str())))
        .chain(one(Field::Description, &software.description))
        .chain(
            categories
                .iter()
                .filter_map(|category| category.description.as_deref().map(|text| (Field::CategoryDescription, text))),
        )
        .map(move |(field, text)| Text { field, content: text, language, is_own: true })
}
