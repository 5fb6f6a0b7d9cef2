//! Reviews of a product.

use axum::response::Response;
use utoipa::ToSchema;

use crate::http::extract::query::definition::{LIMIT, OFFSET};
use crate::http::extract::query::{AnyParameter, FromParameters, Query, Values};
use crate::http::extract::{MaxOffset, PageLinks, PathId, Snapshot};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::resource::{Pagination, ReviewResource, ReviewSummary};
use crate::service::{self, PageRequest};

pub(in crate::http) struct ListReviews(PageRequest);

impl FromParameters for ListReviews {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&LIMIT, &OFFSET];

    fn read(values: &mut Values<'_>) -> Self {
        Self(values.page(&LIMIT, &OFFSET))
    }
}

/// A page of a product's reviews, and all of them summed up.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a response that is put together from bytes")]
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
    params(("id" = String, Path, description = "The product's id, percent-encoded"), Query<ListReviews>),
    responses((status = 200, description = "A page of reviews", body = ReviewList), NotFound, ApiErrors),
)]
pub(in crate::http) async fn list_reviews(
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(ListReviews(page)): Query<ListReviews>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let reviews = service::list_reviews(&snapshot, &id, page).ok_or(ApiError::SoftwareNotFound(id))?;
    let body = ListBody::of_page(&reviews.page)?.with("summary", reviews.summary)?;
    let links = links.header(reviews.page.pagination, MaxOffset::Unbounded);
    Ok(body.finish().into_response(links))
}
