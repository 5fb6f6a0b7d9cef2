//! The export files that make up the directory, for download.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::response::Response;
use utoipa::ToSchema;

use crate::http::extract::query::definition::{LIMIT, OFFSET};
use crate::http::extract::query::value::OneOf;
use crate::http::extract::query::{AnyParameter, FromParameters, Parameter, Query, Values};
use crate::http::extract::{MaxOffset, PageLinks, PathId, Snapshot};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::resource::{ExportResource, Pagination};
use crate::service::{self, PageRequest};

pub(in crate::http) struct ListExports(PageRequest);

impl FromParameters for ListExports {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&LIMIT, &OFFSET];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LIMIT, &OFFSET))
    }
}

/// A page of exports.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a response that is put together from bytes")]
struct ExportList {
    data: Vec<ExportResource>,
    pagination: Pagination,
}

/// List exports
///
/// The loaded export files, each with its licence.
#[utoipa::path(
    get,
    path = "/v1/exports",
    operation_id = "listExports",
    tag = "Exports",
    params(Query<ListExports>),
    responses((status = 200, description = "A page of exports", body = ExportList), ApiErrors),
)]
pub(in crate::http) async fn list_exports(
    snapshot: Snapshot,
    Query(ListExports(page)): Query<ListExports>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let page = service::list_exports(&snapshot, page);
    let links = links.header(page.pagination, MaxOffset::Unbounded);
    Ok(ListBody::of_page(&page)?.finish().into_response(links))
}

#[derive(Debug, Clone, Copy, Default)]
enum Format {
    #[default]
    Json,
    Ndjson,
}

impl Format {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Ndjson => "application/x-ndjson",
        }
    }
}

static FORMAT: Parameter<OneOf<Format>> = Parameter {
    name: "format",
    about: "`json` is the export as it was validated; `ndjson` one record a line, each with its export and licence.",
    value: OneOf { values: &[("json", Format::Json), ("ndjson", Format::Ndjson)], default: Some("json") },
    repeatable: false,
};

pub(in crate::http) struct GetExport {
    format: Format,
}

impl FromParameters for GetExport {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&FORMAT];

    fn read(values: &mut Values<'_>) -> Self {
        Self { format: values.one(&FORMAT).unwrap_or_default() }
    }
}

/// Download an export
///
/// The whole document, described by the JSON Schema at `/schemas/export.json`.
#[utoipa::path(
    get,
    path = "/v1/exports/{id}",
    operation_id = "getExport",
    tag = "Exports",
    params(("id" = String, Path, description = "The export's id, percent-encoded"), Query<GetExport>),
    responses(
        (status = 200, description = "The export", content(
            (Object = "application/json"),
            (String = "application/x-ndjson"),
        )),
        NotFound,
        ApiErrors,
    ),
)]
pub(in crate::http) async fn get_export(
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(GetExport { format }): Query<GetExport>,
) -> Result<Response, ApiError> {
    // Reads the file and decompresses all of it.
    let download = move || -> Result<_, ApiError> {
        let export = service::get_export(&snapshot, &id).ok_or(ApiError::ExportNotFound(id))?;
        let body = match format {
            Format::Json => export.json(),
            Format::Ndjson => export.ndjson(),
        };
        let body = body.map_err(|error| ApiError::Internal(Arc::new(error)))?;
        Ok((body, format!("<{}>; rel=\"license\"", export.license())))
    };
    let (body, license) =
        tokio::task::spawn_blocking(download).await.map_err(|error| match error.try_into_panic() {
            Ok(payload) => ApiError::panicked(&*payload),
            Err(error) => ApiError::Internal(Arc::new(error)),
        })??;
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    // A URI is ASCII.
    headers.extend(HeaderValue::try_from(license).ok().map(|license| (LINK, license)));
    Ok(response)
}
