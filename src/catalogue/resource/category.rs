//! A category as callers see it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Localised;
use crate::record::{Language, Translations};

/// A category in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Category)]
pub struct CategoryResource {
    /// Identifier: the name's slug. The `category` parameter takes either this or the name in any language.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description.
    #[schema(required)]
    pub description: Option<String>,
    /// Number of products in the category; may be 0.
    pub software_count: u64,
    /// The language of the category's own text, as a BCP 47 tag. Absent for English.
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

impl CategoryResource {
    /// The category with its text in the given language, and whether any text is available in it.
    pub fn in_language(&self, language: &Language) -> (Self, bool) {
        let mut category = self.clone();
        let mut texts = Localised::new(language, self.language.as_ref(), &self.translations);
        texts.replace("name", &mut category.name);
        if let Some(description) = texts.translation("description", self.description.is_some()) {
            category.description = Some(description.to_owned());
        }
        category.untranslated = texts.untranslated;
        (category, texts.is_any)
    }

    /// The name in the given language, if available.
    pub fn find_name(&self, language: &Language) -> Option<&str> {
        self.translations.find("name", self.language.as_ref(), language).map(|found| found.text(&self.name))
    }

    /// The name in the given language if available, otherwise the category's own name.
    pub fn name_in(&self, language: Option<&Language>) -> &str {
        language.and_then(|language| self.find_name(language)).unwrap_or(&self.name)
    }

    /// The category with its text in the given language, if any.
    pub fn localised(&self, language: Option<&Language>) -> Cow<'_, Self> {
        language.map_or(Cow::Borrowed(self), |language| Cow::Owned(self.in_language(language).0))
    }
}

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
