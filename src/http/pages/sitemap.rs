//! The sitemap, which lists the pages for crawlers. Its files are built once per generation and
//! served as downloads.

use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::Response;
use bytes::Buf as _;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::alternatives::product_of;
use super::frame::own_language;
use super::links::{of_alternatives, of_alternatives_to, of_category, of_software};
use super::overview::SitemapFile;
use super::site::Site;
use crate::catalogue::resource::SoftwareItem;
use crate::http::content_coding::Coding;
use crate::http::downloads;
use crate::http::extract::Snapshot;
use crate::http::middleware::RequestContext;
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::shares::Class;
use crate::http::state::AppState;
use crate::service::{self, ListSoftware, PageRequest, Stop};
use crate::text::append;
use crate::text::html::escape;

/// How many URLs are written at once.
const CHUNK: u64 = 1000;

const XML: &str = "application/xml; charset=utf-8";
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMESPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The paths of the pages that aren't about a record. The operator's own pages are listed in each
/// language that they're written in.
fn fixed_paths(site: &Site, snapshot: &Snapshot) -> Vec<String> {
    let tables = &snapshot.catalogue.tables;
    let is_shown = |path: &&str| match *path {
        "/categories" => !tables.categories.is_empty(),
        "/glossary" => !tables.glossary.is_empty(),
        _ => true,
    };
    let paths = ["/", "/categories", "/glossary", "/exports", "/docs"].into_iter().filter(is_shown);
    let mut paths: Vec<_> = paths.map(str::to_owned).collect();
    let own = own_language(&snapshot.catalogue).texts().tag;
    for (name, texts) in &site.face().pages {
        paths.push(format!("/pages/{name}"));
        let others = site.languages().iter().map(|language| language.texts().tag);
        let others = others.filter(|tag| *tag != own && texts.has(tag));
        paths.extend(others.map(|tag| format!("/{tag}/pages/{name}")));
    }
    paths
}

/// How many pages aren't about a product. They come first.
fn other_pages(site: &Site, snapshot: &Snapshot) -> u64 {
    let tables = &snapshot.catalogue.tables;
    (fixed_paths(site, snapshot).len() + tables.categories.len() + tables.alternatives.len()) as u64
}

/// All pages, by file.
fn files(site: &Site, snapshot: &Snapshot) -> impl ExactSizeIterator<Item = Range<u64>> {
    let (total, most) =
        (other_pages(site, snapshot) + snapshot.software_count() as u64, site.config.sitemap_addresses.max(1));
    let count = u32::try_from(total.div_ceil(most)).unwrap_or(u32::MAX);
    (0..count).map(move |number| u64::from(number) * most..total.min((u64::from(number) + 1) * most))
}

/// The paths of the sitemap's files.
pub(in crate::http) fn paths(site: &Site, snapshot: &Snapshot) -> impl Iterator<Item = String> {
    let count = files(site, snapshot).len();
    let parts = (0..count).filter(move |_| count > 1).map(|number| format!("/sitemap/{number}.xml"));
    std::iter::once("/sitemap.xml".to_owned()).chain(parts)
}

/// The sitemap. For a large directory, it's an index of its files.
pub(super) async fn get_sitemap(
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    headers: HeaderMap,
    snapshot: Snapshot,
) -> Result<Response, ApiError> {
    let site = check(&state)?;
    let files = files(site, &snapshot).len();
    if files == 1 {
        return download(&state, &request, &headers, snapshot, 0).await;
    }
    let mut xml = format!("{HEAD}<sitemapindex {NAMESPACE}>\n");
    for number in 0..files {
        append(
            &mut xml,
            format_args!("<sitemap><loc>{}/sitemap/{number}.xml</loc></sitemap>\n", escape(site.config.base())),
        );
    }
    xml.push_str("</sitemapindex>\n");
    Ok(response::of_type(XML, xml))
}

/// A file of a large sitemap.
pub(super) async fn get_file(
    State(state): State<Arc<AppState>>,
    Extension(request): Extension<Arc<RequestContext>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    snapshot: Snapshot,
) -> Result<Response, ApiError> {
    check(&state)?;
    let number = name.strip_suffix(".xml").and_then(|number| number.parse().ok()).ok_or(ApiError::RouteNotFound)?;
    download(&state, &request, &headers, snapshot, number).await
}

/// A sitemap contains absolute URLs of public pages, so only a public site with a URL has one.
fn check(state: &AppState) -> Result<&Site, ApiError> {
    let site = &state.site;
    if site.is_indexable() && !site.config.base().is_empty() { Ok(site) } else { Err(ApiError::RouteNotFound) }
}

