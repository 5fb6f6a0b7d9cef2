//! Authentication: the API key of a request, and the web origin that it may be used from.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;

use super::around::Middleware;
use super::rate_limit::report_quota;
use super::request_context::RequestContext;
use crate::http::extract::client_ip;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::key::{ApiKey, AuthError, Grant, KeyStore};

/// Rejects requests without a valid key, with 401, and those from an origin that the key isn't for, with 403. The [`Grant`] of
/// the key goes into the request context.
#[derive(Debug, Clone)]
pub(in crate::http) struct Authenticate(pub(in crate::http) Arc<AppState>);

impl Middleware for Authenticate {
    type Context = Arc<Grant>;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Arc<Grant>> {
        let grant = match authenticate(&self.0.keys, request.headers()) {
            Ok(grant) => grant,
            Err(error) => return ControlFlow::Break(self.failed(error, request).into_response()),
        };
        grant.requests.fetch_add(1, Ordering::Relaxed);
        let _ = RequestContext::of(request).grant.set(Arc::clone(&grant));
        if let Err(error) = check_origin(&grant, request.headers()) {
            let mut response = error.into_response();
            report_quota(&grant, &mut response);
            return ControlFlow::Break(response);
        }
        ControlFlow::Continue(grant)
    }

    /// Reports the quota on responses that cost nothing too, such as a 304.
    fn on_response(&self, grant: Arc<Grant>, response: &mut Response) {
        report_quota(&grant, response);
    }
}

impl Authenticate {
    /// Counts an invalid key against the caller's address, which gets 429 after too many. A valid key is accepted all the same:
    /// keys can't be guessed, so the limit saves work and log lines, and one caller's mistake must not lock out others behind
    /// the same address.
    fn failed(&self, error: ApiError, request: &Request) -> ApiError {
        if !matches!(error, ApiError::InvalidApiKey | ApiError::ExpiredApiKey) {
            return error;
        }
        let client = client_ip(request.extensions(), request.headers(), &self.0.config.trusted_proxies);
        match client.map(|client| self.0.failed_attempts.note(client, Instant::now())) {
            Some(Err(retry_after_seconds)) => ApiError::TooManyFailures { retry_after_seconds },
            _ => error,
        }
    }
}

/// Whether a request has a valid key, from an origin that may use it.
pub(in crate::http) fn has_valid_key(keys: &KeyStore, headers: &HeaderMap) -> bool {
    authenticate(keys, headers).is_ok_and(|grant| check_origin(&grant, headers).is_ok())
}

/// Returns the grant of a request's key.
///
/// # Errors
/// Where there is no key, or none that is valid now.
fn authenticate(keys: &KeyStore, headers: &HeaderMap) -> Result<Arc<Grant>, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let presented = match (sent.next(), sent.next()) {
        (None, _) => return Err(ApiError::MissingApiKey),
        (Some(value), None) => bearer(value)?,
        // Proxies differ in which of two they forward; neither counts.
        (Some(_), Some(_)) => return Err(ApiError::InvalidApiKey),
    };
    let grant = keys.authenticate(presented, Timestamp::now).or_else(|error| {
        // A key that was created a moment ago isn't known before the key file is looked at.
        let is_renewed =
            error == AuthError::Invalid && looks_like_key(presented) && keys.look_for(presented, Instant::now());
        if is_renewed { keys.authenticate(presented, Timestamp::now) } else { Err(error) }
    });
    grant.map_err(|error| match error {
        AuthError::Missing => ApiError::MissingApiKey,
        AuthError::Invalid => ApiError::InvalidApiKey,
        AuthError::Expired => ApiError::ExpiredApiKey,
    })
}

/// The text after `Bearer` in any case (RFC 9110, 11.1). Another scheme carries no API key.
fn bearer(value: &HeaderValue) -> Result<&str, ApiError> {
    let text = value.to_str().map_err(|_| ApiError::InvalidApiKey)?;
    let (scheme, token) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if scheme.eq_ignore_ascii_case("bearer") {
        Ok(token.trim_start())
    } else if looks_like_key(scheme) {
        Err(ApiError::MissingBearer)
    } else {
        Err(ApiError::MissingApiKey)
    }
}

/// Whether a text has the form and the checksum of a key.
fn looks_like_key(text: &str) -> bool {
    ApiKey::parse(text).is_ok()
}

/// Checks the `Origin` of a request, which only browsers send, against the origins of its key.
///
/// # Errors
/// Where the key is for other origins.
fn check_origin(grant: &Grant, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = String::from_utf8_lossy(origin.as_bytes());
    if grant.allows_origin(&origin) { Ok(()) } else { Err(ApiError::OriginNotAllowed(origin.into_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_is_bearer_in_any_case() {
        for value in ["Bearer k", "bearer k", "BEARER   k", " Bearer k "] {
            assert!(matches!(bearer(&HeaderValue::from_str(value).expect("a header")), Ok("k")), "{value:?}");
        }
        for value in ["Basic k", "k", "", "Bearerk"] {
            let header = HeaderValue::from_str(value).expect("a header");
            assert!(matches!(bearer(&header), Err(ApiError::MissingApiKey)), "{value:?}");
        }
        assert!(matches!(
            bearer(&HeaderValue::from_bytes(b"Bearer \xff").expect("a header")),
            Err(ApiError::InvalidApiKey)
        ));
    }
}
