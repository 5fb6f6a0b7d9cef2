//! Static pages and documents, which need no key: the page for exploring the directory, the
//! documentation, the OpenAPI document, the schema of exports and `llms.txt`.

mod assets;
mod docs;
mod document;
mod frame;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{ACCEPT, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;

use self::assets::Assets;
use self::document::Document;
use super::config::HttpConfig;
use super::content_coding::quality;
use super::problem::ApiError;
use super::state::AppState;
use crate::export;

/// The page's views. They're all the same document, which draws the view itself.
const VIEWS: [&str; 5] = ["/", "/categories", "/glossary", "/exports", "/software/{id}"];

/// The routes, and the response for all other addresses. `openapi` is the OpenAPI document.
pub(super) fn router(config: &HttpConfig, openapi: String) -> Router<Arc<AppState>> {
    let assets = Assets::new(config);
    let schema = Bytes::from_static(export::schema().as_bytes());
    let llms = docs::for_language_models(config.base(), &config.site_title);
    let docs = docs::pages(config.base(), &assets, &openapi);
    let documents = [
        ("/openapi.json", Document::new("application/json", openapi)),
        ("/schemas/export.json", Document::new("application/schema+json", schema)),
        ("/docs/export-example.json", Document::new("application/json", docs::EXPORT_EXAMPLE)),
        ("/llms.txt", Document::new("text/plain; charset=utf-8", llms)),
    ];
    let page = assets.page(config);
    let not_found = assets.not_found();
    let preview = config.preview.as_ref().map(|_| assets.preview());
    let views = VIEWS.into_iter().map(|view| (view, page.clone()));
    let views = if let Some(preview) = &preview { preview_views(views, preview) } else { documents_at(views) };
    let router = Router::new().route(
        "/assets/{fingerprint}/{*path}",
        get(async move |Path((fingerprint, path)): Path<(String, String)>, headers: HeaderMap| {
            match assets.find(&fingerprint, &path) {
                Some(asset) => asset.respond(&headers).await,
                None => ApiError::RouteNotFound.into_response(),
            }
        }),
    );
    let router = router.fallback(async move |headers: HeaderMap| not_found_response(&not_found, &headers).await);
    documents_at(documents.into_iter().chain(docs)).merge(views).merge(router)
}

fn documents_at(documents: impl Iterator<Item = (&'static str, Document)>) -> Router<Arc<AppState>> {
    documents.fold(Router::new(), |router, (path, document)| {
        router.route(path, get(async move |headers: HeaderMap| document.respond(&headers).await))
    })
}

/// The views of a preview. Until there's something to view, they all show the page with the
/// findings.
fn preview_views(views: impl Iterator<Item = (&'static str, Document)>, preview: &Document) -> Router<Arc<AppState>> {
    let findings = documents_at([("/preview", preview.clone())].into_iter());
    views.fold(findings, |router, (path, document)| {
        let unavailable = preview.clone().unavailable();
        let respond = async move |State(state): State<Arc<AppState>>, headers: HeaderMap| {
            let is_empty = state.directory.current().is_none();
            (if is_empty { &unavailable } else { &document }).respond(&headers).await
        };
        router.route(path, get(respond))
    })
}

/// The response for unknown addresses: a page for browsers, a problem document for all other
/// clients.
async fn not_found_response(page: &Document, headers: &HeaderMap) -> Response {
    let mut response =
        if prefers_html(headers) { page.respond(headers).await } else { ApiError::RouteNotFound.into_response() };
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept"));
    response
}

/// Whether a request prefers HTML to JSON. Browsers do when they request a page; programs that
/// accept anything get JSON.
fn prefers_html(headers: &HeaderMap) -> bool {
    let quality = |media_type| quality(headers, &ACCEPT, media_type).unwrap_or(0.0);
    let json = ["application/problem+json", "application/json", "application/*"].map(quality);
    let html = quality("text/html");
    html > 0.0 && json.iter().all(|json| *json < html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_for_clients_that_prefer_it() {
        let prefers_html = |accept| prefers_html(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]));
        for browser in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            "text/html",
            "application/json;q=0.5, TEXT/HTML; q=0.6",
        ] {
            assert!(prefers_html(browser), "{browser}");
        }
        for program in [
            "*/*",
            "",
            "application/json",
            "application/json, text/html",
            "text/html;q=0, */*",
            "application/problem+json, text/html;q=0.9",
            "text/*",
        ] {
            assert!(!prefers_html(program), "{program}");
        }
    }
}
