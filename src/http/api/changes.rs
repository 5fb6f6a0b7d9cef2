//! The changes since a generation, and a product's history.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{ChangeResource, HistoryEntry, Pagination};
use crate::http::extract::query::{FromParameters, Pages, Parameters, Query};
use crate::http::extract::{PageLinks, PathId, Served, Snapshot};
use crate::http::openapi::{ApiErrors, GenerationGone, NotFound, NotOffered};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{LONG_LIMIT, OFFSET, SINCE};
use crate::service::{self, PageRequest, Stop};

pub(in crate::http) struct ListChanges {
    since: Option<String>,
    page: PageRequest,
}

impl FromParameters for ListChanges {
    const PARAMETERS: Parameters = &[&[&SINCE, &LONG_LIMIT, &OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self { since: values.one(&SINCE), page: values.page(&LONG_LIMIT, &OFFSET) }
    }
}

/// A page of changes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct ChangeList {
    data: Vec<ChangeResource>,
    pagination: Pagination,
    /// The earlier generation.
    from: String,
    /// The current generation, to use as `since` in the next request.
    to: String,
}

/// List changes
///
/// The ids of all products that have been added, changed or removed since a generation. The server remembers the last
/// hundred generations, or fewer after very large changes. If the generation is older or unknown, the response is 410;
/// download the whole directory from `/v1/exports` instead. Changing only an export's name, licence or date doesn't
/// count as changing its products, but shows in `/v1/exports`.
#[utoipa::path(
    get,
    path = "/v1/changes",
    operation_id = "listChanges",
    tag = "Exports",
    params(Query<ListChanges>),
    responses(
        (status = 200, description = "A page of changes", body = ChangeList),
        GenerationGone,
        ApiErrors,
    ),
)]
pub(in crate::http) async fn list_changes(
    State(state): State<Arc<AppState>>,
    served: Served,
    Query(ListChanges { since, page }): Query<ListChanges>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    // Reads the entire log.
    let list = move |stop: Stop| {
        let page = match &served {
            Served::Snapshot(snapshot) => service::list_changes(snapshot, since.as_deref(), page, &stop),
            Served::OpenSearch(directory) => directory.list_changes(since.as_deref(), page, &stop),
        };
        let page = page.ok_or_else(|| ApiError::GenerationGone(since.unwrap_or_default()))?;
        let write = |change: &ChangeResource, json: &mut Vec<u8>| {
            serde_json::to_writer(json, change).map_err(ApiError::internal)
        };
        let body = ListBody::new(&page.data, page.pagination, |change| change.id.len() + 100, write)?;
        Ok(body.with("from", &page.from)?.with("to", &page.to)?.into_response(&links, None))
    };
    state.search(list).await?
}

/// A page of a product's history.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct HistoryList {
    data: Vec<HistoryEntry<'static>>,
    pagination: Pagination,
    /// When the history begins (RFC 3339 in UTC): nothing is known about changes before that. Null if
    /// unknown.
    #[schema(required)]
    since: Option<String>,
}

/// List a product's history
///
/// What changed in the product's record, from what to what, and when, newest first, including when it was added and
/// removed. A removed product's history is still available. The server remembers the last hundred generations, and at
/// most 64 KiB for each product: longer values are cut, and `truncated` says so. Hidden attributes are never included.
#[utoipa::path(
    get,
    path = "/v1/software/{id}/history",
    operation_id = "listSoftwareHistory",
    tag = "Software",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin"), Query<Pages>),
    responses((status = 200, description = "A page of the history", body = HistoryList), NotFound, NotOffered, ApiErrors),
)]
pub(in crate::http) async fn list_history(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(Pages(page)): Query<Pages>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let list = move |_: Stop| {
        let Some(history) = service::list_history(&snapshot, &id, page)? else {
            return Err(ApiError::SoftwareNotFound(id));
        };
        let write = |entry: &HistoryEntry<'_>, json: &mut Vec<u8>| {
            serde_json::to_writer(json, entry).map_err(ApiError::internal)
        };
        let body = ListBody::new(&history.data, history.pagination, |_| 200, write)?;
        Ok(body.with("since", &history.since)?.into_response(&links, None))
    };
    state.search(list).await?
}
