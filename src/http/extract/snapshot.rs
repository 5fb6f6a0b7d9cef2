//! The `Served`, `Snapshot` and `PathId` extractors.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::export::Skipped;
use crate::generation;
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
