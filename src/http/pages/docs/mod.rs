//! The documentation, written by hand except for the error codes and the API reference. It doesn't
//! need a key.

use askama::Template;
use bytes::Bytes;

use self::reference::{Line, Prose, Reference};
use super::call::host;
use super::document::Document;
use super::frame::{Frame, Menu, Section};
use super::language::{PageLanguage, Texts};
use super::links::Base;
use super::markdown::{Rendered, render};
use super::site::{Site, robots};
use crate::export;
use crate::http::problem::ErrorCode;
use crate::record::{ENVELOPE, Property, SOFTWARE};
use crate::service::parameter::definition::SEARCH_Q;

mod reference;

/// What `docs/` says about these subjects, as Markdown with a title.
const EXPORT_RULES: &str = include_str!("../../../../docs/export-rules.md");
const VERSIONING: &str = include_str!("../../../../docs/versioning.md");

/// An export with every known property; tests validate it.
const EXPORT_EXAMPLE: &str = include_str!("export-example.json");

/// A title in the reader's language.
type Title = fn(&Texts) -> &'static str;

/// Paths and titles.
const PAGES: [(&str, Title); 5] = [
    ("/docs", |t| t.getting_started),
    ("/docs/reference", |t| t.api_reference),
    ("/docs/export-format", |t| t.export_format),
    ("/docs/errors", |t| t.errors),
    ("/docs/versioning", |t| t.versioning),
];

/// Whether a page or document is part of the documentation. Published files have no API.
fn is_shown(path: &str, site: &Site) -> bool {
    site.config.publication.is_none() || !["/docs/reference", "/docs/errors", "/llms.txt"].contains(&path)
}

/// A documentation page: prose in English, in a frame in the reader's language.
#[derive(Debug, Template)]
#[template(path = "docs/page.html")]
struct DocumentationPage<'a> {
    frame: Frame<'a>,
    /// All pages' paths and titles.
    pages: Vec<(&'static str, Title)>,
    path: &'static str,
    prose: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "own-page.html")]
struct OwnPage<'a> {
    frame: Frame<'a>,
    content: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "docs/getting-started.html")]
struct GettingStarted<'a> {
    base: Base<'a>,
    root: Base<'a>,
    host: &'a str,
    needs_key: bool,
    /// The example request's path and query string, and the query in it.
    request: &'a str,
    query: String,
    response: &'a str,
}

/// The first page of a published directory.
#[derive(Debug, Template)]
#[template(path = "docs/files.html")]
struct AsFiles<'a> {
    root: Base<'a>,
}

#[derive(Debug, Template)]
#[template(path = "docs/export-format.html")]
struct ExportFormat<'a> {
    base: Base<'a>,
    /// Labels, captions and properties.
    tables: [(&'static str, &'static str, &'static [Property]); 2],
    rules: &'a str,
    example: &'static str,
}

#[derive(Debug, Template)]
#[template(path = "docs/errors.html")]
struct Errors;

#[derive(Debug, Template)]
#[template(path = "llms.txt")]
struct ForLanguageModels<'a> {
    host: &'a str,
    site: &'a str,
    needs_key: bool,
    operations: &'a [Line],
}

