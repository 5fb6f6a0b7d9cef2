//! Limits on a request's size, and rules that keep servers along the way from interpreting it
//! differently; a check of its host, so that other sites can't use DNS rebinding to read responses in a
//! visitor's browser; and the time limit for responses.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Version};
use axum::response::{IntoResponse as _, Response};
use tokio::time::sleep;

use super::request_context::{HEALTH_PATHS, is_api};
use crate::http::config::HttpConfig;
use crate::http::problem::ApiError;

/// The maximum length of the path and query, in bytes.
const MAX_URI_BYTES: usize = 8 * 1024;

/// The maximum size of the headers, names and values together, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// Rejects requests that are too long (414 or 431) or ambiguous (400).
pub(in crate::http) fn check_limits(request: &Request) -> Result<(), ApiError> {
    if request.uri().path_and_query().map_or(0, |uri| uri.as_str().len()) > MAX_URI_BYTES {
        return Err(ApiError::UriTooLong);
    }
    if header_bytes(request.headers()) > MAX_HEADER_BYTES {
        return Err(ApiError::HeadersTooLarge);
    }
    well_formed(request).map_err(ApiError::BadRequest)
}

/// Checks that no server along the way could have read the request differently (RFC 9112, 3.2 and
/// 6.3).
fn well_formed(request: &Request) -> Result<(), &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() == Version::HTTP_11 => {
            return Err("Send a Host header: HTTP/1.1 requires one.");
        }
        (Some(_), Some(_)) => return Err("Send one Host header, not several."),
        (Some(host), None) if !host.as_bytes().iter().all(|byte| is_host_byte(*byte)) => {
            return Err("The Host header isn't valid. Send a host such as api.example.org or [2001:db8::1]:8080.");
        }
        _ => {}
    }
    // `Transfer-Encoding` is the only other way to mark a body's end, and the two could contradict
    // each other. So a body must have a `Content-Length`.
    if request.headers().contains_key(TRANSFER_ENCODING) {
        return Err("Don't send Transfer-Encoding. A request with a body must state its Content-Length.");
    }
    Ok(())
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%:[]".contains(&byte)
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

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

/// Answers 408 if a response takes longer than `timeout`, counted from when it first has to wait.
pub(in crate::http) async fn with_timeout(timeout: Duration, response: impl Future<Output = Response>) -> Response {
    let mut response = pin!(response);
    let mut timer = None;
    poll_fn(|context| {
        if let Poll::Ready(response) = response.as_mut().poll(context) {
            return Poll::Ready(response);
        }
        let timer = timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        timer.as_mut().poll(context).map(|()| ApiError::RequestTimeout.into_response())
    })
    .await
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
