//! Caching headers of the API.

use std::ops::ControlFlow;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, VARY};
use axum::response::Response;

use super::around::Middleware;
use super::route::{FEED, is_api};

/// Marks responses under `/v1` and the feed as private, and as cacheable only with revalidation.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct PrivateCache;

impl Middleware for PrivateCache {
    /// Whether the path is under `/v1` or the feed.
    type Context = bool;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, bool> {
        let path = request.uri().path();
        ControlFlow::Continue(is_api(path) || path == FEED)
    }

    fn on_response(&self, is_api: bool, response: &mut Response) {
        if is_api {
            let headers = response.headers_mut();
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
            headers.insert(VARY, HeaderValue::from_static("Authorization, Accept-Encoding, Origin"));
        }
    }
}
