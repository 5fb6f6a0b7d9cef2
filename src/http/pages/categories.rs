//! The category list, and a page for each category.

use std::borrow::Cow;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::call::{Call, Calls};
use super::edition::Edition;
use super::frame::{Frame, Section};
use super::home::overview;
use super::language::Texts;
use super::links::{Address, PAGE, of_category};
use super::list::List;
use super::pager::{Pager, offset, part};
use super::respond;
use super::results;
use super::text_budget::TextBudget;
use super::visit::Visit;
use crate::catalogue::resource::{CategoryResource, Pagination};
use crate::http::extract::PathId;
use crate::http::problem::ApiError;

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
}

pub(super) async fn list_categories(visit: Visit) -> Result<Response, ApiError> {
    let (t, edition) = (visit.t(), visit.edition());
    let address = Address::list(edition.base.page("/categories"), edition.base).reading(&visit.query, &[PAGE]);
    let (all, overview) = (&edition.catalogue.tables.categories, overview(&visit.state, &visit.snapshot).await?);
    let sorted = overview.localised(edition.language).map_or(&[][..], |localised| &localised.categories);
    let page = Pagination { limit: LIMIT, offset: offset(address.page(), LIMIT), total: all.len() as u64 };
    let mut frame = visit.frame().titled(t.categories).at(&address.at_page(address.page()));
    frame.section = Section::Categories;
    frame.is_noindex = part(sorted, page).is_empty();
    let page = CategoriesPage {
        frame,
        edition,
        t,
        total: page.total,
        categories: part(sorted, page).iter().map(|at| &all[*at]).collect(),
        pager: Pager::new(t, page, &address, false),
        calls: Calls::new(t, visit.site(), &[Call::new("/v1/categories", "categories.list")]),
    };
    respond::html(StatusCode::OK, t, &page)
}

pub(super) async fn get_category(visit: Visit, PathId(id): PathId) -> Result<Response, ApiError> {
    show(visit, id, false).await
}

/// The part of a category's page that the script replaces.
pub(super) async fn get_results(visit: Visit, PathId(id): PathId) -> Result<Response, ApiError> {
    show(visit, id, true).await
}

async fn show(visit: Visit, id: String, is_part: bool) -> Result<Response, ApiError> {
    let (base, catalogue) = (visit.base(), &visit.snapshot.catalogue);
    let Some(at) = catalogue.find_category(&id) else {
        let renamed = catalogue.renamed_categories(&id);
        return match renamed.as_slice() {
            [now] => Ok(respond::redirect(StatusCode::PERMANENT_REDIRECT, &of_category(base, now))),
            _ => Err(ApiError::CategoryNotFound { renamed, id }),
        };
    };
    let category = catalogue.tables.categories[at as usize].clone();
    let address = Address::record(of_category(base, &category.id), base);
    let list = List::read(address, &visit, Some(category))?;
    results::show(visit, list, is_part).await
}
