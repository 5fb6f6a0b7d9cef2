//! Checks a request's host, so that other sites can't use DNS rebinding to read responses in a
//! visitor's browser.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST};

use super::request_context::{HEALTH_PATHS, is_api};
use crate::http::config::HttpConfig;
use crate::http::problem::ApiError;

/// Rejects requests for someone else's host name, if the service has a public URL. Requests with a
/// key are exempt, since they come from a program that was given a key, and may use an internal
/// name. So are health probes, and requests to the API, which are refused without a key anyway.
pub(in crate::http) fn check_host(request: &Request, config: &HttpConfig) -> Result<(), ApiError> {
    let path = request.uri().path();
    let is_exempt = config.public_url.is_none()
        || request.headers().contains_key(AUTHORIZATION)
        || HEALTH_PATHS.contains(&path)
        || is_api(path);
    if is_exempt || is_own_host(request.headers(), config) { Ok(()) } else { Err(ApiError::HostNotAllowed) }
}

/// Whether the host is an IP address, this machine or the public host. DNS rebinding needs a name,
/// so an IP address is safe.
pub(in crate::http) fn is_own_host(headers: &HeaderMap, config: &HttpConfig) -> bool {
    let Some(authority) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    if config.authority().is_some_and(|own| own.eq_ignore_ascii_case(authority)) {
        return true;
    }
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::http::config::PublicUrl;

    #[test]
    fn browsers_may_only_use_the_services_own_names() {
        let url = PublicUrl::parse("https://directory.example").expect("an address");
        let config = HttpConfig { public_url: Some(url), ..HttpConfig::default() };
        let check =
            |host: &'static str| is_own_host(&[(HOST, HeaderValue::from_static(host))].into_iter().collect(), &config);
        for own in ["directory.example", "localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:8080", "[::1]"] {
            assert!(check(own), "{own}");
        }
        for foreign in ["rebound.example:8080", "directory.example.evil.example", "localhost.evil.example", ""] {
            assert!(!check(foreign), "{foreign}");
        }
    }
}
