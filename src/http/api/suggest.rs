//! Suggestions while a query is being typed.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use utoipa::ToSchema;

use crate::catalogue::resource::Suggestions;
use crate::http::extract::Snapshot;
use crate::http::extract::query::definition::query;
use crate::http::extract::query::value::{Integer, Text};
use crate::http::extract::query::{AnyParameter, FromParameters, Parameter, Query, Values};
use crate::http::openapi::ApiErrors;
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::service;

static Q: Parameter<Text> = query(
    "What has been typed so far. The last word also matches as the beginning of others, and misspelled words match too. \
     Without it nothing is suggested.",
    "permi",
);

static LIMIT: Parameter<Integer> = Parameter {
    name: "limit",
    about: "The most suggestions of each kind.",
    value: Integer { minimum: 1, maximum: 20, default: 5 },
    repeatable: false,
    example: "3",
};

pub(in crate::http) struct Suggest {
    q: String,
    limit: u32,
}

impl FromParameters for Suggest {
    const PARAMETERS: &'static [&'static [&'static dyn AnyParameter]] = &[&[&Q, &LIMIT]];

    fn read(values: &mut Values<'_>) -> Self {
        let limit = values.one(&LIMIT).unwrap_or(LIMIT.value.default);
        Self { q: values.query(&Q).unwrap_or_default(), limit: u32::try_from(limit).unwrap_or(u32::MAX) }
    }
}

/// Suggestions.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a response that is serialized with its parts")]
struct SuggestionRecord {
    data: Suggestions<'static>,
}

/// Suggest while typing
///
/// Products, categories and glossary terms that what is typed can become: ids and names alone, a few hundred bytes.
#[utoipa::path(
    get,
    path = "/v1/suggest",
    operation_id = "suggest",
    tag = "Search",
    params(Query<Suggest>),
    responses((status = 200, description = "Suggestions of each kind", body = SuggestionRecord), ApiErrors),
)]
pub(in crate::http) async fn suggest(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    Query(Suggest { q, limit }): Query<Suggest>,
) -> Result<Response, ApiError> {
    let suggest = async move { response::record(&service::suggest(&snapshot, &q, limit).await?) };
    state.search(suggest).await?
}
