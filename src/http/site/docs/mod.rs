//! The documentation pages, written by hand except for the error codes and the API reference.

mod errors;
mod reference;

use self::reference::Reference;
use super::assets::Assets;
use super::document::Document;
use super::frame::framed;
use crate::text::html::escape;

/// An export with every known member; validated by tests.
pub(super) const EXPORT_EXAMPLE: &str = include_str!("export-example.json");

const LAYOUT: &str = include_str!("layout.html");

/// The URL in examples if no public one is set; the page replaces it with its own.
const LOCAL: &str = "http://127.0.0.1:8080";

struct Page {
    path: &'static str,
    title: &'static str,
    content: &'static str,
}

const PAGES: [Page; 5] = [
    Page { path: "/docs", title: "Getting started", content: include_str!("getting-started.html") },
    Page { path: "/docs/reference", title: "API reference", content: "{{reference}}" },
    Page { path: "/docs/export-format", title: "Export format", content: include_str!("export-format.html") },
    Page { path: "/docs/errors", title: "Errors", content: include_str!("errors.html") },
    Page { path: "/docs/versioning", title: "Versioning", content: include_str!("versioning.html") },
];

/// All pages by path. `openapi` is the OpenAPI document.
pub(super) fn pages(public: &str, assets: &Assets, openapi: &str) -> Vec<(&'static str, Document)> {
    let reference = Reference::new(openapi);
    PAGES.iter().map(|page| (page.path, lay_out(page, public, assets, &reference))).collect()
}

fn lay_out(page: &Page, public: &str, assets: &Assets, reference: &Reference) -> Document {
    let links = PAGES.iter().map(|other| {
        let current = if other.path == page.path { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{{{{base}}}}{}\"{current}>{}</a>", other.path, other.title)
    });
    let host = if public.is_empty() { LOCAL } else { public };
    let html = framed(LAYOUT)
        .replace("{{title}}", page.title)
        .replace("{{pages}}", &links.collect::<Vec<_>>().join("\n"))
        .replace("{{content}}", page.content)
        .replace("{{reference}}", &reference.content)
        .replace("{{search-request}}", &escape(&reference.search.0))
        .replace("{{search-response}}", &escape(&reference.search.1))
        .replace("{{codes}}", &errors::sections())
        .replace("{{export-example}}", &escape(EXPORT_EXAMPLE))
        .replace("{{host}}", &format!("<span data-host>{}</span>", escape(host)));
    Document::page(assets.fill(&html, &[]))
}

/// `llms.txt` (llmstxt.org) describes the service and its documents to language models.
pub(super) fn for_language_models(public: &str, title: &str) -> String {
    include_str!("llms.txt").replace("{{host}}", public).replace("{{site}}", title)
}
