//! The JSON shapes that callers see, one type each. The same types are serialised once per
//! generation, ready to send, and described in the OpenAPI document, so responses always match it.
//!
//! Nulls are explicit, keys are `snake_case`, and times are RFC 3339 in UTC. New keys may be added
//! within `/v1`, but none are removed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use self::members::text_or_null;
use crate::record::{Found, Language, Translations};

mod members;
mod search;
mod software;

pub use members::Members;
pub use search::{Correction, FacetValue, Highlight, QueryReport, TextRange, UnderstoodAttribute, UnknownValue};
pub use software::{
    CategoryRef, DetailFields, EvidenceResource, ExportRef, RatingSource, SameAsRef, SoftwareDetail, SoftwareItem,
    SourceResource,
};

/// A page's position in the whole list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pagination {
    /// The requested page size, 1 to 100.
    pub limit: u32,
    /// The number of items skipped.
    pub offset: u64,
    /// The exact number of items in the whole list.
    pub total: u64,
}

/// Picks an entry's text in a language, and records which fields fall back to the entry's own text.
#[derive(Debug)]
pub struct Localised<'t> {
    language: &'t Language,
    /// The language of the entry's own text, unless that's English.
    own: Option<&'t Language>,
    translations: &'t Translations,
    /// The fields that fell back.
    pub untranslated: Vec<String>,
    /// Whether any text is in the requested language.
    pub is_any: bool,
}

impl<'t> Localised<'t> {
    pub const fn new(language: &'t Language, own: Option<&'t Language>, translations: &'t Translations) -> Self {
        Self { language, own, translations, untranslated: Vec::new(), is_any: false }
    }

    /// A field's translation; `None` if the entry's own text is shown. `has_own` is whether the
    /// entry has any text of its own in this field.
    pub fn translation(&mut self, field: &str, has_own: bool) -> Option<&'t str> {
        let found = self.translations.find(field, self.own, self.language);
        let is_found = match found {
            Some(Found::Own) => has_own,
            found => found.is_some(),
        };
        self.note(field, has_own, is_found);
        if let Some(Found::Translation(text)) = found { Some(text) } else { None }
    }

    /// Records whether a field is available in the language.
    pub fn note(&mut self, field: &str, has_text: bool, is_found: bool) {
        self.is_any |= is_found;
        if has_text && !is_found {
            self.untranslated.push(field.to_owned());
        }
    }

    /// Replaces a field's text with its translation, if there is one.
    pub fn replace(&mut self, field: &str, text: &mut String) {
        if let Some(translation) = self.translation(field, true) {
            translation.clone_into(text);
        }
    }
}

/// A category in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Category)]
pub struct CategoryResource {
    /// Identifier: the name's slug. The `category` parameter takes either this or the name in any language.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description.
    #[schema(required)]
    pub description: Option<String>,
    /// Number of products in the category; may be 0.
    pub software_count: u64,
    /// The language of the category's own text, as a BCP 47 tag. Absent for English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<Language>,
    /// Translations, by language tag and field. Absent if there are none.
    #[serde(default, skip_serializing_if = "Translations::is_empty")]
    #[schema(
        required = false,
        nullable = false,
        value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>
    )]
    pub translations: Translations,
    /// The fields that aren't available in the requested language and are given in the entry's own
    /// language instead. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub untranslated: Vec<String>,
}

impl CategoryResource {
    /// The category with its text in the given language, and whether any text is available in it.
    pub fn in_language(&self, language: &Language) -> (Self, bool) {
        let mut category = self.clone();
        let mut texts = Localised::new(language, self.language.as_ref(), &self.translations);
        texts.replace("name", &mut category.name);
        if let Some(description) = texts.translation("description", self.description.is_some()) {
            category.description = Some(description.to_owned());
        }
        category.untranslated = texts.untranslated;
        (category, texts.is_any)
    }

    /// The name in the given language, if available.
    pub fn find_name(&self, language: &Language) -> Option<&str> {
        self.translations.find("name", self.language.as_ref(), language).map(|found| found.text(&self.name))
    }

    /// The name in the given language if available, otherwise the category's own name.
    pub fn name_in(&self, language: Option<&Language>) -> &str {
        language.and_then(|language| self.find_name(language)).unwrap_or(&self.name)
    }

    /// The category with its text in the given language, if any.
    pub fn localised(&self, language: Option<&Language>) -> Cow<'_, Self> {
        language.map_or(Cow::Borrowed(self), |language| Cow::Owned(self.in_language(language).0))
    }
}

