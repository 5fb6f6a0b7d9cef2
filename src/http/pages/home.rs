//! The home page: what the directory is, and where to start.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::call::{Call, Calls};
use super::edition::Edition;
use super::frame::{Frame, JsonLd};
use super::language::Texts;
use super::licence;
use super::links::Base;
use super::overview::{Overview, largest};
use super::respond;
use super::row::{self, Row};
use super::visit::Visit;
use crate::catalogue::ExportDocument;
use crate::catalogue::resource::CategoryResource;
use crate::http::extract::Snapshot;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::Translator;

#[derive(Debug, Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: Frame<'a>,
    edition: Edition<'a>,
    t: &'static Texts,
    base: Base<'a>,
    title: &'a str,
    introduction: &'a str,
    overview: &'a Overview,
    examples: &'a [String],
    /// The number of categories, including those without products.
    category_count: u64,
    categories: Vec<Cow<'a, CategoryResource>>,
    exports: &'a [ExportDocument],
    newest_evidence: Vec<Row<'a>>,
    recently_added: Vec<Row<'a>>,
    calls: Calls,
}

pub(super) async fn get(visit: Visit) -> Result<Response, ApiError> {
    let overview = overview(&visit.state, &visit.snapshot).await?;
    let (t, site, edition) = (visit.t(), visit.site(), visit.edition());
    let tables = &edition.catalogue.tables;
    let localised = overview.localised(edition.language);
    let items = row::items(overview.newest_evidence.iter().chain(&overview.recently_added))?;
    let mut products = row::products(items, &overview.records)?;
    let mut translator = Translator::new(edition.catalogue, edition.language);
    for product in &mut products {
        translator.detail(product);
    }
    let (newest, added) = products.split_at(overview.newest_evidence.len());
    let introduction = site.introduction_in(visit.language);
    let mut frame = visit.frame().described(&introduction.plain);
    frame.json_ld = vec![JsonLd::new(
        "WebSite",
        &[
            ("name", site.title_in(t).into()),
            ("url", site.absolute().page("/").into()),
            (
                "publisher",
                site.face()
                    .publisher
                    .as_ref()
                    .map_or(json!(null), |name| json!({"@type": "Organization", "name": name})),
            ),
            (
                "potentialAction",
                json!({
                    "@type": "SearchAction",
                    "target": format!("{}/?q={{query}}", site.config.base()),
                    "query-input": "required name=query"
                }),
            ),
        ],
    )];
    let page = HomePage {
        frame,
        edition,
        t,
        base: edition.base,
        title: site.title_in(t),
        introduction: &introduction.html,
        overview: &overview,
        category_count: tables.categories.len() as u64,
        categories: largest(&tables.categories, localised.map_or(&[], |localised| &localised.categories))
            .into_iter()
            .map(|at| tables.categories[at].localised(edition.language))
            .collect(),
        examples: localised.map_or(&[], |localised| &localised.examples),
        exports: &tables.exports,
        newest_evidence: newest.iter().map(|product| Row::new(edition, product)).collect(),
        recently_added: added.iter().map(|product| Row::new(edition, product)).collect(),
        calls: Calls::new(
            t,
            site,
            &[
                Call::new("/v1/categories", "categories.list"),
                Call::new("/v1/search", "search.products").with("sort", "-evidence_checked_on"),
            ],
        ),
    };
    respond::html(StatusCode::OK, t, &page)
}

/// A generation's overview, computed once on the search pool.
pub(in crate::http) async fn overview(state: &Arc<AppState>, snapshot: &Snapshot) -> Result<Arc<Overview>, ApiError> {
    let overview = state.site.overviews.overview(snapshot);
    let (of, snapshot) = (Arc::clone(state), snapshot.clone());
    let compute = move || Overview::compute(&snapshot).map(Arc::new);
    overview.get_or_compute(|| async move { of.search(move |_| compute()).await? }).await
}
