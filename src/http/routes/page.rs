//! The page to explore the directory: one document at the address of each of its views, which it draws by itself.

use axum::Router;

use crate::http::asset::Assets;

/// The views; every product has its own.
pub(super) const VIEWS: [&str; 5] = ["/", "/categories", "/glossary", "/exports", "/software/{id}"];

/// Their routes.
pub(super) fn router(assets: &Assets) -> Router {
    let page = assets.page();
    VIEWS.iter().fold(Router::new(), |router, view| router.route(view, page.clone().route()))
}
