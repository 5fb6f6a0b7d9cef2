//! The Model Context Protocol over HTTP: [`crate::mcp`] behind the service's middleware.

use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, HOST, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;

use crate::http::config::HttpConfig;
use crate::http::extract::Snapshot;
use crate::http::middleware::{MCP_METHODS, MCP_PATH};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::mcp::{self, Host, Refused, Rejected, ToolServer};
use crate::service::{SearchSoftware, ServiceError};

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    Router::new().route(MCP_PATH, any(answer))
}

/// Answers one message. A search that is shed and a failure of the directory are answered as everywhere in the service, with a
/// problem document.
async fn answer(State(state): State<Arc<AppState>>, snapshot: Snapshot, request: Request) -> Response {
    if request.method() != Method::POST {
        let mut response = ApiError::MethodNotAllowed.into_response();
        response.headers_mut().insert(ALLOW, MCP_METHODS);
        return response;
    }
    if !is_own_host(request.headers(), &state.config) {
        return ApiError::HostNotAllowed.into_response();
    }
    let pool = Pool { state: Arc::clone(&state), error: Arc::default() };
    let (published_at, base) = (state.directory.published_at(), state.config.base());
    let tools = ToolServer::new(snapshot.0, published_at, base, pool.clone());
    let response = mcp::answer(tools, request).await;
    let error = pool.error.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (error, response) {
        (None, Ok(response)) => response.map(Body::new),
        (Some(error), _) => error.into_response(),
        (None, Err(rejected)) => problem(rejected).into_response(),
    }
}

fn problem(rejected: Rejected) -> ApiError {
    match rejected {
        Rejected::NotAcceptable => ApiError::NotAcceptable,
        Rejected::UnsupportedMediaType => ApiError::UnsupportedMediaType,
        Rejected::TooLarge => ApiError::ContentTooLarge,
        Rejected::Unreadable => ApiError::BadRequest("The body ends before the length in Content-Length."),
        Rejected::UnknownVersion => {
            ApiError::BadRequest("MCP-Protocol-Version isn't a version of the protocol that this service knows.")
        }
        Rejected::Failed => ApiError::internal(rejected),
    }
}

/// The search pool as the host of one message.
#[derive(Debug, Clone)]
struct Pool {
    state: Arc<AppState>,
    /// Why the message has no result.
    error: Arc<Mutex<Option<ApiError>>>,
}

impl Pool {
    fn set(&self, error: ApiError) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl Host for Pool {
    async fn run<F>(&self, search: F) -> Result<F::Output, Refused>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.state.search(search).await.map_err(|error| {
            self.set(error);
            Refused
        })
    }

    fn searched(&self, search: &SearchSoftware, total: u64) {
        self.state.count_search(search, total);
    }

    fn failed(&self, error: ServiceError) {
        self.set(error.into());
    }
}

/// Whether a request isn't one of a browser that a foreign host name led here (DNS rebinding): with `Origin`, which browsers send
/// with every POST, the host must be an address, this machine, or the public one.
fn is_own_host(headers: &HeaderMap, config: &HttpConfig) -> bool {
    if !headers.contains_key(ORIGIN) {
        return true;
    }
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
    fn browser_reaches_only_own_names() {
        let url = PublicUrl::parse("https://directory.example").expect("an address");
        let config = HttpConfig { public_url: Some(url), ..HttpConfig::default() };
        let check = |host: &'static str, origin: Option<&'static str>| {
            let origin = origin.map(|origin| (ORIGIN, HeaderValue::from_static(origin)));
            let headers = [(HOST, HeaderValue::from_static(host))].into_iter().chain(origin).collect();
            is_own_host(&headers, &config)
        };
        for own in ["directory.example", "localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:8080", "[::1]"] {
            assert!(check(own, Some("https://a.example")), "{own}");
        }
        for foreign in ["rebound.example:8080", "directory.example.evil.example", "localhost.evil.example", ""] {
            assert!(!check(foreign, Some("http://rebound.example:8080")), "{foreign}");
            assert!(check(foreign, None), "{foreign}: no browser");
        }
    }
}
