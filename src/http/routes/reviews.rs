//! Reviews of a product.

use axum::response::Response;
use utoipa::ToSchema;

use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::paging::{Depth, ListBody};
use crate::http::params::definition::{LIMIT, OFFSET};
use crate::http::params::{AnyParameter, FromParameters, Params, Values};
use crate::http::problem::ApiError;
use crate::http::request::ApiRequest;
use crate::resource::{Pagination, ReviewResource, ReviewSummary};
use crate::service::{self, PageRequest};

pub(super) struct ListReviews(PageRequest);

impl FromParameters for ListReviews {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&LIMIT, &OFFSET];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LIMIT, &OFFSET))
    }
}

/// A page of a product's reviews, and all of them summed up.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
struct ReviewList {
    data: Vec<ReviewResource<'static>>,
    pagination: Pagination,
    summary: ReviewSummary,
}

/// List reviews of a product
///
/// Newest first. A product without reviews has an empty list.
#[utoipa::path(
    get,
    path = "/v1/reviews/{id}",
    operation_id = "listReviews",
    tag = "Reviews",
    params(("id" = String, Path, description = "The product's id, percent-encoded"), Params<ListReviews>),
    responses((status = 200, description = "A page of reviews", body = ReviewList), NotFound, ApiErrors),
)]
pub(super) fn list_reviews(request: &ApiRequest<'_>) -> Result<Response, ApiError> {
    let id = request.id()?;
    let ListReviews(page) = request.params()?;
    let reviews = service::list_reviews(request.snapshot, &id, page).ok_or(ApiError::SoftwareNotFound(id))?;
    let body = ListBody::of_page(&reviews.page)?.with("summary", reviews.summary)?;
    Ok(body.into_response(request, Depth::Whole))
}