/// A term from the directory's subject area and what it means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = GlossaryTerm)]
pub struct GlossaryTermResource {
    /// Identifier: the term's slug.
    pub id: String,
    /// The term.
    pub term: String,
    /// The term's definition, as plain text.
    pub definition: String,
    /// Abbreviations for the term.
    pub abbreviations: Vec<String>,
    /// Other words for the term.
    pub synonyms: Vec<String>,
    /// Related terms.
    pub related: Vec<String>,
    /// Where the definition can be checked.
    #[schema(required)]
    pub source: Option<GlossarySourceResource>,
    /// The language of the entry's own text, as a BCP 47 tag. Absent for English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<Language>,
    /// Translations, by language tag and field. Absent if there are none.
    #[serde(default, skip_serializing_if = "Translations::is_empty")]
    #[schema(
        required = false,
        nullable = false,
        value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>
    )]
    pub translations: Translations,
    /// The fields that aren't available in the requested language and are given in the entry's own
    /// language instead. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub untranslated: Vec<String>,
}

impl GlossaryTermResource {
    /// The term in the given language, if available.
    pub fn find_term(&self, language: &Language) -> Option<&str> {
        self.translations.find("term", self.language.as_ref(), language).map(|found| found.text(&self.term))
    }

    /// The term with its text in the given language, and whether any text is available in it.
    pub fn in_language(&self, language: &Language) -> (Self, bool) {
        let mut term = self.clone();
        let mut texts = Localised::new(language, self.language.as_ref(), &self.translations);
        texts.replace("term", &mut term.term);
        texts.replace("definition", &mut term.definition);
        term.untranslated = texts.untranslated;
        (term, texts.is_any)
    }

    /// The term with its text in the given language, if any.
    pub fn localised(&self, language: Option<&Language>) -> Cow<'_, Self> {
        language.map_or(Cow::Borrowed(self), |language| Cow::Owned(self.in_language(language).0))
    }
}

/// Where a definition can be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = GlossarySource)]
pub struct GlossarySourceResource {
    /// Name of the source.
    #[schema(required)]
    pub title: Option<String>,
    /// The source's address.
    #[schema(required)]
    pub url: Option<String>,
}

/// A user's review of a product.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Review)]
pub struct ReviewResource<'a> {
    /// Identifier.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The product that the review is about.
    #[serde(borrow)]
    pub software_id: Cow<'a, str>,
    /// Stars, 1 to 5.
    #[schema(minimum = 1, maximum = 5)]
    pub rating: u8,
    /// Headline.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub title: Option<Cow<'a, str>>,
    /// Text.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub body: Option<Cow<'a, str>>,
    /// The author's name.
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub author: Option<Cow<'a, str>>,
    /// When the review was written (RFC 3339 in UTC).
    #[serde(borrow, deserialize_with = "text_or_null")]
    #[schema(required)]
    pub created_at: Option<Cow<'a, str>>,
    /// Whether the reviewer is known to use the product.
    #[schema(required)]
    pub verified: Option<bool>,
    /// Properties that the directory doesn't interpret, as given in the export.
    #[serde(borrow)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub additional_properties: Members<'a>,
}

/// A summary of all reviews of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewSummary {
    /// Average number of stars, to two decimals; null if there are no reviews.
    #[schema(required)]
    pub average: Option<f64>,
    /// Number of reviews.
    pub count: u64,
    /// How many reviews gave each number of stars.
    pub distribution: RatingDistribution,
}

/// Number of reviews for each number of stars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatingDistribution {
    /// One star.
    #[serde(rename = "1")]
    pub one: u64,
    /// Two stars.
    #[serde(rename = "2")]
    pub two: u64,
    /// Three stars.
    #[serde(rename = "3")]
    pub three: u64,
    /// Four stars.
    #[serde(rename = "4")]
    pub four: u64,
    /// Five stars.
    #[serde(rename = "5")]
    pub five: u64,
}

/// A change to a product between one generation and a later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Change)]
pub struct ChangeResource {
    /// The product's identifier.
    pub id: String,
    /// `added`, `changed` or `removed`; more values may be added later.
    pub change: String,
    /// Hash of the product's content, as 16 hexadecimal digits; null if the product was removed.
    #[schema(required)]
    pub content_hash: Option<String>,
    /// Whether the product's evidence was checked on a later date than before.
    pub evidence_renewed: bool,
}

/// An entry in a product's history.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HistoryEntry<'a> {
    /// When the directory received the change (RFC 3339 in UTC).
    pub at: &'a str,
    /// The generation that the change led to.
    pub generation: &'a str,
    /// `added`, `changed` or `removed`; more values may be added later.
    pub change: &'a str,
    /// The properties that changed, by name. Empty if the product was added or removed.
    pub changes: Vec<PropertyChange<'a>>,
    /// Whether changes are missing here, because there were too many to keep. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub truncated: bool,
}

