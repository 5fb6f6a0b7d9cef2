//! The state of a preview, for its page only, so it isn't in the OpenAPI document.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;
use axum::routing::get;

use crate::http::preview::Preview;
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;

/// The routes of a preview.
pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    Router::new().route("/preview/status", get(get_status)).route("/preview/report", get(get_report))
}

fn preview(state: &AppState) -> Result<&Preview, ApiError> {
    state.config.preview.as_deref().ok_or(ApiError::RouteNotFound)
}

/// The state in few words. The page polls it.
async fn get_status(State(state): State<Arc<AppState>>) -> Result<Response, ApiError> {
    let shown = Arc::clone(&state);
    // Hashes all findings and changes.
    let status = async move { Ok::<_, ApiError>(preview(&shown)?.status(&shown.directory)) };
    let status = state.search(status).await??;
    let body = serde_json::to_vec(&status).map_err(ApiError::internal)?;
    Ok(uncached(response::json(body)))
}

/// Findings and changes, as HTML.
async fn get_report(State(state): State<Arc<AppState>>) -> Result<Response, ApiError> {
    let shown = Arc::clone(&state);
    let report = async move { Ok::<_, ApiError>(preview(&shown)?.report(&shown.directory)) };
    let mut response = Response::new(Body::from(state.search(report).await??));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    Ok(uncached(response))
}

fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
