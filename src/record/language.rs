//! Languages, and an entry's text in several of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A well-formed language tag (RFC 5646) in its canonical case, such as `de` or `pt-BR`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Language(Box<str>);

/// Maximum length of a tag, in characters (RFC 5646, 4.4.1).
const TAG_CHARS: usize = 35;

/// The default language, for text whose language is unspecified.
const ENGLISH: &str = "en";

/// The languages with a two-letter code (ISO 639-1).
const TWO_LETTERS: &str = "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee \
    el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj \
    kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om \
    or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw \
    ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

impl Language {
    /// Parses a tag in any case; `None` if it isn't well-formed.
    pub fn parse(tag: &str) -> Option<Self> {
        let mut canonical = String::with_capacity(tag.len());
        let mut is_extension = false;
        for (at, subtag) in tag.split('-').enumerate() {
            let length = subtag.len();
            let is_right = match at {
                0 => (2..=3).contains(&length) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic()),
                _ => (1..=8).contains(&length) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            };
            if !is_right || tag.len() > TAG_CHARS {
                return None;
            }
            let lower = subtag.to_ascii_lowercase();
            if at > 0 {
                canonical.push('-');
            }
            match length {
                2 if at > 0 && !is_extension => canonical.push_str(&subtag.to_ascii_uppercase()),
                4 if at > 0 && !is_extension => {
                    canonical.push_str(&lower[..1].to_ascii_uppercase());
                    canonical.push_str(&lower[1..]);
                }
                _ => canonical.push_str(&lower),
            }
            is_extension |= length == 1;
        }
        Some(Self(canonical.into()))
    }

    pub fn english() -> Self {
        Self(ENGLISH.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_english(&self) -> bool {
        self.primary() == ENGLISH
    }

    /// Whether this is `language` or a more specific form of it, such as `de-AT` for `de`.
    pub fn is_of(&self, language: &Self) -> bool {
        Self::ranges(&self.0).any(|range| range == language.as_str())
    }

    /// The tag without region and script: `pt` for `pt-BR`.
    pub fn primary(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }

    /// Whether a two-letter code is in ISO 639-1. The thousands of three-letter codes aren't
    /// checked.
    pub fn is_known(&self) -> bool {
        let primary = self.primary();
        primary.len() == 3 || TWO_LETTERS.split_ascii_whitespace().any(|known| known == primary)
    }

    /// The tag, then the tag without its last subtags, longest first (RFC 4647, 3.4).
    fn ranges(tag: &str) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(tag), |tag| tag.rsplit_once('-').map(|(shorter, _)| shorter))
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An entry's text in languages other than its own, by language and property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Translations(Option<Box<ByLanguage>>);

/// Where an entry's text in a language was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'t> {
    /// The entry's own text is in the language.
    Own,
    Translation(&'t str),
}

impl<'t> Found<'t> {
    /// The translation, or else the entry's own text.
    pub const fn text(self, own: &'t str) -> &'t str {
        match self {
            Self::Own => own,
            Self::Translation(text) => text,
        }
    }
}

type ByLanguage = BTreeMap<Language, BTreeMap<Box<str>, Box<str>>>;

impl Translations {
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds a property's text, unless the property already has text in this language. Returns
    /// whether it was added.
    pub fn insert(&mut self, language: &Language, property: &str, text: &str) -> bool {
        let texts = self.0.get_or_insert_default().entry(language.clone()).or_default();
        let is_new = !texts.contains_key(property);
        if is_new {
            texts.insert(property.into(), text.into());
        }
        is_new
    }

    /// Adds text from other translations if it's missing here.
    pub fn merge(&mut self, others: &Self) {
        for (language, property, text) in others.iter() {
            self.insert(language, property, text);
        }
    }

    pub fn languages(&self) -> impl Iterator<Item = &Language> {
        self.0.iter().flat_map(|by_language| by_language.keys())
    }

    /// All translations: language, property and text.
    pub fn iter(&self) -> impl Iterator<Item = (&Language, &str, &str)> {
        let by_language = self.0.iter().flat_map(|by_language| by_language.iter());
        by_language.flat_map(|(language, texts)| texts.iter().map(move |(of, text)| (language, &**of, &**text)))
    }

    /// A property's translations, by language.
    pub fn of<'t>(&'t self, property: &'t str) -> impl Iterator<Item = (&'t Language, &'t str)> {
        self.iter().filter(move |(_, of, _)| *of == property).map(|(language, _, text)| (language, text))
    }

    /// A property's text in a language, or else in a more general one: `de` for `de-AT`. `own` is
    /// the language of the entry's own text, if it isn't English.
    pub fn find(&self, property: &str, own: Option<&Language>, language: &Language) -> Option<Found<'_>> {
        let own = own.map_or(ENGLISH, Language::as_str);
        Language::ranges(language.as_str()).find_map(|range| {
            if own == range {
                return Some(Found::Own);
            }
            let by_language = self.0.as_deref()?;
            let (_, texts) = by_language.iter().find(|(language, _)| language.as_str() == range)?;
            texts.get(property).map(|text| Found::Translation(text))
        })
    }
}

