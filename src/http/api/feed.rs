//! Feeds of searches, as Atom and as JSON Feed. They aren't part of the API or the OpenAPI document;
//! programs use `/v1/changes` instead.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use axum::routing::get;

use crate::http::api::software::check_attributes;
use crate::http::extract::query::{FromParameters, Parameters, Query, RawQuery};
use crate::http::extract::{Served, Snapshot};
use crate::http::feed::Feed;
use crate::http::middleware::FEEDS;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{CATEGORY, FILTERS, IDS, SEARCH_Q};
use crate::service::{self, SoftwareFilter, Stop};

struct GetFeed {
    q: Option<String>,
    filter: SoftwareFilter,
}

impl FromParameters for GetFeed {
    const PARAMETERS: Parameters = &[&[&SEARCH_Q, &IDS], &FILTERS];

    fn read(values: &mut Values<'_>) -> Self {
        Self { q: values.query(&SEARCH_Q), filter: SoftwareFilter::from_values(values) }
    }
}

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    FEEDS.into_iter().fold(Router::new(), |router, feed| router.route(feed, get(get_feed)))
}

async fn get_feed(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    Query(GetFeed { q, filter }): Query<GetFeed>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let served = Served::Snapshot(snapshot.clone());
    check_attributes(&served, &filter, &[], None)?;
    let (config, is_json) = (Arc::clone(&state), uri.path() == FEEDS[1]);
    let write = move |stop: Stop| {
        let query = uri.query().unwrap_or_default();
        let entries = service::list_feed(&snapshot, q.as_deref(), &filter, &stop)?;
        let feed = Feed {
            unknown: &service::unknown_values(&snapshot.catalogue, None, &filter),
            config: &config.config,
            query,
            subject: &subject(query),
            changed_at: snapshot.changes.changed_at(),
            since: snapshot.past.since(&snapshot.changes),
            entries: &entries,
        };
        if is_json { feed.json().map_err(ApiError::internal) } else { feed.atom().map_err(ApiError::internal) }
    };
    let mut response = Response::new(state.search(write).await??.into());
    let kind = if is_json { "application/feed+json" } else { "application/atom+xml; charset=utf-8" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// What a query asks for, in words: `permit, category: audits`.
fn subject(query: &str) -> String {
    let query = RawQuery::parse(query);
    let text = |bytes| String::from_utf8_lossy(bytes);
    let pairs = query.pairs().map(|(name, value)| match text(name) {
        name if name == SEARCH_Q.name || name == CATEGORY.name => text(value).into_owned(),
        name => format!("{name}: {}", text(value)),
    });
    pairs.collect::<Vec<_>>().join(", ")
}
