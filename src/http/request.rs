//! A request under `/v1` as handlers see it: the one snapshot it is answered from, and what was asked.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Uri;
use axum::http::request::Parts;

use super::params::RawQuery;
use super::problem::ApiError;
use crate::snapshot::Snapshot;

/// Extractor: the snapshot, taken once, and the decoded query.
#[derive(Debug, Clone)]
pub(crate) struct ApiRequest(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) query: RawQuery,
    uri: Uri,
    path_prefix: Arc<str>,
}

/// A handler that needs an API request was mounted elsewhere than under `/v1`.
#[derive(Debug, thiserror::Error)]
#[error("the route is not mounted under /v1")]
struct NotUnderV1;

impl ApiRequest {
    pub(super) fn new(snapshot: Arc<Snapshot>, query: RawQuery, uri: Uri, path_prefix: Arc<str>) -> Self {
        Self(Arc::new(Inner { snapshot, query, uri, path_prefix }))
    }

    /// The API request that the application noted.
    ///
    /// # Errors
    /// Where there is none: the route is mounted in the wrong place.
    pub(super) fn of(parts: &Parts) -> Result<&Self, ApiError> {
        parts.extensions.get().ok_or_else(|| ApiError::Internal(Arc::new(NotUnderV1)))
    }

    /// The request's path as a link to itself: as the caller sees it, in ASCII, without a slash at its end.
    pub(crate) fn link_path(&self) -> String {
        let mut path = self.path_prefix.to_string();
        for byte in canonical_path(self.uri.path()).bytes() {
            match byte {
                b'!' | b'#'..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'~' => {
                    path.push(char::from(byte));
                }
                // Writing to a string can't fail.
                _ => drop(write!(path, "%{byte:02X}")),
            }
        }
        path
    }
}

impl std::ops::Deref for ApiRequest {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for ApiRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Self::of(parts).cloned()
    }
}

/// A path without the slash at its end: with or without it, it is the same resource.
pub(super) fn canonical_path(path: &str) -> &str {
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => path,
    }
}

/// Extractor: the id in the path, percent-decoded once and from then on only compared.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| {
            ApiError::BadRequest("The id in the path isn't valid UTF-8 once decoded. Percent-encode ids as UTF-8.")
        })?;
        params.iter().next().map(|(_, id)| Self(id.to_owned())).ok_or(ApiError::RouteNotFound)
    }
}
