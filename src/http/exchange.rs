//! One request and its answer: what is learnt on the way, and the headers and log lines made of it at the end.

use std::borrow::Cow;
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::http::header::{CACHE_CONTROL, ETAG, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

use super::conditional::EntityTag;
use super::cors;
use super::operation::Operation;
use super::problem::ApiError;
use super::request_id::{RequestId, X_REQUEST_ID};
use super::server::Arrival;
use crate::key::{self, Decision, Grant};

const X_GENERATION: HeaderName = HeaderName::from_static("x-generation");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// More headers than most answers have; those that the connection adds included.
const HEADERS: usize = 12;

/// The target of the lines that say which requests were answered, at `debug`.
const ACCESS_LOG: &str = "software_directory::http::access";

/// What is known of a request and its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: RequestId,
    /// How the request came; unknown where it is only tried.
    pub(super) arrival: Option<Arrival>,
    pub(super) started: Instant,
    pub(super) method: Method,
    /// Whether the path is under `/v1`.
    pub(super) api: bool,
    /// What is asked for, if it is of the API.
    pub(super) operation: Option<Operation>,
    /// Whether a page of another origin may be asking.
    pub(super) cross_origin: bool,
    /// Who is asking; known only where it is logged.
    pub(super) caller: Option<IpAddr>,
    pub(super) grant: Option<Arc<Grant>>,
    pub(super) quota: Option<Decision>,
    pub(super) generation: Option<HeaderValue>,
    /// The answer's entity tag, once there is one to give out.
    pub(super) tag: Option<EntityTag>,
}

impl Exchange {
    pub(super) fn new(parts: &Parts, arrival: Option<Arrival>, api: bool) -> Self {
        Self {
            id: RequestId::of(&parts.headers),
            arrival,
            started: Instant::now(),
            method: parts.method.clone(),
            api,
            operation: None,
            cross_origin: parts.headers.contains_key(ORIGIN),
            caller: None,
            grant: None,
            quota: None,
            generation: None,
            tag: None,
        }
    }

    /// Adds the headers that don't depend on the route.
    pub(super) fn write_headers(self, headers: &mut HeaderMap) {
        // All at once, not by doubling.
        headers.reserve(HEADERS);
        headers.insert(X_REQUEST_ID, self.id.into_header());
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.cross_origin {
            cors::expose(headers);
        }
        if !self.api {
            return;
        }
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(VARY, HeaderValue::from_static("Authorization, Accept-Encoding, Origin"));
        if let Some(generation) = self.generation {
            headers.insert(X_GENERATION, generation);
        }
        if let Some(tag) = self.tag {
            headers.insert(ETAG, tag.header());
        }
        // An answer that cost nothing still says what is left.
        let quota = self.quota.or_else(|| self.grant?.peek(self.started));
        if let Some(quota) = quota {
            for (name, text) in [(RATE_LIMIT, quota.limit_header()), (RATE_LIMIT_POLICY, quota.policy_header())] {
                // Both texts are ASCII.
                if let Ok(value) = HeaderValue::try_from(text) {
                    headers.insert(name, value);
                }
            }
        }
    }

    /// Logs a failure of the service, once, with its causes. What callers do wrong isn't one.
    pub(super) fn log_failure(&self, error: &ApiError, uri: &Uri) {
        if !matches!(error, ApiError::Internal(_) | ApiError::Panicked(_) | ApiError::RequestTimeout) {
            return;
        }
        let mut causes = String::new();
        let mut cause = error.source();
        while let Some(error) = cause {
            causes.push_str(": ");
            causes.push_str(&error.to_string());
            cause = error.source();
        }
        tracing::error!(
            request_id = self.id.as_str(),
            method = self.method.as_str(),
            path = &*loggable(uri.path()),
            key = self.key_id(),
            "{error}{causes}"
        );
    }

    fn key_id(&self) -> Option<&str> {
        self.grant.as_ref().map(|grant| &*grant.id)
    }

    /// Whether the request will be logged.
    #[expect(clippy::unused_self, reason = "belongs to the two beside it")]
    pub(super) fn is_logged(&self) -> bool {
        tracing::enabled!(target: ACCESS_LOG, tracing::Level::DEBUG)
    }

    /// Logs the request; never a key, wherever it was written.
    pub(super) fn log_access(&self, uri: &Uri, status: StatusCode, with_query: bool) {
        if !self.is_logged() {
            return;
        }
        let query = uri.query().filter(|_| with_query).map(loggable);
        tracing::debug!(
            target: ACCESS_LOG,
            request_id = self.id.as_str(),
            method = self.method.as_str(),
            path = &*loggable(uri.path()),
            query = query.as_deref(),
            status = status.as_u16(),
            elapsed_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
            key = self.key_id(),
            caller = self.caller.map(tracing::field::display),
        );
    }
}

/// What a caller wrote, with the secret of everything that looks like a key taken out.
fn loggable(text: &str) -> Cow<'_, str> {
    if text.contains("sd_") { key::without_keys(text).into() } else { text.into() }
}
