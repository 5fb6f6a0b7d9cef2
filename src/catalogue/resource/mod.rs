//! The JSON shapes that callers see, one type each. The same types are serialised once per
//! generation, ready to send, and described in the OpenAPI document, so responses always match it.
//!
//! Nulls are explicit, keys are `snake_case`, and times are RFC 3339 in UTC. New keys may be added
//! within `/v1`, but none are removed.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::record::{Found, Language, Translations};

mod category;
mod members;
mod review;
mod search;
mod software;

pub use category::CategoryResource;
pub use category::{GlossarySourceResource, GlossaryTermResource};
pub use members::Members;
pub use review::{RatingDistribution, ReviewResource, ReviewSummary};
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
