//! Attributes.

use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{AttributeResource, Pagination};
use crate::http::extract::query::{FromParameters, Parameters, Query};
use crate::http::extract::{Lang, MaxOffset, PageLinks, Served};
use crate::http::openapi::ApiErrors;
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{LANG, LONG_LIMIT, OFFSET};
use crate::service::{self, PageRequest};

pub(in crate::http) struct ListAttributes(PageRequest);

impl FromParameters for ListAttributes {
    const PARAMETERS: Parameters = &[&[&LANG, &LONG_LIMIT, &OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LONG_LIMIT, &OFFSET))
    }
}

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
    params(Query<ListAttributes>),
    responses((status = 200, description = "A page of attributes", body = AttributeList), ApiErrors),
)]
pub(in crate::http) async fn list_attributes(
    served: Served,
    Query(ListAttributes(page)): Query<ListAttributes>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let page = service::list_attributes(served.catalogue(), page, lang.language())?;
    let links = links.header(page.pagination, MaxOffset::Unbounded);
    Ok(lang.mark(page.is_in_language, ListBody::from_page(&page)?.finish().into_response(links)))
}
