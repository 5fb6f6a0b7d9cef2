//! The glossary.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::{GlossaryTermResource, Pagination};
use crate::http::extract::query::{FromParameters, InLanguage, Parameters, Query, check_offset};
use crate::http::extract::{Lang, PageLinks, PathId, Served};
use crate::http::openapi::{ApiErrors, NotFound};
use crate::http::problem::ApiError;
use crate::http::response::{self, ListBody};
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{GLOSSARY_Q, LANG, LIMIT, QUERIED_OFFSET};
use crate::service::{self, ListGlossary, MAX_QUERY_OFFSET, Stop};

impl FromParameters for ListGlossary {
    const PARAMETERS: Parameters = &[&[&GLOSSARY_Q, &LANG, &LIMIT, &QUERIED_OFFSET]];

    fn read(values: &mut Values<'_>) -> Self {
        let list = Self::from_values(values);
        check_offset(values, list.bounded_by(), list.page);
        list
    }
}

/// A page of glossary terms.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct GlossaryList {
    data: Vec<GlossaryTermResource>,
    pagination: Pagination,
}

/// List glossary terms
///
/// All terms in alphabetical order, or those that match a query, best match first.
#[utoipa::path(
    get,
    path = "/v1/glossary",
    operation_id = "listGlossary",
    tag = "Glossary",
    params(Query<ListGlossary>),
    responses((status = 200, description = "A page of terms", body = GlossaryList), ApiErrors),
)]
pub(in crate::http) async fn list_glossary(
    State(state): State<Arc<AppState>>,
    served: Served,
    Query(query): Query<ListGlossary>,
    lang: Lang,
    links: PageLinks,
) -> Result<Response, ApiError> {
    let max_offset = query.bounded_by().map(|_| MAX_QUERY_OFFSET);
    let is_search = query.q.is_some();
    let language = lang.language().cloned();
    let list = move |stop: Stop| {
        let page = served.list_glossary(&query, language.as_ref(), &stop)?;
        Ok::<_, ApiError>((ListBody::from_page(&page)?, page.is_in_language))
    };
    let (body, is_in_language) = if is_search { state.search(list).await? } else { list(Stop::default()) }?;
    Ok(lang.mark(is_in_language, body.into_response(&links, max_offset)))
}

/// A glossary term.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the response, which is assembled from bytes")]
struct GlossaryRecord {
    data: GlossaryTermResource,
}

/// Get a glossary term
///
/// The term's definition, abbreviations, synonyms and source.
#[utoipa::path(
    get,
    path = "/v1/glossary/{id}",
    operation_id = "getGlossaryTerm",
    tag = "Glossary",
    params(("id" = String, Path, description = "The term's id, percent-encoded", example = "near-miss"), Query<InLanguage>),
    responses((status = 200, description = "The term", body = GlossaryRecord), NotFound, ApiErrors),
)]
pub(in crate::http) async fn get_term(
    served: Served,
    PathId(id): PathId,
    Query(InLanguage): Query<InLanguage>,
    lang: Lang,
) -> Result<Response, ApiError> {
    match service::get_term(served.catalogue(), &id, lang.language())? {
        Some((object, is_in_language)) => Ok(lang.mark(is_in_language, response::stored_record(&object))),
        None => Err(ApiError::TermNotFound { renamed: served.catalogue().renamed_terms(&id), id }),
    }
}
