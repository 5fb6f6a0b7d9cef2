//! The `PathId` extractor.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::http::problem::ApiError;
use crate::http::state::AppState;

/// The id at the end of the path. It's percent-decoded once, and then only used for comparisons.
#[derive(Debug)]
pub(in crate::http) struct PathId(pub(in crate::http) String);

impl FromRequestParts<Arc<AppState>> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let Path(id) = Path::from_request_parts(parts, state).await.map_err(|_| {
            ApiError::BadRequest("The id in the path isn't valid UTF-8 once decoded. Percent-encode ids as UTF-8.")
        })?;
        Ok(Self(id))
    }
}
