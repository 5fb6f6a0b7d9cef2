//! The index files for followers: `CURRENT`, manifests and parts. They're meant for servers, so
//! they aren't in the OpenAPI document.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};

use crate::generation::store::Store;
use crate::http::downloads;
use crate::http::entity_tag::{Condition, EntityTag};
use crate::http::extract::DownloadRequest;
use crate::http::middleware::RequestContext;
use crate::http::problem::ApiError;
use crate::http::shares::Class;
use crate::http::state::AppState;
use crate::panics;

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    Router::new()
        .route("/v1/generations/CURRENT", get(get_current))
        .route("/v1/generations/{generation}/{part}", get(get_part))
}

/// The index folder, if the request's key may pull it.
fn index(state: &AppState, request: &RequestContext) -> Result<Store, ApiError> {
    if !request.may_replicate() {
        return Err(ApiError::ReplicateNotAllowed);
    }
    state.config.generations.clone().ok_or(ApiError::RouteNotFound)
}

/// The name of the current generation.
async fn get_current(
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let store = index(&state, &request)?;
    let name = tokio::task::spawn_blocking(move || store.current_name()).await.map_err(ApiError::internal)?;
    let name = name.ok_or(ApiError::IndexUnavailable)?;
    let tag = EntityTag::from_version(&name).map_err(ApiError::internal)?;
    let mut response = match tag.condition(&headers) {
        Condition::Changed => format!("{name}\n").into_response(),
        Condition::Unchanged | Condition::AnyVersion => StatusCode::NOT_MODIFIED.into_response(),
    };
    response.headers_mut().insert(ETAG, tag.header());
    Ok(response)
}

/// A manifest or a part, or a range of one.
async fn get_part(
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    download: DownloadRequest,
    Path((generation, part)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let store = index(&state, &request)?;
    let slot = state.downloads.acquire(Class::Key, request.holder(), Instant::now())?;
    let respond = move || {
        let mut file = store.open_published(&generation, &part).map_err(|_| ApiError::RouteNotFound)?;
        let length = file.metadata().map_err(ApiError::internal)?.len();
        let range = download.range(length)?;
        let (first, count) =
            range.as_ref().map_or((0, length), |range| (*range.start(), range.end() + 1 - range.start()));
        file.seek(SeekFrom::Start(first)).map_err(ApiError::internal)?;
        let mut response = Response::new(downloads::body(file.take(count), slot));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        downloads::set_range(&mut response, length, range.as_ref());
        Ok(response)
    };
    let responded = tokio::task::spawn_blocking(move || panics::catch(respond)).await.map_err(ApiError::internal)?;
    responded.unwrap_or_else(|panic| Err(ApiError::Panicked(panic)))
}
