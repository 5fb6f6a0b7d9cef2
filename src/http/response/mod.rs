//! Builds response bodies from the generation's JSON.

mod fields;
mod list_page;

pub(super) use fields::{FIELDS, Fields};
pub(super) use list_page::{ListBody, ListPage};

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde::Serialize;

use super::problem::ApiError;

pub(super) fn json(body: impl Into<Body>) -> Response {
    /// The number of headers including those from middleware, so that the map is allocated once.
    const HEADERS: usize = 16;
    let mut response = Response::new(body.into());
    response.headers_mut().reserve(HEADERS);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response with one record, `{"data": {…}}`.
pub(super) fn record<T: Serialize>(record: &T) -> Result<Response, ApiError> {
    #[derive(Serialize)]
    struct Record<'r, T> {
        data: &'r T,
    }
    let body = serde_json::to_vec(&Record { data: record }).map_err(ApiError::internal)?;
    Ok(json(body))
}

/// Like [`record`], for a record that is stored as a JSON object.
pub(super) fn stored_record(object: &[u8]) -> Response {
    json([b"{\"data\":", object, b"}"].concat())
}
