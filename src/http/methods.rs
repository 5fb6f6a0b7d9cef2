//! The methods of routes, as `Allow` lists them.

use axum::http::HeaderValue;

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
