//! Categories.

use axum::response::Response;
use utoipa::ToSchema;

use crate::http::openapi::ApiErrors;
use crate::http::paging::{Depth, ListBody};
use crate::http::params::definition::{OFFSET, limit};
use crate::http::params::value::Integer;
use crate::http::params::{AnyParameter, FromParameters, Parameter, Params, Values};
use crate::http::problem::ApiError;
use crate::http::request::ApiRequest;
use crate::resource::{CategoryResource, Pagination};
use crate::service::{self, PageRequest};

/// Most directories have fewer categories than fit on one page of this size.
static LIMIT: Parameter<Integer> = limit(100);

pub(super) struct ListCategories(PageRequest);

impl FromParameters for ListCategories {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&LIMIT, &OFFSET];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LIMIT, &OFFSET))
    }
}

/// A page of categories.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
struct CategoryList {
    data: Vec<CategoryResource>,
    pagination: Pagination,
}

/// List categories
///
/// All categories by name, those without products too.
#[utoipa::path(
    get,
    path = "/v1/categories",
    operation_id = "listCategories",
    tag = "Categories",
    params(Params<ListCategories>),
    responses((status = 200, description = "A page of categories", body = CategoryList), ApiErrors),
)]
pub(super) fn list_categories(request: &ApiRequest<'_>) -> Result<Response, ApiError> {
    let ListCategories(page) = request.params()?;
    let page = service::list_categories(request.snapshot, page);
    Ok(ListBody::of_page(&page)?.into_response(request, Depth::Whole))
}