/// The languages of a directory's text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Languages {
    /// The languages that entries are written in.
    own: Vec<Language>,
    /// The languages that any text is translated into.
    translated: Vec<Language>,
}

impl Languages {
    /// Adds the language that an export's entries are written in.
    pub fn add_own(&mut self, language: &Language) {
        add(&mut self.own, language);
    }

    pub fn add_translations(&mut self, translations: &Translations) {
        translations.languages().for_each(|language| add(&mut self.translated, language));
    }

    /// Whether there are translations, so that readers can choose a language.
    pub const fn are_several(&self) -> bool {
        !self.translated.is_empty()
    }

    /// Whether every entry's own text is in this language.
    pub fn are_only(&self, language: &Language) -> bool {
        matches!(&self.own[..], [only] if only == language)
    }

    /// All languages, by tag.
    pub fn all(&self) -> Vec<&Language> {
        let mut all: Vec<_> = self.own.iter().chain(&self.translated).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The language with this tag, or with the longest prefix of it: `de` for `de-AT`.
    pub fn find(&self, tag: &str) -> Option<&Language> {
        let tag = Language::parse(tag)?;
        Language::ranges(tag.as_str()).find_map(|range| {
            let find = |of: &'_ [Language]| of.binary_search_by(|language| language.as_str().cmp(range)).ok();
            find(&self.own).map(|at| &self.own[at]).or_else(|| find(&self.translated).map(|at| &self.translated[at]))
        })
    }
}

/// Adds a language to a sorted list.
fn add(languages: &mut Vec<Language>, language: &Language) {
    if let Err(at) = languages.binary_search(language) {
        languages.insert(at, language.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(tag: &str) -> Language {
        Language::parse(tag).expect("a tag")
    }

    #[test]
    fn tags_have_a_canonical_case() {
        for (tag, canonical) in
            [("de", "de"), ("DE", "de"), ("pt-br", "pt-BR"), ("ZH-hant-tw", "zh-Hant-TW"), ("en-x-ab", "en-x-ab")]
        {
            assert_eq!(Language::parse(tag).as_ref().map(Language::as_str), Some(canonical), "{tag}");
        }
        for wrong in ["", "d", "german", "de_DE", "de-", "-de", "d1", "de-überall", &"de-".repeat(20), "de-123456789"]
        {
            assert_eq!(Language::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn unknown_language_codes_are_recognised() {
        for (tag, is_known) in
            [("de", true), ("fr-CA", true), ("nds", true), ("jp", false), ("gr", false), ("xx", false)]
        {
            assert_eq!(language(tag).is_known(), is_known, "{tag}");
        }
    }

    #[test]
    fn text_is_found_in_the_nearest_language() {
        let mut texts = Translations::default();
        assert!(texts.insert(&language("de"), "name", "Ordner"));
        assert!(!texts.insert(&language("de"), "name", "Mappe"), "the first is kept");
        assert!(texts.insert(&language("de-AT"), "tagline", "Leiwand"));
        let find = |property, own: Option<&Language>, tag: &str| texts.find(property, own, &language(tag));
        let french = language("fr");
        assert_eq!(find("name", None, "de"), Some(Found::Translation("Ordner")));
        assert_eq!(find("name", None, "de-AT"), Some(Found::Translation("Ordner")));
        assert_eq!(find("name", None, "en-GB"), Some(Found::Own));
        assert_eq!(find("name", Some(&french), "en"), None);
        assert_eq!(find("name", Some(&french), "fr"), Some(Found::Own));
        assert_eq!(find("tagline", None, "de"), None);
        assert_eq!(find("tagline", None, "de-AT"), Some(Found::Translation("Leiwand")));
    }

    #[test]
    fn all_languages_are_listed_once() {
        let (mut languages, mut translations) = (Languages::default(), Translations::default());
        languages.add_own(&Language::english());
        assert!(!languages.are_several() && languages.are_only(&Language::english()));
        for tag in ["de", "fr", "pt-BR"] {
            translations.insert(&language(tag), "name", "a");
        }
        languages.add_translations(&translations);
        assert!(languages.are_several());
        assert_eq!(languages.all().iter().map(|of| of.as_str()).collect::<Vec<_>>(), ["de", "en", "fr", "pt-BR"]);
    }
}
