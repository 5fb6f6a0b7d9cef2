//! Search.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::catalogue::ObjectWriter;
use crate::catalogue::resource::{FacetValue, Highlight, Pagination, QueryReport};
use crate::http::api::software::{ListedSoftware, check_attributes};
use crate::http::extract::query::{FromParameters, Parameters, Query, check_offset};
use crate::http::extract::{Lang, PageLinks, Served};
use crate::http::openapi::{ApiErrors, NotOffered};
use crate::http::problem::ApiError;
use crate::http::response::{FIELDS, Fields, ListBody};
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{
    FACETS, FILTERS, HIGHLIGHT, INCLUDE, LANG, LIMIT, PREFIX, QUERIED_OFFSET, SEARCH_Q, SEARCH_SORT, TYPO,
};
use crate::service::{Facet, MAX_QUERY_OFFSET, SearchHit, SearchPage, SearchSoftware};

pub(in crate::http) struct SearchParameters {
    search: SearchSoftware,
    fields: Fields,
}

impl FromParameters for SearchParameters {
    const PARAMETERS: Parameters = &[
        &[&SEARCH_Q],
        &FILTERS,
        &[&SEARCH_SORT, &FACETS, &HIGHLIGHT, &TYPO, &PREFIX, &LANG, &FIELDS, &INCLUDE, &LIMIT, &QUERIED_OFFSET],
    ];

    fn read(values: &mut Values<'_>) -> Self {
        let search = SearchSoftware::from_values(values);
        check_offset(values, search.bounded_by(), search.page);
        Self { search, fields: Fields::read(values) }
    }
}

/// A page of matching products.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SearchResult {
    data: Vec<SearchResultHit>,
    pagination: Pagination,
    query: QueryReport,
    /// Keyed by the names in the `facets` parameter; absent without it.
    #[schema(required = false, nullable = false)]
    facets: Option<BTreeMap<String, Vec<FacetValue<'static>>>>,
}

/// A matching product.
#[derive(ToSchema)]
#[schema(as = SearchHit)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SearchResultHit {
    #[schema(inline = false)]
    #[serde(flatten)]
    item: ListedSoftware,
    /// How well the product matches; only comparable within one response. 0 without a query, and negative if the product
    /// is related but contains none of the query's words.
    score: f32,
    /// The fields that matched; absent without `highlight`.
    #[schema(required = false, nullable = false)]
    highlights: Option<Vec<Highlight<'static>>>,
}

/// Search products
///
/// Ranked: exact name matches first, then by how well the words match. Products with only some of the words are included
/// if fewer than ten have all of them. Demo records come after real products. If few products contain the words, products
/// with a similar meaning follow. `query` says how the words were interpreted.
#[utoipa::path(
    get,
    path = "/v1/search",
    operation_id = "searchSoftware",
    tag = "Search",
    params(Query<SearchParameters>),
    responses((status = 200, description = "A page of matching products", body = SearchResult), NotOffered, ApiErrors),
)]
pub(in crate::http) async fn search_software(
    State(state): State<Arc<AppState>>,
    served: Served,
    Query(SearchParameters { search, fields }): Query<SearchParameters>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let query = SearchSoftware { language: lang.language().cloned(), ..search };
    check_attributes(&served, &query.filter, &query.facets, query.sort.attribute())?;
    let max_offset = query.bounded_by().map(|_| MAX_QUERY_OFFSET);
    let write = move |page: &SearchPage<'_>| Ok::<_, ApiError>((write(page, &fields)?, page.is_in_language));
    let (body, is_in_language) = match served {
        Served::Snapshot(snapshot) => state.search_page(snapshot, query, move |page, _| write(page)).await?,
        Served::OpenSearch(directory) => {
            let page = directory.search_software(&query).await?;
            state.count_search(&query, page.total_by_words());
            write(&page)?
        }
    };
    Ok(lang.mark(is_in_language, body.into_response(&links, max_offset)))
}

fn write(page: &SearchPage<'_>, fields: &Fields) -> Result<ListBody, ApiError> {
    let write = |hit: &SearchHit, json: &mut Vec<u8>| write_hit(hit, fields, json);
    let body = ListBody::new(&page.data, page.pagination, hit_bytes, write)?.with("query", &page.query)?;
    if page.facets.is_empty() { Ok(body) } else { body.with("facets", &Facets(&page.facets)) }
}

/// The approximate size of a hit's JSON in bytes.
fn hit_bytes(hit: &SearchHit) -> usize {
    const NAMES_AND_SCORE: usize = 40;
    hit.item.len() + NAMES_AND_SCORE + hit.highlights.as_deref().map_or(0, <[u8]>::len)
}

fn write_hit(hit: &SearchHit, fields: &Fields, json: &mut Vec<u8>) -> Result<(), ApiError> {
    let mut object = ObjectWriter::new(json);
    object.members(&fields.select(&hit.item)?);
    object.member("score", &hit.score).map_err(ApiError::internal)?;
    if let Some(highlights) = &hit.highlights {
        object.json_member("highlights", highlights);
    }
    object.finish();
    Ok(())
}

/// Facets by name, in the requested order.
struct Facets<'a>(&'a [(Facet, Vec<FacetValue<'a>>)]);

impl Serialize for Facets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (facet, values) in self.0 {
            map.serialize_entry(facet.as_str(), values)?;
        }
        map.end()
    }
}
