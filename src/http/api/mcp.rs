//! The Model Context Protocol over HTTP: [`crate::mcp`] behind the service's middleware.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::header::{ALLOW, ORIGIN};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;

use crate::http::extract::Snapshot;
use crate::http::middleware::{MCP_METHODS, MCP_PATH, is_own_host};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::mcp::{self, Host, Refused, Rejected, ToolServer};
use crate::service::{SearchSoftware, ServiceError};

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    Router::new().route(MCP_PATH, any(answer))
}

/// Answers one message. Browsers send `Origin` with every POST, so one that a foreign host name led here (DNS rebinding) is told by
/// that, whether there is a public address or not. A search that is shed and a failure of the directory are answered as everywhere in the service, with a
/// problem document.
async fn answer(State(state): State<Arc<AppState>>, snapshot: Snapshot, request: Request) -> Response {
    if request.method() != Method::POST {
        let mut response = ApiError::MethodNotAllowed.into_response();
        response.headers_mut().insert(ALLOW, MCP_METHODS);
        return response;
    }
    if request.headers().contains_key(ORIGIN) && !is_own_host(request.headers(), &state.config) {
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
