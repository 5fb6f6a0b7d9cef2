//! The request context: the request id, by which callers and the log refer to the same request, and
//! whatever else outer middleware needs to know about a request once it's over. Also what depends on
//! its path: routes, the methods they allow, and whether they're private.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{ALLOW, CONTENT_LENGTH};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use crate::http::extract::query::RawQuery;
use crate::http::problem::ApiError;
use crate::key::{Grant, Holder};

pub(in crate::http) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a request id from a client.
const MAX_ID_LENGTH: usize = 64;

/// A request as it arrived, available as an extension of every request.
///
/// tower-http's layer keeps any id that a caller sends; here, an id's form and length are checked.
#[derive(Debug)]
pub(in crate::http) struct RequestContext {
    /// `[A-Za-z0-9_-]{1,64}`.
    pub(in crate::http) id: HeaderValue,
    pub(in crate::http) started: Instant,
    pub(in crate::http) method: Method,
    /// Without the language that a page's path may start with.
    pub(in crate::http) uri: Uri,
    /// As it was sent, but for a trailing slash.
    pub(in crate::http) sent_uri: Uri,
    query: OnceLock<Arc<RawQuery>>,
    /// The grant of the request's key, once authenticated.
    pub(in crate::http) grant: OnceLock<Arc<Grant>>,
    /// The content hash of the product in the response, for its entity tag.
    pub(in crate::http) detail_hash: OnceLock<u64>,
}

/// A request's URI including a page's language. Stored as a request extension.
#[derive(Debug, Clone)]
pub(in crate::http) struct SentUri(pub(in crate::http) Uri);

impl RequestContext {
    /// The context of the request with these extensions.
    pub(in crate::http) fn of(extensions: &Extensions) -> Result<&Arc<Self>, ApiError> {
        extensions.get().ok_or_else(|| ApiError::internal(io::Error::other("the request has no context")))
    }

    /// The decoded query string.
    pub(in crate::http) fn query(&self) -> &Arc<RawQuery> {
        self.query.get_or_init(|| Arc::new(RawQuery::parse(self.uri.query().unwrap_or_default())))
    }

    pub(in crate::http) fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// The id of the request's key. It may be logged.
    pub(in crate::http) fn key_id(&self) -> Option<&str> {
        self.grant.get().map(|grant| &*grant.id)
    }

    /// The holder of the request's grant. Requests under `/v1` always have a grant; without one,
    /// the holder is a key with an empty id.
    pub(in crate::http) fn holder(&self) -> Holder {
        self.grant.get().map_or_else(Holder::none, |grant| grant.holder())
    }

    pub(in crate::http) fn new(request: &Request) -> Arc<Self> {
        Arc::new(Self {
            id: request_id(request.headers()),
            started: Instant::now(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            sent_uri: request.extensions().get::<SentUri>().map_or(request.uri(), |SentUri(uri)| uri).clone(),
            query: OnceLock::new(),
            grant: OnceLock::new(),
            detail_hash: OnceLock::new(),
        })
    }
}

/// Returns the client's id if it sent exactly one and it's valid, otherwise a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let mut sent = headers.get_all(X_REQUEST_ID).iter();
    match (sent.next(), sent.next()) {
        (Some(own), None) if well_formed(own.as_bytes()) && !may_be_key(own) => own.clone(),
        _ => generate(),
    }
}

/// Returns this process's random number plus a counter. That's unique, and cheaper than a random
/// number for each request.
fn generate() -> HeaderValue {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| {
        getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = (u128::from(*PROCESS) << 64) | u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
    HeaderValue::try_from(format!("{number:032x}")).unwrap_or(HeaderValue::from_static("unknown"))
}

/// Whether an id might be a key sent in the wrong header. Keys must not get into logs or responses.
fn may_be_key(id: &HeaderValue) -> bool {
    id.to_str().is_ok_and(|id| id.contains("sd_live_") || id.contains("sd_dev_"))
}

fn well_formed(id: &[u8]) -> bool {
    (1..=MAX_ID_LENGTH).contains(&id.len()) && id.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// The prefix of the API's paths.
const API: &str = "/v1";

pub(in crate::http) const FEEDS: [&str; 2] = ["/feed.atom", "/feed.json"];

/// The paths that load balancers probe.
pub(super) const HEALTH_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// The paths of the reconciliation service: the service itself, its suggestions of products and of
/// properties, and its proposals of properties.
pub(in crate::http) const RECONCILE: [&str; 4] =
    ["/reconcile", "/reconcile/suggest/entity", "/reconcile/suggest/property", "/reconcile/properties"];

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

/// The methods of routes that answer forms as well: [`SIGN_IN`] and the reconciliation service.
const FORM_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");

/// Whether a path is in the API, where every request needs a key.
pub(super) fn is_api(path: &str) -> bool {
    path.strip_prefix(API).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The catalogue of exports, which is open to the same callers as feeds.
pub(in crate::http) const CATALOG: &str = "/catalog.jsonld";

pub(in crate::http) fn is_feed(path: &str) -> bool {
    FEEDS.contains(&path) || path == CATALOG
}

/// Whether responses at a path depend on the key: everything in the API, the reconciliation service,
/// feeds and the catalogue.
pub(in crate::http) fn is_private(path: &str) -> bool {
    is_api(path) || RECONCILE.contains(&path) || is_feed(path)
}

/// The route that the router matched, as a template such as `/v1/software/{id}`.
pub(in crate::http) fn matched_route(request: &Request) -> Option<&MatchedPath> {
    request.extensions().get::<MatchedPath>().filter(|route| !API_FALLBACKS.contains(&route.as_str()))
}

/// The methods of the route at a path.
pub(in crate::http) fn allowed_methods(path: &str) -> HeaderValue {
    match path {
        MCP_PATH | SIGN_OUT => MCP_METHODS,
        SIGN_IN | "/reconcile" => FORM_METHODS,
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
    let path = request.uri().path().strip_suffix('/').filter(|path| !path.is_empty());
    if let Some(uri) = path.and_then(|path| with_path(request.uri(), path)) {
        *request.uri_mut() = uri;
    }
    request
}

/// The same URI with another path.
pub(in crate::http) fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{path}{query}").try_into().ok()?);
    Uri::from_parts(parts).ok()
}

/// Corrects headers that axum's router adds outside all middleware. Removes the length of a body
/// that the status can't have (RFC 9110, 8.6), and the router's own `Allow`, which lacks `OPTIONS`
/// and is on every response to a method other than `GET`.
pub(in crate::http) fn correct_headers(mut response: Response) -> Response {
    if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    let known = [ALLOWED_METHODS, MCP_METHODS, FORM_METHODS];
    if response.headers().get(ALLOW).is_some_and(|methods| !known.contains(methods)) {
        response.headers_mut().remove(ALLOW);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(sent: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for id in sent {
            headers.append(X_REQUEST_ID, id.parse().expect("a header value"));
        }
        request_id(&headers).to_str().expect("ASCII").to_owned()
    }

    #[test]
    fn unsuitable_ids_are_replaced() {
        for id in ["sd_live_abcdefgh_x", "x-sd_dev_abcdefgh_x", "", "a b", "a/b", "é", "a\tb", &"z".repeat(65)] {
            assert_ne!(id_for(&[id]), id);
        }
        assert!(!["one", "two"].contains(&id_for(&["one", "two"]).as_str()), "with two ids, neither is used");
    }
}
