//! The export files that make up the directory, for download.

use std::sync::Arc;

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
use crate::http::request::ApiRequest;
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
pub(super) fn list_exports(request: &ApiRequest<'_>) -> Result<Response, ApiError> {
    let ListExports(page) = request.params()?;
    let page = service::list_exports(request.snapshot, page);
    Ok(ListBody::of_page(&page)?.into_response(request, Depth::Whole))
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
pub(super) fn get_export(request: &ApiRequest<'_>) -> Result<Response, ApiError> {
    let id = request.id()?;
    let GetExport { format } = request.params()?;
    let export = service::get_export(request.snapshot, &id).ok_or(ApiError::ExportNotFound(id))?;
    let body = match format {
        Format::Json => export.json(),
        Format::Ndjson => export.ndjson(),
    };
    let mut response = Response::new(Body::from(body.map_err(|error| ApiError::Internal(Arc::new(error)))?));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    // A URI is ASCII.
    let license = format!("<{}>; rel=\"license\"", export.license());
    headers.extend(HeaderValue::try_from(license).ok().map(|license| (LINK, license)));
    Ok(response)
}
