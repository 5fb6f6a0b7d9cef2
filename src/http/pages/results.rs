//! Lists of products: search results, all products, and those of a category.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;

use super::facets::{self, Chip, Group, chips, groups, without_filters};
use super::frame::{Frame, Section};
use super::home;
use super::language::{Language, Texts};
use super::links::{Address, PAGE};
use super::nothing::Nothing;
use super::part::call::{Call, Calls};
use super::part::item::Item;
use super::part::pager::{Pager, offset};
use super::part::row::{Matches, Row};
use super::respond;
use crate::catalogue::resource::{CategoryResource, QueryReport};
use crate::http::extract::query::RawQuery;
use crate::http::extract::{Preferred, Snapshot};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::http::search_page::with_page;
use crate::http::state::AppState;
use crate::record;
use crate::service::parameter::definition::{CATEGORY, FILTERS, PREFIX, SEARCH_Q, SEARCH_SORT, TYPO};
use crate::service::parameter::{Given, Interface, Refusal, Values};
use crate::service::{self, Facet, MAX_QUERY_OFFSET, PageRequest, SearchPage, SearchSoftware, SearchSort};

/// Products on a page.
const LIMIT: u32 = 20;

/// The parameters of a list's address, but for the filters.
const OTHERS: [&str; 5] = [SEARCH_Q.name, SEARCH_SORT.name, TYPO.name, PREFIX.name, PAGE];

/// The parameters of a list's address.
fn names() -> Vec<&'static str> {
    FILTERS.iter().map(|filter| filter.name()).chain(OTHERS).collect()
}

/// A list to show.
#[derive(Debug)]
pub(super) struct List {
    pub(super) address: Address,
    pub(super) search: SearchSoftware,
    /// The category that the whole page is about.
    pub(super) category: Option<CategoryResource>,
}

impl List {
    /// Reads the address of a list.
    pub(super) fn read(
        path: String,
        uri: &Uri,
        snapshot: &Snapshot,
        category: Option<CategoryResource>,
        language: Option<record::Language>,
    ) -> Result<Self, ApiError> {
        let query = RawQuery::parse(uri.query().unwrap_or_default());
        let mut address = Address::read(path, &query, &names());
        let prefix = address.take(PREFIX.name);
        let mut values = Values::new(Interface::Http);
        for (name, value) in address.pairs().filter(|(name, _)| *name != PAGE) {
            values.push(name, Some(Given::Text(value)));
        }
        if let Some(prefix) = &prefix {
            values.push(PREFIX.name, Some(Given::Text(prefix)));
        }
        let refused =
            |refusals: Vec<Refusal>| ApiError::Parameters(refusals.into_iter().map(ParameterProblem::from).collect());
        let mut search = values.read(SearchSoftware::from_values).map_err(refused)?;
        let category = match &language {
            Some(language) => category.map(|category| category.in_language(language).0),
            None => category,
        };
        search.language = language;
        search.page = PageRequest { limit: LIMIT, offset: offset(address.page(), LIMIT) };
        if search.q.is_some() && search.page.offset > MAX_QUERY_OFFSET {
            return Err(too_deep());
        }
        let fixed = category.is_some();
        let refusals = service::refuse_attributes(snapshot, &search.filter, &[], search.sort.attribute());
        if !refusals.is_empty() {
            return Err(refused(refusals));
        }
        search.facets = facets::shown(&snapshot.catalogue);
        search.facets.retain(|facet| !(fixed && *facet == Facet::Category));
        search.highlight = search.q.is_some();
        if let Some(category) = &category {
            search.filter.categories = vec![category.id.clone()];
        }
        Ok(Self { address, search, category })
    }
}

fn too_deep() -> ApiError {
    ApiError::Parameters(vec![ParameterProblem {
        param: PAGE.to_owned(),
        code: ErrorCode::OffsetTooLarge,
        message: format!("A search shows {} products at most.", MAX_QUERY_OFFSET + u64::from(LIMIT)),
    }])
}

