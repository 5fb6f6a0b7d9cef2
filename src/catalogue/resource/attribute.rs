//! An attribute as callers see it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::record::{Language, Translations};

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
