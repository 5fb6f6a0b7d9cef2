//! Response bodies, put together from JSON that the generation holds ready.

mod list_page;

pub(super) use list_page::{ListBody, ListPage, append_member};

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;

/// A JSON response.
pub(super) fn json(body: impl Into<Body>) -> Response {
    /// The number of headers, those of middleware included, so that the map is allocated once.
    const HEADERS: usize = 16;
    let mut response = Response::new(body.into());
    response.headers_mut().reserve(HEADERS);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
