//! The export files that make up the directory, for download.

use std::io;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LINK};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::StoredExport;
use crate::http::content_coding::Coding;
use crate::http::downloads::{self, Permit};
use crate::http::extract::query::definition::{LIMIT, OFFSET};
use crate::http::extract::query::value::OneOf;
use crate::http::extract::query::{AnyParameter, FromParameters, Parameter, Query, Values};
use crate::http::extract::{MaxOffset, PageLinks, PathId, Snapshot};
use crate::http::middleware::{Cost, RequestContext};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::http::state::AppState;
use crate::panics;
use crate::resource::{ExportResource, Pagination, SkippedResource};
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
    skipped: SkippedResource,
}

/// List exports
///
/// The loaded export files, each with its licence, and how much is left out because it is invalid (`skipped`).
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
    let skipped = snapshot.skipped();
    let skipped = SkippedResource { export_count: skipped.exports, record_count: skipped.records };
    Ok(ListBody::of_page(&page)?.with("skipped", &skipped)?.finish().into_response(links))
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

/// The bytes of an export's document that cost one request of the quota.
const BYTES_PER_REQUEST: u64 = 1 << 20;

/// Download an export
///
/// The whole document, described by the JSON Schema at `/schemas/export.json`. It is streamed, as zstd where the request accepts
/// that for `json`, else as it is. Each started MiB of the document (`size_bytes` in the list) costs a request of the quota; a
/// download larger than what is left is possible while anything is left, and the quota then waits accordingly. A key may have 4
/// downloads in progress (429), all keys together 32 (503).
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
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    method: Method,
    headers: HeaderMap,
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(GetExport { format }): Query<GetExport>,
) -> Result<Response, ApiError> {
    let coding = Coding::preferred(&headers, &[Coding::Zstd]);
    let respond = move || -> Result<_, ApiError> {
        let export = service::get_export(&snapshot, &id).ok_or(ApiError::ExportNotFound(id))?;
        let permit = state.downloads.acquire(request.holder())?;
        let stored = export.open().map_err(internal)?;
        let cost = u32::try_from(stored.size_bytes().div_ceil(BYTES_PER_REQUEST)).unwrap_or(u32::MAX);
        let license = format!("<{}>; rel=\"license\"", export.license());
        let mut response = stream(stored, format, coding, permit).map_err(internal)?;
        // A URI is ASCII.
        response.headers_mut().extend(HeaderValue::try_from(license).ok().map(|license| (LINK, license)));
        if method == Method::GET {
            response.extensions_mut().insert(Cost(cost));
        }
        Ok(response)
    };
    // Reads the whole file once, to compare it with its checksum.
    let responded = tokio::task::spawn_blocking(move || panics::catch(respond)).await.map_err(internal)?;
    responded.unwrap_or_else(|panic| Err(ApiError::Panicked(panic)))
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> ApiError {
    ApiError::Internal(Arc::new(error))
}

/// The response with the document in a format. Only `json` has a stored compressed form and a known length.
fn stream(stored: StoredExport, format: Format, coding: Option<Coding>, permit: Permit) -> io::Result<Response> {
    let (length, coding, body) = match (format, coding) {
        (Format::Json, Some(coding)) => {
            (Some(stored.compressed_bytes()), Some(coding), downloads::body(stored.compressed(), permit))
        }
        (Format::Json, None) => (Some(stored.size_bytes()), None, downloads::body(stored.json()?, permit)),
        (Format::Ndjson, _) => (None, None, downloads::body(stored.ndjson()?, permit)),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    headers.extend(coding.map(|coding| (CONTENT_ENCODING, coding.header())));
    headers.extend(length.map(|length| (CONTENT_LENGTH, HeaderValue::from(length))));
    Ok(response)
}
