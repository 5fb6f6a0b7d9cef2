//! The route of a request, for middleware.

use axum::extract::{MatchedPath, Request};
use axum::http::Uri;

/// The prefix of the API's paths.
const API: &str = "/v1";

/// The path of the feed.
pub(in crate::http) const FEED: &str = "/feed.atom";

/// The routes of all paths of the API that are no operation, so that a key is checked there too.
pub(in crate::http) const API_FALLBACKS: [&str; 3] = [API, "/v1/", "/v1/{*path}"];

/// Whether a path is one of the API, with or without an operation.
pub(super) fn is_api(path: &str) -> bool {
    path.strip_prefix(API).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The route that the router found, as a template such as `/v1/software/{id}`.
pub(super) fn matched_route(request: &Request) -> Option<&MatchedPath> {
    request.extensions().get::<MatchedPath>().filter(|route| !API_FALLBACKS.contains(&route.as_str()))
}

/// Removes one slash at the end of the path: with or without it, a URL is the same resource.
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