/// The part of the page that changes with filters, order and page.
#[derive(Debug, Template)]
#[template(path = "parts/explore.html")]
struct Explore<'a> {
    t: &'static Texts,
    base: &'a str,
    list: &'a List,
    page: &'a SearchPage<'a>,
    /// With each, whether products begin there that have only some of the words.
    rows: Vec<(bool, Row<'a>)>,
    groups: Vec<Group<'a>>,
    chips: Vec<Chip>,
    pager: Option<Pager>,
    calls: Calls,
    nothing: Option<Nothing>,
}

impl Explore<'_> {
    fn heading(&self) -> &str {
        match &self.list.category {
            Some(category) => &category.name,
            None if self.list.search.q.is_some() => self.t.results,
            None => self.t.products,
        }
    }

    /// The form that the filters belong to: the header's search, so that a new query keeps them. A category has its own.
    fn form(&self) -> &'static str {
        if self.list.category.is_some() { "narrow" } else { "find" }
    }

    fn total(&self) -> u64 {
        self.page.pagination.total
    }

    fn query(&self) -> &QueryReport {
        &self.page.query
    }

    fn sorts(&self) -> Vec<(&'static str, &'static str, bool)> {
        let sorts = SearchSort::FIXED.into_iter().map(|sort| {
            let label = match sort {
                SearchSort::Relevance if self.list.search.q.is_some() => self.t.best_match,
                SearchSort::Relevance => self.t.best_first,
                SearchSort::Rating => self.t.by_rating,
                SearchSort::ReviewCount => self.t.by_reviews,
                SearchSort::EvidenceCheckedOn => self.t.by_evidence,
                _ => self.t.by_name,
            };
            let value = if sort == SearchSort::Relevance { "" } else { sort.as_str() };
            (value, label, sort == self.list.search.sort)
        });
        sorts.collect()
    }

    fn without_filters(&self) -> String {
        without_filters(&self.list.address)
    }

    fn as_typed(&self) -> String {
        self.list.address.with(TYPO.name, "false")
    }

    fn corrected(&self) -> String {
        self.list.address.keeping(|_, name| name != TYPO.name)
    }

    /// Terms that were searched as well, each once.
    fn synonyms(&self) -> Vec<&str> {
        let mut terms: Vec<&str> = self.query().synonyms.iter().map(|synonym| &*synonym.to).collect();
        terms.sort_unstable();
        terms.dedup();
        terms.truncate(6);
        terms
    }
}

#[derive(Debug, Template)]
#[template(path = "results.html")]
struct Page<'a> {
    frame: Frame<'a>,
    explore: Explore<'a>,
}

/// The home page, or search results if the address has a parameter of a list.
pub(super) async fn get_home(
    State(state): State<Arc<AppState>>,
    language: Language,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = RawQuery::parse(uri.query().unwrap_or_default());
    let names = names();
    let is_list = query.pairs().any(|(name, _)| names.iter().any(|known| known.as_bytes() == name));
    if !is_list {
        return home::get(state, language, of_texts, snapshot).await;
    }
    let list = List::read(format!("{}/", state.site.base), &uri, &snapshot, None, of_texts)?;
    show(state, language, snapshot, list, false).await
}

/// The part of a list's page that changes, for the script.
pub(super) async fn get_results(
    State(state): State<Arc<AppState>>,
    language: Language,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    uri: Uri,
) -> Result<Response, ApiError> {
    let list = List::read(format!("{}/", state.site.base), &uri, &snapshot, None, of_texts)?;
    show(state, language, snapshot, list, true).await
}

