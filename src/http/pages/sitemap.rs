//! The sitemap, which lists the pages for crawlers.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use serde::Deserialize;

use super::links::{of_category, of_software};
use super::site::Site;
use crate::http::extract::Snapshot;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::{self, ListSoftware, PageRequest};
use crate::text::html::escape;

/// How many products are written at once.
const CHUNK: u32 = 1000;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMESPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// A generation's pages, except products.
fn other_pages(site: &Site, snapshot: &Snapshot) -> Vec<String> {
    let public = &site.public;
    let tables = &snapshot.catalogue.tables;
    let categories = tables.categories.iter().map(|category| of_category(public, &category.id));
    let fixed = ["/", "/categories", "/glossary", "/exports", "/docs"].map(|path| format!("{public}{path}"));
    let is_shown = |url: &String| match url.rsplit_once('/') {
        Some((_, "glossary")) => !tables.glossary.is_empty(),
        Some((_, "categories")) => !tables.categories.is_empty(),
        _ => true,
    };
    fixed.into_iter().filter(is_shown).chain(categories).collect()
}

/// The sitemap. For a large directory, it's an index of its parts.
pub(super) async fn get_sitemap(State(state): State<Arc<AppState>>, snapshot: Snapshot) -> Result<Response, ApiError> {
    let site = check(&state)?;
    let others = other_pages(site, &snapshot);
    let (total, most) = (others.len() as u64 + snapshot.software_count() as u64, site.sitemap_addresses);
    if total <= most {
        return Ok(addresses(state, snapshot, &others, 0..total));
    }
    let mut xml = format!("{HEAD}<sitemapindex {NAMESPACE}>\n");
    for part in 0..total.div_ceil(most) {
        let _ = writeln!(xml, "<sitemap><loc>{}/sitemap/{part}.xml</loc></sitemap>", escape(&site.public));
    }
    xml.push_str("</sitemapindex>\n");
    Ok(document(Body::from(xml)))
}

/// A part of a large sitemap.
pub(super) async fn get_part(
    State(state): State<Arc<AppState>>,
    Path(name): Path<String>,
    snapshot: Snapshot,
) -> Result<Response, ApiError> {
    let site = check(&state)?;
    let others = other_pages(site, &snapshot);
    let (total, most) = (others.len() as u64 + snapshot.software_count() as u64, site.sitemap_addresses);
    let number = name.strip_suffix(".xml").and_then(|number| number.parse::<u64>().ok());
    let number = number.filter(|number| *number < total.div_ceil(most)).ok_or(ApiError::RouteNotFound)?;
    let start = number * most;
    Ok(addresses(state, snapshot, &others, start..total.min(start + most)))
}

/// A sitemap contains absolute URLs of public pages, so only a public site with a URL has one.
fn check(state: &AppState) -> Result<&Site, ApiError> {
    let site = &state.site;
    if site.is_indexable() && !site.public.is_empty() { Ok(site) } else { Err(ApiError::RouteNotFound) }
}

/// Streams a range of all URLs, in which products come last. Because they're streamed, memory use
/// doesn't grow with the number of products.
fn addresses(state: Arc<AppState>, snapshot: Snapshot, others: &[String], range: Range<u64>) -> Response {
    let mut head = format!("{HEAD}<urlset {NAMESPACE}>\n");
    for (_, url) in (0..).zip(others).filter(|(at, _)| range.contains(at)) {
        write_address(&mut head, url, None);
    }
    let after_others = |at: u64| at.saturating_sub(others.len() as u64);
    let (start, end) = (after_others(range.start), after_others(range.end));
    let chunks = stream::try_unfold(Some(start), move |next| {
        let (state, snapshot) = (Arc::clone(&state), snapshot.clone());
        async move {
            let Some(offset) = next else { return Ok(None) };
            if offset >= end {
                return Ok(Some((Bytes::from_static(b"</urlset>\n"), None)));
            }
            let of = Arc::clone(&state);
            let limit = u32::try_from(end - offset).unwrap_or(u32::MAX).min(CHUNK);
            let write = async move { products(&of.site, &snapshot, PageRequest { limit, offset }).await };
            let xml = state.search(|_| write).await??;
            Ok::<_, ApiError>(Some((Bytes::from(xml), Some(offset + u64::from(limit)))))
        }
    });
    let head = stream::once(async { Ok(Bytes::from(head)) });
    document(Body::from_stream(head.chain(chunks)))
}

async fn products(site: &Site, snapshot: &Snapshot, page: PageRequest) -> Result<String, ApiError> {
    #[derive(Deserialize)]
    struct Id<'a> {
        #[serde(borrow)]
        id: std::borrow::Cow<'a, str>,
    }
    let list = service::list_software(snapshot, &ListSoftware { page, ..ListSoftware::default() }).await?;
    let mut xml = String::new();
    for item in &list.data {
        let Id { id } = serde_json::from_slice(item).map_err(ApiError::internal)?;
        let last_change = snapshot.merged_changes.last_of(&snapshot.changes, &id);
        let at = last_change.map_or_else(|| snapshot.changes.begun_at(), |(step, _)| &step.at);
        write_address(&mut xml, &of_software(&site.public, &id), Some(at).filter(|at| !at.is_empty()));
    }
    Ok(xml)
}

fn write_address(xml: &mut String, url: &str, changed_at: Option<&str>) {
    let _ = write!(xml, "<url><loc>{}</loc>", escape(url));
    if let Some(at) = changed_at {
        let _ = write!(xml, "<lastmod>{}</lastmod>", escape(at));
    }
    xml.push_str("</url>\n");
}

fn document(body: Body) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml; charset=utf-8"));
    response
}
