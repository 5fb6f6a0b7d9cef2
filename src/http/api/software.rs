//! The list of products, single products, and the products similar to one.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::catalogue::resource::{CategoryRef, Pagination, SoftwareDetail, SoftwareItem, UnknownValue};
use crate::catalogue::{ObjectWriter, Record};
use crate::http::extract::query::{FromParameters, InLanguage, Parameters, Query, check_offset};
use crate::http::extract::{Lang, PageLinks, PathId, Served};
use crate::http::middleware::RequestContext;
use crate::http::openapi::{ApiErrors, NotFound, NotOffered};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::http::response::{self, FIELDS, Fields, FilterReport, ListBody};
use crate::http::state::AppState;
use crate::record::Language;
use crate::service;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{
    ATTRIBUTE, ATTRIBUTES, CATEGORY, FILTERS, IDS, INCLUDE, LANG, LIMIT, LIST_SORT, NAME_Q, QUERIED_OFFSET,
    SEARCHED_OFFSET, SIMILAR_LIMIT,
};
use crate::service::{
    AttributeSort, Facet, ListSimilar, ListSoftware, ListSort, MAX_QUERY_OFFSET, Page, SimilarHit, SimilarPage,
    SoftwareFilter, Stop, unknown_values,
};

pub(in crate::http) struct ListParameters {
    list: ListSoftware,
    fields: Fields,
}

impl FromParameters for ListParameters {
    const PARAMETERS: Parameters =
        &[&[&NAME_Q, &IDS], &FILTERS, &[&LIST_SORT, &LANG, &FIELDS, &INCLUDE, &LIMIT, &QUERIED_OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        let list = ListSoftware::from_values(values);
        check_offset(values, list.bounded_by(), list.page);
        Self { list, fields: Fields::read(values) }
    }
}

/// A product in a list. With `fields`, only the `id` is always there.
#[derive(ToSchema)]
#[schema(as = SoftwareItem)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
pub(super) struct ListedSoftware {
    #[schema(inline = false)]
    #[serde(flatten)]
    item: SoftwareItem<'static>,
    /// Members in `include` that didn't fit. Absent if there are none.
    #[schema(required = false, nullable = false)]
    omitted: Option<Vec<String>>,
}

/// A page of products.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SoftwareList {
    data: Vec<ListedSoftware>,
    pagination: Pagination,
    /// Absent unless a filter has a value that no product has.
    #[schema(required = false, nullable = false)]
    query: Option<FilterReport>,
}

/// List products
///
/// All products, or those that match a name search and filters.
#[utoipa::path(
    get,
    path = "/v1/software",
    operation_id = "listSoftware",
    tag = "Software",
    params(Query<ListParameters>),
    responses((status = 200, description = "A page of products", body = SoftwareList), NotOffered, ApiErrors),
)]
pub(in crate::http) async fn list_software(
    State(state): State<Arc<AppState>>,
    served: Served,
    Query(ListParameters { list, fields }): Query<ListParameters>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let query = ListSoftware { language: lang.language().cloned(), ..list };
    let max_offset = query.bounded_by().map(|_| MAX_QUERY_OFFSET);
    let sort = query.sort.as_ref().and_then(ListSort::attribute);
    check_attributes(&served, &query.filter, &[], sort)?;
    let is_stored_order = query.bounded_by().is_none() && query.filter == SoftwareFilter::default();
    let write = move |page: &Page, unknown: Vec<UnknownValue>| {
        let write = |item: &Bytes, json: &mut Vec<u8>| {
            json.extend_from_slice(&fields.select(item)?);
            Ok(())
        };
        let body = ListBody::new(&page.data, page.pagination, Bytes::len, write)?.with_unknown(unknown)?;
        Ok::<_, ApiError>((body, page.is_in_language))
    };
    let (body, is_in_language) = match served {
        Served::Snapshot(snapshot) => {
            let list = move |stop: Stop| {
                let mut unknown = unknown_values(&snapshot.catalogue, Some(&snapshot.records.columns), &query.filter);
                let page = service::list_software(&snapshot, &query, &stop)?;
                if let Some(q) = query.q.as_ref().filter(|_| page.pagination.total == 0) {
                    let nearest = service::similar_names(&snapshot, q, &service::budget(&snapshot, &stop))?;
                    unknown.extend((!nearest.is_empty()).then(|| UnknownValue::new("q", q, nearest)));
                }
                write(&page, unknown)
            };
            // A name search or a filter has to look at every product.
            if is_stored_order { list(Stop::default()) } else { state.search(list).await? }?
        }
        Served::OpenSearch(directory) => write(
            &directory.list_software(&query).await?,
            unknown_values(&directory.view.catalogue, None, &query.filter),
        )?,
    };
    Ok(lang.mark(is_in_language, body.into_response(&links, max_offset)))
}

