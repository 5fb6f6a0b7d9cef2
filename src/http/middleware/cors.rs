//! Cross-origin requests (the Fetch standard): any page may call, without credentials; the origins of the key restrict it.
//!
//! tower-http's layer takes every `OPTIONS` request for a preflight, and here an `OPTIONS` request without `Origin` is answered
//! with the methods of its route.

use std::ops::ControlFlow;

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::Response;

use super::around::Middleware;
use super::options::no_content;
use crate::http::methods::allowed_methods;

/// Headers that a page may send beyond those that are always allowed.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, If-None-Match, If-Range, Range, X-Request-Id, traceparent, tracestate, baggage, \
     Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
);

/// Headers that a page may read.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "ETag, Link, X-Request-Id, X-Generation, RateLimit, RateLimit-Policy, Retry-After, Accept-Ranges, Content-Disposition, \
     Content-Range",
);

/// How long a browser may cache a preflight, in seconds: a day (browsers cap it themselves).
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");

/// Answers preflights, which carry no key, and lets pages read responses to cross-origin requests, errors included.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Cors;

impl Middleware for Cors {
    /// Whether the request may come from a page of another origin.
    type Context = bool;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, bool> {
        let is_cross_origin = request.headers().contains_key(ORIGIN);
        let asks_method = request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if is_cross_origin && asks_method && request.method() == Method::OPTIONS {
            return ControlFlow::Break(preflight(request.uri().path()));
        }
        ControlFlow::Continue(is_cross_origin)
    }

    fn on_response(&self, is_cross_origin: bool, response: &mut Response) {
        if is_cross_origin {
            allow_origin(response.headers_mut());
        }
        // The same request without Origin has other headers.
        if !has_item(response.headers(), VARY, "origin") {
            response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
        }
    }
}

fn has_item(headers: &HeaderMap, list: HeaderName, item: &str) -> bool {
    let values = headers.get_all(list).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(item))
}

fn preflight(path: &str) -> Response {
    let mut response = no_content();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, allowed_methods(path));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    allow_origin(headers);
    response
}

fn allow_origin(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
