//! Categories.

use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{CategoryResource, Pagination};
use crate::http::extract::query::{InLanguage, LongPages, Query};
use crate::http::extract::{Lang, PageLinks, PathId, Served};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::{self, ListBody};
use crate::service;

/// A page of categories.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct CategoryList {
    data: Vec<CategoryResource>,
    pagination: Pagination,
}

/// List categories
///
/// All categories, sorted by name, including those without products.
#[utoipa::path(
    get,
    path = "/v1/categories",
    operation_id = "listCategories",
    tag = "Categories",
    params(Query<LongPages>),
    responses((status = 200, description = "A page of categories", body = CategoryList), ApiErrors),
)]
pub(in crate::http) async fn list_categories(
    served: Served,
    Query(LongPages(page)): Query<LongPages>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let page = service::list_categories(served.catalogue(), page, lang.language())?;
    Ok(lang.mark(page.is_in_language, ListBody::from_page(&page)?.into_response(&links, None)))
}

/// A category.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct CategoryRecord {
    data: CategoryResource,
}

/// Get a category
///
/// The category's description and how many products are in it. `/v1/software?category=ID` lists the products.
#[utoipa::path(
    get,
    path = "/v1/categories/{id}",
    operation_id = "getCategory",
    tag = "Categories",
    params(("id" = String, Path, description = "The category's id, percent-encoded", example = "audit-management"), Query<InLanguage>),
    responses((status = 200, description = "The category", body = CategoryRecord), NotFound, ApiErrors),
)]
pub(in crate::http) async fn get_category(
    served: Served,
    PathId(id): PathId,
    Query(InLanguage): Query<InLanguage>,
    lang: Lang,
) -> Result<Response, ApiError> {
    match service::get_category(served.catalogue(), &id, lang.language())? {
        Some((object, is_in_language)) => Ok(lang.mark(is_in_language, response::stored_record(&object))),
        None => Err(ApiError::CategoryNotFound { renamed: served.catalogue().renamed_categories(&id), id }),
    }
}
