//! Cross-origin requests (the Fetch standard): any page may call the API, without credentials,
//! unless its key is restricted to certain origins.
//!
//! tower-http's layer treats every `OPTIONS` request as a preflight. Here, an `OPTIONS` request
//! without `Origin` is answered with its route's methods.

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::request_context::allowed_methods;

/// Headers that a page may send in addition to those that are always allowed.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Cache-Control, If-None-Match, If-Range, Range, X-Request-Id, X-Requested-With, \
     traceparent, tracestate, baggage, sentry-trace, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
);

/// Headers that a page may read.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "ETag, Link, X-Request-Id, X-Generation, RateLimit, RateLimit-Policy, Retry-After, Accept-Ranges, Content-Disposition, \
     Content-Range",
);

/// How long a browser may cache a preflight, in seconds: a day, though browsers apply their own
/// maximum.
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");

/// Whether a browser is only asking if a page may send a request. A preflight carries no key.
pub(in crate::http) fn is_preflight(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

pub(in crate::http) fn preflight(request: &Request) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, allowed_methods(request.uri().path()));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    allow_any(headers);
    response
}

/// Lets a page from another origin read the response, which may be an error.
pub(in crate::http) fn allow_origin(is_cross_origin: bool, headers: &mut HeaderMap) {
    if is_cross_origin {
        allow_any(headers);
    }
    // The same request without `Origin` gets different headers.
    if !has_item(headers, VARY, "origin") {
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
}

/// Lets pages from all origins read the response.
pub(in crate::http) fn allow_any(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}

fn has_item(headers: &HeaderMap, list: HeaderName, item: &str) -> bool {
    let values = headers.get_all(list).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(item))
}
