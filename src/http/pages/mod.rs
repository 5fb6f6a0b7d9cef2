//! The pages: HTML rendered from the templates in `templates/`, using the same operations as the
//! API. Also the documentation and the machine-readable documents, which don't need a key.

pub(super) mod alternatives;
mod attribute;
mod badge;
mod call;
mod catalog;
pub(super) mod categories;
mod compare;
pub(super) mod docs;
mod document;
mod edition;
mod error;
pub(super) mod evidence;
mod exports;
mod facets;
pub(super) mod frame;
mod getting_started;
pub(super) mod glossary;
pub(super) mod history;
pub(super) mod home;
pub(super) mod language;
mod licence;
pub(super) mod links;
mod list;
mod locale;
mod markdown;
mod once;
mod overview;
mod pager;
mod preview;
mod respond;
mod results;
mod row;
mod sign_in;
pub(super) mod site;
pub(super) mod sitemap;
pub(super) mod software;
mod suggest;
mod terms;
mod text_budget;
mod visit;

pub(super) use error::{Reader, write_error};
pub(super) use locale::{Localised, language_of, settle_language, take_language};
pub(super) use respond::{allow_embedding, set_caching};

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use self::docs::Docs;
use self::language::PageLanguage;
use super::api;
use super::entity_tag::TagKind;
use super::middleware::{CATALOG, SIGN_IN, SIGN_OUT, allowed_methods};
use super::problem::ApiError;
use super::state::AppState;

/// The pages that show a generation.
pub(super) fn of_generation() -> Router<Arc<AppState>> {
    Router::new()
        .route("/", get(results::get_home))
        .route("/software/{id}", get(software::get_software))
        .route(alternatives::OF_PRODUCT, get(alternatives::get_alternatives))
        .route("/alternatives/{id}", get(alternatives::get_alternatives))
        .route("/software/{id}/history", get(history::get_history))
        .route("/software/{id}/badge.svg", get(badge::get_badge))
        .route("/categories", get(categories::list_categories))
        .route("/categories/{id}", get(categories::get_category))
        .route("/glossary", get(glossary::get_glossary))
        .route("/compare", get(compare::get_comparison))
        .route("/exports", get(exports::list_exports))
}

/// The sitemap, for crawlers.
pub(super) fn sitemap() -> Router<Arc<AppState>> {
    Router::new().route("/sitemap.xml", get(sitemap::get_sitemap)).route("/sitemap/{name}", get(sitemap::get_file))
}

/// Parts of pages, for the script.
pub(super) fn parts_of_generation() -> Router<Arc<AppState>> {
    Router::new()
        .route("/results", get(results::get_results))
        .route("/results/{id}", get(categories::get_results))
        .route("/suggest", get(suggest::get_suggestions))
}

/// The catalogue of exports, for data portals.
pub(super) fn catalog() -> Router<Arc<AppState>> {
    Router::new().route(CATALOG, get(catalog::get_catalog))
}

/// Export downloads, for people reading the pages.
pub(super) fn downloads() -> Router<Arc<AppState>> {
    Router::new().route("/exports/{id}", get(api::exports::get_export))
}

/// Full records, for people reading pages that have to cut them.
pub(super) fn records() -> [(Router<Arc<AppState>>, TagKind); 4] {
    [
        (Router::new().route("/records/software/{id}", get(api::software::get_software)), TagKind::Software),
        (Router::new().route("/records/reviews/{id}", get(api::reviews::list_reviews)), TagKind::Generation),
        (Router::new().route("/records/categories/{id}", get(api::categories::get_category)), TagKind::Category),
        (Router::new().route("/records/glossary/{id}", get(api::glossary::get_term)), TagKind::Term),
    ]
}

/// The preview page, which doesn't need a generation.
pub(super) fn of_preview() -> Router<Arc<AppState>> {
    Router::new().route("/preview", get(preview::get_page))
}

/// The preview's state, for the script.
pub(super) fn parts_of_preview() -> Router<Arc<AppState>> {
    Router::new().route("/preview/status", get(preview::get_status))
}

/// Documents and static files, which need neither a key nor a session.
pub(super) fn documents(docs: &Docs) -> Router<Arc<AppState>> {
    let documents = docs.documents.iter().cloned().fold(Router::new(), |router, (path, document)| {
        router.route(path, get(async move |headers: HeaderMap| document.respond(&headers).await))
    });
    documents.route("/assets/{fingerprint}/{*path}", get(get_asset))
}

/// Pages that need neither a key nor a session: documentation and signing in.
pub(super) fn open(docs: &Docs) -> Router<Arc<AppState>> {
    let pages = docs.pages.iter().cloned().fold(Router::new(), |router, (path, pages)| {
        let respond = async move |language: PageLanguage, headers: HeaderMap| match pages
            .iter()
            .find(|(of, _)| *of == language)
        {
            Some((_, page)) => page.respond(&headers).await,
            None => ApiError::RouteNotFound.into_response(),
        };
        router.route(&path, get(respond))
    });
    pages
        .route("/docs", get(getting_started::get_page))
        .route(SIGN_IN, get(sign_in::get_form).post(sign_in::post_form).fallback(other_method))
        .route(SIGN_OUT, post(sign_in::sign_out).fallback(other_method))
}

async fn other_method(uri: Uri) -> Response {
    let mut response = ApiError::MethodNotAllowed.into_response();
    response.headers_mut().insert(ALLOW, allowed_methods(uri.path()));
    response
}

async fn get_asset(
    State(state): State<Arc<AppState>>,
    Path((fingerprint, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    match state.site.assets.find(&fingerprint, &path) {
        Some(asset) => asset.respond(&headers).await,
        None => ApiError::RouteNotFound.into_response(),
    }
}

/// What a preview shows instead of a page while nothing is served yet; `None` without a preview.
pub(super) fn awaited(state: &AppState, language: PageLanguage) -> Option<Response> {
    let is_awaited = state.config.preview.is_some() && state.directory.current().is_none();
    let write = || preview::write(state, language, StatusCode::SERVICE_UNAVAILABLE);
    is_awaited.then(|| write().unwrap_or_else(ApiError::into_response))
}
