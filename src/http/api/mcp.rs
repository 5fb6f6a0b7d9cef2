//! The Model Context Protocol over HTTP: [`crate::mcp`] behind the service's middleware.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, ALLOW, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;

use crate::http::content_coding::{has_media_type, quality};
use crate::http::extract::Snapshot;
use crate::http::middleware::{MCP_METHODS, MCP_PATH, is_own_host};
use crate::http::problem::ApiError;
use crate::http::search_pool;
use crate::http::state::AppState;
use crate::key::Holder;
use crate::mcp::{self, Host, Refused, Rejected, ToolServer};
use crate::service::{SearchSoftware, ServiceError, Stop};

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    Router::new().route(MCP_PATH, any(answer))
}

/// Answers one message. Browsers send `Origin` with every POST, so the header reveals DNS rebinding
/// even if there's no public URL. As everywhere in the service, a shed search or a failure of the
/// directory results in a problem document.
async fn answer(State(state): State<Arc<AppState>>, snapshot: Snapshot, request: Request) -> Response {
    if request.method() != Method::POST {
        let mut response = ApiError::MethodNotAllowed.into_response();
        response.headers_mut().insert(ALLOW, MCP_METHODS);
        return response;
    }
    if request.headers().contains_key(ORIGIN) && !is_own_host(request.headers(), &state.config) {
        return ApiError::HostNotAllowed.into_response();
    }
    if !accepts_json(request.headers()) {
        return ApiError::NotAcceptable.into_response();
    }
    if !has_media_type(request.headers(), "application/json") {
        return ApiError::UnsupportedMediaType.into_response();
    }
    let pool = Pool { state: Arc::clone(&state), holder: search_pool::holder(), error: Arc::default() };
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

/// Whether the caller accepts JSON. Without an `Accept` header, it accepts anything (RFC 9110,
/// 12.5.1).
fn accepts_json(headers: &HeaderMap) -> bool {
    let accepts = |range| quality(headers, &ACCEPT, range).is_some_and(|quality| quality > 0.0);
    !headers.contains_key(ACCEPT) || ["application/json", "application/*", "*/*"].into_iter().any(accepts)
}

fn problem(rejected: Rejected) -> ApiError {
    match rejected {
        Rejected::TooLarge => ApiError::ContentTooLarge,
        Rejected::Unreadable => ApiError::BadRequest("The body is shorter than its Content-Length."),
        Rejected::UnknownVersion => {
            ApiError::BadRequest("The MCP-Protocol-Version header names a version that this service doesn't support.")
        }
        Rejected::Failed => ApiError::internal(rejected),
    }
}

/// Runs one message's searches on the search pool.
#[derive(Debug, Clone)]
struct Pool {
    state: Arc<AppState>,
    /// Stored here because each message is answered in its own task.
    holder: Holder,
    /// The error that prevented a result, if any.
    error: Arc<Mutex<Option<ApiError>>>,
}

impl Pool {
    fn set(&self, error: ApiError) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl Host for Pool {
    async fn run<T: Send + 'static>(&self, work: impl FnOnce(Stop) -> T + Send + 'static) -> Result<T, Refused> {
        search_pool::with_turns_of(self.holder.clone(), self.state.search(work)).await.map_err(|error| {
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn all_media_ranges_that_include_json_are_accepted() {
        let accepts = |values: &[&'static str]| {
            accepts_json(&values.iter().map(|value| (ACCEPT, HeaderValue::from_static(value))).collect())
        };
        for values in [
            &[][..],
            &["*/*"],
            &["application/json"],
            &["application/*;q=0.5"],
            &["text/html, Application/JSON; charset=utf-8"],
            &["text/event-stream", "application/json"],
            &["application/json, text/event-stream"],
        ] {
            assert!(accepts(values), "{values:?}");
        }
        for values in [&["text/event-stream"][..], &["text/html"], &["application/json;q=0"], &["*/*; q=0.0"], &[""]] {
            assert!(!accepts(values), "{values:?}");
        }
    }
}
