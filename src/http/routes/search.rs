//! Search.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::Response;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::http::openapi::ApiErrors;
use crate::http::operation::Answered;
use crate::http::paging::{Depth, ListBody, append_member};
use crate::http::params::definition::{
    CATEGORY, EVIDENCE_CHECKED_BEFORE, EVIDENCE_STATUS, FACETS, HIGHLIGHT, LIMIT, MIN_RATING, OFFERING_TYPE,
    QUERIED_OFFSET, SEARCH_SORT, TYPO, query, software_filter,
};
use crate::http::params::value::Text;
use crate::http::params::{AnyParameter, FromParameters, Parameter, Params, Values};
use crate::http::problem::ApiError;
use crate::http::repeated::Found;
use crate::http::request::ApiRequest;
use crate::resource::{FacetValue, Highlight, Pagination, QueryReport, SoftwareItem};
use crate::service::{Facet, SearchHit, SearchPage, SearchSoftware};

static Q: Parameter<Text> = query(
    "What to look for. The last word also matches as the beginning of a word; `\"quoted phrases\"` must appear as they \
     are, and a `-word` must not. Without it all products, best quality first.",
);

impl FromParameters for SearchSoftware {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[
        &Q,
        &CATEGORY,
        &OFFERING_TYPE,
        &EVIDENCE_STATUS,
        &MIN_RATING,
        &EVIDENCE_CHECKED_BEFORE,
        &SEARCH_SORT,
        &FACETS,
        &HIGHLIGHT,
        &TYPO,
        &LIMIT,
        &QUERIED_OFFSET,
    ];

    fn read(values: &mut Values<'_>) -> Self {
        let q = values.query(&Q);
        let mut facets = Vec::new();
        for facet in values.many(&FACETS) {
            if !facets.contains(&facet) {
                facets.push(facet);
            }
        }
        Self {
            filter: software_filter(values),
            sort: values.one(&SEARCH_SORT).unwrap_or_default(),
            facets,
            highlight: values.flag(&HIGHLIGHT),
            typo: values.flag(&TYPO),
            page: values.queried_page(&LIMIT, q.as_deref()),
            q,
        }
    }
}

/// A page of products that match.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
struct SearchResult {
    data: Vec<SearchResultHit>,
    pagination: Pagination,
    query: QueryReport,
    /// By the names asked for in `facets`; absent where none is.
    #[schema(required = false, nullable = false)]
    facets: Option<BTreeMap<String, Vec<FacetValue<'static>>>>,
}

/// A product that matches.
#[derive(ToSchema)]
#[schema(as = SearchHit)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
struct SearchResultHit {
    #[schema(inline = false)]
    #[serde(flatten)]
    item: SoftwareItem<'static>,
    /// How well it matches; comparable within one answer only. 0 without a query.
    score: f32,
    /// The fields that matched; absent where `highlight` isn't asked for.
    #[schema(required = false, nullable = false)]
    highlights: Option<Vec<Highlight<'static>>>,
}

/// Search products
///
/// Ranked: exact names first, then products with all words before those with some.
#[utoipa::path(
    get,
    path = "/v1/search",
    operation_id = "searchSoftware",
    tag = "Search",
    params(Params<SearchSoftware>),
    responses((status = 200, description = "A page of products that match", body = SearchResult), ApiErrors),
)]
pub(super) fn search_software(request: &ApiRequest<'_>) -> Result<Answered, ApiError> {
    if let Some(found) = request.repeated() {
        return Ok(Answered::Now(answer(request, &found)));
    }
    let query: SearchSoftware = request.params()?;
    if let Some(page) = request.searches().remembered(request.snapshot, &query) {
        let found = Arc::new(write(request, &query, &page)?);
        request.repeat(&found);
        return Ok(Answered::Now(answer(request, &found)));
    }
    Ok(Answered::Later(Box::new(move |request| {
        let page = request.searches().search(request.snapshot, &query)?;
        write(request, &query, &page).map(|found| answer(request, &found))
    })))
}

fn answer(request: &ApiRequest<'_>, found: &Found) -> Response {
    if let Some(total) = found.searched {
        request.metrics().searched(total);
    }
    found.ready.clone().into_response()
}

fn write(request: &ApiRequest<'_>, query: &SearchSoftware, page: &SearchPage<'_>) -> Result<Found, ApiError> {
    let has_words = query.q.as_deref().is_some_and(|q| !q.trim().is_empty());
    let mut body = ListBody::new(&page.data, page.pagination, room_for, write_hit)?.with("query", &page.query)?;
    if !query.facets.is_empty() {
        body = body.with("facets", &Facets(&page.facets))?;
    }
    let ready = body.into_ready(request, Depth::of(query.q.as_deref()));
    Ok(Found { ready, searched: has_words.then_some(page.pagination.total) })
}

/// What stands before a hit's highlights.
const HIGHLIGHTS: &[u8] = br#","highlights":"#;

/// About how many bytes a hit takes.
fn room_for(hit: &SearchHit<'_>) -> usize {
    const SCORE: usize = 24;
    let highlights = hit.highlights.as_deref().map_or(0, |highlights| HIGHLIGHTS.len() + highlights.len());
    hit.item.len() + SCORE + highlights
}

fn write_hit(hit: &SearchHit<'_>, json: &mut Vec<u8>) -> Result<(), ApiError> {
    hit.item.write_open(json);
    append_member(json, "score", &hit.score)?;
    if let Some(highlights) = &hit.highlights {
        json.extend_from_slice(HIGHLIGHTS);
        json.extend_from_slice(highlights);
    }
    json.push(b'}');
    Ok(())
}

/// Facets by name, in the order asked.
struct Facets<'a>(&'a [(Facet, Vec<FacetValue<'a>>)]);

impl Serialize for Facets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (facet, values) in self.0 {
            map.serialize_entry(FACETS.value.name_of(facet), values)?;
        }
        map.end()
    }
}
