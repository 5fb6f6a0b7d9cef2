//! Authentication: a request's API key and the web origin that may use it, or a page visitor
//! without a key.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, ORIGIN, REFERER};
use axum::http::{HeaderMap, HeaderValue};
use jiff::Timestamp;

use super::request_context::is_feed;
use super::session::{is_own_url, visitor_of_api, visitor_of_pages};
use crate::http::config::HttpConfig;
use crate::http::extract::client_ip;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::key::{ApiKey, AuthError, Grant, KeyStore};

/// How many failed authentications an address may have per minute.
const MAX_FAILED_ATTEMPTS: u32 = 60;

/// Returns the grant of a request's key, or a visitor's if the request needs no key.
pub(in crate::http) fn authenticate(state: &AppState, request: &Request) -> Result<Arc<Grant>, ApiError> {
    let grant = match grant_of_key(&state.keys, request.headers()) {
        Ok(grant) => grant,
        Err(ApiError::MissingApiKey) if let Some(grant) = visitor_without_key(state, request) => grant,
        Err(error) => return Err(failed(state, error, request)),
    };
    grant.requests.fetch_add(1, Ordering::Relaxed);
    Ok(grant)
}

/// The grant for a request without credentials. If the pages are public, requests from a page and
/// for feeds need none; if the API is public, all others need none.
fn visitor_without_key(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    if request.headers().contains_key(AUTHORIZATION) {
        return None;
    }
    // Feed readers don't send the headers that identify a page's requests.
    let is_feed = is_feed(request.uri().path());
    let is_from_page = is_from_page(request.headers(), &state.config);
    let visitor = if is_feed || is_from_page { visitor_of_pages(state, request) } else { None };
    visitor.or_else(|| if is_feed { None } else { visitor_of_api(state, request) })
}

/// Counts an invalid key against the caller's address, which gets 429 after too many. A valid key
/// is still accepted: keys can't be guessed, so the limit only saves work and log lines, and one
/// caller's mistake must not lock out others at the same address.
pub(in crate::http) fn failed(state: &AppState, error: ApiError, request: &Request) -> ApiError {
    if !matches!(error, ApiError::InvalidApiKey | ApiError::ExpiredApiKey) {
        return error;
    }
    let client = client_ip(request.extensions(), request.headers(), &state.config.trusted_proxies);
    let spend = |client: IpAddr| {
        state.failed_attempts.with_debt(client.into(), Instant::now(), |debt| debt.spend(MAX_FAILED_ATTEMPTS))
    };
    match client.and_then(|client| spend(client).retry_after_seconds) {
        Some(retry_after_seconds) => ApiError::TooManyFailures { retry_after_seconds },
        None => error,
    }
}

/// Whether a browser sent a request on behalf of the page, that is, from the same origin (Fetch
/// Metadata). Browsers send `Sec-Fetch-Site` only over HTTPS and to localhost. Without it, the
/// `Referer`, which the page's own requests carry, must name the request's host or the public
/// URL's. Pages from other origins can't set either header; other programs can.
pub(in crate::http) fn is_from_page(headers: &HeaderMap, config: &HttpConfig) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    headers.get(REFERER).is_some_and(|page| is_own_url(page, headers, config))
}

/// Whether a request has a valid key and comes from an origin that may use it.
pub(in crate::http) fn has_valid_key(keys: &KeyStore, headers: &HeaderMap) -> bool {
    grant_of_key(keys, headers).is_ok_and(|grant| check_origin(&grant, headers).is_ok())
}

fn grant_of_key(keys: &KeyStore, headers: &HeaderMap) -> Result<Arc<Grant>, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Err(ApiError::MissingApiKey),
        (Some(value), None) => grant_of(keys, bearer(value)?),
        // Proxies differ in which of several headers they forward, so none of them is accepted.
        (Some(_), Some(_)) => Err(ApiError::InvalidApiKey),
    }
}

pub(in crate::http) fn grant_of(keys: &KeyStore, presented: &str) -> Result<Arc<Grant>, ApiError> {
    let grant = keys.authenticate(presented, Timestamp::now).or_else(|error| {
        // A key that was just created isn't known until the key file is checked again.
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

/// The text after `Bearer`, in any case (RFC 9110, 11.1). Other schemes don't carry an API key.
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

fn looks_like_key(text: &str) -> bool {
    ApiKey::parse(text).is_ok()
}

/// Checks a request's `Origin`, which only browsers send, against its key's origins.
pub(in crate::http) fn check_origin(grant: &Grant, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = String::from_utf8_lossy(origin.as_bytes());
    if grant.allows_origin(&origin) { Ok(()) } else { Err(ApiError::OriginNotAllowed(origin.into_owned())) }
}

#[cfg(test)]
mod tests {
    use axum::http::header::HOST;

    use super::*;
    use crate::http::config::PublicUrl;

    #[test]
    fn requests_from_the_page_are_recognised_by_headers_that_other_pages_cannot_set() {
        let url = PublicUrl::parse("https://directory.example/software").expect("an address");
        let config = HttpConfig { public_url: Some(url), ..HttpConfig::default() };
        let is_from_page = |site: Option<&'static str>, referer: Option<&'static str>| {
            let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("10.0.0.7:8080"))]);
            headers.extend(referer.map(|referer| (REFERER, HeaderValue::from_static(referer))));
            if let Some(site) = site {
                headers.insert("sec-fetch-site", HeaderValue::from_static(site));
            }
            is_from_page(&headers, &config)
        };
        assert!(is_from_page(Some("same-origin"), None));
        for site in ["cross-site", "same-site", "none", "", "Same-Origin"] {
            assert!(!is_from_page(Some(site), Some("https://directory.example/")), "{site}");
        }
        for own in ["http://10.0.0.7:8080/", "https://directory.example/", "https://Directory.Example/software/?q=a"] {
            assert!(is_from_page(None, Some(own)), "{own}");
        }
        for other in [
            "https://evil.example/",
            "https://directory.example.evil.example/",
            "https://directory.example@evil.example/",
            "http://10.0.0.7/",
            "/",
            "about:client",
            "",
        ] {
            assert!(!is_from_page(None, Some(other)), "{other}");
        }
        assert!(!is_from_page(None, None));
    }
}