/// A service's documentation, and its machine-readable documents.
#[derive(Debug)]
pub(in crate::http) struct Docs {
    /// The recorded search: the request's path and the response's body.
    recorded_search: (String, String),
    /// The machine-readable documents, each with its path.
    pub(super) documents: [(&'static str, Document); 5],
    /// All pages by path and language, except the first one, which depends on the directory.
    pub(super) pages: Vec<(String, Vec<(PageLanguage, Document)>)>,
}

impl Docs {
    /// `openapi` is the OpenAPI document.
    pub(in crate::http) fn new(site: &Site, openapi: String) -> Result<Self, askama::Error> {
        let reference = Reference::new(&openapi, host(site), site.root());
        let tables: [(_, _, &[Property]); 2] = [
            ("Rules of the envelope", "The envelope", &ENVELOPE),
            ("Rules of a record", "A product record, in <code>software</code>", &SOFTWARE),
        ];
        let rules = EXPORT_RULES.split_once('\n').map_or(EXPORT_RULES, |(_title, rules)| rules);
        let rules = &render(rules, site.root()).html;
        let prose = [
            reference.render()?,
            ExportFormat { base: site.root(), tables, rules, example: EXPORT_EXAMPLE }.render()?,
            Errors.render()?,
            render(VERSIONING, site.root()).html,
        ];
        let mut pages = Vec::new();
        for ((path, _), prose) in PAGES.into_iter().skip(1).zip(&prose) {
            if !is_shown(path, site) {
                continue;
            }
            let documents = PageLanguage::all().map(|of| Ok((of, page(site, of, path, prose)?)));
            pages.push((path.to_owned(), documents.collect::<Result<_, askama::Error>>()?));
        }
        for (name, texts) in &site.face().pages {
            let path = format!("/pages/{name}");
            let documents =
                PageLanguage::all().map(|of| Ok((of, own_page(site, of, &path, texts.get(of.texts().tag))?)));
            let documents = documents.collect::<Result<_, askama::Error>>()?;
            pages.push((path, documents));
        }
        let llms = ForLanguageModels {
            host: site.config.base(),
            site: &site.config.site_title,
            needs_key: site.config.public_api.is_none(),
            operations: &reference.outline,
        };
        let llms = llms.render()?;
        let recorded_search = reference.search;
        let schema = Bytes::from_static(export::schema().as_bytes());
        let documents = [
            ("/openapi.json", Document::new("application/json", openapi)),
            ("/schemas/export.json", Document::new("application/schema+json", schema)),
            ("/docs/export-example.json", Document::new("application/json", EXPORT_EXAMPLE)),
            ("/llms.txt", Document::new("text/plain; charset=utf-8", llms)),
            ("/robots.txt", Document::new("text/plain; charset=utf-8", robots(site))),
        ];
        Ok(Self { recorded_search, documents, pages })
    }

    /// The paths of the documents.
    pub(in crate::http) fn paths<'s>(&'s self, site: &'s Site) -> impl Iterator<Item = &'static str> + 's {
        self.documents.iter().map(|(path, _)| *path).filter(|path| is_shown(path, site))
    }

    /// The paths of the pages.
    pub(in crate::http) fn page_paths(&self) -> impl Iterator<Item = String> + '_ {
        std::iter::once("/docs".to_owned()).chain(self.pages.iter().map(|(path, _)| path.clone()))
    }

    /// The first page. `example` is the path of a search in the directory and the body of its
    /// response.
    pub(super) fn getting_started(
        &self,
        site: &Site,
        language: PageLanguage,
        example: Option<&(String, String)>,
    ) -> Result<Document, askama::Error> {
        let (path, _) = PAGES[0];
        if site.config.publication.is_some() {
            return page(site, language, path, &AsFiles { root: site.root() }.render()?);
        }
        let (request, response) = example.unwrap_or(&self.recorded_search);
        let (_, query) = request.split_once('?').unwrap_or_default();
        let q = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == SEARCH_Q.name);
        let query = q.map(|(_, q)| q.into_owned()).unwrap_or_default();
        let prose = GettingStarted {
            base: site.base_in(language),
            root: site.root(),
            host: host(site),
            needs_key: site.config.public_api.is_none(),
            request,
            query,
            response,
        };
        page(site, language, path, &prose.render()?)
    }
}

/// A page of the operator's own.
fn own_page(site: &Site, language: PageLanguage, path: &str, markdown: &str) -> Result<Document, askama::Error> {
    let t = language.texts();
    let Rendered { html, plain, title } = render(markdown, site.base_in(language));
    let mut frame = Frame::bare(site, language)
        .titled(title.as_deref().unwrap_or(path))
        .described(&plain)
        .at(&site.base_in(language).page(path));
    frame.menu = Some(Menu { has_categories: true, has_glossary: true });
    frame.is_found = true;
    Ok(Document::page(t, OwnPage { frame, content: &html }.render()?))
}

fn page(site: &Site, language: PageLanguage, path: &'static str, prose: &str) -> Result<Document, askama::Error> {
    let t = language.texts();
    let title = PAGES.iter().find(|(of, _)| *of == path).map_or("", |(_, title)| title(t));
    let mut frame = Frame::bare(site, language).titled(title).at(&site.base_in(language).page(path));
    frame.section = Section::Docs;
    let pages = PAGES.into_iter().filter(|(path, _)| is_shown(path, site)).collect();
    // These pages are written before the directory is known.
    frame.menu = Some(Menu { has_categories: true, has_glossary: true });
    Ok(Document::page(t, DocumentationPage { frame, pages, path, prose }.render()?))
}
