//! Categories and glossary terms: the vocabulary a directory explains itself with.

/// A category with its description (an envelope's `categories`).
#[derive(Debug, Clone)]
pub struct Category {
    /// Name, with at least one letter or digit.
    pub name: Box<str>,
    /// The definition.
    pub description: Option<Box<str>>,
}

/// A term and what it means (an envelope's `glossary`).
#[derive(Debug, Clone)]
pub struct GlossaryTerm {
    /// The term, with at least one letter or digit.
    pub term: Box<str>,
    /// Its definition, never empty.
    pub definition: Box<str>,
    /// Abbreviations of the term.
    pub abbreviations: Vec<Box<str>>,
    /// Other words for it.
    pub synonyms: Vec<Box<str>>,
    /// Terms to read next, by name.
    pub related: Vec<Box<str>>,
    /// Where the definition can be checked.
    pub source: Option<GlossarySource>,
}

/// Where a definition can be checked: an export writes `{title?, url?}` or one string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlossarySource {
    /// The source's name.
    pub title: Option<Box<str>>,
    pub url: Option<Box<str>>,
}
