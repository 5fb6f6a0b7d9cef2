//! A document that never changes while the process runs: its content, and the headers it is answered with.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;

use super::conditional::{Condition, EntityTag};

/// HTML, as all pages are written.
const HTML: &str = "text/html; charset=utf-8";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Nothing at all: for what is no page.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// Our own scripts and styles from our own host; text can't become markup, for no script may even try.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                    trusted-types 'none'";

/// The viewer of the OpenAPI document writes styles and markup of its own, but loads nothing from elsewhere either.
const VIEWER: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A document.
#[derive(Debug, Clone)]
pub(super) struct Document {
    content: Bytes,
    content_type: HeaderValue,
    tag: EntityTag,
    policy: &'static str,
    caching: &'static str,
}

impl Document {
    /// Content that is no page, asked for anew each time.
    pub(super) fn new(content_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let tag = EntityTag::of_content(&content);
        let content_type = HeaderValue::from_static(content_type);
        Self { content, content_type, tag, policy: NOTHING, caching: "no-cache" }
    }

    /// A page of ours.
    pub(super) fn page(html: String) -> Self {
        Self { policy: PAGE, ..Self::new(HTML, html) }
    }

    /// A page with the viewer of the OpenAPI document.
    pub(super) fn viewer(html: String) -> Self {
        Self { policy: VIEWER, ..Self::new(HTML, html) }
    }

    /// What may be kept for good, as its address changes with its content.
    pub(super) fn lasting(self) -> Self {
        Self { caching: "public, max-age=31536000, immutable", ..self }
    }

    /// The route that answers it.
    pub(super) fn route(self) -> MethodRouter {
        get(async move |headers: HeaderMap| self.answer(&headers))
    }

    fn answer(&self, request: &HeaderMap) -> Response {
        let changed = self.tag.condition(request) == Condition::Changed;
        let mut response = Response::new(if changed { Body::from(self.content.clone()) } else { Body::empty() });
        if !changed {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        if changed {
            headers.insert(CONTENT_TYPE, self.content_type.clone());
        }
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(self.policy));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        if self.content_type == HTML {
            headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
            headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
        }
        headers.insert(ETAG, self.tag.header());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(self.caching));
        response
    }
}
