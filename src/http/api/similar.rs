//! Products similar to a given one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::catalogue::ObjectWriter;
use crate::catalogue::resource::{CategoryRef, Pagination, SoftwareItem};
use crate::http::api::software::check_attributes;
use crate::http::extract::query::{FromParameters, Parameters, Query};
use crate::http::extract::{Lang, MaxOffset, PageLinks, PathId, Served};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::{ListBody, ListPage};
use crate::http::state::AppState;
use crate::record::Language;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{FILTERS, LANG, SEARCHED_OFFSET, SIMILAR_LIMIT};
use crate::service::{self, ListSimilar, SimilarHit, SimilarPage, Stop};

impl FromParameters for ListSimilar {
    const PARAMETERS: Parameters = &[&FILTERS, &[&LANG, &SIMILAR_LIMIT, &SEARCHED_OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        Self::from_values(values)
    }
}

/// A page of similar products.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SimilarList {
    data: Vec<SimilarSoftware>,
    pagination: Pagination,
}

/// A product that is similar to the requested one.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SimilarSoftware {
    #[schema(inline = false)]
    #[serde(flatten)]
    item: SoftwareItem<'static>,
    /// How similar it is, from 0 to 1; only comparable within one response.
    score: f32,
    shared: Shared<'static>,
}

/// What two products have in common.
#[derive(Serialize, ToSchema)]
struct Shared<'a> {
    /// Categories that both products are in.
    categories: Vec<CategoryRef<'a>>,
    /// Words from the requested product that this one contains as well, rarest first.
    words: &'a [String],
}

/// List similar products
///
/// Products in the same categories, with the same words in their tagline, tags, features and standards, or with a similar
/// meaning, most similar first. `shared` says what each has in common with the product. Filters apply to the
/// similar products, as in a search.
#[utoipa::path(
    get,
    path = "/v1/software/{id}/similar",
    operation_id = "listSimilarSoftware",
    tag = "Software",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin"), Query<ListSimilar>),
    responses((status = 200, description = "A page of similar products", body = SimilarList), NotFound, ApiErrors),
)]
pub(in crate::http) async fn list_similar(
    State(state): State<Arc<AppState>>,
    served: Served,
    PathId(id): PathId,
    Query(query): Query<ListSimilar>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    check_attributes(&served, &query.filter, &[], None)?;
    let query = ListSimilar { language: lang.language().cloned(), ..query };
    let (page, is_in_language) = match served {
        Served::Snapshot(snapshot) => {
            let list = move |stop: Stop| {
                let budget = service::budget(&snapshot, &stop);
                let page = service::similar_software(&snapshot, &id, &query, &budget)?;
                write(&page.ok_or(ApiError::SoftwareNotFound(id))?, query.language.as_ref())
            };
            state.search(list).await??
        }
        Served::OpenSearch(directory) => {
            let page = directory.similar_software(&id, &query).await?;
            write(&page.ok_or(ApiError::SoftwareNotFound(id))?, query.language.as_ref())?
        }
    };
    let links = links.header(page.pagination(), MaxOffset::Query);
    Ok(lang.mark(is_in_language, page.into_response(links)))
}

fn write(page: &SimilarPage<'_>, language: Option<&Language>) -> Result<(ListPage, bool), ApiError> {
    let write = |hit: &SimilarHit<'_>, json: &mut Vec<u8>| write_hit(hit, language, json);
    let body = ListBody::new(&page.data, page.pagination, |hit| hit.item.len() * 2, write)?;
    Ok((body.finish(), page.is_in_language))
}

fn write_hit(hit: &SimilarHit<'_>, language: Option<&Language>, json: &mut Vec<u8>) -> Result<(), ApiError> {
    let categories = hit
        .categories
        .iter()
        .map(|category| CategoryRef { name: category.name_in(language).into(), ..CategoryRef::from(*category) });
    let shared = Shared { categories: categories.collect(), words: &hit.words };
    let mut object = ObjectWriter::new(json);
    object.members(&hit.item);
    object.member("score", &hit.score).map_err(ApiError::internal)?;
    object.member("shared", &shared).map_err(ApiError::internal)?;
    object.finish();
    Ok(())
}
