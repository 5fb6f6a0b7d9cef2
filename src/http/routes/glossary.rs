//! The glossary.

use axum::response::Response;
use utoipa::ToSchema;

use crate::http::openapi::ApiErrors;
use crate::http::paging::{Depth, ListBody};
use crate::http::params::definition::{LIMIT, QUERIED_OFFSET, query};
use crate::http::params::value::Text;
use crate::http::params::{AnyParameter, FromParameters, Parameter, Params, Values};
use crate::http::problem::ApiError;
use crate::http::request::ApiRequest;
use crate::resource::{GlossaryTermResource, Pagination};
use crate::service::{self, ListGlossary};

static Q: Parameter<Text> =
    query("Only terms that match this text, best match first: the term and its abbreviations before its definition.");

impl FromParameters for ListGlossary {
    const PARAMETERS: &'static [&'static dyn AnyParameter] = &[&Q, &LIMIT, &QUERIED_OFFSET];

    fn read(values: &mut Values<'_>) -> Self {
        let q = values.query(&Q);
        Self { page: values.queried_page(&LIMIT, q.as_deref()), q }
    }
}

/// A page of glossary terms.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes an answer that is put together from bytes")]
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
    params(Params<ListGlossary>),
    responses((status = 200, description = "A page of terms", body = GlossaryList), ApiErrors),
)]
pub(super) fn list_glossary(request: &ApiRequest<'_>) -> Result<Response, ApiError> {
    let query: ListGlossary = request.params()?;
    let page = service::list_glossary(request.snapshot, &query);
    Ok(ListBody::of_page(&page)?.into_response(request, Depth::of(query.q.as_deref())))
}
