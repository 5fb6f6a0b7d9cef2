//! Product lists: search results, all products, and a category's products.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;

use super::call::{Call, Calls};
use super::edition::{Edition, Lang};
use super::facets::{Chip, FilterGroup, chips, filter_count, groups, without_filters};
use super::frame::{Frame, JsonLd, Section};
use super::language::{PageLanguage, Texts};
use super::links::{PAGE, of_category, of_search, of_software};
use super::list::{List, names};
use super::pager::Pager;
use super::row::{Matches, Row};
use super::site::Site;
use super::text_budget::TextBudget;
use super::{facets, home, links, respond};
use crate::catalogue::resource::{
    CategoryResource, CategorySuggestion, Correction, QueryReport, SoftwareItem, SoftwareRef, UnknownValue,
};
use crate::http::extract::query::RawQuery;
use crate::http::extract::{Preferred, Snapshot};
use crate::http::problem::ApiError;
use crate::http::search_page::with_page;
use crate::http::state::AppState;
use crate::service;
use crate::service::parameter::definition::{CATEGORY, SEARCH_Q, TYPO};
use crate::service::{Budget, Order, PageRequest, SearchPage, SearchSoftware, SearchSort, Stop, Tier};
use crate::text::english::is_function_word;
use crate::text::fold::folded;

/// The maximum number of synonyms that the page lists.
const MAX_SYNONYMS: usize = 6;

/// The part of the page that changes with filters, sort order and page number.
#[derive(Debug, Template)]
#[template(path = "parts/explore.html")]
struct Explore<'a> {
    edition: Edition<'a>,
    t: &'static Texts,
    base: &'a str,
    /// Used by the script, which replaces only this part of the page.
    window_title: String,
    list: &'a List,
    page: &'a SearchPage<'a>,
    /// The rows, each with the line to show above it if it's the first one in its tier.
    rows: Vec<(Option<&'static str>, Row<'a>)>,
    groups: Vec<FilterGroup<'a>>,
    chips: Vec<Chip<'a>>,
    pager: Option<Pager>,
    calls: Calls,
    nothing: Option<Nothing<'a>>,
}

impl Explore<'_> {
    fn heading(&self) -> &'static str {
        if self.list.search.q.is_some() { self.t.results } else { self.t.products }
    }

    /// The form that the filters belong to: the header's search form, so a new query keeps them. A
    /// category's page has its own form.
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
        let sorts = SearchSort::fixed().map(|sort| {
            let label = match sort {
                SearchSort::Relevance if self.list.search.q.is_some() => self.t.best_match,
                SearchSort::Relevance => self.t.best_first,
                SearchSort::Stored(Order::Rating) => self.t.by_rating,
                SearchSort::Stored(Order::LowestRating) => self.t.by_lowest_rating,
                SearchSort::Stored(Order::ReviewCount) => self.t.by_reviews,
                SearchSort::Stored(Order::EvidenceCheckedOn) => self.t.by_evidence,
                SearchSort::Stored(Order::Name) | SearchSort::Attribute(_) => self.t.by_name,
            };
            let value = if sort == SearchSort::Relevance { "" } else { sort.as_str() };
            (value, label, sort == self.list.search.sort)
        });
        sorts.collect()
    }

    fn has_categories(&self) -> bool {
        !self.edition.catalogue.tables.categories.is_empty()
    }

    fn filter_count(&self) -> usize {
        filter_count(&self.list.address)
    }

    fn without_filters(&self) -> String {
        without_filters(&self.list.address)
    }

    fn as_typed(&self) -> String {
        self.list.address.with(TYPO.name, "false")
    }

    fn with_corrections(&self) -> String {
        self.list.address.keeping(|_, name| name != TYPO.name)
    }

    fn corrected(&self) -> String {
        self.list.corrected(self.query()).unwrap_or_default()
    }

    /// The dropped words that occur in some products.
    fn ignored(&self) -> Vec<&str> {
        let query = self.query();
        query.dropped.iter().filter(|word| !query.is_unknown(word)).map(String::as_str).collect()
    }

    /// The filters' values that no product has, each with the values that may have been meant and
    /// their URLs.
    fn unknown_values(&self) -> Vec<(&str, Vec<(&str, String)>)> {
        let unknown = self.query().unknown.iter().filter(|unknown| !unknown.is_word());
        let label = |parameter: &str, value: &'_ str| {
            let category = (parameter == CATEGORY.name).then(|| self.edition.catalogue.category_by_id(value)).flatten();
            category.map(|category| category.name_in(self.list.search.language.as_ref()))
        };
        let values = unknown.map(|UnknownValue { parameter, value, nearest }| {
            let ways = nearest.iter().map(|near| {
                (label(parameter, near).unwrap_or(near), self.list.address.replacing(parameter, value, near))
            });
            (&**value, ways.collect())
        });
        values.collect()
    }

    /// The words that no product contains.
    fn unknown_words(&self) -> Vec<&str> {
        self.query().unknown.iter().filter(|unknown| unknown.is_word()).map(|unknown| &*unknown.value).collect()
    }

    /// The first few additional terms that were searched for.
    fn synonyms(&self) -> Vec<&str> {
        let mut terms: Vec<&str> = Vec::new();
        for Correction { to, .. } in &self.query().synonyms {
            if terms.len() < MAX_SYNONYMS && !terms.contains(&&**to) {
                terms.push(to);
            }
        }
        terms
    }
}

