//! What all pages of a process share: title, URLs and static files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::HeaderValue;

use super::document::Assets;
use super::language::{Language, PageLanguage, Texts};
use super::links::Base;
use super::markdown::{Rendered, render};
use super::overview::Overviews;
use super::respond::embedded_by;
use crate::http::config::HttpConfig;
use crate::http::face::Face;
use crate::http::preview::Preview;
use crate::key::KeyStore;
use crate::text::append;
use crate::text::html::escape;

#[derive(Debug)]
pub(in crate::http) struct Site {
    /// The title in the default language.
    pub(super) title: String,
    introduction: Option<String>,
    pub(super) face: Face,
    /// The content security policy of pages that other sites may embed, if any may.
    pub(in crate::http) embedded_by: Option<HeaderValue>,
    /// The public URL without a trailing slash; empty if none is set.
    pub(super) public: String,
    /// The path of the public URL, which every link starts with.
    base: String,
    /// The same path followed by each language.
    bases: [String; Language::ALL.len()],
    /// The languages to publish pages in as files; `None` if pages are served.
    pub(in crate::http) published: Option<Vec<Language>>,
    pub(super) is_public: bool,
    pub(super) is_api_public: bool,
    /// At least one.
    pub(super) sitemap_addresses: u64,
    pub(super) assets: Assets,
    pub(super) preview: Option<Arc<Preview>>,
    pub(super) overviews: Overviews,
    keys: Arc<KeyStore>,
}

impl Site {
    pub(in crate::http) fn new(config: &HttpConfig, keys: Arc<KeyStore>) -> Self {
        Self {
            keys,
            title: config.site_title.clone(),
            introduction: config.site_introduction.clone().filter(|text| !text.is_empty()),
            embedded_by: embedded_by(&config.embed_origins).filter(|_| config.public_page.is_some()),
            public: config.base().to_owned(),
            base: config.path_prefix().to_owned(),
            bases: Language::ALL.map(|language| match &config.publication {
                // The first one is the directory's own.
                Some(publication) if publication.languages[0] == language => config.path_prefix().to_owned(),
                _ => format!("{}/{}", config.path_prefix(), language.texts().tag),
            }),
            published: config.publication.as_ref().map(|publication| publication.languages.clone()),
            is_public: config.public_page.is_some(),
            is_api_public: config.public_api.is_some(),
            sitemap_addresses: config.sitemap_addresses.max(1),
            assets: Assets::new(config.path_prefix(), &config.site),
            face: Face { files: BTreeMap::new(), ..config.site.clone() },
            preview: config.preview.clone(),
            overviews: Overviews::default(),
        }
    }

    /// What links on pages in this language start with.
    pub(in crate::http) fn base_in(&self, PageLanguage { language, is_in_path }: PageLanguage) -> Base<'_> {
        self.with(if is_in_path { &self.bases[language as usize] } else { &self.base })
    }

    /// What links to anything but a page start with.
    pub(in crate::http) fn root(&self) -> Base<'_> {
        self.with(&self.base)
    }

    /// What absolute URLs start with.
    pub(super) fn absolute(&self) -> Base<'_> {
        self.with(&self.public)
    }

    /// The languages of the pages, the directory's own first if they're published.
    pub(in crate::http) fn languages(&self) -> &[Language] {
        self.published.as_deref().unwrap_or(&Language::ALL)
    }

    /// The paths of the static files.
    pub(in crate::http) fn asset_paths(&self) -> impl Iterator<Item = String> + '_ {
        let below_base = |url: String| url[self.base.len()..].to_owned();
        self.assets.urls().map(below_base)
    }

    fn with<'p>(&self, path: &'p str) -> Base<'p> {
        Base { path, is_published: self.published.is_some() }
    }

    pub(super) fn title_in(&self, t: &Texts) -> &str {
        self.face.title.as_ref().map_or(&self.title, |title| title.get(t.tag))
    }

    pub(super) fn introduction_in(&self, page: PageLanguage) -> Rendered {
        let t = page.texts();
        match (&self.introduction, &self.face.introduction) {
            (Some(plain), _) => {
                Rendered { html: format!("<p><bdi>{}</bdi></p>", escape(plain)), plain: plain.clone(), title: None }
            }
            (None, Some(text)) => render(text.get(t.tag), self.base_in(page)),
            (None, None) if self.published.is_some() => render(t.published_introduction, self.root()),
            (None, None) => render(t.default_introduction, self.root()),
        }
    }

    /// Whether readers need a session.
    pub(super) fn needs_sessions(&self) -> bool {
        !self.is_public && (self.preview.is_some() || self.keys.development_grant().is_none())
    }

    /// Whether search engines may list the pages.
    pub(in crate::http) fn is_indexable(&self) -> bool {
        self.is_public && self.preview.is_none()
    }
}

/// `robots.txt`: what crawlers may read.
pub(super) fn robots(site: &Site) -> String {
    let base = &site.base;
    if site.published.is_some() {
        let sitemap =
            if site.public.is_empty() { String::new() } else { format!("\nSitemap: {}/sitemap.xml\n", site.public) };
        return format!("User-agent: *\nDisallow:\n{sitemap}");
    }
    if !site.is_indexable() {
        return "User-agent: *\nDisallow: /\n".to_owned();
    }
    let mut text = "User-agent: *\n".to_owned();
    for path in ["records/", "v1/"] {
        append(&mut text, format_args!("Disallow: {base}/{path}\n"));
    }
    for base in [base].into_iter().chain(&site.bases) {
        for path in ["compare", "results", "suggest"] {
            append(&mut text, format_args!("Disallow: {base}/{path}\n"));
        }
    }
    if !site.public.is_empty() {
        append(&mut text, format_args!("\nSitemap: {}/sitemap.xml\n", site.public));
    }
    text
}
