//! The glossary.

use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{GlossaryTermResource, Pagination};
use crate::http::extract::query::{FromParameters, Parameters, Query, check_offset};
use crate::http::extract::{MaxOffset, PageLinks, PathId, Snapshot};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::{self, ListBody};
use crate::service::parameter::Values;
use crate::service::parameter::definition::{GLOSSARY_Q, LIMIT, QUERIED_OFFSET};
use crate::service::{self, ListGlossary};

impl FromParameters for ListGlossary {
    const PARAMETERS: Parameters = &[&[&GLOSSARY_Q, &LIMIT, &QUERIED_OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        let list = Self::from_values(values);
        check_offset(values, list.q.as_deref(), list.page);
        list
    }
}

/// A page of glossary terms.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a response that is put together from bytes")]
struct GlossaryList {
    data: Vec<GlossaryTermResource>,
    pagination: Pagination,
}

/// List glossary terms
///
/// All terms in their order, or those that match a query.
#[utoipa::path(
    get,
    path = "/v1/glossary",
    operation_id = "listGlossary",
    tag = "Glossary",
    params(Query<ListGlossary>),
    responses((status = 200, description = "A page of terms", body = GlossaryList), ApiErrors),
)]
pub(in crate::http) async fn list_glossary(
    snapshot: Snapshot,
    Query(query): Query<ListGlossary>,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let page = service::list_glossary(&snapshot, &query);
    let links = links.header(page.pagination, MaxOffset::of(query.q.as_deref()));
    Ok(ListBody::from_page(&page)?.finish().into_response(links))
}

/// A glossary term.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a response that is put together from bytes")]
struct GlossaryRecord {
    data: GlossaryTermResource,
}

/// Get a glossary term
///
/// Its definition, abbreviations, synonyms and source.
#[utoipa::path(
    get,
    path = "/v1/glossary/{id}",
    operation_id = "getGlossaryTerm",
    tag = "Glossary",
    params(("id" = String, Path, description = "The term's id, percent-encoded", example = "near-miss")),
    responses((status = 200, description = "The term", body = GlossaryRecord), NotFound, ApiErrors),
)]
pub(in crate::http) async fn get_term(
    snapshot: Snapshot,
    PathId(id): PathId,
    Query(()): Query<()>,
) -> Result<Response, ApiError> {
    match service::get_term(&snapshot, &id) {
        Some(object) => Ok(response::stored_record(&object)),
        None => Err(ApiError::TermNotFound { renamed: snapshot.catalogue.renamed_terms(&id), id }),
    }
}
