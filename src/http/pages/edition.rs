//! The directory as a reader sees it: the page's language, and the language of each piece of text on it.

use std::fmt;

use super::document::Assets;
use super::language::Texts;
use super::links::{Base, initial, of_category, of_software};
use crate::catalogue::resource::{CategoryResource, SoftwareItem};
use crate::catalogue::{Catalogue, GlossaryEntry};
use crate::record::Language;
use crate::text::html::escape;

#[derive(Debug, Clone, Copy)]
pub(super) struct Edition<'a> {
    pub(super) t: &'static Texts,
    /// The path that every link to a page starts with.
    pub(super) base: Base<'a>,
    /// The path that links to everything else start with, which has no language.
    pub(super) root: Base<'a>,
    pub(super) assets: &'a Assets,
    pub(super) catalogue: &'a Catalogue,
    /// The language to show records in where available; `None` shows each in its own language.
    pub(super) language: Option<&'a Language>,
}

/// An element's `lang` attribute, as HTML; empty if its text is in the page's language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lang<'a>(Option<&'a str>);

impl<'a> Lang<'a> {
    /// The attribute for text in the language with this tag.
    pub(super) fn of(t: &Texts, tag: &'a str) -> Self {
        let is_other = tag.split('-').next() != Some(t.tag);
        Self(Some(tag).filter(|_| is_other))
    }

    /// The attribute for text in an entry's own language.
    pub(super) fn own(t: &Texts, own: Option<&'a Language>) -> Self {
        Self::of(t, tag(own))
    }

    /// The attribute for an entry's name. `find` returns the name's translation, if there is one.
    pub(super) fn named<'n>(
        t: &Texts,
        language: Option<&'a Language>,
        own: Option<&'a Language>,
        find: impl FnOnce(&Language) -> Option<&'n str>,
    ) -> Self {
        Self::own(t, language.filter(|language| find(language).is_some()).or(own))
    }
}

impl fmt::Display for Lang<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(tag) = self.0 else { return Ok(()) };
        write!(f, " lang=\"{}\"{}", escape(tag), if is_right_to_left(tag) { " dir=\"rtl\"" } else { "" })
    }
}

impl<'a> Edition<'a> {
    pub(super) fn software_href(&self, id: &str) -> String {
        of_software(self.base, id)
    }

    pub(super) fn category_href(&self, id: &str) -> String {
        of_category(self.base, id)
    }

    /// A product's logo or, if it has none, its initial, as HTML.
    pub(super) fn logo(&self, item: &SoftwareItem<'_>) -> String {
        match self.assets.url_of(&format!("logos/{}", item.id)) {
            Some(url) => {
                let url = escape(&url);
                format!("<img class=\"initial\" src=\"{url}\" alt=\"\" width=\"40\" height=\"40\" loading=\"lazy\">")
            }
            None => format!("<span class=\"initial\" aria-hidden=\"true\">{}</span>", escape(&initial(&item.name))),
        }
    }

    /// The attribute for text in an entry's own language.
    pub(super) fn own<'l>(&self, own: Option<&'l Language>) -> Lang<'l> {
        Lang::own(self.t, own)
    }

    /// The attribute for an entry's text, which may have fallen back to the entry's own language.
    pub(super) fn lang<'l>(&self, own: Option<&'l Language>, untranslated: &[impl AsRef<str>], field: &str) -> Lang<'l>
    where
        'a: 'l,
    {
        Lang::of(self.t, tag_of(self.language, own, untranslated, field))
    }

    /// The attribute for a product's text that may be translated.
    pub(super) fn of_item<'l>(&self, item: &'l SoftwareItem<'_>, field: &str) -> Lang<'l>
    where
        'a: 'l,
    {
        self.lang(item.language.as_deref(), &item.untranslated, field)
    }

    /// The attribute for a localised category's name or description.
    pub(super) fn category_text<'l>(&self, category: &'l CategoryResource, field: &str) -> Lang<'l>
    where
        'a: 'l,
    {
        self.lang(category.language.as_ref(), &category.untranslated, field)
    }

    /// The attribute for the name of the category with this id.
    pub(super) fn category(&self, id: &str) -> Lang<'a> {
        self.catalogue.category_by_id(id).map_or(Lang::default(), |category| {
            Lang::named(self.t, self.language, category.language.as_ref(), |language| category.find_name(language))
        })
    }

    /// The attribute for the glossary term with this id.
    pub(super) fn term(&self, id: &str) -> Lang<'a> {
        self.catalogue.term(id).map_or(Lang::default(), |GlossaryEntry { term, .. }| {
            Lang::named(self.t, self.language, term.language.as_ref(), |language| term.find_term(language))
        })
    }
}

/// Whether a language is written from right to left, according to its tag's script or language.
fn is_right_to_left(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    match parts.next().filter(|script| script.len() == 4) {
        Some(script) => ["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"].contains(&script),
        None => ["ar", "arc", "ckb", "dv", "fa", "he", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"].contains(&language),
    }
}

/// The tag of the language that an entry's text is in.
pub(super) fn tag_of<'l>(
    language: Option<&'l Language>,
    own: Option<&'l Language>,
    untranslated: &[impl AsRef<str>],
    field: &str,
) -> &'l str {
    tag(language.filter(|_| untranslated.iter().all(|of| of.as_ref() != field)).or(own))
}

/// A language's tag. An entry without a language is in English.
fn tag(language: Option<&Language>) -> &str {
    language.map_or("en", Language::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::pages::language;

    #[test]
    fn lang_attribute_is_only_set_if_the_language_differs() {
        let [english, german, _] = language::Language::ALL.map(language::Language::texts);
        for (t, tag, attribute) in [
            (english, "en", ""),
            (english, "en-GB", ""),
            (english, "de", " lang=\"de\""),
            (german, "de-AT", ""),
            (german, "den", " lang=\"den\""),
            (german, "pt-BR", " lang=\"pt-BR\""),
            (german, "ar-EG", " lang=\"ar-EG\" dir=\"rtl\""),
            (german, "az-Arab", " lang=\"az-Arab\" dir=\"rtl\""),
            (german, "ur-Latn", " lang=\"ur-Latn\""),
        ] {
            assert_eq!(Lang::of(t, tag).to_string(), attribute, "{tag}");
        }
    }
}
