//! A glossary term as callers see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A term of the field and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = GlossaryTerm)]
pub struct GlossaryTermResource {
    /// Identifier: the term's slug.
    pub id: String,
    /// The term.
    pub term: String,
    /// Its definition, plain text.
    pub definition: String,
    /// Abbreviations of the term.
    pub abbreviations: Vec<String>,
    /// Other words for it.
    pub synonyms: Vec<String>,
    /// Terms to read next.
    pub related: Vec<String>,
    /// Where the definition can be checked.
    #[schema(required)]
    pub source: Option<GlossarySourceResource>,
}

/// Where a definition can be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = GlossarySource)]
pub struct GlossarySourceResource {
    /// Name of the source.
    #[schema(required)]
    pub title: Option<String>,
    /// Where it is.
    #[schema(required)]
    pub url: Option<String>,
}
