//! The export files that make up the directory, for download.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::response::Response;
use utoipa::ToSchema;

use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::paging::{Depth, ListBody};
use crate::http::params::definition::{LIMIT, OFFSET};
use crate::http::params::value::OneOf;
use crate::http::params::{AnyParameter, FromParameters, Parameter, Params, Values};
use crate::http::problem::ApiError;
use crate::http::request::{ApiRequest, Id};
use crate::resource::{ExportResource, Pagination};
use crate::service::{self, PageRequest};

pub(super) struct ListExports(PageRequest);

impl FromParameters for ListExports {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&LIMIT, &OFFSET];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LIMIT, &OFFSET))
    }
}

/// A page of exports.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
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
    params(Params<ListExports>),
    responses((status = 200, description = "A page of exports", body = ExportList), ApiErrors),
)]
pub(super) async fn list_exports(
    request: ApiRequest,
    Params(ListExports(page)): Params<ListExports>,
) -> Result<Response, ApiError> {
    let page = service::list_exports(&request.snapshot, page);
    Ok(ListBody::of_page(&page)?.into_response(&request, Depth::Whole))
}

#[derive(Debug, Clone, Copy, Default)]
enum Format {
    #[default]
    Json,
    Ndjson,
}

static FORMAT: Parameter<OneOf<Format>> = Parameter {
    name: "format",
    about: "`json` is the export as it was validated; `ndjson` one record a line, each with its export and licence.",
    value: OneOf { values: &[("json", Format::Json), ("ndjson", Format::Ndjson)], default: Some("json") },
    repeatable: false,
};

pub(super) struct GetExport {
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
    params(("id" = String, Path, description = "The export's id, percent-encoded"), Params<GetExport>),
    responses(
        (status = 200, description = "The export", content(
            (Object = "application/json"),
            (String = "application/x-ndjson"),
        )),
        NotFound,
        ApiErrors,
    ),
)]
pub(super) async fn get_export(
    request: ApiRequest,
    Id(id): Id,
    Params(GetExport { format }): Params<GetExport>,
) -> Result<Response, ApiError> {
    let export = service::get_export(&request.snapshot, &id).ok_or(ApiError::ExportNotFound(id))?;
    let (body, content_type) = match format {
        Format::Json => (export.json(), "application/json"),
        Format::Ndjson => (export.ndjson(), "application/x-ndjson"),
    };
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    // A URI is ASCII.
    let license = HeaderValue::try_from(format!("<{}>; rel=\"license\"", export.license())).ok();
    headers.extend(license.map(|license| (LINK, license)));
    Ok(response)
}
