//! Responses with pages or parts of pages.

use askama::Template;
use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::language::{PageLanguage, Texts};
use crate::http::problem::ApiError;
use crate::key::Origin;

pub(super) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Only allows scripts and styles from this host, and doesn't let scripts turn text into markup.
const CONTENT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
);

/// What decides whether a visitor is redirected to another language.
pub(super) const BY_LANGUAGE: HeaderValue = HeaderValue::from_static("Accept-Language, Sec-Fetch-Site");

/// Renders a page, or part of a page, in a given language.
pub(super) fn html(status: StatusCode, t: &Texts, template: &impl Template) -> Result<Response, ApiError> {
    let html = template.render().map_err(ApiError::internal)?;
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HTML);
    response.headers_mut().insert(CONTENT_LANGUAGE, HeaderValue::from_static(t.tag));
    protect(response.headers_mut());
    Ok(response)
}

/// Adds the headers that isolate a page from other sites. Browsers only send a form's `Origin` if
/// the policy allows referrers to this site.
pub(super) fn protect(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, CONTENT_POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
}

/// Lets the sites that the operator names embed public pages.
pub(in crate::http) fn allow_embedding(embedded_by: Option<&HeaderValue>, response: &mut Response) {
    let Some(ancestors) = embedded_by else { return };
    if let Some(policy) = response.headers_mut().get_mut(CONTENT_SECURITY_POLICY).filter(|of| **of == CONTENT_POLICY) {
        *policy = ancestors.clone();
    }
}

/// The policy of pages that these sites may embed.
pub(super) fn embedded_by(origins: &[Origin]) -> Option<HeaderValue> {
    let origins: Vec<_> = origins.iter().map(Origin::as_str).collect();
    let policy = CONTENT_POLICY;
    let policy =
        policy.to_str().ok()?.replace("frame-ancestors 'none'", &format!("frame-ancestors {}", origins.join(" ")));
    HeaderValue::try_from(policy).ok().filter(|_| !origins.is_empty())
}

/// The policy as a published page's element, in which browsers ignore `frame-ancestors`. Pagefind
/// needs WebAssembly.
pub(super) fn published_policy() -> String {
    let policy = CONTENT_POLICY;
    let policy = policy.to_str().unwrap_or_default().replace("frame-ancestors 'none'; ", "");
    policy.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
}

/// Redirects to a path and query, which must be ASCII.
pub(super) fn redirect(status: StatusCode, address: &str) -> Response {
    match HeaderValue::try_from(address) {
        Ok(location) => (status, [(LOCATION, location)]).into_response(),
        Err(error) => ApiError::internal(error).into_response(),
    }
}

/// Sets who may cache a page. The response depends on the coding, and on the session unless the page
/// is public. If the language isn't in the path, a visitor arriving from elsewhere may be redirected.
pub(in crate::http) fn set_caching(is_public: bool, language: PageLanguage, response: &mut Response) {
    let is_found = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let (caching, vary) = match is_public {
        true if is_found => ("public, max-age=60, stale-while-revalidate=600", "Accept-Encoding"),
        true => ("no-cache", "Accept, Accept-Encoding"),
        false => ("private, no-cache", "Cookie, Accept, Accept-Encoding"),
    };
    let headers = response.headers_mut();
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    }
    headers.insert(VARY, HeaderValue::from_static(vary));
    if !is_public {
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    }
    if !language.is_in_path {
        headers.append(VARY, BY_LANGUAGE);
    }
}