/// A property's change.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PropertyChange<'a> {
    /// The property's name in the export's record, or `export` for the export's id.
    pub property: &'a str,
    /// The value before. Absent if there was none, or if `truncated` is true and it can't be cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = serde_json::Value)]
    pub from: Option<&'a RawValue>,
    /// The value after. Absent if there's none, or if `truncated` is true and it can't be cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = serde_json::Value)]
    pub to: Option<&'a RawValue>,
    /// Whether a long value is cut off or left out. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub truncated: bool,
}

/// A property by which products can be filtered, counted and sorted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Attribute)]
pub struct AttributeResource<'a> {
    /// The key in a record, also used in the parameters `attribute`, `facets` and `sort`.
    pub property: &'a str,
    /// The label to display.
    pub label: &'a str,
    /// The type of the values: `text`, `number`, `boolean` or `date`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The unit of the values, if they're numbers.
    #[schema(required)]
    pub unit: Option<&'a str>,
    /// Number of products with a value; may be 0.
    pub software_count: u64,
    /// The language of the attribute's own text, as a BCP 47 tag. Absent for English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<&'a Language>,
    /// Translations, by language tag and field. Absent if there are none.
    #[serde(skip_serializing_if = "Translations::is_empty")]
    #[schema(
        required = false,
        nullable = false,
        value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>
    )]
    pub translations: &'a Translations,
    /// The fields that aren't available in the requested language and are given in the entry's own
    /// language instead. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub untranslated: Vec<String>,
}

/// One of the export files that make up the directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Export)]
pub struct ExportResource {
    /// Identifier: the file's name without `.json`.
    pub id: String,
    /// The export's name.
    pub name: String,
    /// The prefix that the directory adds to the ids of the export's products and reviews; null if
    /// there is none.
    #[schema(required)]
    pub id_prefix: Option<String>,
    /// Licence of the export's content: a URI.
    pub license: String,
    /// Snapshot date, as stated; a record's own evidence date takes precedence.
    #[schema(required)]
    pub as_of: Option<String>,
    /// What the export contains. Absent if the export doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub description: Option<String>,
    /// Where readers can suggest corrections: an https or mailto URI template with the variables
    /// `{id}`, `{name}`, `{export}` and `{url}`. Absent if the export names no such address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub corrections: Option<String>,
    /// Number of products in the export.
    pub software_count: u64,
    /// Number of categories that the export describes.
    pub category_count: u64,
    /// Number of reviews in the export.
    pub review_count: u64,
    /// Number of glossary terms that the export defines.
    pub glossary_count: u64,
    /// Size of the document in bytes.
    pub size_bytes: u64,
    /// SHA-256 hash of the document, in hexadecimal. It changes whenever the document does, and you
    /// can use it to verify a download.
    pub sha256: String,
    /// When the export's file was last modified (RFC 3339 in UTC); null if the export isn't a file,
    /// such as a bundled one.
    #[schema(required)]
    pub changed_at: Option<String>,
    /// The language of the export's text, as a BCP 47 tag; detected if the export doesn't state it.
    /// Absent for English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<Language>,
    /// Id of the minisign key with which the export is signed, if the directory trusts it; null if the
    /// directory doesn't check signatures. The signature is at `/v1/exports/{id}.minisig`.
    #[serde(default)]
    #[schema(required)]
    pub signed_by: Option<String>,
}

/// The exports and records that were left out because they're invalid. Zero unless the server runs
/// with `--skip-invalid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Skipped)]
pub struct SkippedResource {
    /// Export files left out entirely.
    pub export_count: u64,
    /// Products, categories, reviews, glossary terms and synonym groups left out, including those
    /// in exports left out entirely. Records in a file that can't be parsed aren't counted.
    pub record_count: u64,
}

/// Completions for a query being typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Suggestions<'a> {
    /// Products: first the ones with the words in their names, then others found by a search.
    pub software: Vec<SoftwareRef>,
    /// Categories with the words in their names, most products first.
    pub categories: Vec<CategorySuggestion<'a>>,
    /// Glossary terms with the words in the term, an abbreviation or a synonym, best match first.
    pub glossary: Vec<TermSuggestion<'a>>,
    /// Whether any of the names are in the requested language.
    #[serde(skip)]
    pub is_in_language: bool,
}

/// A product by id and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SoftwareRef {
    /// Identifier: any text, so percent-encode it in a path.
    pub id: String,
    /// Name.
    pub name: String,
}

impl From<SoftwareItem<'_>> for SoftwareRef {
    fn from(item: SoftwareItem<'_>) -> Self {
        Self { id: item.id.into_owned(), name: item.name.into_owned() }
    }
}

/// A category to which a query can be narrowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CategorySuggestion<'a> {
    /// Identifier: the value for the `category` filter.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
    /// Number of products in the category.
    pub software_count: u64,
}

/// A glossary term.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TermSuggestion<'a> {
    /// Identifier.
    pub id: &'a str,
    /// The term.
    pub term: &'a str,
}