#[derive(Debug, Template)]
#[template(path = "results.html")]
struct ResultsPage<'a> {
    frame: Frame<'a>,
    explore: Explore<'a>,
}

/// The home page, or search results if the URL has any list parameters.
pub(super) async fn get_home(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
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
    let list = List::read(format!("{}/", state.site.base_in(language)), &uri, &snapshot, None, of_texts)?;
    show(state, language, snapshot, list, false).await
}

/// The part of a list page that the script replaces.
pub(super) async fn get_results(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    uri: Uri,
) -> Result<Response, ApiError> {
    let list = List::read(format!("{}/", state.site.base_in(language)), &uri, &snapshot, None, of_texts)?;
    show(state, language, snapshot, list, true).await
}

/// Shows a list, or only the part of it that the script replaces.
pub(super) async fn show(
    state: Arc<AppState>,
    language: PageLanguage,
    snapshot: Snapshot,
    list: List,
    is_part: bool,
) -> Result<Response, ApiError> {
    let view = View { state: Arc::clone(&state), language, snapshot: snapshot.clone(), list: Arc::new(list), is_part };
    let (search, on_pool) = (view.list.search.clone(), view.clone());
    let written = with_page(&state, snapshot, search, move |page, results| {
        // Finding suggestions takes more searches.
        if page.pagination.total == 0 {
            return Ok(Err((page.clone().into_owned(), results.spent)));
        }
        on_pool.write(page, None).map(Ok)
    });
    let (empty, spent) = match written.await? {
        Ok(response) => return Ok(response),
        Err(empty) => empty,
    };
    let look_further = move |stop: Stop| {
        // The search may have been cached, but counts towards the page's budget all the same.
        let budget = service::budget(&view.snapshot, &stop);
        budget.charge(spent);
        let nothing = Nothing::found(view.edition(), &view.snapshot, &view.list, &empty.query, budget)?;
        view.write(&empty, Some(nothing))
    };
    state.search(look_further).await?
}

/// A list to show to a reader.
#[derive(Debug, Clone)]
struct View {
    state: Arc<AppState>,
    language: PageLanguage,
    snapshot: Snapshot,
    list: Arc<List>,
    is_part: bool,
}

