//! Products: the list, and one of them.

use axum::body::Body;
use axum::response::Response;
use utoipa::ToSchema;

use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::operation::Answered;
use crate::http::paging::{self, Depth, ListBody};
use crate::http::params::definition::{
    CATEGORY, EVIDENCE_CHECKED_BEFORE, EVIDENCE_STATUS, LIMIT, LIST_SORT, MIN_RATING, OFFERING_TYPE, QUERIED_OFFSET,
    query, software_filter,
};
use crate::http::params::value::Text;
use crate::http::params::{AnyParameter, FromParameters, Parameter, Params, Values};
use crate::http::problem::ApiError;
use crate::http::request::ApiRequest;
use crate::resource::{Pagination, SoftwareDetail, SoftwareItem};
use crate::service::{self, ListSoftware, SoftwareFilter};

static Q: Parameter<Text> = query(
    "Only products whose name or other name has, for every word of this, a word that starts with it. Case, accents and \
     compounds written apart or together don't matter. Best match first unless `sort` is given.",
);

impl FromParameters for ListSoftware {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[
        &Q,
        &CATEGORY,
        &OFFERING_TYPE,
        &EVIDENCE_STATUS,
        &MIN_RATING,
        &EVIDENCE_CHECKED_BEFORE,
        &LIST_SORT,
        &LIMIT,
        &QUERIED_OFFSET,
    ];

    fn read(values: &mut Values<'_>) -> Self {
        let q = values.query(&Q);
        Self {
            filter: software_filter(values),
            sort: values.one(&LIST_SORT),
            page: values.queried_page(&LIMIT, q.as_deref()),
            q,
        }
    }
}

/// A page of products.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
struct SoftwareList {
    data: Vec<SoftwareItem<'static>>,
    pagination: Pagination,
}

/// List products
///
/// All products, or those that a name search and filters leave.
#[utoipa::path(
    get,
    path = "/v1/software",
    operation_id = "listSoftware",
    tag = "Software",
    params(Params<ListSoftware>),
    responses((status = 200, description = "A page of products", body = SoftwareList), ApiErrors),
)]
pub(super) fn list_software(request: &ApiRequest<'_>) -> Result<Answered, ApiError> {
    let query: ListSoftware = request.params()?;
    let is_ready = query.q.is_none() && query.filter == SoftwareFilter::default();
    let answer = move |request: &ApiRequest<'_>| {
        let page = service::list_software(request.snapshot, &query)?;
        Ok(ListBody::of_page(&page)?.into_response(request, Depth::of(query.q.as_deref())))
    };
    if is_ready { answer(request).map(Answered::Now) } else { Ok(Answered::Later(Box::new(answer))) }
}

/// A product.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
struct SoftwareRecord {
    data: SoftwareDetail<'static>,
}

/// Get a product
///
/// Everything its record says: evidence with its sources, the properties that the directory doesn't interpret, and the
/// export that it is from, with its licence.
#[utoipa::path(
    get,
    path = "/v1/software/{id}",
    operation_id = "getSoftware",
    tag = "Software",
    params(("id" = String, Path, description = "The product's id, percent-encoded")),
    responses((status = 200, description = "The product", body = SoftwareRecord), NotFound, ApiErrors),
)]
pub(super) fn get_software(request: &ApiRequest<'_>) -> Result<Response, ApiError> {
    let id = request.id()?;
    let () = request.params()?;
    let body = service::get_software(request.snapshot, &id).ok_or(ApiError::SoftwareNotFound(id))?;
    Ok(paging::json(Body::from(body)))
}
