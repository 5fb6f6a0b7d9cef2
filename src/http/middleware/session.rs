//! Who is reading a page: a visitor to a public page, or someone with a session cookie. `/v1` never
//! accepts a session.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{ConnectInfo, Request};
use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use jiff::Timestamp;
use tokio::task::spawn_blocking;

use crate::http::config::HttpConfig;
use crate::http::extract::client_ip;
use crate::http::problem::ApiError;
use crate::http::server::LocalAddress;
use crate::http::state::AppState;
use crate::key::{Grant, KeyStore, Rate, SESSION_LIFETIME};

/// The prefix of a session cookie's name, followed by the key's id. Cookies ignore ports, so all
/// servers on a machine share them.
const COOKIE_PREFIX: &str = "directory-session-";

/// Returns the grant of the page's reader; `None` if they have to sign in.
pub(in crate::http) fn authenticate_reader(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    let grant = match state.config.public_page {
        Some(_) => visitor_of_pages(state, request),
        None => reader(state, request),
    }?;
    grant.requests.fetch_add(1, Ordering::Relaxed);
    Some(grant)
}

/// The grant of a reader of pages that aren't public: a session's, or the development key's for this
/// machine's users. A preview may show what nobody else should see, so it always needs a session.
pub(in crate::http) fn reader(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    let development = || state.keys.development_grant().filter(|_| state.config.preview.is_none());
    session(&state.keys, request.headers()).or_else(|| development().filter(|_| is_from_this_machine(request)))
}

/// Whether a request comes directly from a program on this machine that meant this server. A proxy
/// would give itself away by a header or by the host, and so would a browser that was misled by DNS.
fn is_from_this_machine(request: &Request) -> bool {
    let (extensions, headers) = (request.extensions(), request.headers());
    let Some(ConnectInfo(peer)) = extensions.get::<ConnectInfo<SocketAddr>>() else { return false };
    let Some(LocalAddress(local)) = extensions.get() else { return false };
    let is_of_proxy = |name: &HeaderName| {
        matches!(name.as_str(), "forwarded" | "via" | "x-real-ip") || name.as_str().starts_with("x-forwarded-")
    };
    let is_own = |host: &[u8]| {
        let names = ["localhost", "127.0.0.1", "[::1]"];
        names.iter().any(|name| {
            let has_port = host.eq_ignore_ascii_case(format!("{name}:{}", local.port()).as_bytes());
            has_port || (local.port() == 80 && host.eq_ignore_ascii_case(name.as_bytes()))
        })
    };
    let hosts: Vec<_> = headers.get_all(HOST).iter().map(HeaderValue::as_bytes).collect();
    peer.ip().to_canonical().is_loopback()
        && matches!(hosts[..], [host] if is_own(host))
        && request.uri().authority().is_none_or(|authority| is_own(authority.as_str().as_bytes()))
        && !headers.keys().any(is_of_proxy)
}

/// The grant of a visitor to a public page.
pub(super) fn visitor_of_pages(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    let rate = state.config.public_page?;
    state.metrics.page_requests.inc();
    Some(visitor(state, request, "page", rate))
}

/// The grant of a caller without a key, if the API is public.
pub(super) fn visitor_of_api(state: &AppState, request: &Request) -> Option<Arc<Grant>> {
    Some(visitor(state, request, "api", state.config.public_api?))
}

/// `id` appears in the log. Requests without a known address are allowed too, and share one quota.
fn visitor(state: &AppState, request: &Request, id: &'static str, rate: Rate) -> Arc<Grant> {
    let AppState { config, visitors, .. } = state;
    let client = client_ip(request.extensions(), request.headers(), &config.trusted_proxies);
    let network = client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).into();
    Arc::new(Grant::for_visitor(id, network, rate, Arc::clone(visitors)))
}

/// The grant of the session in a request's cookies.
pub(in crate::http) fn session(keys: &KeyStore, headers: &HeaderMap) -> Option<Arc<Grant>> {
    sessions(keys, headers).map(|(_, _, grant)| grant).next()
}

/// The names, tokens and grants of all valid sessions in a request's cookies. A page on another
/// port or subdomain can set any number of cookies that come first, so invalid ones are skipped
/// without a limit. The limit on headers leaves room for at most 170 tokens, each of which takes a
/// microsecond to verify.
fn sessions<'h>(
    keys: &'h KeyStore,
    headers: &'h HeaderMap,
) -> impl Iterator<Item = (&'h str, &'h str, Arc<Grant>)> + 'h {
    let now = Timestamp::now();
    let values = headers.get_all(COOKIE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let cookies = values.filter_map(|cookie| std::str::from_utf8(cookie).ok()?.trim().split_once('='));
    let cookies = cookies.filter(|(name, _)| name.starts_with(COOKIE_PREFIX));
    cookies.filter_map(move |(name, token)| Some((name, token, keys.resume_session(token, now)?)))
}