impl View {
    fn edition(&self) -> Edition<'_> {
        self.state.site.edition(self.language, &self.snapshot.catalogue, self.list.search.language.as_ref())
    }

    fn write(&self, page: &SearchPage<'_>, nothing: Option<Nothing<'_>>) -> Result<Response, ApiError> {
        let Self { snapshot, list, .. } = self;
        let (edition, site) = (self.edition(), &self.state.site);
        let t = edition.t;
        let items: Vec<SoftwareItem<'_>> = page
            .data
            .iter()
            .map(|hit| serde_json::from_slice(&hit.item))
            .collect::<Result<_, _>>()
            .map_err(ApiError::internal)?;
        let chosen: Vec<&str> = list.search.filter.categories.iter().map(String::as_str).collect();
        let is_ranked = list.search.q.is_some() && list.search.sort == SearchSort::Relevance;
        let mut above = None;
        let rows = items.iter().zip(&page.data).map(|(item, hit)| {
            let tier = Some(hit.tier).filter(|_| is_ranked);
            let line = tier.and_then(|tier| tier_line(t, tier, page));
            let is_first = std::mem::replace(&mut above, line) != line;
            let matches = hit.highlights.as_deref().map(Matches::read).transpose().map_err(ApiError::internal)?;
            let row = Row::new(edition, item).selectable().preferring(&chosen);
            let row = row.chosen_if(tier == Some(Tier::Pinned));
            let row = match matches {
                Some(matches) => row.with_matches(matches),
                None => row,
            };
            Ok((line.filter(|_| is_first), row))
        });
        let q = list.search.q.as_deref().unwrap_or_default();
        let name = list.category.as_ref().map_or(t.products, |category| &category.name);
        let title = if q.is_empty() { name.to_owned() } else { format!("{q} · {}", t.results) };
        let mut frame =
            Frame::new(site, self.language, snapshot).titled(&title).at(&list.address.at_page(list.address.page()));
        frame = frame.canonical_at(&list.canonical(&snapshot.catalogue, edition.base));
        frame.is_noindex = list.search.q.is_some() || page.data.is_empty();
        let explore = Explore {
            edition,
            t,
            base: edition.base,
            window_title: frame.window_title(),
            list,
            page,
            rows: rows.collect::<Result<_, ApiError>>()?,
            groups: groups(edition, &list.address, &page.facets),
            chips: chips(edition, &list.address),
            pager: Pager::new(t, page.pagination, &list.address, list.search.q.is_some()),
            calls: Calls::new(t, site, &[call(list)]),
            nothing,
        };
        if self.is_part {
            return respond::html(StatusCode::OK, t, &explore);
        }
        if let Some(category) = &list.category {
            // On a category's page, the header's search box still covers the whole directory.
            frame = frame.described(category.description.as_deref().unwrap_or_default());
            frame.section = Section::Categories;
            frame.json_ld = breadcrumbs(site, t, category);
        } else {
            frame.section = Section::Products;
            frame.q = q;
        }
        respond::html(StatusCode::OK, t, &ResultsPage { frame, explore })
    }
}

/// Breadcrumbs from the home page to a category.
fn breadcrumbs(site: &Site, t: &'static Texts, category: &CategoryResource) -> Vec<JsonLd> {
    if site.public.is_empty() {
        return Vec::new();
    }
    vec![JsonLd::breadcrumbs(&[
        (t.categories, format!("{}/categories", site.public)),
        (&category.name, of_category(&site.public, &category.id)),
    ])]
}

/// The line above the first product of a tier; none above products that match the whole query.
fn tier_line(t: &'static Texts, tier: Tier, page: &SearchPage<'_>) -> Option<&'static str> {
    match tier {
        Tier::RelatedDemo | Tier::Related if page.total_by_words() > 0 => Some(t.near_in_meaning),
        Tier::RelatedDemo | Tier::Related => Some(t.no_product_has_these_words),
        Tier::SomeDemo | Tier::Some if page.query.with_all_words > 0 => Some(t.some_words),
        Tier::SomeDemo | Tier::Some => Some(t.no_product_has_all_words),
        Tier::Demo | Tier::All | Tier::Pinned | Tier::ExactName => None,
    }
}

/// The API search behind a list.
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

/// The maximum number of a query's words to try on their own, and of filters to try removing.
const MAX_TRIED: usize = 6;

/// The maximum number of queries, products and categories to offer.
const FEW: u32 = 5;

#[derive(Debug)]
pub(super) struct Nothing<'a> {
    pub(super) q: Option<String>,
    pub(super) has_filters: bool,
    /// Filters that, if removed, would leave some matching products.
    pub(super) filters: Vec<Way<'a>>,
    /// How many products there are without any filters.
    pub(super) without_filters: u64,
    /// Queries with similar words that occur in products.
    pub(super) queries: Vec<Way<'a>>,
    /// The query's words that find something on their own.
    pub(super) words: Vec<Way<'a>>,
    pub(super) products: Vec<Way<'a>>,
    pub(super) categories: Vec<Way<'a>>,
}

#[derive(Debug)]
pub(super) struct Way<'a> {
    pub(super) label: String,
    pub(super) lang: Lang<'a>,
    pub(super) href: String,
    /// The number of products.
    pub(super) count: Option<u64>,
}

