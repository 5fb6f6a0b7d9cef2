//! Suggestions while a query is being typed.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::catalogue::resource::Suggestions;
use crate::http::extract::query::{FromParameters, Parameters, Query};
use crate::http::extract::{Lang, Served};
use crate::http::openapi::ApiErrors;
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{LANG, SUGGEST_LIMIT, SUGGEST_Q};
use crate::service::{self, Stop};

pub(in crate::http) struct Suggest {
    q: String,
    limit: u32,
}

impl FromParameters for Suggest {
    const PARAMETERS: Parameters = &[&[&SUGGEST_Q, &LANG, &SUGGEST_LIMIT]];

    fn read(values: &mut Values<'_>) -> Self {
        let limit = u32::try_from(values.integer(&SUGGEST_LIMIT)).unwrap_or(u32::MAX);
        Self { q: values.query(&SUGGEST_Q).unwrap_or_default(), limit }
    }
}

/// Suggestions.
#[derive(Serialize, ToSchema)]
struct SuggestionRecord<'s> {
    data: Suggestions<'s>,
}

/// Suggest while typing
///
/// Products, categories and glossary terms that complete what has been typed so far. The response contains only ids and
/// names, so it's just a few hundred bytes.
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
    served: Served,
    Query(Suggest { q, limit }): Query<Suggest>,
    lang: Lang,
) -> Result<Response, ApiError> {
    let write = |data: Suggestions<'_>, lang: &Lang| {
        let is_in_language = data.is_in_language;
        let body = serde_json::to_vec(&SuggestionRecord { data }).map_err(ApiError::internal)?;
        Ok(lang.mark(is_in_language, response::json(body)))
    };
    match served {
        Served::Snapshot(snapshot) => {
            let suggest = move |stop: Stop| {
                let budget = service::budget(&snapshot, &stop);
                write(service::suggest(&snapshot, &q, limit, lang.language(), &budget)?, &lang)
            };
            state.search(suggest).await?
        }
        Served::OpenSearch(directory) => write(directory.suggest(&q, limit, lang.language()).await?, &lang),
    }
}