/// Shows a list, or only the part that changes.
pub(super) async fn show(
    state: Arc<AppState>,
    language: Language,
    snapshot: Snapshot,
    list: List,
    is_part: bool,
) -> Result<Response, ApiError> {
    let view = View { state: Arc::clone(&state), language, snapshot: snapshot.clone(), list: Arc::new(list), is_part };
    let (search, on_pool) = (view.list.search.clone(), view.clone());
    let written = with_page(&state, snapshot, search, move |page| {
        // What else there is takes further searches.
        if page.pagination.total == 0 {
            return Ok(Err(page.clone().into_owned()));
        }
        on_pool.write(page, None).map(Ok)
    });
    let empty = match written.await? {
        Ok(response) => return Ok(response),
        Err(empty) => empty,
    };
    let look_further = async move {
        let nothing = Nothing::found(&view.state.site.base, &view.snapshot, &view.list.search).await?;
        view.write(&empty, Some(nothing))
    };
    state.search(look_further).await?
}

/// A list for a reader.
#[derive(Debug, Clone)]
struct View {
    state: Arc<AppState>,
    language: Language,
    snapshot: Snapshot,
    list: Arc<List>,
    is_part: bool,
}

impl View {
    fn write(&self, page: &SearchPage<'_>, nothing: Option<Nothing>) -> Result<Response, ApiError> {
        let Self { snapshot, list, .. } = self;
        let (t, site) = (self.language.texts(), &self.state.site);
        let items: Vec<Item<'_>> = page
            .data
            .iter()
            .map(|hit| serde_json::from_slice(&hit.item))
            .collect::<Result<_, _>>()
            .map_err(ApiError::internal)?;
        let chosen: Vec<&str> = list.search.filter.categories.iter().map(String::as_str).collect();
        let is_ranked = list.search.q.is_some() && list.search.sort == SearchSort::Relevance;
        let with_all = page.query.with_all_words.checked_sub(page.pagination.offset).filter(|_| is_ranked);
        let rows = (0..).zip(items.iter().zip(&page.data)).map(|(at, (item, hit))| {
            let matches = hit.highlights.as_deref().map(Matches::read).transpose().map_err(ApiError::internal)?;
            let row = Row::new(t, &site.base, item).selectable().preferring(&chosen);
            let row = match matches {
                Some(matches) => row.with_matches(matches),
                None => row,
            };
            Ok((with_all == Some(at), row))
        });
        let explore = Explore {
            t,
            base: &site.base,
            list,
            page,
            rows: rows.collect::<Result<_, ApiError>>()?,
            groups: groups(t, &snapshot.catalogue, list.search.language.as_ref(), &list.address, &page.facets),
            chips: chips(t, &snapshot.catalogue, list.search.language.as_ref(), &list.address),
            pager: Pager::new(t, page.pagination, &list.address, list.search.q.is_some()),
            calls: Calls::new(t, &site.public, &[call(list)]),
            nothing,
        };
        if self.is_part {
            return respond::html(StatusCode::OK, &explore);
        }
        let q = list.search.q.as_deref().unwrap_or_default();
        let title = if q.is_empty() { explore.heading().to_owned() } else { format!("{q} · {}", t.results) };
        let mut frame = Frame::new(site, self.language, snapshot).titled(&title);
        frame.canonical = Some(list.address.at_page(list.address.page()));
        if let Some(category) = &list.category {
            // Its header searches the whole directory.
            frame = frame.described(category.description.as_deref().unwrap_or_default());
            frame.section = Section::Categories;
            frame.json_ld = super::categories::breadcrumbs(site, t, category);
        } else {
            frame.section = Section::Products;
            frame.q = q;
        }
        respond::html(StatusCode::OK, &Page { frame, explore })
    }
}

/// The API's search behind a list.
fn call(list: &List) -> Call {
    let mut call = Call::new("/v1/search", "search.products");
    if let Some(category) = &list.category {
        call = call.with(CATEGORY.name, category.id.as_str());
    }
    for (name, value) in list.address.pairs().filter(|(name, _)| *name != PAGE) {
        call = call.with(name, value);
    }
    if list.search.highlight {
        call = call.with("highlight", true);
    }
    match list.search.page.offset {
        0 => call,
        offset => call.with("offset", offset),
    }
}
