//! The `Snapshot` extractor.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::snapshot;

/// The generation that the whole request is answered from: the current one when the request came.
///
/// Middleware takes it from the directory once and inserts it as an extension; nothing else in a request does.
#[derive(Debug, Clone)]
pub(in crate::http) struct Snapshot(pub(in crate::http) Arc<snapshot::Snapshot>);

impl Deref for Snapshot {
    type Target = snapshot::Snapshot;

    fn deref(&self) -> &snapshot::Snapshot {
        &self.0
    }
}

impl FromRequestParts<Arc<AppState>> for Snapshot {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or(ApiError::IndexUnavailable)
    }
}
