//! The sitemap: which pages there are, for crawlers.

use std::fmt::Write as _;
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

/// The most addresses in a file, by the protocol of sitemaps.
const MAX_ADDRESSES: u64 = 50_000;

/// Products that are written at once.
const CHUNK: u32 = 1000;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMESPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The pages of a generation, but for products.
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
    let mut pages: Vec<_> = fixed.into_iter().filter(is_shown).chain(categories).collect();
    pages.truncate(usize::try_from(MAX_ADDRESSES).unwrap_or(usize::MAX));
    pages
}

/// The sitemap; of a large directory, an index of its parts.
pub(super) async fn get_sitemap(State(state): State<Arc<AppState>>, snapshot: Snapshot) -> Result<Response, ApiError> {
    let site = check(&state)?;
    let (products, others) = (snapshot.software_count() as u64, other_pages(site, &snapshot).len() as u64);
    if products + others <= MAX_ADDRESSES {
        return Ok(addresses(state, snapshot, &Part { has_others: true, products: 0..products }));
    }
    let mut xml = format!("{HEAD}<sitemapindex {NAMESPACE}>\n");
    for part in 0..=products.div_ceil(MAX_ADDRESSES) {
        let _ = writeln!(xml, "<sitemap><loc>{}/sitemap/{part}.xml</loc></sitemap>", escape(&site.public));
    }
    xml.push_str("</sitemapindex>\n");
    Ok(document(Body::from(xml)))
}

/// A part of a large sitemap: first the pages without a product, then the products.
pub(super) async fn get_part(
    State(state): State<Arc<AppState>>,
    Path(name): Path<String>,
    snapshot: Snapshot,
) -> Result<Response, ApiError> {
    check(&state)?;
    let products = snapshot.software_count() as u64;
    let number = name.strip_suffix(".xml").and_then(|number| number.parse::<u64>().ok());
    let number = number.filter(|number| *number <= products.div_ceil(MAX_ADDRESSES)).ok_or(ApiError::RouteNotFound)?;
    let start = number.saturating_sub(1) * MAX_ADDRESSES;
    let end = if number == 0 { 0 } else { (start + MAX_ADDRESSES).min(products) };
    Ok(addresses(state, snapshot, &Part { has_others: number == 0, products: start..end }))
}

/// A sitemap has absolute addresses of pages that anybody may read.
fn check(state: &AppState) -> Result<&Site, ApiError> {
    let site = &state.site;
    if site.is_indexable() && !site.public.is_empty() { Ok(site) } else { Err(ApiError::RouteNotFound) }
}

struct Part {
    has_others: bool,
    /// Their places by name.
    products: std::ops::Range<u64>,
}

/// Streams a part: what is in memory doesn't grow with the directory.
fn addresses(state: Arc<AppState>, snapshot: Snapshot, part: &Part) -> Response {
    let mut head = format!("{HEAD}<urlset {NAMESPACE}>\n");
    if part.has_others {
        for url in other_pages(&state.site, &snapshot) {
            write_address(&mut head, &url, None);
        }
    }
    let end = part.products.end;
    let chunks = stream::try_unfold(Some(part.products.start), move |next| {
        let (state, snapshot) = (Arc::clone(&state), snapshot.clone());
        async move {
            let Some(offset) = next else { return Ok(None) };
            if offset >= end {
                return Ok(Some((Bytes::from_static(b"</urlset>\n"), None)));
            }
            let of = Arc::clone(&state);
            let limit = u32::try_from(end - offset).unwrap_or(u32::MAX).min(CHUNK);
            let write = async move { products(&of.site, &snapshot, PageRequest { limit, offset }).await };
            let xml = state.search(write).await??;
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
