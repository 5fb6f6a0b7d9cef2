//! Attributes.

use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{AttributeResource, Pagination};
use crate::http::extract::query::{LongPages, Query};
use crate::http::extract::{Lang, PageLinks, Served};
use crate::http::openapi::ApiErrors;
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::service;

/// A page of attributes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct AttributeList {
    data: Vec<AttributeResource<'static>>,
    pagination: Pagination,
}

/// List attributes
///
/// The properties that products can be filtered, counted and sorted by: the built-in ones first, then those declared by
/// exports.
#[utoipa::path(
    get,
    path = "/v1/attributes",
    operation_id = "listAttributes",
    tag = "Search",
    params(Query<LongPages>),
    responses((status = 200, description = "A page of attributes", body = AttributeList), ApiErrors),
)]
pub(in crate::http) async fn list_attributes(
    served: Served,
    Query(LongPages(page)): Query<LongPages>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let page = service::list_attributes(served.catalogue(), page, lang.language())?;
    Ok(lang.mark(page.is_in_language, ListBody::from_page(&page)?.into_response(&links, None)))
}