/// The `Set-Cookie` header for a new session; `None` if the key is no longer valid.
pub(in crate::http) async fn session_cookie(
    state: &AppState,
    key_id: &str,
    headers: &HeaderMap,
) -> Result<Option<HeaderValue>, ApiError> {
    let (keys, id) = (Arc::clone(&state.keys), key_id.to_owned());
    let open = move || keys.open_session(&id, Timestamp::now());
    let token = spawn_blocking(open).await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    let name = format!("{COOKIE_PREFIX}{key_id}");
    Ok(token.and_then(|token| cookie(&state.config, headers, &name, &token, SESSION_LIFETIME.as_secs())))
}

/// Ends a request's sessions. Returns the `Set-Cookie` headers that remove their cookies.
pub(in crate::http) async fn end_sessions(state: &AppState, headers: &HeaderMap) -> Result<Vec<HeaderValue>, ApiError> {
    let (names, tokens): (Vec<_>, Vec<_>) =
        sessions(&state.keys, headers).map(|(name, token, _)| (name, token.to_owned())).unzip();
    if !tokens.is_empty() {
        Arc::clone(&state.keys).end_sessions(tokens, Timestamp::now()).await.map_err(ApiError::internal)?;
    }
    Ok(names.into_iter().filter_map(|name| cookie(&state.config, headers, name, "", 0)).collect())
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
    headers.get(ORIGIN).is_none_or(|origin| is_own_url(origin, headers, config))
}

/// Whether a URL's host and port match those of the request or of the public URL.
pub(super) fn is_own_url(url: &HeaderValue, headers: &HeaderMap, config: &HttpConfig) -> bool {
    let url = url.to_str().ok().and_then(|url| url.parse::<Uri>().ok());
    let Some(authority) = url.as_ref().and_then(Uri::authority) else { return false };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    [host, config.authority()].into_iter().flatten().any(|own| authority.as_str().eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::config::PublicUrl;

    #[test]
    fn only_requests_made_directly_on_this_machine_are_from_it() {
        let is_own = |peer: &str, local: &str, uri: &str, headers: &[(&str, &str)]| {
            let mut request = Request::builder().uri(uri);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let mut request = request.body(axum::body::Body::empty()).expect("a request");
            request.extensions_mut().insert(ConnectInfo::<SocketAddr>(peer.parse().expect("an address")));
            request.extensions_mut().insert(LocalAddress(local.parse().expect("an address")));
            is_from_this_machine(&request)
        };
        let (peer, local) = ("127.0.0.1:50000", "127.0.0.1:8080");
        for host in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert!(is_own(peer, local, "/", &[("host", host)]), "{host}");
            assert!(is_own("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:8080", "/", &[("host", host)]), "{host}");
            assert!(is_own("[::1]:50000", "[::1]:8080", "/", &[("host", host)]), "{host}");
            assert!(!is_own("192.0.2.7:50000", local, "/", &[("host", host)]), "{host}");
            assert!(!is_own("[2001:db8::7]:50000", "[::1]:8080", "/", &[("host", host)]), "{host}");
        }
        for host in [
            "localhost",
            "127.0.0.1",
            "[::1]",
            "localhost:80",
            "localhost:8081",
            "localhost:08080",
            "127.0.0.2:8080",
            "0.0.0.0:8080",
            "[::]:8080",
            "192.0.2.7:8080",
            "localhost.:8080",
            "localhost.example:8080",
            "evil.example:8080",
            "evil.localhost:8080",
            "user@localhost:8080",
            "localhost:8080@evil.example",
            "[::ffff:127.0.0.1]:8080",
            "",
            " localhost:8080:8080",
            "2130706433:8080",
        ] {
            assert!(!is_own(peer, local, "/", &[("host", host)]), "{host}");
        }
        assert!(is_own(peer, "127.0.0.1:80", "/", &[("host", "localhost")]), "the default port");
        assert!(!is_own(peer, local, "/", &[]), "no host");
        assert!(!is_own(peer, local, "/", &[("host", "localhost:8080"), ("host", "localhost:8080")]), "two hosts");
        assert!(!is_own(peer, local, "http://evil.example/", &[("host", "localhost:8080")]));
        for name in [
            "Forwarded",
            "X-Forwarded-For",
            "x-forwarded-host",
            "X-Forwarded-Proto",
            "X-Forwarded-Anything",
            "X-Real-IP",
            "Via",
        ] {
            assert!(!is_own(peer, local, "/", &[("host", "localhost:8080"), (name, "")]), "{name}");
        }
    }

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
