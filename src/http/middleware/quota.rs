//! Quotas for keys and visitors: 429 responses and the `RateLimit` headers
//! (draft-ietf-httpapi-ratelimit-headers).

use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::memory::answer;
use super::request_context::RequestContext;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::key::{Decision, Grant, WINDOW};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Marks a response that counts as this many requests against the quota.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Cost(pub(in crate::http) u64);

/// Charges one request to the quota, and answers 429 if none are left. A request that is shed
/// afterwards is refunded. A response with a [`Cost`] is charged once it's certain to be sent.
pub(in crate::http) async fn spend_quota(
    state: &AppState,
    context: &RequestContext,
    request: Request,
    next: Next,
) -> Response {
    let spent = context.grant.get().and_then(|grant| Some((grant, grant.spend(context.started)?)));
    // The key has no limit.
    let Some((grant, decision)) = spent else { return answer(state, context, request, next).await };
    if let Some(retry_after_seconds) = decision.retry_after_seconds {
        let error = if grant.is_visitor() {
            ApiError::VisitorRateLimited { retry_after_seconds }
        } else {
            ApiError::RateLimited { retry_after_seconds }
        };
        let mut response = error.into_response();
        write_headers(&decision, response.headers_mut());
        return response;
    }
    let mut response = answer(state, context, request, next).await;
    let extensions = response.extensions();
    let is_shed =
        matches!(extensions.get(), Some(ApiError::Overloaded | ApiError::DownloadsBusy | ApiError::TooManyDownloads));
    if is_shed {
        grant.give_back(context.started);
    } else if extensions.get::<Cost>().is_none() {
        write_headers(&decision, response.headers_mut());
    }
    response
}

/// Adds the quota headers to a response that doesn't have them, either because it was free or
/// because it has a [`Cost`]. The cost is charged now, unless the response has become a 304.
/// Responses to a key without a limit don't have these headers.
pub(in crate::http) fn report_quota(grant: &Grant, response: &mut Response) {
    if response.headers().contains_key(RATE_LIMIT) {
        return;
    }
    let cost = response.extensions_mut().remove::<Cost>().filter(|_| response.status() != StatusCode::NOT_MODIFIED);
    let decision = match cost {
        // One request has already been charged.
        Some(Cost(requests)) => grant.charge(requests.saturating_sub(1), Instant::now()),
        None => grant.peek(Instant::now()),
    };
    if let Some(decision) = decision {
        write_headers(&decision, response.headers_mut());
    }
}

/// Removes the quota headers, for a response that caches may share.
pub(in crate::http) fn hide_quota(headers: &mut HeaderMap) {
    headers.remove(RATE_LIMIT);
    headers.remove(RATE_LIMIT_POLICY);
}

fn write_headers(decision: &Decision, headers: &mut HeaderMap) {
    let policy = format!("\"default\";q={};w={}", decision.limit, WINDOW.as_secs());
    let limit = format!("\"default\";r={};t={}", decision.remaining, decision.reset_seconds);
    for (name, text) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, limit)] {
        // Both strings are ASCII.
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
}
