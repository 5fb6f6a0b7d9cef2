//! The documentation, written by hand except for the error codes and the API reference. It needs no key.

mod reference;

use askama::Template;
use bytes::Bytes;

use self::reference::Reference;
use super::document::Document;
use super::frame::{Frame, Menu, Section};
use super::language::Language;
use super::part::call::LOCAL;
use super::robots::robots;
use super::site::Site;
use crate::export;
use crate::http::problem::ErrorCode;

/// An export with every known member; validated by tests.
const EXPORT_EXAMPLE: &str = include_str!("export-example.json");

/// Paths and titles.
const PAGES: [(&str, &str); 5] = [
    ("/docs", "Getting started"),
    ("/docs/reference", "API reference"),
    ("/docs/export-format", "Export format"),
    ("/docs/errors", "Errors"),
    ("/docs/versioning", "Versioning"),
];

#[derive(Debug, Template)]
#[template(path = "docs/getting-started.html")]
struct GettingStarted<'a> {
    frame: Frame<'a>,
    current: &'static str,
    host: &'a str,
    query: &'a str,
    encoded_query: String,
    response: &'a str,
}

#[derive(Debug, Template)]
#[template(path = "docs/export-format.html")]
struct ExportFormat<'a> {
    frame: Frame<'a>,
    current: &'static str,
    example: &'static str,
}

#[derive(Debug, Template)]
#[template(path = "docs/errors.html")]
struct Errors<'a> {
    frame: Frame<'a>,
    current: &'static str,
}

#[derive(Debug, Template)]
#[template(path = "docs/versioning.html")]
struct Versioning<'a> {
    frame: Frame<'a>,
    current: &'static str,
}

#[derive(Debug, Template)]
#[template(path = "llms.txt")]
struct ForLanguageModels<'a> {
    host: &'a str,
    site: &'a str,
}

/// The documentation of a service, and the documents for programs.
#[derive(Debug)]
pub(in crate::http) struct Docs {
    /// The body of a search's response.
    search_response: String,
    /// By path; but for the first page.
    pub(super) documents: Vec<(&'static str, Document)>,
}

impl Docs {
    /// `openapi` is the OpenAPI document.
    pub(in crate::http) fn new(site: &Site, openapi: String) -> Result<Self, askama::Error> {
        let reference = Reference::new(&openapi, host(site));
        let search_response = reference.search_response.clone();
        let [_, (of_reference, _), (of_format, _), (of_errors, _), (of_versioning, _)] = PAGES;
        let pages = [
            (of_reference, reference.page(frame(site, of_reference), of_reference).render()?),
            (
                of_format,
                ExportFormat { frame: frame(site, of_format), current: of_format, example: EXPORT_EXAMPLE }.render()?,
            ),
            (of_errors, Errors { frame: frame(site, of_errors), current: of_errors }.render()?),
            (of_versioning, Versioning { frame: frame(site, of_versioning), current: of_versioning }.render()?),
        ];
        let llms = ForLanguageModels { host: &site.public, site: &site.title }.render()?;
        let schema = Bytes::from_static(export::schema().as_bytes());
        let documents = [
            ("/openapi.json", Document::new("application/json", openapi)),
            ("/schemas/export.json", Document::new("application/schema+json", schema)),
            ("/docs/export-example.json", Document::new("application/json", EXPORT_EXAMPLE)),
            ("/llms.txt", Document::new("text/plain; charset=utf-8", llms)),
            ("/robots.txt", Document::new("text/plain; charset=utf-8", robots(site))),
        ];
        let pages = pages.into_iter().map(|(path, html)| (path, Document::page(html)));
        Ok(Self { search_response, documents: documents.into_iter().chain(pages).collect() })
    }

    /// The first page, with a query that finds something.
    pub(super) fn getting_started(&self, site: &Site, query: &str) -> Result<Document, askama::Error> {
        let (current, _) = PAGES[0];
        let page = GettingStarted {
            frame: frame(site, current),
            current,
            host: host(site),
            query,
            encoded_query: form_urlencoded::byte_serialize(query.as_bytes()).collect(),
            response: &self.search_response,
        };
        Ok(Document::page(page.render()?))
    }
}

fn host(site: &Site) -> &str {
    if site.public.is_empty() { LOCAL } else { &site.public }
}

fn frame<'a>(site: &'a Site, path: &str) -> Frame<'a> {
    let title = PAGES.iter().find(|(of, _)| *of == path).map_or("", |(_, title)| title);
    let mut frame = Frame::bare(site, Language::English).titled(title);
    frame.section = Section::Docs;
    frame.menu = Some(Menu::default());
    frame.canonical = Some(path.to_owned());
    frame
}
