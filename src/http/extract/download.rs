//! How to send a download: coding and range.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::header::{IF_RANGE, RANGE};
use axum::http::request::Parts;

use crate::http::content_coding::Coding;
use crate::http::entity_tag::EntityTag;
use crate::http::problem::ApiError;
use crate::http::state::AppState;

pub(in crate::http) struct DownloadRequest {
    pub(in crate::http) is_get: bool,
    /// The preferred coding among those that exports are stored in.
    pub(in crate::http) coding: Option<Coding>,
    /// A single range in any unit. `None` if there are several, or if `If-Range` names another
    /// version.
    range: Option<String>,
}

impl FromRequestParts<Arc<AppState>> for DownloadRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, Infallible> {
        let (headers, is_get) = (&parts.headers, parts.method == Method::GET);
        let tag = parts.extensions.get::<EntityTag>();
        let is_current = headers.get(IF_RANGE).is_none_or(|version| tag.is_some_and(|tag| tag.is_strongly(version)));
        let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
        let range = range.filter(|range| is_get && is_current && !range.contains(',')).map(str::to_owned);
        Ok(Self { is_get, coding: Coding::preferred(headers, &[Coding::Zstd]), range })
    }
}

impl DownloadRequest {
    /// The requested range of a representation of this length (RFC 9110, 14.2); `None` means all of
    /// it.
    pub(in crate::http) fn range(&self, length: u64) -> Result<Option<RangeInclusive<u64>>, ApiError> {
        let range = self.range.as_deref().map(http_range_header::parse_range_header);
        let Some(Ok(range)) = range else { return Ok(None) };
        let mut range = range.validate(length).map_err(|_| ApiError::RangeNotSatisfiable { length })?;
        Ok(range.pop())
    }
}
