//! Reviews of a product.

use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{Pagination, ReviewResource, ReviewSummary};
use crate::http::extract::query::definition::{LIMIT, OFFSET};
use crate::http::extract::query::value::{Decimal, OneOf};
use crate::http::extract::query::{AnyParameter, FromParameters, Parameter, Query, Values};
use crate::http::extract::{MaxOffset, PageLinks, PathId, Snapshot};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::ListBody;
use crate::service::{self, ListReviews, ReviewFilter, ReviewSort};

const fn stars(name: &'static str, about: &'static str) -> Parameter<Decimal> {
    Parameter { name, about, value: Decimal { minimum: 1.0, maximum: 5.0 }, repeatable: false, example: "4" }
}

static MIN_RATING: Parameter<Decimal> = stars("min_rating", "Only reviews with at least that many stars.");

static MAX_RATING: Parameter<Decimal> = stars("max_rating", "Only reviews with at most that many stars.");

static VERIFIED: Parameter<OneOf<bool>> = Parameter {
    name: "verified",
    about: "`true`: only reviews whose reviewer is known to use the product; `false`: only the others.",
    value: OneOf { values: &[("true", true), ("false", false)], default: None },
    repeatable: false,
    example: "true",
};

static SORT: Parameter<OneOf<ReviewSort>> = Parameter {
    name: "sort",
    about: "Order. Reviews without a date come last, reviews with as many stars newest first.",
    value: OneOf {
        values: &[
            ("-created_at", ReviewSort::Newest),
            ("created_at", ReviewSort::Oldest),
            ("-rating", ReviewSort::Best),
            ("rating", ReviewSort::Worst),
        ],
        default: Some("-created_at"),
    },
    repeatable: false,
    example: "-rating",
};

impl FromParameters for ListReviews {
    const PARAMETERS: &'static [&'static [&'static dyn AnyParameter]] =
        &[&[&MIN_RATING, &MAX_RATING, &VERIFIED, &SORT, &LIMIT, &OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self {
            filter: ReviewFilter {
                min_rating: values.one(&MIN_RATING),
                max_rating: values.one(&MAX_RATING),
                verified: values.one(&VERIFIED),
            },
            sort: values.one(&SORT).unwrap_or_default(),
            page: values.page(&LIMIT, &OFFSET),
        }
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
/// Newest first, unless `sort` is given. A product without reviews has an empty list. `summary` covers all its reviews, filtered
/// or not.
#[utoipa::path(
    get,
    path = "/v1/reviews/{id}",
    operation_id = "listReviews",
    tag = "Reviews",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin"), Query<ListReviews>),
    responses((status = 200, description = "A page of reviews", body = ReviewList), NotFound, ApiErrors),
)]
pub(in crate::http) async fn list_reviews(
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(query): Query<ListReviews>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let reviews = service::list_reviews(&snapshot, &id, &query).await?.ok_or(ApiError::SoftwareNotFound(id))?;
    let body = ListBody::from_page(&reviews.page)?.with("summary", &reviews.summary)?;
    let links = links.header(reviews.page.pagination, MaxOffset::Unbounded);
    Ok(body.finish().into_response(links))
}
