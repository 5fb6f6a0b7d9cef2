//! The `Served` and `Snapshot` extractors, and what a download request asks for.

use std::convert::Infallible;
use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::header::{IF_RANGE, RANGE};
use axum::http::request::Parts;
use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::export::Skipped;
use crate::generation;
use crate::http::content_coding::Coding;
use crate::http::entity_tag::EntityTag;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::opensearch::Directory;
use crate::record::Language;
use crate::service::{self, ListGlossary, Page, ServiceError, Stop};

/// What the whole request is answered from: whatever was current when it arrived.
///
/// Middleware gets it from the state once and inserts it as an extension. Nothing else reads the
/// directory during a request.
#[derive(Debug, Clone)]
pub(in crate::http) enum Served {
    Snapshot(Snapshot),
    OpenSearch(Directory),
}

impl Served {
    pub(in crate::http) fn catalogue(&self) -> &Catalogue {
        match self {
            Self::Snapshot(snapshot) => &snapshot.catalogue,
            Self::OpenSearch(directory) => &directory.view.catalogue,
        }
    }

    pub(in crate::http) fn list_glossary(
        &self,
        query: &ListGlossary,
        language: Option<&Language>,
        stop: &Stop,
    ) -> Result<Page, ServiceError> {
        let glossary = match self {
            Self::Snapshot(snapshot) => &snapshot.glossary,
            Self::OpenSearch(directory) => &directory.view.glossary,
        };
        service::list_glossary(self.catalogue(), glossary, query, language, stop)
    }

    pub(in crate::http) fn generation(&self) -> &str {
        match self {
            Self::Snapshot(snapshot) => snapshot.generation(),
            Self::OpenSearch(directory) => directory.view.generation(),
        }
    }

    pub(in crate::http) fn changed_at(&self) -> &str {
        match self {
            Self::Snapshot(snapshot) => snapshot.changes.changed_at(),
            Self::OpenSearch(directory) => directory.view.changes.changed_at(),
        }
    }

    /// When this was published, in seconds since 1970, if it says so itself.
    pub(in crate::http) fn published_at(&self) -> Option<i64> {
        match self {
            Self::Snapshot(_) => None,
            Self::OpenSearch(directory) => {
                directory.view.published_at().parse().ok().map(|at: Timestamp| at.as_second())
            }
        }
    }

    pub(in crate::http) fn software_count(&self) -> u64 {
        match self {
            Self::Snapshot(snapshot) => snapshot.software_count() as u64,
            Self::OpenSearch(directory) => directory.view.software_count(),
        }
    }

    /// The invalid part of the exports, which was left out.
    pub(in crate::http) fn skipped(&self) -> Skipped {
        match self {
            Self::Snapshot(snapshot) => snapshot.skipped(),
            Self::OpenSearch(directory) => directory.view.skipped(),
        }
    }
}

impl FromRequestParts<Arc<AppState>> for Served {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or(ApiError::IndexUnavailable)
    }
}

/// The generation that the whole request is answered from. A directory in OpenSearch has none, so
/// what needs one isn't offered there.
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

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        match Served::from_request_parts(parts, state).await? {
            Served::Snapshot(snapshot) => Ok(snapshot),
            Served::OpenSearch(_) => Err(ApiError::NotOffered("this path")),
        }
    }
}

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
