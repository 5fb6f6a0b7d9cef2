//! The first page of the documentation. Its example finds something in the directory.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::home::overview;
use super::language::Language;
use crate::http::extract::Snapshot;
use crate::http::middleware::session;
use crate::http::problem::ApiError;
use crate::http::state::AppState;

/// A query for the bundled exports, used for readers who may not be allowed to see what this
/// directory contains.
const USUAL_QUERY: &str = "permit to work";

pub(super) async fn get_page(
    State(state): State<Arc<AppState>>,
    language: Language,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let may_read = state.site.is_public || session(&state.keys, &headers).is_some();
    let overview = match state.directory.current().filter(|_| may_read) {
        Some(snapshot) => Some(overview(&state, &Snapshot(snapshot)).await?),
        None => None,
    };
    let example = overview.as_ref().and_then(|overview| overview.examples.first());
    let query = example.map_or(USUAL_QUERY, String::as_str);
    let page = state.docs.getting_started(&state.site, language, query).map_err(ApiError::internal)?;
    Ok(page.respond(&headers).await)
}
