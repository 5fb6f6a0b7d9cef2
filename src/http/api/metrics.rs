//! `GET /metrics`, on its own listener.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use jiff::Timestamp;

use crate::http::state::AppState;

/// The service on the metrics listener. It needs no key: anyone who can reach the listener may read
/// the metrics.
pub fn metrics_service(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "Use GET.\n"))
        .fallback(async || (StatusCode::NOT_FOUND, "Only /metrics is served here.\n"))
        .with_state(state)
}

async fn metrics(State(state): State<Arc<AppState>>) -> Response {
    match state.metrics.render(&state.directory, state.served().as_ref(), &state.keys, Timestamp::now()) {
        Ok(text) => {
            let content_type = HeaderValue::from_static(prometheus::TEXT_FORMAT);
            ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, HeaderValue::from_static("no-store"))], text)
                .into_response()
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "couldn't write the metrics");
            (StatusCode::INTERNAL_SERVER_ERROR, "Couldn't write the metrics; see the server's log.\n").into_response()
        }
    }
}