/// Rejects unknown attributes, values that an attribute can't have, and comma-separated lists of
/// values.
pub(in crate::http) fn check_attributes(
    served: &Served,
    filter: &SoftwareFilter,
    facets: &[Facet],
    sort: Option<&AttributeSort>,
) -> Result<(), ApiError> {
    let refused = service::refuse_attributes(served.catalogue(), filter, facets, sort);
    if !refused.is_empty() {
        return Err(refused.into());
    }
    let list = match served {
        Served::Snapshot(snapshot) => service::comma_separated(snapshot, filter),
        Served::OpenSearch(directory) => directory.comma_separated(filter),
    };
    let Some((name, value)) = list else { return Ok(()) };
    let is_own = name == CATEGORY.name || ATTRIBUTES.iter().any(|parameter| parameter.name == name);
    let (name, prefix) = if is_own { (name, String::new()) } else { (ATTRIBUTE.name, format!("{name}:")) };
    let repeated: Vec<_> = value.split(',').map(|part| format!("{name}={prefix}{}", part.trim())).collect();
    let message = format!("{name} must be repeated for each value: {}.", repeated.join("&"));
    Err(ApiError::Parameters(vec![ParameterProblem {
        param: name.to_owned(),
        code: ErrorCode::InvalidParameter,
        message,
    }]))
}

/// A product.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SoftwareRecord {
    data: SoftwareDetail<'static>,
}

/// Get a product
///
/// The product's full record, including its evidence and sources, properties that the directory doesn't interpret, and
/// the export that the record comes from, with its licence.
#[utoipa::path(
    get,
    path = "/v1/software/{id}",
    operation_id = "getSoftware",
    tag = "Software",
    params(("id" = String, Path, description = "The product's id, percent-encoded", example = "demo-permit-penguin"), Query<InLanguage>),
    responses((status = 200, description = "The product", body = SoftwareRecord), NotFound, ApiErrors),
)]
pub(in crate::http) async fn get_software(
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    served: Served,
    PathId(id): PathId,
    Query(InLanguage): Query<InLanguage>,
    lang: Lang,
) -> Result<Response, ApiError> {
    let found = match served {
        Served::Snapshot(snapshot) => {
            let (is_large, id, language) = (snapshot.records.is_large(&id), id.clone(), lang.language().cloned());
            let get = move || service::get_software(&snapshot, &id, language.as_ref());
            if is_large { state.search(move |_| get()).await? } else { get() }?
        }
        Served::OpenSearch(directory) => directory.get_software(&id, lang.language()).await?,
    };
    let (Record { detail_hash, body }, is_in_language) = found.ok_or(ApiError::SoftwareNotFound(id))?;
    let _ = request.detail_hash.set(detail_hash);
    Ok(lang.mark(is_in_language, response::json(body)))
}

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
    /// Absent unless a filter has a value that no product has.
    #[schema(required = false, nullable = false)]
    query: Option<FilterReport>,
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
    let (body, is_in_language) = match served {
        Served::Snapshot(snapshot) => {
            let list = move |stop: Stop| {
                let budget = service::budget(&snapshot, &stop);
                let page = service::similar_software(&snapshot, &id, &query, &budget)?;
                let unknown = unknown_values(&snapshot.catalogue, Some(&snapshot.records.columns), &query.filter);
                write(&page.ok_or(ApiError::SoftwareNotFound(id))?, unknown, query.language.as_ref())
            };
            state.search(list).await??
        }
        Served::OpenSearch(directory) => {
            let page = directory.similar_software(&id, &query).await?;
            let unknown = unknown_values(&directory.view.catalogue, None, &query.filter);
            write(&page.ok_or(ApiError::SoftwareNotFound(id))?, unknown, query.language.as_ref())?
        }
    };
    Ok(lang.mark(is_in_language, body.into_response(&links, Some(MAX_QUERY_OFFSET))))
}

fn write(
    page: &SimilarPage<'_>,
    unknown: Vec<UnknownValue>,
    language: Option<&Language>,
) -> Result<(ListBody, bool), ApiError> {
    let write = |hit: &SimilarHit<'_>, json: &mut Vec<u8>| write_hit(hit, language, json);
    let body = ListBody::new(&page.data, page.pagination, |hit| hit.item.len() * 2, write)?.with_unknown(unknown)?;
    Ok((body, page.is_in_language))
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
