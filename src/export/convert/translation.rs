//! Reads an export's language, and text in other languages.

use super::property::Use;
use super::{Entry, Product, Reader};
use crate::export::Code;
use crate::export::budget::LABEL_CHARS;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::record::{Language, Property, Shape, Shown, Translations};
use crate::text::language::LanguageCount;
use crate::text::shorten::is_longer;

/// The key for text in other languages.
pub(super) const TRANSLATIONS: &str = "translations";

/// The key for the export's language.
const LANGUAGE: &str = "language";

/// The language that the products' text is clearly in, unless that's English.
pub(super) fn detected(software: &[Entry<Product>]) -> Option<Language> {
    let mut count = LanguageCount::default();
    let products = software.iter().filter_map(|entry| entry.value.software.as_ref());
    let texts = products.flat_map(|software| [&software.tagline, &software.description]).flatten();
    for text in texts {
        if !count.reads_more() {
            break;
        }
        count.push(text);
    }
    Language::parse(count.clearly()?)
}

impl Reader {
    /// Reads the language that an export states, if any.
    pub(super) fn language(&mut self, root: Value<'_>) -> Option<Language> {
        let value = root.get(LANGUAGE).filter(|value| !matches!(value.kind(), Kind::Null | Kind::Invalid))?;
        let path = Path::Root.member(LANGUAGE);
        let Some(tag) = value.as_str() else {
            let message = format!("`{LANGUAGE}` is {}, so it isn't used", value.describe());
            self.report(
                Code::EntryLeftOut,
                value,
                path,
                message,
                "write a language tag such as \"de\", or leave it out",
            );
            return None;
        };
        self.tag(&tag, value, path)
    }

    /// Reads a language tag and warns if the language is unknown.
    fn tag(&mut self, tag: &str, value: Value<'_>, path: Path<'_>) -> Option<Language> {
        let language = Language::parse(tag);
        if !language.as_ref().is_some_and(Language::is_known) {
            let message = match language {
                Some(_) => format!("`{tag}` isn't the tag of a known language"),
                None => format!("`{tag}` isn't a language tag, so it isn't used"),
            };
            let help = "write a BCP 47 tag: a language, and a region if it matters, such as `de` or `pt-BR`";
            self.report(Code::UnknownLanguage, value, path, message, help);
        }
        language
    }

    /// Reads an entry's text in other languages. `known` contains the entry's properties.
    pub(super) fn translations(
        &mut self,
        value: Value<'_>,
        path: Path<'_>,
        known: &'static [Property],
        translations: &mut Translations,
    ) -> Use {
        match value.kind() {
            Kind::Null => return Use::Used,
            Kind::Object => {}
            _ => return self.unusable(value, path, "an object with language tags as keys"),
        }
        let mut near = NearMiss::translated(known);
        for (key, texts) in value.members() {
            let tag = key.as_str().unwrap_or_default();
            let path = path.member(&tag);
            let Some(language) = self.tag(&tag, key, path) else { continue };
            if texts.kind() != Kind::Object {
                let _: Use = self.unusable(texts, path, "an object of strings");
                continue;
            }
            self.near_misses(&mut near, texts, path);
            for (key, value) in texts.members() {
                let property = key.as_str().unwrap_or_default();
                let path = path.member(&property);
                if let Some(text) = self.translation(&property, value, path, known)
                    && !translations.insert(&language, &property, &text)
                {
                    let message =
                        format!("`{property}` is translated into `{language}` twice, so this translation isn't used");
                    self.report(Code::UnusableProperty, value, path, message, "remove one of the two");
                }
            }
        }
        Use::Used
    }

    /// Reads translated text; `None` if it can't be used or is blank.
    fn translation(
        &mut self,
        property: &str,
        value: Value<'_>,
        path: Path<'_>,
        known: &'static [Property],
    ) -> Option<Box<str>> {
        let translated = known.iter().filter(|of| of.is_translated);
        let Some(Property { shape, shown, .. }) = translated.clone().find(|of| of.name == property) else {
            let names = translated.map(|of| format!("`{}`", of.name)).collect::<Vec<_>>().join(", ");
            let message = format!("`{property}` can't be translated, so this text isn't used");
            self.report(Code::UnusableProperty, value, path, message, format!("translate only {names}"));
            return None;
        };
        let mut text = None;
        if self.text(value, path, &mut text) == Use::Additional {
            return None;
        }
        if *shown == Shown::List {
            self.listed(value, path);
        }
        let text = text.filter(|text| !text.trim().is_empty())?;
        if *shape == Shape::Label && is_longer(&text, LABEL_CHARS) {
            let message = format!("a `{property}` can have at most {LABEL_CHARS} characters, so this one isn't used");
            self.report(Code::UnusableProperty, value, path, message, "shorten it, or leave it out");
            return None;
        }
        Some(text)
    }

    /// Reads the translations of an entry in the envelope.
    pub(super) fn entry_translations(
        &mut self,
        entry: Value<'_>,
        path: Path<'_>,
        known: &'static [Property],
    ) -> Translations {
        let mut translations = Translations::default();
        if let Some(value) = entry.get(TRANSLATIONS) {
            let _: Use = self.translations(value, path.member(TRANSLATIONS), known, &mut translations);
        }
        translations
    }
}
