//! Documents that need no key: the documentation, the OpenAPI document, the schema of exports and the way in for
//! language models.

use axum::Router;
use bytes::Bytes;

use crate::export;
use crate::http::asset::Assets;
use crate::http::config::HttpConfig;
use crate::http::docs;
use crate::http::document::Document;

/// Their routes.
pub(super) fn router(config: &HttpConfig, assets: &Assets, openapi: String) -> Router {
    let schema = Bytes::from_static(export::schema().as_bytes());
    let mut router = Router::new()
        .route("/openapi.json", Document::new("application/json", openapi).route())
        .route("/schemas/export.json", Document::new("application/schema+json", schema).route())
        .route("/docs/export-example.json", Document::new("application/json", docs::EXPORT_EXAMPLE).route())
        .route(
            "/llms.txt",
            Document::new("text/plain; charset=utf-8", docs::for_language_models(config.base())).route(),
        );
    for (path, document) in docs::pages(config.base(), assets) {
        router = router.route(path, document.route());
    }
    router
}
