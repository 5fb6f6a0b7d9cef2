//! An entry's text in the requested language.

use crate::record::{Found, Language, Translations};

/// Picks an entry's text in a language, and records which fields fall back to the entry's own text.
#[derive(Debug)]
pub struct Localised<'t> {
    language: &'t Language,
    /// The language of the entry's own text, unless that's English.
    own: Option<&'t Language>,
    translations: &'t Translations,
    /// The fields that fell back.
    pub untranslated: Vec<String>,
    /// Whether any text is in the requested language.
    pub is_any: bool,
}

impl<'t> Localised<'t> {
    pub const fn new(language: &'t Language, own: Option<&'t Language>, translations: &'t Translations) -> Self {
        Self { language, own, translations, untranslated: Vec::new(), is_any: false }
    }

    /// A field's translation; `None` if the entry's own text is shown. `has_own` is whether the
    /// entry has any text of its own in this field.
    pub fn translation(&mut self, field: &str, has_own: bool) -> Option<&'t str> {
        let found = self.translations.find(field, self.own, self.language);
        let is_found = match found {
            Some(Found::Own) => has_own,
            found => found.is_some(),
        };
        self.note(field, has_own, is_found);
        if let Some(Found::Translation(text)) = found { Some(text) } else { None }
    }

    /// Records whether a field is available in the language.
    pub fn note(&mut self, field: &str, has_text: bool, is_found: bool) {
        self.is_any |= is_found;
        if has_text && !is_found {
            self.untranslated.push(field.to_owned());
        }
    }

    /// Replaces a field's text with its translation, if there is one.
    pub fn replace(&mut self, field: &str, text: &mut String) {
        if let Some(translation) = self.translation(field, true) {
            translation.clone_into(text);
        }
    }
}
