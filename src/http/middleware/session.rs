//! Who is reading a page: a visitor to a public page, or someone with a session cookie. `/v1` never
//! accepts a session.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::Request;
use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Uri};
use jiff::Timestamp;

use crate::http::config::HttpConfig;
use crate::http::extract::client_ip;
use crate::http::state::AppState;
use crate::key::{Grant, KeyStore, SESSION_LIFETIME};

/// The prefix of a session cookie's name, followed by the key's id. Cookies ignore ports, so all
/// servers on a machine share them.
const COOKIE_PREFIX: &str = "directory-session-";

/// The maximum number of cookies to examine.
const MAX_COOKIES: usize = 16;

/// Returns the grant of the page's reader; `None` if they have to sign in.
pub(in crate::http) fn authenticate_reader(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    let grant = match state.config.public_page {
        Some(_) => visitor(state, request),
        None => session(&state.keys, request.headers()),
    }?;
    grant.requests.fetch_add(1, Ordering::Relaxed);
    Some(grant)
}

/// The grant of a visitor to a public page. Requests without a known address are allowed too, and
/// share one quota.
pub(super) fn visitor(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    let AppState { config, visitors, metrics, .. } = state;
    let rate = config.public_page?;
    metrics.page_requests.inc();
    let client = client_ip(request.extensions(), request.headers(), &config.trusted_proxies);
    let network = client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).into();
    Some(Arc::new(Grant::for_visitor(network, rate, Arc::clone(visitors))))
}

/// The grant of the session in a request's cookies.
pub(in crate::http) fn session(keys: &KeyStore, headers: &HeaderMap) -> Option<Arc<Grant>> {
    session_cookies(headers).find_map(|(_, token)| keys.resume_session(token, Timestamp::now()))
}

fn session_cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.filter(|(name, _)| name.starts_with(COOKIE_PREFIX)).take(MAX_COOKIES)
}

/// The `Set-Cookie` header for a new session; `None` if the key is no longer valid.
pub(in crate::http) fn session_cookie(state: &AppState, key_id: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    let token = state.keys.open_session(key_id, Timestamp::now())?;
    let name = format!("{COOKIE_PREFIX}{key_id}");
    cookie(&state.config, headers, &name, &token, SESSION_LIFETIME.as_secs())
}

/// The `Set-Cookie` headers that end a request's sessions.
pub(in crate::http) fn ended_sessions(config: &HttpConfig, headers: &HeaderMap) -> Vec<HeaderValue> {
    session_cookies(headers).filter_map(|(name, _)| cookie(config, headers, name, "", 0)).collect()
}

fn cookie(config: &HttpConfig, headers: &HeaderMap, name: &str, value: &str, seconds: i64) -> Option<HeaderValue> {
    let is_https = |url: &str| url.starts_with("https:");
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let secure = if is_https(config.base()) || origin.is_some_and(is_https) { "; Secure" } else { "" };
    let path = config.path_prefix();
    let text = format!("{name}={value}; Max-Age={seconds}; Path={path}/; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(text).ok()
}

/// Whether a form was sent from one of this service's pages. Browsers indicate this in
/// `Sec-Fetch-Site` (over HTTPS and to localhost) and in the `Origin` of each POST; other programs
/// send neither.
pub(in crate::http) fn is_from_own_page(headers: &HeaderMap, config: &HttpConfig) -> bool {
    if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin") {
        return false;
    }
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    origin
        .as_ref()
        .and_then(Uri::authority)
        .is_some_and(|authority| is_own_authority(authority.as_str(), headers, config))
}

/// Whether a host and port match those of the request or of the public URL.
pub(super) fn is_own_authority(authority: &str, headers: &HeaderMap, config: &HttpConfig) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    [host, config.authority()].into_iter().flatten().any(|own| authority.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::config::PublicUrl;

    #[test]
    fn form_from_another_origin_is_refused() {
        let url = PublicUrl::parse("https://directory.example").expect("an address");
        let config = HttpConfig { public_url: Some(url), ..HttpConfig::default() };
        let is_own = |origin: Option<&'static str>, site: Option<&'static str>| {
            let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("10.0.0.7:8080"))]);
            headers.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_static(origin))));
            if let Some(site) = site {
                headers.insert("sec-fetch-site", HeaderValue::from_static(site));
            }
            is_from_own_page(&headers, &config)
        };
        for origin in [None, Some("http://10.0.0.7:8080"), Some("https://directory.example")] {
            assert!(is_own(origin, None) && is_own(origin, Some("same-origin")), "{origin:?}");
            for site in ["cross-site", "same-site", "none", ""] {
                assert!(!is_own(origin, Some(site)), "{site}");
            }
        }
        for origin in ["null", "https://evil.example", "https://directory.example.evil.example", "http://10.0.0.7", ""]
        {
            assert!(!is_own(Some(origin), None), "{origin}");
        }
    }
}
