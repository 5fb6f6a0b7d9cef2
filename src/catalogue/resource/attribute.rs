//! An attribute as callers see it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::record::{Language, Translations};

/// A property that products are filtered, counted and sorted by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Attribute)]
pub struct AttributeResource<'a> {
    /// The key in a record, which the parameters `attribute`, `facets` and `sort` take.
    pub property: &'a str,
    /// The label to display.
    pub label: &'a str,
    /// What its values are: `text`, `number`, `boolean` or `date`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The unit of its numbers.
    #[schema(required)]
    pub unit: Option<&'a str>,
    /// Number of products with a value; may be 0.
    pub software_count: u64,
    /// The language of its own texts, a tag of BCP 47. Absent for English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, value_type = String)]
    pub language: Option<&'a Language>,
    /// Texts in other languages, by language tag and field. Absent without any.
    #[serde(skip_serializing_if = "Translations::is_empty")]
    #[schema(
        required = false,
        nullable = false,
        value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>
    )]
    pub translations: &'a Translations,
    /// The fields that aren't in the language of the request, and so are in the entry's own. Absent if all are in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub untranslated: Vec<String>,
}
