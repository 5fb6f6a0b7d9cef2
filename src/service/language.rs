//! The language of the text in responses.

use std::borrow::Cow;

use bytes::Bytes;

use super::ServiceError;
use super::parameter::definition::LANG;
use super::parameter::{Reason, Refusal};
use crate::catalogue::resource::{CategoryResource, DetailFields, Localised, SoftwareDetail, SoftwareItem};
use crate::catalogue::{Catalogue, shorten};
use crate::index::HitTexts;
use crate::record::{Language, Translations};

/// The maximum number of languages listed in a rejection.
const MAX_NAMED: usize = 50;

/// Finds the language that a request asks for with a tag. `None` leaves all text in its own
/// language.
///
/// # Errors
/// The directory has no text in the requested language.
pub fn find_language(catalogue: &Catalogue, asked: Option<&str>) -> Result<Option<Language>, Refusal> {
    let languages = &catalogue.tables.languages;
    let Some(tag) = asked else { return Ok(None) };
    if let Some(language) = languages.find(tag) {
        return Ok(Some(language.clone()));
    }
    let named = languages.all().into_iter().take(MAX_NAMED).map(Language::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("{} must be one of the directory's languages: {named}.", LANG.name);
    Err(Refusal { parameter: LANG.name.to_owned(), reason: Reason::Invalid, message })
}

/// Translates products' text into a language.
#[derive(Debug)]
pub struct Translator<'s> {
    catalogue: &'s Catalogue,
    language: Option<&'s Language>,
    /// Whether all of the directory's text is in the language anyway.
    are_only: bool,
    is_any: bool,
}

impl<'s> Translator<'s> {
    /// Creates a translator into a language; `None` leaves all text as it is.
    pub fn new(catalogue: &'s Catalogue, language: Option<&'s Language>) -> Self {
        let are_only = language.is_some_and(|language| catalogue.tables.languages.are_only(language));
        Self { catalogue, language, are_only, is_any: false }
    }

    /// Whether the translator needs the hits' text.
    pub(super) const fn needs_texts(&self) -> bool {
        self.language.is_some() && !self.are_only
    }

    /// Whether any of the text so far is in the language.
    pub const fn is_any(&self) -> bool {
        self.is_any
    }

    /// Translates a product's list item. Without its text, the item is left as it is.
    pub(super) fn item(&mut self, item: Bytes, texts: Option<&HitTexts>) -> Result<Bytes, ServiceError> {
        let Some(texts) = texts.filter(|_| self.needs_texts()) else {
            self.is_any |= self.are_only;
            return Ok(item);
        };
        let DetailFields { translations, .. } = serde_json::from_slice(&texts.detail)?;
        self.item_of(item, &translations)
    }

    /// Translates a product's list item, given all of the product's translations.
    pub(crate) fn item_of(&mut self, item: Bytes, translations: &Translations) -> Result<Bytes, ServiceError> {
        if !self.needs_texts() {
            self.is_any |= self.are_only;
            return Ok(item);
        }
        let mut translated: SoftwareItem<'_> = serde_json::from_slice(&item)?;
        self.product(&mut translated, None, translations);
        shorten(&mut translated);
        Ok(serde_json::to_vec(&translated)?.into())
    }

    pub fn detail(&mut self, product: &mut SoftwareDetail<'_>) {
        let SoftwareDetail { item, detail } = product;
        let DetailFields { description, translations, .. } = detail;
        self.product(item, Some(description), translations);
    }

    /// Translates a product's text.
    fn product(
        &mut self,
        item: &mut SoftwareItem<'_>,
        description: Option<&mut Option<Cow<'_, str>>>,
        translations: &Translations,
    ) {
        self.is_any |= self.are_only;
        let Some(language) = self.language.filter(|_| !self.are_only) else { return };
        let own = item.language.take();
        let mut texts = Localised::new(language, own.as_deref(), translations);
        let translation = |text: &str| Cow::Owned(text.to_owned());
        if let Some(name) = texts.translation("name", true) {
            item.name = translation(name);
        }
        if let Some(tagline) = texts.translation("tagline", item.tagline.is_some()) {
            item.tagline = Some(translation(tagline));
        }
        if !item.categories.is_empty() {
            let mut are_found = Vec::with_capacity(item.categories.len());
            for category in &mut item.categories {
                let known = self.catalogue.category_by_id(&category.id).map(|known| self.category(known));
                are_found.push(known.is_some_and(|(_, is_found)| is_found));
                if let Some((name, _)) = known {
                    category.name = translation(name);
                }
            }
            item.category = item.categories.first().map(|category| category.name.clone());
            texts.note("category", true, are_found[0]);
            texts.note("categories", true, !are_found.contains(&false));
        }
        if let Some(description) = description
            && let Some(text) = texts.translation("description", description.is_some())
        {
            *description = Some(translation(text));
        }
        self.is_any |= texts.is_any;
        item.untranslated = std::mem::take(&mut texts.untranslated);
        item.language = own;
    }

    /// A category's name, translated if possible, and whether it's in the translator's language.
    pub(super) fn category<'c>(&self, category: &'c CategoryResource) -> (&'c str, bool) {
        let found = self.language.map(|language| category.find_name(language));
        (found.flatten().unwrap_or(&category.name), matches!(found, None | Some(Some(_))))
    }
}
