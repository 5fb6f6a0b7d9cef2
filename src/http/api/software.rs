//! The list of products, and single products.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use utoipa::ToSchema;

use crate::catalogue::Record;
use crate::catalogue::resource::{Pagination, SoftwareDetail, SoftwareItem};
use crate::http::extract::query::{FromParameters, InLanguage, Parameters, Query, check_offset};
use crate::http::extract::{Lang, MaxOffset, PageLinks, PathId, Served};
use crate::http::middleware::RequestContext;
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::http::response::{self, FIELDS, Fields, ListBody};
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{
    ATTRIBUTE, ATTRIBUTES, CATEGORY, FILTERS, IDS, LANG, LIMIT, LIST_SORT, NAME_Q, QUERIED_OFFSET,
};
use crate::service::{self, AttributeSort, Facet, ListSoftware, ListSort, Page, SoftwareFilter, Stop};

pub(in crate::http) struct ListParameters {
    list: ListSoftware,
    fields: Fields,
}

impl FromParameters for ListParameters {
    const PARAMETERS: Parameters =
        &[&[&NAME_Q, &IDS], &FILTERS, &[&LIST_SORT, &LANG, &FIELDS, &LIMIT, &QUERIED_OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        let list = ListSoftware::from_values(values);
        check_offset(values, list.bounded_by(), list.page);
        Self { list, fields: Fields::read(values) }
    }
}

/// A page of products.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct SoftwareList {
    data: Vec<SoftwareItem<'static>>,
    pagination: Pagination,
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
    responses((status = 200, description = "A page of products", body = SoftwareList), ApiErrors),
)]
pub(in crate::http) async fn list_software(
    State(state): State<Arc<AppState>>,
    served: Served,
    Query(ListParameters { list, fields }): Query<ListParameters>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let query = ListSoftware { language: lang.language().cloned(), ..list };
    let max_offset = MaxOffset::of(query.bounded_by());
    let sort = query.sort.as_ref().and_then(ListSort::attribute);
    check_attributes(&served, &query.filter, &[], sort)?;
    let is_stored_order = query.bounded_by().is_none() && query.filter == SoftwareFilter::default();
    let write = move |page: &Page| {
        let write = |item: &Bytes, json: &mut Vec<u8>| {
            json.extend_from_slice(&fields.select(item)?);
            Ok(())
        };
        let body = ListBody::new(&page.data, page.pagination, Bytes::len, write)?;
        Ok::<_, ApiError>((body.finish(), page.is_in_language))
    };
    let (page, is_in_language) = match served {
        Served::Snapshot(snapshot) => {
            let list = move |stop: Stop| write(&service::list_software(&snapshot, &query, &stop)?);
            // A name search or a filter has to look at every product.
            if is_stored_order { list(Stop::default()) } else { state.search(list).await? }?
        }
        Served::OpenSearch(directory) => write(&directory.list_software(&query).await?)?,
    };
    let links = links.header(page.pagination(), max_offset);
    Ok(lang.mark(is_in_language, page.into_response(links)))
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
