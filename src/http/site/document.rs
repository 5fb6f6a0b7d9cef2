//! A static document and its headers.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;

use crate::http::entity_tag::{Condition, EntityTag};

/// HTML, as all pages are written.
const HTML: &str = "text/html; charset=utf-8";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The content policy of a document that is no page.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// The content policy of a page: scripts and styles of this host only, and no script may turn text into markup.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                    trusted-types 'none'";

/// The content policy of the OpenAPI viewer, which writes styles and markup of its own.
const VIEWER: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A document that doesn't change while the process runs.
#[derive(Debug, Clone)]
pub(super) struct Document {
    content: Bytes,
    content_type: HeaderValue,
    tag: EntityTag,
    policy: &'static str,
    caching: &'static str,
}

impl Document {
    /// A document that is no page, revalidated on each use.
    pub(super) fn new(content_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let tag = EntityTag::of_content(&content);
        let content_type = HeaderValue::from_static(content_type);
        Self { content, content_type, tag, policy: NOTHING, caching: "no-cache" }
    }

    /// A page.
    pub(super) fn page(html: String) -> Self {
        Self { policy: PAGE, ..Self::new(HTML, html) }
    }

    /// A page with the viewer of the OpenAPI document.
    pub(super) fn viewer(html: String) -> Self {
        Self { policy: VIEWER, ..Self::new(HTML, html) }
    }

    /// A document whose URL changes with its content, cacheable for good.
    pub(super) fn immutable(self) -> Self {
        Self { caching: "public, max-age=31536000, immutable", ..self }
    }

    /// The response, a 304 where the request has the document's tag.
    pub(super) fn respond(&self, request: &HeaderMap) -> Response {
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
