//! The Atom feed. It isn't part of the API or the OpenAPI document; programs use `/v1/changes`
//! instead.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use axum::routing::get;

use crate::http::atom::Feed;
use crate::http::extract::Snapshot;
use crate::http::extract::query::{FromParameters, Parameters, Query};
use crate::http::middleware::FEED;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::CATEGORY;
use crate::service::{self, SoftwareFilter, Stop};

struct GetFeed {
    categories: Vec<String>,
}

impl FromParameters for GetFeed {
    const PARAMETERS: Parameters = &[&[&CATEGORY]];

    fn read(values: &mut Values<'_>) -> Self {
        Self { categories: values.many(&CATEGORY) }
    }
}

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    Router::new().route(FEED, get(get_feed))
}

async fn get_feed(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    Query(GetFeed { categories }): Query<GetFeed>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let config = Arc::clone(&state);
    // Finding entries for a rare category may mean reading the whole log.
    let write = move |stop: Stop| {
        let news = service::list_news(&snapshot, &categories, &stop)?;
        let filter = SoftwareFilter { categories: categories.clone(), ..SoftwareFilter::default() };
        let feed = Feed {
            unknown: &service::unknown_values(&snapshot.catalogue, None, &filter),
            config: &config.config,
            query: query.as_deref().unwrap_or_default(),
            categories: &categories,
            changed_at: snapshot.changes.changed_at(),
            news: &news,
        };
        feed.document().map_err(ApiError::internal)
    };
    let mut response = Response::new(state.search(write).await??.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/atom+xml; charset=utf-8"));
    Ok(response)
}
