//! A glossary term as callers see it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Localised;
use crate::record::{Language, Translations};

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
