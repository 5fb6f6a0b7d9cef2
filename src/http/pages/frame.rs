//! The frame around every page: head with structured data (schema.org, JSON-LD), header and footer.

use std::fmt;

use serde_json::{Value, json};

use super::document::SITE_CSS;
use super::evidence;
use super::language::{Language, PageLanguage, Texts};
use super::links::{Base, single_line};
use super::site::Site;
use crate::catalogue::Catalogue;
use crate::generation::Snapshot;
use crate::http::face::Face;
use crate::text::shorten::{in_list, shortened};

/// The maximum length of the description in the head, in characters.
const MAX_DESCRIPTION: usize = 300;

/// How much text is searched for a description, in characters: it may be mostly spaces.
const MAX_TEXT: usize = 4000;

/// The main menu entry that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Products,
    Categories,
    Glossary,
    Sources,
    Docs,
    None,
}

/// The main menu entries that depend on the content.
#[derive(Debug)]
pub(super) struct Menu {
    pub(super) has_categories: bool,
    pub(super) has_glossary: bool,
}

#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) t: &'static Texts,
    pub(super) site: &'a Site,
    pub(super) section: Section,
    /// The window's title, without the site's title that follows it; may be empty.
    pub(super) title: String,
    pub(super) description: String,
    language: PageLanguage,
    /// The directory's own language, in which pages have no language in their path.
    own: Language,
    /// The page's path and query, without its language.
    pub(super) address: String,
    /// The address that search engines should list instead.
    pub(super) canonical: Option<String>,
    /// Whether search engines shouldn't list the page.
    pub(super) is_noindex: bool,
    pub(super) json_ld: Vec<JsonLd>,
    /// The query in the header's search box.
    pub(super) q: &'a str,
    /// `None` on a page that reveals nothing about the directory's content.
    pub(super) menu: Option<Menu>,
    /// Whether the reader has a session that can be ended.
    pub(super) is_signed_in: bool,
    /// Whether a search in published pages finds this one.
    pub(super) is_found: bool,
}

impl<'a> Frame<'a> {
    /// The frame for a page with a generation's content.
    pub(super) fn new(site: &'a Site, language: PageLanguage, snapshot: &Snapshot) -> Self {
        let tables = &snapshot.catalogue.tables;
        Self {
            menu: Some(Menu {
                has_categories: !tables.categories.is_empty(),
                has_glossary: !tables.glossary.is_empty(),
            }),
            is_signed_in: site.needs_sessions(),
            own: own_language(&snapshot.catalogue),
            ..Self::bare(site, language)
        }
    }

    /// The frame for a page that reveals nothing about the directory's content.
    pub(super) fn bare(site: &'a Site, language: PageLanguage) -> Self {
        Self {
            t: language.texts(),
            site,
            section: Section::None,
            title: String::new(),
            description: String::new(),
            language,
            own: Language::English,
            address: "/".to_owned(),
            canonical: None,
            is_noindex: false,
            json_ld: Vec::new(),
            q: "",
            menu: None,
            is_signed_in: false,
            is_found: false,
        }
    }

    pub(super) fn titled(self, title: &str) -> Self {
        Self { title: single_line(&in_list(title)), ..self }
    }

    /// Describes the page to search engines and in link previews.
    pub(super) fn described(self, text: &str) -> Self {
        let line = single_line(&shortened(text, MAX_TEXT));
        Self { description: shortened(&line, MAX_DESCRIPTION).into_owned(), ..self }
    }

    pub(super) fn window_title(&self) -> String {
        let site = self.site_title();
        if self.title.is_empty() { site.to_owned() } else { format!("{} · {site}", self.title) }
    }

