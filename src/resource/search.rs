//! What a search answers besides the products.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the query was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueryReport {
    /// Words that were taken for a misspelling of others.
    pub corrected: Vec<Correction>,
    /// Words that did not count: no product has them, or they were beyond the ten rarest.
    pub dropped: Vec<String>,
    /// Terms that were searched as well because they mean the same.
    pub synonyms: Vec<Correction>,
}

/// A word of the query and what was searched for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Replacement)]
pub struct Correction {
    /// As the query has it.
    pub from: String,
    /// As it was searched.
    pub to: String,
}

/// One value of a facet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetValue<'a> {
    /// What to send as the filter's value.
    #[serde(borrow)]
    pub value: Cow<'a, str>,
    /// What to show.
    #[serde(borrow)]
    pub label: Cow<'a, str>,
    /// How many products of the result have it, its own filter left out.
    pub count: u64,
}

/// A field of a hit with the places that matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Highlight {
    /// The field's name.
    pub field: Cow<'static, str>,
    /// Its text (a part of it where it is long), escaped for HTML, the matches in `<mark>`.
    pub html: String,
    /// The matches in the field's whole text.
    pub ranges: Vec<TextRange>,
}

/// A part of a text, in Unicode code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TextRange {
    /// Code points before it.
    pub start: u64,
    /// Its length in code points.
    pub length: u64,
}
