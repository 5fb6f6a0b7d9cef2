//! The export files that make up the directory, for download.

use std::convert::Infallible;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{FromRequestParts, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, IF_RANGE, LINK, RANGE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse as _, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use utoipa::ToSchema;

use crate::catalogue::StoredExport;
use crate::catalogue::resource::{ExportResource, Pagination, SkippedResource};
use crate::http::content_coding::Coding;
use crate::http::downloads;
use crate::http::entity_tag::EntityTag;
use crate::http::extract::query::{FromParameters, Pages, Parameters, Query};
use crate::http::extract::{PageLinks, PathId, Served, Snapshot};
use crate::http::middleware::{Cost, RequestContext};
use crate::http::openapi::{ApiErrors, NotFound, NotOffered, RangeNotSatisfiable};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::http::shares::{Class, Share};
use crate::http::state::AppState;
use crate::panics;
use crate::service::parameter::value::OneOf;
use crate::service::parameter::{Parameter, Values};
use crate::service::{self, ServiceError};

/// A page of exports.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct ExportList {
    data: Vec<ExportResource>,
    pagination: Pagination,
    skipped: SkippedResource,
}

/// List exports
///
/// Each loaded export file with its licence, and how many exports and records were left out as invalid (`skipped`).
#[utoipa::path(
    get,
    path = "/v1/exports",
    operation_id = "listExports",
    tag = "Exports",
    params(Query<Pages>),
    responses((status = 200, description = "A page of exports", body = ExportList), ApiErrors),
)]
pub(in crate::http) async fn list_exports(
    served: Served,
    Query(Pages(page)): Query<Pages>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let page = service::list_exports(served.catalogue(), page);
    let skipped = served.skipped();
    let skipped = SkippedResource { export_count: skipped.exports, record_count: skipped.records };
    Ok(ListBody::from_page(&page)?.with("skipped", &skipped)?.into_response(&links, None))
}

/// What follows an export's id in the path of its signature.
const SIGNATURE: &str = ".minisig";

#[derive(Debug, Clone, Copy, Default)]
enum Format {
    #[default]
    Json,
    Ndjson,
}

impl Format {
    /// The format's name in requests, which is also its file extension.
    const fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Ndjson => "application/x-ndjson",
        }
    }
}

static FORMAT: Parameter<OneOf<Format>> = Parameter::new(
    "format",
    "`json` is the export exactly as validated; `ndjson` has one record per line, each with its id in the API (`api_id`), its export and its licence.",
    "json",
    OneOf { values: &[Format::Json, Format::Ndjson], name: Format::extension, default: Some(Format::Json) },
);

pub(in crate::http) struct GetExport {
    format: Format,
}

impl FromParameters for GetExport {
    const PARAMETERS: Parameters = &[&[&FORMAT]];

    fn read(values: &mut Values<'_>) -> Self {
        Self { format: values.one(&FORMAT).unwrap_or_default() }
    }
}

/// How to send a download.
pub(in crate::http) struct DownloadRequest {
    is_get: bool,
    /// The preferred coding among those that exports are stored in.
    coding: Option<Coding>,
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
    fn range(&self, length: u64) -> Result<Option<RangeInclusive<u64>>, ApiError> {
        let range = self.range.as_deref().map(http_range_header::parse_range_header);
        let Some(Ok(range)) = range else { return Ok(None) };
        let mut range = range.validate(length).map_err(|_| ApiError::RangeNotSatisfiable { length })?;
        Ok(range.pop())
    }
}

