//! Categories and glossary terms: the vocabulary that a directory uses to explain itself.

use super::Translations;

/// A category (an envelope's `categories`).
#[derive(Debug, Clone)]
pub struct Category {
    /// Has at least one letter or digit.
    pub name: Box<str>,
    pub description: Option<Box<str>>,
    /// Translations of name and description.
    pub translations: Translations,
}

/// A term and what it means (an envelope's `glossary`).
#[derive(Debug, Clone)]
pub struct GlossaryTerm {
    /// Has at least one letter or digit.
    pub term: Box<str>,
    /// Never empty.
    pub definition: Box<str>,
    pub abbreviations: Vec<Box<str>>,
    /// Other words for the term.
    pub synonyms: Vec<Box<str>>,
    /// Terms to read next, by name.
    pub related: Vec<Box<str>>,
    pub source: Option<GlossarySource>,
    /// Translations of term and definition.
    pub translations: Translations,
}

/// Where a definition can be checked. An export writes `{title?, url?}` or a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlossarySource {
    pub title: Option<Box<str>>,
    pub url: Option<Box<str>>,
}
