//! axum and nothing else.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use bytes::Bytes;

/// Sends the same response to every request.
pub(crate) fn router(bytes: usize) -> Router {
    let body = Bytes::from(vec![b'x'; bytes]);
    Router::new().fallback(get(move || {
        let body = body.clone();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    }))
}
