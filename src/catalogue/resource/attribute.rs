//! An attribute as callers see it.

use serde::Serialize;
use utoipa::ToSchema;

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
}
