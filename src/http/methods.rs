//! The methods of routes, as `Allow` lists them.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method};

/// The methods of the routes of the API and of the site.
pub(super) const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// The path of the Model Context Protocol.
pub(super) const MCP_PATH: &str = "/mcp";

/// The methods of its route.
pub(super) const MCP_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");

/// The methods of the route at a path.
pub(super) fn allowed_methods(path: &str) -> HeaderValue {
    if path == MCP_PATH { MCP_METHODS } else { ALLOWED_METHODS }
}

/// Drops the body of a request unless it's a POST: no route reads another one, and hyper skips it.
pub(super) fn drop_unread_body(request: Request) -> Request {
    if request.method() == Method::POST { request } else { request.map(|_| Body::empty()) }
}
