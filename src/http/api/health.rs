//! Liveness and readiness.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::metrics::KEY_FILE_INVALID;
use crate::http::middleware::has_valid_key;
use crate::http::openapi::{RequestErrors, Unavailable};
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::opensearch::Status;
use crate::update::Degraded;

/// The service is alive.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
}

/// Check liveness
///
/// Responds as long as the process can respond at all.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "getHealth",
    tag = "Health",
    security(()),
    responses((status = 200, description = "The service is alive", body = Health), RequestErrors),
)]
pub(in crate::http) async fn get_health() -> Result<Response, ApiError> {
    uncached(&Health { status: "ok" })
}

/// The service has a directory to serve.
#[derive(Serialize, ToSchema)]
struct Readiness {
    /// `ready`, or `degraded` if it's serving but something is wrong; more values may be added.
    status: &'static str,
    /// The generation being served.
    generation: String,
    /// Why the service is degraded or not ready; empty otherwise.
    reasons: Vec<Reason>,
}

/// A reason why the service isn't fully healthy, even though it may be serving.
#[derive(Serialize, ToSchema)]
struct Reason {
    /// A stable name for the reason, such as `exports_invalid`.
    code: &'static str,
    /// The number of errors in the exports (`exports_invalid`), products that would be removed (`records_removed`), or
    /// records left out (`records_skipped`).
    #[schema(required)]
    count: Option<usize>,
    /// The number of exports left out entirely (`records_skipped`). If an export can't be parsed, its records aren't counted.
    #[schema(required)]
    export_count: Option<usize>,
    /// When this state began (RFC 3339), if known.
    #[schema(required)]
    since: Option<String>,
    /// The cause and the fix, for the operator; `null` without a valid key.
    #[schema(required)]
    detail: Option<String>,
}

/// Check readiness
///
/// Responds with 503 only while there is nothing to serve yet, or while the cluster isn't responding or has lost the
/// index; the problem's `detail` gives the reason. With a valid key, each reason has a `detail`, which may name files;
/// the request doesn't count against the key's quota. Without a valid key, the response leaves out
/// these details.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "getReadiness",
    tag = "Health",
    security((), ("apiKey" = [])),
    responses((status = 200, description = "The service has a directory to serve", body = Readiness), RequestErrors, Unavailable),
)]
pub(in crate::http) async fn get_readiness(
    State(state): State<Arc<AppState>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let has_key = has_valid_key(&state.keys, &headers);
    if let Some(Status::Failing { code, detail }) = state.opensearch.as_ref().map(|index| (*index.status()).clone()) {
        return Err(ApiError::NotReady(if has_key { format!("{code}: {detail}") } else { code.to_owned() }));
    }
    let served = state.served().ok_or(ApiError::IndexUnavailable)?;
    let key_problem =
        state.keys.problem().map(|detail| Degraded { code: KEY_FILE_INVALID, detail, ..Degraded::default() });
    let degraded = state.directory.degraded();
    let reasons: Vec<_> = degraded
        .iter()
        .cloned()
        .chain(key_problem)
        .map(|Degraded { code, count, export_count, detail, since }| {
            let detail = has_key.then_some(detail);
            Reason { code, count, export_count, since: since.map(|since| since.to_string()), detail }
        })
        .collect();
    uncached(&Readiness {
        status: if reasons.is_empty() { "ready" } else { "degraded" },
        generation: served.generation().to_owned(),
        reasons,
    })
}

fn uncached<T: Serialize>(answer: &T) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(answer).map_err(ApiError::internal)?;
    Ok(response::uncached(response::json(body)))
}

/// The service on the metrics listener. It needs no key: anyone who can reach the listener may read
/// the metrics.
pub fn metrics_service(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(async || (StatusCode::METHOD_NOT_ALLOWED, "Use GET.\n"))
        .fallback(async || (StatusCode::NOT_FOUND, "Only /metrics is served here.\n"))
        .with_state(state)
}

async fn metrics(State(state): State<Arc<AppState>>) -> Response {
    match state.metrics.render(&state.directory, state.served().as_ref(), &state.keys, Timestamp::now()) {
        Ok(text) => {
            let content_type = HeaderValue::from_static(prometheus::TEXT_FORMAT);
            ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, HeaderValue::from_static("no-store"))], text)
                .into_response()
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "couldn't write the metrics");
            (StatusCode::INTERNAL_SERVER_ERROR, "Couldn't write the metrics; see the server's log.\n").into_response()
        }
    }
}
