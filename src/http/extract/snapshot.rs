//! The `Snapshot` extractor.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::generation;
use crate::http::problem::ApiError;
use crate::http::state::AppState;

/// The generation that the whole request is answered from: the one that was current when it
/// arrived.
///
/// Middleware reads it from the directory once and inserts it as an extension. Nothing else reads
/// the directory during a request.
#[derive(Debug, Clone)]
pub(in crate::http) struct Snapshot(pub(in crate::http) Arc<generation::Snapshot>);

impl Deref for Snapshot {
    type Target = generation::Snapshot;

    fn deref(&self) -> &generation::Snapshot {
        &self.0
    }
}

impl FromRequestParts<Arc<AppState>> for Snapshot {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or(ApiError::IndexUnavailable)
    }
}
