//! The analysed text of a document, in the order in which the index stores its words.

use std::borrow::Cow;

use crate::catalogue::resource::CategoryResource;
use crate::record::{Attributes, Field, Language, Property, PropertyValue, SOFTWARE, Section, Software, searched};
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

/// A section of a product's translated text, which comes after the product's own text.
pub(super) fn translated_values<'a>(
    software: &'a Software,
    section: Section,
    categories: &'a [&'a CategoryResource],
) -> impl Iterator<Item = Text<'a>> {
    let of_categories =
        |property: &'static str| categories.iter().flat_map(move |category| category.translations.of(property));
    let names = of_categories("name").map(|text| (Field::Category, text));
    let descriptions = of_categories("description").map(|text| (Field::CategoryDescription, text));
    let translated = SOFTWARE.iter().filter(|property| property.is_translated);
    let translated = translated.filter_map(|property| Some((property.searched?, property.name)));
    let of_record =
        translated.flat_map(|(field, property)| software.translations.of(property).map(move |text| (field, text)));
    let texts = names.chain(of_record).chain(descriptions).filter(move |(field, _)| field.section() == section);
    texts.map(|(field, (language, text))| Text { field, content: text, language: Some(language), is_own: false })
}

/// A section of a product's own text, in `language`. `declared` contains the values of the attributes
/// that exports declare.
pub(super) fn values<'a>(
    software: &'a Software,
    section: Section,
    language: Option<&'a Language>,
    categories: &'a [&'a CategoryResource],
    attributes: &'a Attributes,
    declared: &'a [Cow<'a, [Box<str>]>],
) -> impl Iterator<Item = Text<'a>> {
    let of_property = move |property: &Property| {
        let field = property.searched?;
        let is_left_out = property.attribute.is_some() && !attributes.is_searchable(property.name);
        let (value, categories) = match field {
            _ if is_left_out => return None,
            Field::Category => (PropertyValue::Missing, categories),
            // This makes every software product match the second word of "audit software".
            Field::Offering => (PropertyValue::Text(software.offering_type.as_str()), &[][..]),
            _ => (software.value(property.name), &[][..]),
        };
        let names = categories.iter().map(|category| category.name.as_str());
        Some(value.into_texts().chain(names).map(move |text| (field, text)))
    };
    let declared = declared.iter().filter(move |_| section == Section::Summary).flat_map(|values| values.iter());
    let described = categories.iter().filter(move |_| section == Section::Body);
    let described = described.filter_map(|category| category.description.as_deref());
    let texts = searched(section).filter_map(of_property).flatten();
    let texts = texts.chain(declared.map(|text| (Field::Tag, &**text)));
    let texts = texts.chain(described.map(|text| (Field::CategoryDescription, text)));
    texts.map(move |(field, text)| Text { field, content: text, language, is_own: true })
}
