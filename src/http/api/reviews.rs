//! Reviews of a product.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{Pagination, ReviewResource, ReviewSummary};
use crate::http::extract::query::{FromParameters, Parameters, Query};
use crate::http::extract::{PageLinks, PathId, Served};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{LIMIT, MAX_STARS, MIN_STARS, OFFSET, REVIEW_SORT, VERIFIED};
use crate::service::{self, ListReviews, ReviewsPage, Stop};

impl FromParameters for ListReviews {
    const PARAMETERS: Parameters = &[&[&MIN_STARS, &MAX_STARS, &VERIFIED, &REVIEW_SORT, &LIMIT, &OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self::from_values(values)
    }
}

/// A page of a product's reviews, and a summary of all of them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct ReviewList {
    data: Vec<ReviewResource<'static>>,
    pagination: Pagination,
    summary: ReviewSummary,
}

/// List reviews of a product
///
/// Newest first, unless `sort` is given. A product without reviews has an empty list. `summary` always covers all of the
/// product's reviews, even if the list is filtered.
#[utoipa::path(
    get,
    path = "/v1/reviews/{id}",
    operation_id = "listReviews",
    tag = "Reviews",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin"), Query<ListReviews>),
    responses((status = 200, description = "A page of reviews", body = ReviewList), NotFound, ApiErrors),
)]
pub(in crate::http) async fn list_reviews(
    State(state): State<Arc<AppState>>,
    served: Served,
    PathId(id): PathId,
    Query(query): Query<ListReviews>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    // Any other order or filter requires reading all of the product's reviews.
    let is_stored_order = query == ListReviews::all(query.page);
    let write = |reviews: Option<ReviewsPage>, id| {
        let ReviewsPage { page, summary } = reviews.ok_or(ApiError::SoftwareNotFound(id))?;
        ListBody::from_page(&page)?.with("summary", &summary)
    };
    let body = match served {
        Served::Snapshot(snapshot) => {
            let list = move |stop: Stop| write(service::list_reviews(&snapshot, &id, &query, &stop), id);
            if is_stored_order { list(Stop::default()) } else { state.search(list).await? }
        }
        Served::OpenSearch(directory) => write(directory.list_reviews(&id, &query).await?, id),
    }?;
    Ok(body.into_response(&links, None))
}
