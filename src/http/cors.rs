//! Cross-origin requests (the Fetch standard): any page may call, without credentials; the key decides what it may.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::Response;

use super::ALLOWED_METHODS;
use super::routes::no_content;

/// Headers that a page may send beyond those that are always allowed.
const REQUEST_HEADERS: HeaderValue =
    HeaderValue::from_static("Authorization, Content-Type, If-None-Match, X-Request-Id");

/// Headers that a page may read.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("ETag, Link, X-Request-Id, X-Generation, RateLimit, RateLimit-Policy, Retry-After");

/// How long a browser may remember a preflight: a day (browsers cap it themselves).
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");

/// Whether a request is a browser's question before the real request.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ORIGIN) && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a preflight. It needs no key: browsers send none with it.
pub(super) fn preflight() -> Response {
    let mut response = no_content();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// Lets a page read an answer, errors included.
pub(super) fn expose(answer: &mut HeaderMap) {
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
