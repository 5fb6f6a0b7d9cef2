//! A software product and the evidence for what's said about it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{AdditionalProperty, CalendarDate, EvidenceStatus, OfferingType, Translations, raw};

/// A product in the directory: an export record and its optional properties.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
    /// The address of the product's source code: a valid URI with any scheme.
    pub repository: Option<Box<str>>,
    /// Languages of the product's user interface.
    pub languages: Box<[Box<str>]>,
    /// Defaults to `software`.
    pub offering_type: OfferingType,
    pub evidence_status: EvidenceStatus,
    /// When the evidence was checked, in the form `YYYY-MM-DD`. Not necessarily a date that exists.
    pub evidence_checked_on: Option<Box<str>>,
    /// Where the claims come from, in the order given.
    pub sources: Box<[Source]>,
    /// The evidence for single properties, in the order given, each property only once.
    pub evidence: Box<[Evidence]>,
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

/// A property's value in a record.
#[derive(Debug, Clone)]
pub enum PropertyValue<'s> {
    /// Not given, or the default.
    Missing,
    Text(&'s str),
    Texts(&'s [Box<str>]),
    /// A number as written.
    Number(Cow<'s, str>),
    Sources(&'s [Source]),
    Evidence(&'s [Evidence]),
    Translations(&'s Translations),
}

impl Software {
    /// The record's date, if it exists.
    pub fn checked_on(&self) -> Option<CalendarDate> {
        self.evidence_checked_on.as_deref().and_then(CalendarDate::parse)
    }

    /// The date of the oldest check: the record's date, or an earlier one of a single property.
    pub fn oldest_evidence(&self) -> Option<CalendarDate> {
        self.evidence.iter().filter_map(Evidence::oldest).chain(self.checked_on()).min()
    }

    /// The value of a property that the directory knows. A main category is among the categories.
    pub fn value(&self, property: &str) -> PropertyValue<'_> {
        match property {
            "id" => PropertyValue::Text(&self.id),
            "name" => PropertyValue::Text(&self.name),
            "url" => PropertyValue::Text(&self.url),
            "tagline" => text(self.tagline.as_deref()),
            "description" => text(self.description.as_deref()),
            "categories" => texts(&self.categories),
            "vendor" => text(self.vendor.as_deref()),
            "tags" => texts(&self.tags),
            "features" => texts(&self.features),
            "standards" => texts(&self.standards),
            "alternative_to" => texts(&self.alternative_to),
            "aliases" => texts(&self.aliases),
            "deployment" => texts(&self.deployment),
            "pricing" => text(self.pricing.as_deref()),
            "repository" => text(self.repository.as_deref()),
            "languages" => texts(&self.languages),
            "offering_type" if self.offering_type != OfferingType::Software => {
                PropertyValue::Text(self.offering_type.as_str())
            }
            "evidence_status" => PropertyValue::Text(self.evidence_status.as_str()),
            "evidence_checked_on" => text(self.evidence_checked_on.as_deref()),
            "sources" if !self.sources.is_empty() => PropertyValue::Sources(&self.sources),
            "evidence" if !self.evidence.is_empty() => PropertyValue::Evidence(&self.evidence),
            "rating" => self.rating.as_ref().map_or(PropertyValue::Missing, |rating| number(rating.text.get())),
            "review_count" => self.review_count.map_or(PropertyValue::Missing, |count| number(count.to_string())),
            "translations" if !self.translations.is_empty() => PropertyValue::Translations(&self.translations),
            _ => PropertyValue::Missing,
        }
    }

    /// Whether the record has a property, whatever its type.
    pub fn has(&self, property: &str) -> bool {
        !self.value(property).is_missing() || self.additional_properties.iter().any(|(name, _)| **name == *property)
    }

    /// Where the value of an optional property of type text is stored; `None` for other properties.
    pub fn text_mut(&mut self, property: &str) -> Option<&mut Option<Box<str>>> {
        Some(match property {
            "tagline" => &mut self.tagline,
            "description" => &mut self.description,
            "vendor" => &mut self.vendor,
            "pricing" => &mut self.pricing,
            "repository" => &mut self.repository,
            _ => return None,
        })
    }

    /// Where the values of a property with several texts are stored; `None` for other properties.
    pub fn texts_mut(&mut self, property: &str) -> Option<&mut Box<[Box<str>]>> {
        Some(match property {
            "tags" => &mut self.tags,
            "features" => &mut self.features,
            "standards" => &mut self.standards,
            "alternative_to" => &mut self.alternative_to,
            "aliases" => &mut self.aliases,
            "deployment" => &mut self.deployment,
            "languages" => &mut self.languages,
            _ => return None,
        })
    }

    /// A built-in attribute's values; `None` for any other property.
    pub fn built_in(&self, property: &str) -> Option<&[Box<str>]> {
        match property {
            "vendor" => Some(self.vendor.as_slice()),
            "standards" | "deployment" | "languages" | "tags" => Some(self.value(property).texts()),
            _ => None,
        }
    }
}

impl<'s> PropertyValue<'s> {
    /// The values of a property that can have several.
    pub fn texts(self) -> &'s [Box<str>] {
        if let Self::Texts(texts) = self { texts } else { &[] }
    }

    /// The strings of a text or of several.
    pub fn into_texts(self) -> impl Iterator<Item = &'s str> {
        let (one, several): (_, &[Box<str>]) = match self {
            Self::Text(text) => (Some(text), &[]),
            Self::Texts(texts) => (None, texts),
            _ => (None, &[]),
        };
        one.into_iter().chain(several.iter().map(|text| &**text))
    }

    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

fn text(text: Option<&str>) -> PropertyValue<'_> {
    text.map_or(PropertyValue::Missing, PropertyValue::Text)
}

const fn texts(texts: &[Box<str>]) -> PropertyValue<'_> {
    if texts.is_empty() { PropertyValue::Missing } else { PropertyValue::Texts(texts) }
}

fn number<'s>(number: impl Into<Cow<'s, str>>) -> PropertyValue<'s> {
    PropertyValue::Number(number.into())
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

/// The evidence for one property. Properties without any rest on the record's sources and date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub property: Box<str>,
    /// Never empty; in the order given.
    pub sources: Box<[EvidenceSource]>,
}

/// A source for a property's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceSource {
    /// A valid URI.
    pub url: Box<str>,
    /// The source's label, if it's one of the record's sources.
    pub label: Option<Box<str>>,
    /// If it isn't stated, the record's date applies.
    pub checked_on: Option<CalendarDate>,
    /// What the source says.
    pub quote: Option<Box<str>>,
    /// The address of a copy that doesn't change: a valid URI.
    pub archived: Option<Box<str>>,
}

impl Evidence {
    /// The date of the oldest check of a source.
    pub fn oldest(&self) -> Option<CalendarDate> {
        self.sources.iter().filter_map(|source| source.checked_on).min()
    }
}
