//! The frame around every page: head with structured data (schema.org, JSON-LD), header and footer.

use std::fmt;

use serde_json::{Value, json};

use super::evidence;
use super::language::{Language, Texts};
use super::links::single_line;
use super::site::Site;
use crate::generation::Snapshot;
use crate::http::preview::Preview;
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
#[derive(Debug, Default)]
pub(super) struct Menu {
    pub(super) has_categories: bool,
    pub(super) has_glossary: bool,
}

#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) t: &'static Texts,
    site: &'a Site,
    pub(super) section: Section,
    /// The window's title, without the site's title that follows it; may be empty.
    pub(super) title: String,
    pub(super) description: String,
    /// The path and query of the page's canonical URL.
    pub(super) canonical: Option<String>,
    pub(super) json_ld: Vec<JsonLd>,
    /// The query in the header's search box.
    pub(super) q: &'a str,
    /// `None` on a page that reveals nothing about the directory's content.
    pub(super) menu: Option<Menu>,
    /// Whether the reader has a session that can be ended.
    pub(super) is_signed_in: bool,
}

impl<'a> Frame<'a> {
    /// The frame for a page with a generation's content.
    pub(super) fn new(site: &'a Site, language: Language, snapshot: &Snapshot) -> Self {
        let tables = &snapshot.catalogue.tables;
        Self {
            menu: Some(Menu {
                has_categories: !tables.categories.is_empty(),
                has_glossary: !tables.glossary.is_empty(),
            }),
            is_signed_in: !site.is_public,
            ..Self::bare(site, language)
        }
    }

    /// The frame for a page that reveals nothing about the directory's content.
    pub(super) fn bare(site: &'a Site, language: Language) -> Self {
        Self {
            t: language.texts(),
            site,
            section: Section::None,
            title: String::new(),
            description: String::new(),
            canonical: None,
            json_ld: Vec::new(),
            q: "",
            menu: None,
            is_signed_in: false,
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
        let site = &self.site.title;
        if self.title.is_empty() { site.clone() } else { format!("{} · {site}", self.title) }
    }

    pub(super) fn base(&self) -> &str {
        &self.site.base
    }

    pub(super) fn assets(&self) -> &str {
        &self.site.assets.url
    }

    pub(super) fn site_title(&self) -> &str {
        &self.site.title
    }

    pub(super) fn preview(&self) -> Option<&Preview> {
        self.site.preview.as_deref()
    }

    pub(super) fn has_feed(&self) -> bool {
        self.site.is_public
    }

    pub(super) fn is_indexable(&self) -> bool {
        self.site.is_indexable()
    }

    /// The canonical URL, if the site has a public URL.
    pub(super) fn canonical_url(&self) -> Option<String> {
        let path = self.canonical.as_deref()?;
        (self.is_indexable() && !self.site.public.is_empty()).then(|| format!("{}{path}", self.site.public))
    }

    /// Today, for printouts. The documentation is written once, when the server starts.
    pub(super) fn today(&self) -> Option<String> {
        (self.section != Section::Docs).then(|| self.t.day(&evidence::today().to_string()).into_owned())
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
