//! The language of the text in responses.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ServiceError;
use super::parameter::definition::LANG;
use super::parameter::{Reason, Refusal};
use crate::catalogue::resource::{CategoryRef, CategoryResource, Localised};
use crate::catalogue::{Catalogue, Members};
use crate::index::HitTexts;
use crate::record::{Language, Translations};
use crate::text::shorten::{LIST_CHARS, shortened};

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

/// A product's text in other languages, part of its detail fields.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OtherTexts {
    #[serde(default)]
    pub(super) translations: Translations,
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
        self.item_of(item, texts.map(|texts| &*texts.fields))
    }

    /// Translates a product's list item, given an object with the product's `translations`.
    pub(crate) fn item_of(&mut self, item: Bytes, fields: Option<&[u8]>) -> Result<Bytes, ServiceError> {
        self.is_any |= self.are_only;
        let (Some(language), Some(fields)) = (self.language.filter(|_| !self.are_only), fields) else {
            return Ok(item);
        };
        let of: OtherTexts = serde_json::from_slice(fields)?;
        Ok(self.product(&item, language, &of, LIST_CHARS)?.into())
    }

    /// Translates a product's detail, given as a response body.
    pub fn detail(&mut self, body: Bytes) -> Result<Bytes, ServiceError> {
        #[derive(Deserialize)]
        struct Body<'a> {
            #[serde(borrow)]
            data: &'a RawValue,
        }
        self.is_any |= self.are_only;
        let Some(language) = self.language.filter(|_| !self.are_only) else { return Ok(body) };
        let Body { data } = serde_json::from_slice(&body)?;
        let of: OtherTexts = serde_json::from_str(data.get())?;
        let product = self.product(data.get().as_bytes(), language, &of, usize::MAX)?;
        Ok([br#"{"data":"#, &product[..], b"}"].concat().into())
    }

    /// A category's name, translated if possible, and whether it's in the translator's language.
    pub(super) fn category<'c>(&self, category: &'c CategoryResource) -> (&'c str, bool) {
        let found = self.language.map(|language| category.find_name(language));
        (found.flatten().unwrap_or(&category.name), matches!(found, None | Some(Some(_))))
    }

    /// Writes a product, given as a JSON object, with its text in a language. Text is cut off after
    /// `most` characters.
    fn product(
        &mut self,
        object: &[u8],
        language: &Language,
        of: &OtherTexts,
        most: usize,
    ) -> Result<Vec<u8>, ServiceError> {
        let Members(members) = serde_json::from_slice(object)?;
        let member = |wanted: &str| members.iter().find(|(name, _)| name == wanted).map(|(_, json)| json.get());
        let own: Option<Language> = member("language").map(serde_json::from_str).transpose()?;
        let mut texts = Localised::new(language, own.as_ref(), &of.translations);
        let categories = member("categories").map_or(Ok(Vec::new()), serde_json::from_str)?;
        let categories = self.categories(&categories);
        let are_found = categories.iter().all(|(_, is_found)| *is_found);
        let mut json = Vec::with_capacity(object.len() + 256);
        for (name, value) in members {
            json.push(if json.is_empty() { b'{' } else { b',' });
            serde_json::to_writer(&mut json, &name)?;
            json.push(b':');
            match (&*name, categories.first()) {
                ("name" | "tagline" | "description", _) => {
                    if let Some(text) = texts.translation(&name, value.get() != "null") {
                        serde_json::to_writer(&mut json, &shortened(text, most))?;
                        continue;
                    }
                }
                ("category", Some((main, is_found))) => {
                    texts.note(&name, true, *is_found);
                    serde_json::to_writer(&mut json, main.name)?;
                    continue;
                }
                ("categories", Some(_)) => {
                    texts.note(&name, true, are_found);
                    let categories: Vec<_> = categories.iter().map(|(category, _)| category).collect();
                    serde_json::to_writer(&mut json, &categories)?;
                    continue;
                }
                _ => {}
            }
            json.extend_from_slice(value.get().as_bytes());
        }
        if !texts.untranslated.is_empty() {
            json.extend_from_slice(br#","untranslated":"#);
            serde_json::to_writer(&mut json, &texts.untranslated)?;
        }
        json.push(b'}');
        self.is_any |= texts.is_any;
        Ok(json)
    }

    /// A product's categories with their names in the language if possible, and whether each name
    /// is in that language.
    fn categories<'c>(&'c self, categories: &'c [StoredCategory<'_>]) -> Vec<(CategoryRef<'c>, bool)> {
        let translated = categories.iter().map(|StoredCategory { id, name }| {
            let known = self.catalogue.category_by_id(id);
            let (name, is_found) = known.map_or((&**name, false), |category| self.category(category));
            (CategoryRef { id, name }, is_found)
        });
        translated.collect()
    }
}

/// A category in a product's JSON.
#[derive(Debug, Deserialize)]
struct StoredCategory<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
}