    pub(super) fn base(&self) -> Base<'_> {
        self.site.base_in(self.language)
    }

    pub(super) fn is_published(&self) -> bool {
        self.site.config.publication.is_some()
    }

    /// Sets the address from a link to this page.
    pub(super) fn at(self, href: &str) -> Self {
        Self { address: self.local(href), ..self }
    }

    /// Names the page that search engines should list instead, given a link to it.
    pub(super) fn canonical_at(self, href: &str) -> Self {
        Self { canonical: Some(self.local(href)), ..self }
    }

    fn local(&self, href: &str) -> String {
        href.strip_prefix(self.base().path).unwrap_or(href).to_owned()
    }

    /// This page in every language: texts, URL, and whether it's the current one.
    pub(super) fn languages(&self) -> Vec<(&'static Texts, String, bool)> {
        let languages = self.site.languages().iter().map(|language| {
            let base = self.site.base_in(PageLanguage { language: *language, is_in_path: true });
            (language.texts(), format!("{base}{}", self.address), *language == self.language.language)
        });
        languages.collect()
    }

    pub(super) fn site_title(&self) -> &str {
        self.site.title_in(self.t)
    }

    pub(super) fn logo(&self) -> String {
        let Face { logo, icon, .. } = self.site.face();
        self.image(logo.as_ref().or(icon.as_ref()))
    }

    pub(super) fn icon(&self) -> String {
        self.image(self.site.face().icon.as_ref())
    }

    fn image(&self, file: Option<&String>) -> String {
        format!("{}/{}", self.site.assets.url, file.map_or("icon.svg", String::as_str))
    }

    /// The absolute URL of the logo for link previews, which don't show SVG.
    pub(super) fn preview_image(&self) -> Option<String> {
        let (config, base) = (&self.site.config, self.site.root().path);
        let (public, face) = (config.base(), self.site.face());
        let image = [&face.logo, &face.icon]
            .into_iter()
            .flatten()
            .find(|file| file.rsplit_once('.').is_some_and(|(_, kind)| kind == "png"))?;
        let path = self.image(Some(image));
        (!public.is_empty()).then(|| format!("{public}{}", &path[base.len()..]))
    }

    /// The URL of the operator's styles.
    pub(super) fn styles(&self) -> Option<String> {
        self.site.assets.url_of(SITE_CSS)
    }

    pub(super) fn disclaimer(&self) -> &str {
        self.site.face().disclaimer.as_ref().map_or(self.t.disclaimer, |text| text.get(self.t.tag))
    }

    /// The operator's links in the footer.
    pub(super) fn own_links(&self) -> Vec<(&'static str, String)> {
        let labels = [self.t.imprint, self.t.privacy, self.t.contact];
        let links =
            labels.into_iter().zip(&self.site.face().links).filter_map(|(label, link)| Some((label, link.as_ref()?)));
        let href = |link: &String| if link.starts_with('/') { self.base().page(link) } else { link.clone() };
        links.map(|(label, link)| (label, href(link))).collect()
    }

    pub(super) fn has_feed(&self) -> bool {
        // A published feed's addresses are absolute.
        self.site.config.public_page.is_some() && !(self.is_published() && self.site.config.base().is_empty())
    }

    pub(super) fn is_indexable(&self) -> bool {
        self.site.is_indexable() && !self.is_noindex
    }

    /// The canonical URL, if search engines may list the site and it has a public URL.
    pub(super) fn canonical_url(&self) -> Option<String> {
        self.url(Some(self.language.language))
    }

    /// The page's canonical URL in a language, or for readers of none of them.
    fn url(&self, language: Option<Language>) -> Option<String> {
        let (public, base) = (self.site.config.base(), self.site.root().path);
        let of_language = language.filter(|language| *language != self.own);
        let path =
            of_language.map_or(base, |language| self.site.base_in(PageLanguage { language, is_in_path: true }).path);
        let address = self.canonical.as_ref().unwrap_or(&self.address);
        (self.site.is_indexable() && !public.is_empty()).then(|| format!("{public}{}{address}", &path[base.len()..]))
    }

    /// The canonical URLs in all languages, each with its language's tag.
    pub(super) fn alternates(&self) -> Vec<(&'static str, String)> {
        let languages = self.site.languages();
        let tagged = languages.iter().map(|language| (language.texts().tag, Some(*language)));
        let all = tagged.chain([("x-default", None)]).filter(|_| self.is_indexable() && languages.len() > 1);
        all.filter_map(|(tag, language)| Some((tag, self.url(language)?))).collect()
    }

    /// Today, for printouts. The documentation and published pages are written once.
    pub(super) fn today(&self) -> Option<String> {
        (self.section != Section::Docs && !self.is_published())
            .then(|| self.t.day(&evidence::today().to_string()).into_owned())
    }

    pub(super) fn is_current(&self, section: &str) -> bool {
        match self.section {
            Section::Products => section == "products",
            Section::Categories => section == "categories",
            Section::Glossary => section == "glossary",
            Section::Sources => section == "sources",
            Section::Docs => section == "docs",
            Section::None => false,
        }
    }
}

/// The interface's language for a directory; English if it has none in the directory's own language.
pub(in crate::http) fn own_language(catalogue: &Catalogue) -> Language {
    Language::of_tag(catalogue.own_language()).unwrap_or(Language::English)
}

/// A JSON document as the content of a script element. HTML doesn't decode entities there, so
/// anything that could end the element is escaped as in JSON.
#[derive(Debug)]
pub(super) struct JsonLd(Value);

impl JsonLd {
    /// An object of a schema.org type; null members are omitted.
    pub(super) fn new(kind: &str, members: &[(&str, Value)]) -> Self {
        let mut thing = json!({"@context": "https://schema.org", "@type": kind});
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            thing[*name] = value.clone();
        }
        Self(thing)
    }

    /// Breadcrumbs from the home page to a page: names and absolute URLs.
    pub(super) fn breadcrumbs(places: &[(&str, String)]) -> Self {
        let items = (1..).zip(places).map(|(position, (name, url)): (u32, _)| {
            json!({"@type": "ListItem", "position": position, "name": name, "item": url})
        });
        Self::new("BreadcrumbList", &[("itemListElement", items.collect())])
    }
}

impl fmt::Display for JsonLd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(&text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_close_its_script_element() {
        let hostile = "</script><!--<script>&lt;\u{2028}";
        let text = JsonLd::new("Thing", &[("name", hostile.into()), ("url", Value::Null)]).to_string();
        assert!(!text.contains(['<', '>', '&']), "{text}");
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["name"], hostile);
        assert!(read.get("url").is_none());
    }
}