impl<'a> Nothing<'a> {
    /// What to offer after this list's search, which found nothing, within what's left of the page's
    /// budget.
    pub(super) fn found(
        edition: Edition<'a>,
        snapshot: &Snapshot,
        list: &List,
        report: &QueryReport,
        budget: Budget,
    ) -> Result<Self, ApiError> {
        let (base, chips) = (edition.base, facets::chips(edition, &list.address));
        let counter = Counter { snapshot, budget };
        // Uses the corrections already found: finding them again would be most of the work.
        let q = list.corrected(report);
        let mut nothing = Self {
            q: list.search.q.clone(),
            has_filters: facets::filter_count(&list.address) > 0,
            filters: Vec::new(),
            without_filters: 0,
            queries: Vec::new(),
            words: Vec::new(),
            products: Vec::new(),
            categories: Vec::new(),
        };
        if nothing.has_filters {
            let search = SearchSoftware { q: q.clone(), ..list.keeping(|_, name| !facets::is_filter(name))? };
            nothing.without_filters = counter.count(search)?;
        }
        // Removing the only filter is the same as removing all of them.
        let tried = if chips.len() > 1 { MAX_TRIED } else { 0 };
        for chip in chips.into_iter().take(tried) {
            let search = SearchSoftware { q: q.clone(), ..list.keeping(|at, _| at != chip.at)? };
            let count = counter.count(search)?;
            if count > 0 {
                nothing.filters.push(Way { label: chip.label, lang: chip.lang, href: chip.href, count: Some(count) });
            }
        }
        let Some(q) = q else { return Ok(nothing) };
        let understanding = counter.budget.for_understanding();
        let mut queries = service::similar_queries(snapshot, &q, FEW as usize, &understanding);
        counter.budget.charge_understanding(&understanding);
        if !report.corrected.is_empty() && list.search.q.as_ref() != Some(&q) {
            queries.insert(0, q.clone());
        }
        nothing.queries = counter.ways(base, queries)?;
        let unknown = report.unknown.iter().filter(|unknown| unknown.is_word());
        let unknown: Vec<String> = unknown.map(|unknown| folded(&unknown.value).collect()).collect();
        let words = q.split_whitespace().map(|word| word.trim_matches(['"', '-']).to_owned());
        let says_something = |word: &String| {
            let folded: String = folded(word).collect();
            !folded.is_empty() && *word != q && !is_function_word(&folded) && !unknown.contains(&folded)
        };
        let mut words: Vec<String> = words.filter(says_something).take(MAX_TRIED).collect();
        words.dedup();
        words.retain(|word| nothing.queries.iter().all(|query| query.label != *word));
        nothing.words = counter.ways(base, words)?;
        let language = list.search.language.as_ref();
        let suggestions = service::suggest(snapshot, &q, FEW, language, &counter.budget)?;
        let product = |product: &SoftwareRef| Way {
            label: product.name.clone(),
            lang: Lang::default(),
            href: of_software(base, &product.id),
            count: None,
        };
        nothing.products = suggestions.software.iter().map(product).collect();
        let category = |category: &CategorySuggestion<'_>| Way {
            label: category.name.to_owned(),
            lang: edition.category(category.id),
            href: of_category(base, category.id),
            count: Some(category.software_count),
        };
        nothing.categories = suggestions.categories.iter().map(category).collect();
        Ok(nothing)
    }
}

/// Counts the results of several searches, which share a budget.
struct Counter<'s> {
    snapshot: &'s Snapshot,
    budget: Budget,
}

impl Counter<'_> {
    /// How many products a search finds; 0 if the budget runs out first.
    fn count(&self, search: SearchSoftware) -> Result<u64, ApiError> {
        let search = SearchSoftware { page: PageRequest { limit: 1, offset: 0 }, ..search };
        if self.budget.is_exceeded() {
            return Ok(0);
        }
        let found = service::find_software_within(self.snapshot, &search, &self.budget)?;
        Ok(if self.budget.is_exceeded() { 0 } else { found.total })
    }

    /// The queries that find at least one product.
    fn ways<'a>(&self, base: &str, queries: Vec<String>) -> Result<Vec<Way<'a>>, ApiError> {
        let mut ways = Vec::new();
        for q in queries {
            let count = self.count(SearchSoftware::new(&q))?;
            if count > 0 {
                let href = of_search(base, SEARCH_Q.name, &q);
                ways.push(Way { href, label: q, lang: Lang::default(), count: Some(count) });
            }
        }
        Ok(ways)
    }
}