async fn download(
    state: &Arc<AppState>,
    request: &RequestContext,
    headers: &HeaderMap,
    snapshot: Snapshot,
    number: usize,
) -> Result<Response, ApiError> {
    let pages = files(&state.site, &snapshot).nth(number).ok_or(ApiError::RouteNotFound)?;
    let holder = request.holder();
    let slot = state.downloads.acquire(Class::of(&holder), holder, Instant::now())?;
    let file = state.site.overviews.sitemap(&snapshot, number as u64);
    let SitemapFile { gzip, size } = file.get_or_compute(|| build(Arc::clone(state), snapshot, pages)).await?;
    let coding = Coding::preferred(headers, &[Coding::Gzip]);
    let length = if coding.is_some() { gzip.len() as u64 } else { size };
    let body = match coding {
        Some(_) => downloads::body(gzip.reader(), slot),
        None => downloads::body(GzDecoder::new(gzip.reader()), slot),
    };
    let mut response = response::of_type(XML, body);
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    response.headers_mut().extend(coding.map(|coding| (CONTENT_ENCODING, coding.header())));
    if request.method == Method::GET {
        response.extensions_mut().insert(downloads::cost(size));
    }
    Ok(response)
}

/// Builds a file with these pages. Each chunk runs on the search pool, and other searches run in
/// between.
async fn build(state: Arc<AppState>, snapshot: Snapshot, pages: Range<u64>) -> Result<SitemapFile, ApiError> {
    let (mut file, mut size) = (GzEncoder::new(Vec::new(), Compression::default()), 0);
    let mut start = pages.start;
    while start < pages.end {
        let chunk = start..pages.end.min(start + CHUNK);
        let (is_first, is_last) = (chunk.start == pages.start, chunk.end == pages.end);
        start = chunk.end;
        let (of, snapshot) = (Arc::clone(&state), snapshot.clone());
        let write = move |stop: Stop| {
            let mut xml = if is_first { format!("{HEAD}<urlset {NAMESPACE}>\n") } else { String::new() };
            write_pages(&mut xml, &of.site, &snapshot, chunk, &stop)?;
            xml.push_str(if is_last { "</urlset>\n" } else { "" });
            file.write_all(xml.as_bytes()).map_err(ApiError::internal)?;
            Ok::<_, ApiError>((file, size + xml.len() as u64))
        };
        (file, size) = state.search(write).await??;
    }
    let gzip = file.finish().map_err(ApiError::internal)?.into();
    Ok(SitemapFile { gzip, size })
}

fn write_pages(
    xml: &mut String,
    site: &Site,
    snapshot: &Snapshot,
    pages: Range<u64>,
    stop: &Stop,
) -> Result<(), ApiError> {
    let (others, fixed) = (other_pages(site, snapshot), fixed_paths(site, snapshot));
    let index = |at: u64| usize::try_from(at.min(others)).unwrap_or(usize::MAX);
    for at in index(pages.start)..index(pages.end) {
        let (tables, category) = (&snapshot.catalogue.tables, at.wrapping_sub(fixed.len()));
        let url = match (fixed.get(at), tables.categories.get(category)) {
            (Some(path), _) => site.absolute().page(path),
            (None, Some(category)) => of_category(site.absolute(), &category.id),
            (None, None) => {
                let of = &tables.alternatives[category - tables.categories.len()];
                match product_of(snapshot, of)? {
                    Some(id) => of_alternatives_to(site.absolute(), &id).at_page(1),
                    None => of_alternatives(site.absolute(), &of.id).at_page(1),
                }
            }
        };
        write_address(xml, &url, None);
    }
    let (start, end) = (pages.start.max(others), pages.end.max(others));
    if start == end {
        return Ok(());
    }
    let page = PageRequest { limit: u32::try_from(end - start).unwrap_or(u32::MAX), offset: start - others };
    let list = service::list_software(snapshot, &ListSoftware { page, ..ListSoftware::default() }, stop)?;
    for item in &list.data {
        let SoftwareItem { id, .. } = serde_json::from_slice(item).map_err(ApiError::internal)?;
        let last_change = snapshot.merged_changes.of(&snapshot.changes, &id).next();
        let at = last_change.map_or_else(|| snapshot.changes.begun_at(), |(step, ..)| &step.at);
        write_address(xml, &of_software(site.absolute(), &id), Some(at).filter(|at| !at.is_empty()));
    }
    Ok(())
}

fn write_address(xml: &mut String, url: &str, changed_at: Option<&str>) {
    append(xml, format_args!("<url><loc>{}</loc>", escape(url)));
    if let Some(at) = changed_at {
        append(xml, format_args!("<lastmod>{}</lastmod>", escape(at)));
    }
    xml.push_str("</url>\n");
}