/// Download an export
///
/// The whole document, as described by the JSON Schema at `/schemas/export.json`. It is streamed; `json` is compressed with
/// zstd if the request accepts that.
///
/// If the list says that an export is `signed_by` a key, the id followed by `.minisig` is its signature, as text, which
/// minisign verifies against the `json` document.
///
/// A single range in the `Range` header selects part of a `json` document, so an interrupted download can be resumed.
/// With the entity tag in `If-Range`, the part is guaranteed to come from the same document.
///
/// A download counts as one request against the quota for each MiB, or part of a MiB, of the document (`size_bytes` in
/// the list) up to the end of the range. It may exceed the remaining quota; further requests then have to wait until the
/// excess is paid off.
///
/// A key or a visitor may have up to 4 downloads in progress (429 beyond that). The limit is 32 across all keys
/// and 16 across all visitors (503 beyond that). Once all of these are in use, a download slower than 128 KiB/s
/// is dropped to make room for a new one.
#[utoipa::path(
    get,
    path = "/v1/exports/{id}",
    operation_id = "getExport",
    tag = "Exports",
    params(("id" = String, Path, description = "The export's id, percent-encoded; with `.minisig` after it, the export's signature", example = "demo"), Query<GetExport>),
    responses(
        (status = 200, description = "The export", content(
            (HashMap<String, Value> = "application/json"),
            (String = "application/x-ndjson"),
            (String = "text/plain"),
        )),
        (status = 206, description = "The part of the export requested with `Range`", content(
            (String = "application/json"),
        )),
        NotFound,
        RangeNotSatisfiable,
        NotOffered,
        ApiErrors,
    ),
)]
pub(in crate::http) async fn get_export(
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    download: DownloadRequest,
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(GetExport { format }): Query<GetExport>,
) -> Result<Response, ApiError> {
    let coding = download.coding.filter(|_| matches!(format, Format::Json));
    let respond = move || -> Result<_, ApiError> {
        let signed = id.strip_suffix(SIGNATURE).and_then(|id| Some((id, service::get_export(&snapshot, id)?)));
        let export = match (service::get_export(&snapshot, &id), signed) {
            (Some(export), _) => export,
            (None, Some((id, export))) => {
                let text = export.signature().ok_or_else(|| ApiError::SignatureNotFound(id.to_owned()))?;
                return Ok(text.to_owned().into_response());
            }
            (None, None) => return Err(ApiError::ExportNotFound(id)),
        };
        let holder = request.holder();
        let slot = state.downloads.acquire(Class::of(&holder), holder, Instant::now())?;
        let stored = export.open().map_err(ServiceError::from)?;
        let size = stored.size_bytes;
        let length = if coding.is_some() { stored.compressed_bytes } else { size };
        let range = match format {
            Format::Json => download.range(length)?,
            Format::Ndjson => None,
        };
        let license = format!("<{}>; rel=\"license\"", export.license());
        let mut response = stream(stored, format, coding, range.as_ref(), slot).map_err(ServiceError::from)?;
        // URIs and percent-encoded names are ASCII.
        response.headers_mut().extend(HeaderValue::try_from(license).ok().map(|license| (LINK, license)));
        let disposition = HeaderValue::try_from(attachment(&id, format.extension())).ok();
        response.headers_mut().extend(disposition.map(|disposition| (CONTENT_DISPOSITION, disposition)));
        if download.is_get {
            response.extensions_mut().insert(cost(size, length, coding, range.as_ref()));
        }
        Ok(response)
    };
    // Reads the whole file once to verify its checksum.
    let responded = tokio::task::spawn_blocking(move || panics::catch(respond)).await.map_err(ApiError::internal)?;
    responded.unwrap_or_else(|panic| Err(ApiError::Panicked(panic)))
}

/// What a download costs. For a range of the uncompressed document, everything before
/// the range counts as well, since it has to be decompressed. A range of the compressed document
/// costs its proportional share.
fn cost(size: u64, length: u64, coding: Option<Coding>, range: Option<&RangeInclusive<u64>>) -> Cost {
    let bytes = match (range, coding) {
        (None, _) => size,
        (Some(range), None) => range.end() + 1,
        (Some(range), Some(_)) => {
            let share = u128::from(range.end() + 1 - range.start()) * u128::from(size) / u128::from(length.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        }
    };
    downloads::cost(bytes)
}

/// A `Content-Disposition` header with a file name (RFC 6266), in ASCII.
fn attachment(id: &str, extension: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let value = format!("attachment; filename=\"{plain}.{extension}\"");
    if plain != id {
        let encoded = utf8_percent_encode(id, NON_ALPHANUMERIC);
        return format!("{value}; filename*=UTF-8''{encoded}.{extension}");
    }
    value
}

/// The response with the document or a range of it, in the given format. Only `json` is stored
/// compressed, has a known length and supports ranges.
fn stream(
    stored: StoredExport,
    format: Format,
    coding: Option<Coding>,
    range: Option<&RangeInclusive<u64>>,
    slot: Share,
) -> io::Result<Response> {
    let whole = if coding.is_some() { stored.compressed_bytes } else { stored.size_bytes };
    let body = match (format, coding, range) {
        (Format::Json, Some(_), None) => downloads::body(stored.compressed(), slot),
        (Format::Json, Some(_), Some(range)) => downloads::body(stored.compressed_range(range.clone()), slot),
        (Format::Json, None, None) => downloads::body(stored.json()?, slot),
        (Format::Json, None, Some(range)) => downloads::body(stored.json_range(range.clone())?, slot),
        (Format::Ndjson, ..) => downloads::body(stored.ndjson()?, slot),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    headers.extend(coding.map(|coding| (CONTENT_ENCODING, coding.header())));
    if matches!(format, Format::Json) {
        downloads::set_range(&mut response, whole, range);
    }
    Ok(response)
}
