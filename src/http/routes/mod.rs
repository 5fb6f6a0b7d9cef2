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
use axum::routing::get;
use utoipa::OpenApi;

use super::asset::Assets;
use super::config::AppState;
use super::openapi;
use super::operation::Operation;

/// The operations of the API, by the templates of their paths.
pub(super) const OPERATIONS: [(&str, Operation); 8] = [
    ("/v1/software", Operation::Computed(software::list_software)),
    ("/v1/software/{id}", Operation::Quick(software::get_software)),
    ("/v1/search", Operation::Computed(search::search_software)),
    ("/v1/categories", Operation::Quick(categories::list_categories)),
    ("/v1/reviews/{id}", Operation::Quick(reviews::list_reviews)),
    ("/v1/glossary", Operation::Quick(glossary::list_glossary)),
    ("/v1/exports", Operation::Quick(exports::list_exports)),
    ("/v1/exports/{id}", Operation::Slow(exports::get_export)),
];

/// All other routes.
pub(super) fn router(state: &AppState) -> Router {
    let assets = Assets::new(state.config.path_prefix());
    let health = Router::new()
        .route("/healthz", get(health::get_health))
        .route("/readyz", get(health::get_readiness))
        .with_state(state.clone());
    let text = openapi::text(&state.config);
    health.merge(page::router(&assets)).merge(documents::router(&state.config, &assets, text)).merge(assets.router())
}

/// The templates of all routes, as their paths are told apart where they are counted.
pub(super) fn templates() -> impl Iterator<Item = String> {
    let described = Described::openapi().paths.paths.into_keys();
    let others = ["/docs", "/docs/{page}", "/openapi.json", "/schemas/{schema}", "/llms.txt", "/assets/{*file}"];
    described.chain(page::VIEWS.into_iter().chain(others).map(str::to_owned))
}

/// The routes that the OpenAPI document describes.
#[derive(OpenApi)]
#[openapi(paths(
    software::list_software,
    software::get_software,
    search::search_software,
    categories::list_categories,
    reviews::list_reviews,
    glossary::list_glossary,
    exports::list_exports,
    exports::get_export,
    health::get_health,
    health::get_readiness,
))]
pub(super) struct Described;

/// An answer without a body.
pub(super) fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_described_is_what_is_answered() {
        let described = Described::openapi().paths.paths;
        let described: BTreeSet<_> =
            described.keys().map(|path| &**path).filter(|path| path.starts_with("/v1/")).collect();
        assert_eq!(BTreeSet::from(OPERATIONS.map(|(template, _)| template)), described);
    }
}
