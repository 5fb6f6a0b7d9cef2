//! What all pages of a process share: title, URLs and static files.

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
use crate::key::KeyStore;
use crate::text::append;
use crate::text::html::escape;

#[derive(Debug)]
pub(in crate::http) struct Site {
    pub(super) config: Arc<HttpConfig>,
    /// The content security policy of pages that other sites may embed, if any may.
    pub(in crate::http) embedded_by: Option<HeaderValue>,
    /// The path that every link starts with, followed by each language.
    bases: [String; Language::ALL.len()],
    pub(super) assets: Assets,
    pub(super) overviews: Overviews,
    keys: Arc<KeyStore>,
}

impl Site {
    pub(in crate::http) fn new(config: &Arc<HttpConfig>, keys: Arc<KeyStore>) -> Self {
        let base = config.path_prefix();
        Self {
            embedded_by: embedded_by(&config.embed_origins).filter(|_| config.public_page.is_some()),
            bases: Language::ALL.map(|language| match &config.publication {
                // The first one is the directory's own.
                Some(publication) if publication.languages[0] == language => base.to_owned(),
                _ => format!("{base}/{}", language.texts().tag),
            }),
            assets: Assets::new(base, &config.site),
            overviews: Overviews::default(),
            config: Arc::clone(config),
            keys,
        }
    }

    /// What the operator sets about the pages.
    pub(super) fn face(&self) -> &Face {
        &self.config.site
    }

    /// What links on pages in this language start with.
    pub(in crate::http) fn base_in(&self, PageLanguage { language, is_in_path }: PageLanguage) -> Base<'_> {
        self.with(if is_in_path { &self.bases[language as usize] } else { self.config.path_prefix() })
    }

    /// What links to anything but a page start with.
    pub(in crate::http) fn root(&self) -> Base<'_> {
        self.with(self.config.path_prefix())
    }

    /// What absolute URLs start with.
    pub(super) fn absolute(&self) -> Base<'_> {
        self.with(self.config.base())
    }

    /// The languages of the pages, the directory's own first if they're published.
    pub(in crate::http) fn languages(&self) -> &[Language] {
        self.config.publication.as_ref().map_or(&Language::ALL, |publication| &publication.languages)
    }

    /// The paths of the static files.
    pub(in crate::http) fn asset_paths(&self) -> impl Iterator<Item = String> + '_ {
        let below_base = |url: String| url[self.config.path_prefix().len()..].to_owned();
        self.assets.urls().map(below_base)
    }

    fn with<'p>(&self, path: &'p str) -> Base<'p> {
        Base { path, is_published: self.config.publication.is_some() }
    }

    pub(super) fn title_in(&self, t: &Texts) -> &str {
        self.face().title.as_ref().map_or(&self.config.site_title, |title| title.get(t.tag))
    }

    pub(super) fn introduction_in(&self, page: PageLanguage) -> Rendered {
        let t = page.texts();
        let plain = self.config.site_introduction.as_ref().filter(|text| !text.is_empty());
        match (plain, &self.face().introduction) {
            (Some(plain), _) => {
                Rendered { html: format!("<p><bdi>{}</bdi></p>", escape(plain)), plain: plain.clone(), title: None }
            }
            (None, Some(text)) => render(text.get(t.tag), self.base_in(page)),
            (None, None) if self.config.publication.is_some() => render(t.published_introduction, self.root()),
            (None, None) => render(t.default_introduction, self.root()),
        }
    }

    /// Whether readers need a session.
    pub(super) fn needs_sessions(&self) -> bool {
        self.config.public_page.is_none() && (self.config.preview.is_some() || self.keys.development_grant().is_none())
    }

    /// Whether search engines may list the pages.
    pub(in crate::http) fn is_indexable(&self) -> bool {
        self.config.public_page.is_some() && self.config.preview.is_none()
    }
}

/// `robots.txt`: what crawlers may read.
pub(super) fn robots(site: &Site) -> String {
    let base = site.config.path_prefix();
    if site.config.publication.is_some() {
        let sitemap = if site.config.base().is_empty() {
            String::new()
        } else {
            format!("\nSitemap: {}/sitemap.xml\n", site.config.base())
        };
        return format!("User-agent: *\nDisallow:\n{sitemap}");
    }
    if !site.is_indexable() {
        return "User-agent: *\nDisallow: /\n".to_owned();
    }
    let mut text = "User-agent: *\n".to_owned();
    for path in ["records/", "v1/"] {
        append(&mut text, format_args!("Disallow: {base}/{path}\n"));
    }
    for base in [base].into_iter().chain(site.bases.iter().map(String::as_str)) {
        for path in ["compare", "results", "suggest"] {
            append(&mut text, format_args!("Disallow: {base}/{path}\n"));
        }
    }
    if !site.config.base().is_empty() {
        append(&mut text, format_args!("\nSitemap: {}/sitemap.xml\n", site.config.base()));
    }
    text
}
