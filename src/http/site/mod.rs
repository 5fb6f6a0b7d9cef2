//! Static pages and documents, which need no key: the page to explore the directory, the documentation, the OpenAPI document,
//! the schema of exports and `llms.txt`.

mod assets;
mod docs;
mod document;

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use axum::routing::get;
use bytes::Bytes;

use self::assets::Assets;
use self::document::Document;
use super::config::HttpConfig;
use super::problem::ApiError;
use super::state::AppState;
use crate::export;

/// The views of the page. It is one document, which draws each of them by itself.
const VIEWS: [&str; 5] = ["/", "/categories", "/glossary", "/exports", "/software/{id}"];

/// The routes. `openapi` is the OpenAPI document.
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
    let views = VIEWS.into_iter().map(|view| (view, page.clone()));
    let router = Router::new().route(
        "/assets/{fingerprint}/{*path}",
        get(async move |Path((fingerprint, path)): Path<(String, String)>, headers: HeaderMap| {
            match assets.find(&fingerprint, &path) {
                Some(asset) => asset.respond(&headers).await,
                None => ApiError::RouteNotFound.into_response(),
            }
        }),
    );
    documents.into_iter().chain(views).chain(docs).fold(router, |router, (path, document)| {
        router.route(path, get(async move |headers: HeaderMap| document.respond(&headers).await))
    })
}
