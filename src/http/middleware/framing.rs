//! Corrections of headers that axum's router adds outside of all middleware.

use axum::http::StatusCode;
use axum::http::header::{ALLOW, CONTENT_LENGTH};
use axum::response::Response;

use crate::http::methods::{ALLOWED_METHODS, MCP_METHODS};

/// Removes the length of a body that a status doesn't have (RFC 9110, 8.6), and the router's own `Allow`, which lacks `OPTIONS`
/// and stands on every response to another method than `GET`.
pub(in crate::http) fn correct_headers(mut response: Response) -> Response {
    if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    if response.headers().get(ALLOW).is_some_and(|methods| methods != ALLOWED_METHODS && methods != MCP_METHODS) {
        response.headers_mut().remove(ALLOW);
    }
    response
}
