//! Route paths and methods.

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{ALLOW, CONTENT_LENGTH};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use crate::http::problem::ApiError;

/// The prefix of the API's paths.
const API: &str = "/v1";

/// The feed's path.
pub(in crate::http) const FEED: &str = "/feed.atom";

/// The paths that load balancers probe.
pub(super) const HEALTH_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// The path of the Model Context Protocol endpoint.
pub(in crate::http) const MCP_PATH: &str = "/mcp";

/// Catch-all routes for the rest of the API, so that keys are checked there as well.
pub(in crate::http) const API_FALLBACKS: [&str; 3] = [API, "/v1/", "/v1/{*path}"];

/// The methods of API and site routes.
pub(in crate::http) const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// The methods of the route [`MCP_PATH`].
pub(in crate::http) const MCP_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");

/// The path of the sign-in form. Signing out posts to [`SIGN_OUT`].
pub(in crate::http) const SIGN_IN: &str = "/sign-in";
pub(in crate::http) const SIGN_OUT: &str = "/sign-out";

/// The methods of the route [`SIGN_IN`].
const SIGN_IN_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");

/// Whether responses at a path depend on the key: everything in the API, and the feed.
pub(in crate::http) fn is_private(path: &str) -> bool {
    let is_api = path.strip_prefix(API).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_api || path == FEED
}

/// The route that the router matched, as a template such as `/v1/software/{id}`.
pub(in crate::http) fn matched_route(request: &Request) -> Option<&MatchedPath> {
    request.extensions().get::<MatchedPath>().filter(|route| !API_FALLBACKS.contains(&route.as_str()))
}

/// The methods of the route at a path.
pub(in crate::http) fn allowed_methods(path: &str) -> HeaderValue {
    match path {
        MCP_PATH | SIGN_OUT => MCP_METHODS,
        SIGN_IN => SIGN_IN_METHODS,
        _ => ALLOWED_METHODS,
    }
}

/// Answers `OPTIONS` for a route, or for `*`, with its methods. It needs no key.
pub(in crate::http) fn list_methods(request: &Request) -> Response {
    let path = request.uri().path();
    if path != "*" && matched_route(request).is_none() {
        return ApiError::RouteNotFound.into_response();
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(ALLOW, allowed_methods(path));
    response
}

/// Drops the request's body unless it's a POST. No other handler reads a body, and hyper skips it.
pub(in crate::http) fn drop_unread_body(request: Request) -> Request {
    if request.method() == Method::POST { request } else { request.map(|_| Body::empty()) }
}

/// Removes one trailing slash from the path: a URL names the same resource with or without it.
pub(in crate::http) fn trim_trailing_slash(mut request: Request) -> Request {
    let uri = request.uri();
    let Some(path) = uri.path().strip_suffix('/').filter(|path| !path.is_empty()) else { return request };
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    if let Ok(path_and_query) = path_and_query.try_into() {
        parts.path_and_query = Some(path_and_query);
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// Corrects headers that axum's router adds outside all middleware. Removes the length of a body
/// that the status can't have (RFC 9110, 8.6), and the router's own `Allow`, which lacks `OPTIONS`
/// and is on every response to a method other than `GET`.
pub(in crate::http) fn correct_headers(mut response: Response) -> Response {
    if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    let known = [ALLOWED_METHODS, MCP_METHODS, SIGN_IN_METHODS];
    if response.headers().get(ALLOW).is_some_and(|methods| !known.contains(methods)) {
        response.headers_mut().remove(ALLOW);
    }
    response
}
