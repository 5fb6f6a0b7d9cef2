//! The first page of the documentation. Its example finds something in the directory.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde::Serialize;

use super::home::overview;
use super::language::PageLanguage;
use crate::catalogue::resource::{Pagination, QueryReport, SoftwareItem};
use crate::http::extract::Snapshot;
use crate::http::middleware::reader;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::{PageRequest, SearchHit, SearchPage, SearchResults, SearchSoftware};

/// The response to a search, as its operation composes it.
#[derive(Serialize)]
struct Answer<'a> {
    data: Vec<Hit<'a>>,
    pagination: Pagination,
    query: &'a QueryReport,
}

#[derive(Serialize)]
struct Hit<'a> {
    #[serde(flatten)]
    item: SoftwareItem<'a>,
    score: f32,
}

pub(super) async fn get_page(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    request: Request,
) -> Result<Response, ApiError> {
    let may_read = state.site.config.public_page.is_some() || reader(&state, &request).is_some();
    let overview = match state.directory.current().filter(|_| may_read) {
        Some(snapshot) => {
            let snapshot = Snapshot(snapshot);
            Some((snapshot.clone(), overview(&state, &snapshot).await?))
        }
        None => None,
    };
    // Readers who may not be allowed to see what this directory contains get the recorded search.
    let example = match overview {
        Some((snapshot, overview)) => match overview.localised(None).and_then(|localised| localised.examples.first()) {
            Some(query) => Some(search(&state, snapshot, query).await?),
            None => None,
        },
        None => None,
    };
    let page = state.docs.getting_started(&state.site, language, example.as_ref()).map_err(ApiError::internal)?;
    Ok(page.respond(request.headers()).await)
}

/// Searches for one product. Returns the request's path and the response's body.
async fn search(state: &Arc<AppState>, snapshot: Snapshot, query: &str) -> Result<(String, String), ApiError> {
    let encoded: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
    let search = SearchSoftware { page: PageRequest { limit: 1, offset: 0 }, ..SearchSoftware::new(query) };
    let write = |page: &SearchPage<'_>, _: &SearchResults| {
        let data: Result<_, serde_json::Error> = page
            .data
            .iter()
            .map(|SearchHit { item, score, .. }| Ok(Hit { item: serde_json::from_slice(item)?, score: *score }))
            .collect();
        let data = data.map_err(ApiError::internal)?;
        let answer = Answer { data, pagination: page.pagination, query: &page.query };
        serde_json::to_string_pretty(&answer).map_err(ApiError::internal)
    };
    let body = state.search_page(snapshot, search, write).await?;
    Ok((format!("/v1/search?q={encoded}&limit=1"), body))
}
