//! Suggestions while a query is being typed.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::SoftwareItem;

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
