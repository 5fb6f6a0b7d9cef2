//! Highlights translations of a hit's text: finds their words in the index, and puts them before or
//! after the record's own text.

use super::Highlighter;
use super::Texts;
use super::matches::CATEGORIES;
use crate::record::{Language, Translations};

/// Whether a translation comes before or after the record's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    BeforeOwn,
    AfterOwn,
}

impl Highlighter<'_> {
    /// Appends a field's translations that have matches. They're the last values of a section,
    /// which ends at `end`.
    pub(super) fn highlight_translations(
        &mut self,
        field: &str,
        translations: &Translations,
        end: usize,
        turn: Turn,
    ) -> Result<(), serde_json::Error> {
        let texts: Vec<_> = translations.of(field).collect();
        let first = end.saturating_sub(texts.len());
        for (value, (language, text)) in (first..).zip(texts) {
            if self.turn(language) == turn {
                self.highlight(field, value, text, Some(language))?;
            }
        }
        Ok(())
    }

    /// Appends translated category names that have matches. They're the values just before `end`.
    pub(super) fn highlight_translated_categories(
        &mut self,
        Texts { item, categories, .. }: &Texts<'_>,
        end: usize,
    ) -> Result<(), serde_json::Error> {
        let catalogue = &self.snapshot.catalogue;
        let names = |id: &str| {
            let category = catalogue.category_by_id(id);
            category.into_iter().flat_map(|category| category.translations.of("name"))
        };
        let all: usize = categories.iter().map(|category| names(&category.id).count()).sum();
        let first = end.saturating_sub(all);
        let of_item = item.categories.iter().flat_map(|category| names(&category.id));
        for (value, (language, name)) in (first..).zip(of_item) {
            self.highlight(CATEGORIES, value, name, Some(language))?;
        }
        Ok(())
    }

    /// A translation comes before the record's own text if it's in the response's language.
    pub(super) fn turn(&self, language: &Language) -> Turn {
        let is_shown = self.language.is_some_and(|shown| shown.is_of(language));
        if is_shown { Turn::BeforeOwn } else { Turn::AfterOwn }
    }
}
