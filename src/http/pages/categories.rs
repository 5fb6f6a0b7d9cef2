//! The category list, and a page for each category.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;

use super::call::{Call, Calls};
use super::edition::Edition;
use super::frame::{Frame, Section};
use super::home::overview;
use super::language::{PageLanguage, Texts};
use super::links::{Address, PAGE, of_category};
use super::list::List;
use super::pager::{Pager, offset, part};
use super::respond;
use super::results;
use super::text_budget::TextBudget;
use crate::catalogue::resource::{CategoryResource, Pagination};
use crate::http::extract::query::RawQuery;
use crate::http::extract::{PathId, Preferred, Snapshot};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::record;

/// Categories per page.
const LIMIT: u32 = 200;

#[derive(Debug, Template)]
#[template(path = "categories.html")]
struct CategoriesPage<'a> {
    frame: Frame<'a>,
    edition: Edition<'a>,
    t: &'static Texts,
    total: u64,
    categories: Vec<&'a CategoryResource>,
    pager: Option<Pager>,
    calls: Calls,
}

impl<'a> CategoriesPage<'a> {
    /// A category, translated only while it's written: translations can be large.
    fn localised(&self, category: &'a CategoryResource) -> Cow<'a, CategoryResource> {
        category.localised(self.edition.language)
    }

    fn budget(&self) -> TextBudget {
        TextBudget::of_each(self.categories.len())
    }

    fn empty_count(&self) -> u64 {
        self.categories.iter().filter(|category| category.software_count == 0).count() as u64
    }

    fn href(&self, category: &CategoryResource) -> String {
        of_category(self.edition.base, &category.id)
    }
}

pub(super) async fn list_categories(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    uri: Uri,
) -> Result<Response, ApiError> {
    let (t, site) = (language.texts(), &state.site);
    let edition = site.edition(language, &snapshot.catalogue, of_texts.as_ref());
    let query = RawQuery::parse(uri.query().unwrap_or_default());
    let address = Address::list(edition.base.page("/categories"), edition.base).reading(&query, &[PAGE]);
    let (all, overview) = (&snapshot.catalogue.tables.categories, overview(&state, &snapshot).await?);
    let sorted = overview.localised(of_texts.as_ref()).map_or(&[][..], |localised| &localised.categories);
    let page = Pagination { limit: LIMIT, offset: offset(address.page(), LIMIT), total: all.len() as u64 };
    let mut frame = Frame::new(site, language, &snapshot).titled(t.categories).at(&address.at_page(address.page()));
    frame.section = Section::Categories;
    frame.is_noindex = part(sorted, page).is_empty();
    let page = CategoriesPage {
        frame,
        edition,
        t,
        total: page.total,
        categories: part(sorted, page).iter().map(|at| &all[*at]).collect(),
        pager: Pager::new(t, page, &address, false),
        calls: Calls::new(t, site, &[Call::new("/v1/categories", "categories.list")]),
    };
    respond::html(StatusCode::OK, t, &page)
}

pub(super) async fn get_category(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    PathId(id): PathId,
    uri: Uri,
) -> Result<Response, ApiError> {
    show(state, (language, of_texts), snapshot, id, &uri, false).await
}

/// The part of a category's page that the script replaces.
pub(super) async fn get_results(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    PathId(id): PathId,
    uri: Uri,
) -> Result<Response, ApiError> {
    show(state, (language, of_texts), snapshot, id, &uri, true).await
}

async fn show(
    state: Arc<AppState>,
    (language, of_texts): (PageLanguage, Option<record::Language>),
    snapshot: Snapshot,
    id: String,
    uri: &Uri,
    is_part: bool,
) -> Result<Response, ApiError> {
    let catalogue = &snapshot.catalogue;
    let Some(at) = catalogue.find_category(&id) else {
        let renamed = catalogue.renamed_categories(&id);
        return match renamed.as_slice() {
            [now] => {
                Ok(respond::redirect(StatusCode::PERMANENT_REDIRECT, &of_category(state.site.base_in(language), now)))
            }
            _ => Err(ApiError::CategoryNotFound { renamed, id }),
        };
    };
    let category = catalogue.tables.categories[at as usize].clone();
    let base = state.site.base_in(language);
    let address = Address::record(of_category(base, &category.id), base);
    let list = List::read(address, uri, &snapshot, Some(category), of_texts)?;
    results::show(state, language, snapshot, list, is_part).await
}
