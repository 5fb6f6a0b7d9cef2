//! What is answered where: a file per resource, each in the same order: parameters, response, OpenAPI attribute, handler.

mod categories;
mod documents;
mod exports;
mod glossary;
mod health;
mod page;
mod reviews;
mod search;
mod software;

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::asset::Assets;
use super::config::AppState;
use super::openapi;

/// All routes.
pub(super) fn router(state: &AppState) -> Router {
    let (described, document) = described().with_state(state.clone()).split_for_parts();
    let text = openapi::finish(document, &state.config);
    let assets = Assets::new(state.config.path_prefix());
    described.merge(page::router(&assets)).merge(documents::router(&state.config, &assets, text)).merge(assets.router())
}

/// The templates of all routes, as their paths are told apart where they are counted.
pub(super) fn templates() -> impl Iterator<Item = String> {
    let (_, document) = described().split_for_parts();
    let described: Vec<_> = document.paths.paths.into_keys().collect();
    let others = ["/docs", "/docs/{page}", "/openapi.json", "/schemas/{schema}", "/llms.txt", "/assets/{*file}"];
    described.into_iter().chain(page::VIEWS.into_iter().chain(others).map(str::to_owned))
}

/// The routes that the OpenAPI document describes.
pub(super) fn described() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(openapi::frame())
        .routes(routes!(software::list_software))
        .routes(routes!(software::get_software))
        .routes(routes!(search::search_software))
        .routes(routes!(categories::list_categories))
        .routes(routes!(reviews::list_reviews))
        .routes(routes!(glossary::list_glossary))
        .routes(routes!(exports::list_exports))
        .routes(routes!(exports::get_export))
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
}

/// An answer without a body.
pub(super) fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
