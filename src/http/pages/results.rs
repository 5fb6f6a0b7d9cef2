//! Product lists: search results, all products, and a category's products.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::attribute::{self, Fact};
use super::call::{Call, Calls};
use super::compare::MAX_COMPARED;
use super::edition::{Edition, Lang};
use super::facets::{Chip, FilterGroup};
use super::frame::{Frame, JsonLd, Section};
use super::language::Texts;
use super::links::{Base, COMPARED, PAGE, of_category, of_search};
use super::list::{List, names};
use super::pager::Pager;
use super::row::{self, Row};
use super::site::Site;
use super::text_budget::TextBudget;
use super::visit::Visit;
use super::{facets, home, links, respond};
use crate::catalogue::resource::{
    CategoryRef, CategoryResource, CategorySuggestion, Correction, QueryReport, SoftwareDetail, SoftwareItem,
    SoftwareRef, UnderstoodAttribute, UnknownValue,
};
use crate::http::extract::Snapshot;
use crate::http::problem::ApiError;
use crate::record::{AttributeType, Corrections};
use crate::service;
use crate::service::parameter::definition::{CATEGORY, SEARCH_Q, TYPO, attribute_filter};
use crate::service::{Budget, Order, PageRequest, SearchPage, SearchSoftware, SearchSort, Stop, Tier};
use crate::text::english::is_function_word;
use crate::text::fold::folded;
use crate::text::html::escape;
use crate::text::shorten::in_list;

/// The maximum number of categories in common that a row lists.
const MAX_SHARED: usize = 4;

/// The maximum number of synonyms that the page lists.
const MAX_SYNONYMS: usize = 6;

/// The part of the page that changes with filters, sort order and page number.
#[derive(Debug, Template)]
#[template(path = "parts/explore.html")]
struct Explore<'a> {
    edition: Edition<'a>,
    t: &'static Texts,
    base: Base<'a>,
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
    /// The products chosen for comparison, in an address without scripts.
    compared: Vec<Chosen>,
    /// The query string of the search's feeds, if they're public and it isn't the list of all
    /// products.
    feed: Option<String>,
}

/// If the query stands for more values of an attribute than this, they aren't listed.
const MAX_VALUES: usize = 3;

/// A product chosen for comparison.
#[derive(Debug)]
struct Chosen {
    id: String,
    name: String,
    /// The list's URL without this choice.
    without: String,
    /// Whether the page has a row for the product.
    is_shown: bool,
}

impl Explore<'_> {
    fn heading(&self) -> &'static str {
        if self.list.search.q.is_some() { self.t.results } else { self.t.products }
    }

    fn total(&self) -> u64 {
        self.page.pagination.total
    }

    /// The number to show beside the heading: products with all the words, if any have them.
    fn headline(&self) -> u64 {
        match self.query().with_all_words {
            complete if complete > 0 && self.list.search.q.is_some() => complete,
            _ => self.total(),
        }
    }

    /// How many products have only some of the words, unless none have all.
    fn with_some_words(&self) -> u64 {
        if self.query().with_all_words == 0 {
            0
        } else {
            self.page.total_by_words().saturating_sub(self.query().with_all_words)
        }
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

    /// The attributes' values that the query names, each with the list's URL filtered by them.
    fn understood(&self) -> Vec<(String, String)> {
        let understood = self.query().understood.iter().map(|UnderstoodAttribute { words, attribute, values }| {
            let shown = if values.len() > MAX_VALUES { words.clone() } else { values.join(", ") };
            let label = facets::attribute_chip(self.edition, &format!("{attribute}:{shown}"));
            (label, self.list.address.adding(values.iter().map(|value| attribute_filter(attribute, value))))
        });
        understood.collect()
    }

    /// The words that no product contains. If a query that finds nothing is a single word, the page
    /// says so anyway.
    fn unknown_words(&self) -> Vec<&str> {
        let words = self.query().unknown.iter().filter(|unknown| unknown.is_word()).map(|unknown| &*unknown.value);
        words.filter(|word| self.total() > 0 || Some(*word) != self.list.search.q.as_deref().map(str::trim)).collect()
    }

    /// The first few additional terms that were searched for.
    fn synonyms(&self) -> Vec<&str> {
        let mut terms: Vec<&str> = Vec::new();
        for Correction { from, to } in &self.query().synonyms {
            let is_same = |other: &str| spelled_alike(other) == spelled_alike(to);
            if terms.len() < MAX_SYNONYMS && !is_same(from) && !terms.iter().any(|term| is_same(term)) {
                terms.push(to);
            }
        }
        terms
    }
}

/// A form that `Prüfung`, `Pruefung` and `prufung` share.
fn spelled_alike(word: &str) -> String {
    let word: String = folded(word).collect();
    ["ae", "oe", "ue"].into_iter().fold(word, |word, pair| word.replace(pair, &pair[..1]))
}

#[derive(Debug, Template)]
#[template(path = "results.html")]
struct ResultsPage<'a> {
    frame: Frame<'a>,
    explore: Explore<'a>,
}

/// The home page, or search results if the URL has any list parameters.
pub(super) async fn get_home(visit: Visit) -> Result<Response, ApiError> {
    let names = names();
    let is_list = visit.query.pairs().any(|(name, _)| names.iter().any(|known| known.as_bytes() == name));
    if !is_list {
        return home::get(visit).await;
    }
    let list = List::read(links::all_products(visit.base()), &visit, None)?;
    show(visit, list, false).await
}

/// The part of a list page that the script replaces.
pub(super) async fn get_results(visit: Visit) -> Result<Response, ApiError> {
    let list = List::read(links::all_products(visit.base()), &visit, None)?;
    show(visit, list, true).await
}

/// Shows a list, or only the part of it that the script replaces.
pub(super) async fn show(visit: Visit, list: List, is_part: bool) -> Result<Response, ApiError> {
    let (state, snapshot, search) = (Arc::clone(&visit.state), visit.snapshot.clone(), list.search.clone());
    let view = View { visit: Arc::new(visit), list: Arc::new(list), is_part };
    let on_pool = view.clone();
    let written = state.search_page(snapshot, search, move |page, results| {
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
        let budget = service::budget(&view.visit.snapshot, &stop);
        budget.charge(spent);
        let nothing = Nothing::found(&view.visit, &view.list, &empty.query, budget)?;
        view.write(&empty, Some(nothing))
    };
    state.search(look_further).await?
}

/// A list to show to a reader.
#[derive(Debug, Clone)]
struct View {
    visit: Arc<Visit>,
    list: Arc<List>,
    is_part: bool,
}

impl View {
    /// The products chosen for comparison, given the page's.
    fn compared(&self, products: &[SoftwareDetail<'_>]) -> Result<Vec<Chosen>, ApiError> {
        let chosen = service::get_items(&self.visit.snapshot, &self.list.compared, self.visit.of_texts.as_ref())?;
        let chosen = row::items(chosen.iter())?.into_iter().map(|item| Chosen {
            without: self.list.address.replacing(COMPARED, &item.id, ""),
            is_shown: products.iter().any(|product| product.item.id == item.id),
            name: in_list(&item.name).into_owned(),
            id: item.id.into_owned(),
        });
        Ok(chosen.collect())
    }

    fn write(&self, page: &SearchPage<'_>, nothing: Option<Nothing<'_>>) -> Result<Response, ApiError> {
        let (visit, list, snapshot) = (&self.visit, &self.list, &self.visit.snapshot);
        let (edition, site) = (visit.edition(), visit.site());
        let t = edition.t;
        let items = row::items(page.data.iter().map(|hit| &hit.item))?;
        let records = row::records(snapshot, &items)?;
        let products = row::products(items, &records)?;
        let chosen: Vec<&str> = list.search.filter.categories.iter().map(String::as_str).collect();
        let is_ranked = list.search.q.is_some() && list.search.sort == SearchSort::Relevance;
        let leaders = leaders(&products);
        let alike = service::get_items(snapshot, page.query.alternatives_to_id.as_slice(), None)?;
        let alike = row::items(alike.iter())?.pop();
        let searched = list.corrected(&page.query).unwrap_or_default();
        let mut above = None;
        let rows = products.iter().zip(&page.data).enumerate().filter(|(at, _)| leaders[*at] == *at);
        let rows = rows.map(|(at, (product, hit))| {
            let tier = Some(hit.tier).filter(|_| is_ranked);
            let line = tier.and_then(|tier| tier_line(t, tier, page));
            let is_first = std::mem::replace(&mut above, line) != line;
            // What's similar to a product shares many words with it, most of them by chance.
            let highlights = hit.highlights.as_deref().filter(|_| alike.is_none());
            let matches = highlights.map(serde_json::from_slice).transpose().map_err(ApiError::internal)?;
            let is_ticked = list.compared.iter().any(|id| *id == *product.item.id);
            let mut row = Row::new(edition, product).preferring(&chosen);
            row.selected_by = (!edition.base.is_published).then(|| (list.form(), is_ticked));
            row.is_chosen = tier == Some(Tier::Pinned);
            row.matches = matches.unwrap_or_default();
            let others = products.iter().enumerate().filter(|(of, _)| leaders[*of] == at && *of != at);
            let also = others.map(|(_, of)| (in_list(&of.detail.export.name), edition.software_href(&of.item.id)));
            row.also = also.collect();
            if list.search.q.is_some() && !row.is_explained() {
                row.note = reason(edition, (&searched, &page.query), hit.tier, product, alike.as_ref());
            }
            Ok((line.filter(|_| is_first), row))
        });
        let q = list.search.q.as_deref().unwrap_or_default();
        let name = list.category.as_ref().map_or(t.products, |category| &category.name);
        let title = if q.is_empty() { name.to_owned() } else { format!("{q} · {}", t.results) };
        let mut frame = visit.frame().titled(&title).at(&list.address.at_page(list.address.page()));
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
            groups: facets::groups(edition, &list.address, &page.facets),
            chips: facets::chips(edition, &list.address),
            pager: Pager::new(t, page.pagination, &list.address, list.search.q.is_some()),
            calls: Calls::new(t, site, &[call(list)]),
            nothing,
            compared: self.compared(&products)?,
            feed: Some(list.feed(&page.query)).filter(|feed| {
                site.config.public_page.is_some() && site.config.publication.is_none() && !feed.is_empty()
            }),
        };
        if self.is_part {
            return respond::html(StatusCode::OK, t, &explore);
        }
        if let Some(category) = &list.category {
            // On a category's page, the header's search box still covers the whole directory.
            frame = frame.described(category.description.as_deref().unwrap_or_default());
            frame.section = Section::Categories;
            frame.is_found = list.search.page.offset == 0;
            frame.json_ld = breadcrumbs(site, t, category);
        } else {
            frame.section = Section::Products;
            frame.q = q;
        }
        respond::html(StatusCode::OK, t, &ResultsPage { frame, explore })
    }
}

/// For each record, the first one about the same product: from another export, with the same website
/// and a name or alias in common.
fn leaders(records: &[SoftwareDetail<'_>]) -> Vec<usize> {
    let names = |record: &SoftwareDetail<'_>| -> Vec<String> {
        let names = std::iter::once(&record.item.name).chain(&record.detail.aliases);
        names.filter_map(|name| AttributeType::Text.key(name)).collect()
    };
    let links = |one: &SoftwareDetail<'_>, other: &SoftwareDetail<'_>| {
        one.detail.same_as.iter().any(|same| same.id == other.item.id)
    };
    let is_same = |one: &SoftwareDetail<'_>, other: &SoftwareDetail<'_>| {
        (links(one, other) || links(other, one)) && {
            let others = names(other);
            names(one).iter().any(|name| others.contains(name))
        }
    };
    let mut leaders: Vec<usize> = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let leader = (0..at).find(|of| leaders[*of] == *of && is_same(&records[*of], record));
        leaders.push(leader.unwrap_or(at));
    }
    leaders
}

/// Why a product was found, if no marked text says it, as HTML. `q` is the query as searched, and
/// `alike` the product that an alternative is sought to.
fn reason<'a>(
    edition: Edition<'a>,
    (q, query): (&str, &QueryReport),
    tier: Tier,
    product: &'a SoftwareDetail<'a>,
    alike: Option<&SoftwareItem<'_>>,
) -> Option<String> {
    let (t, item) = (edition.t, &product.item);
    let quiet = |text: &str| format!("<span class=\"quiet\">{}</span>", escape(text));
    let labelled =
        |label: &str, value: &str| format!("{} <bdi>{}</bdi>", quiet(&format!("{label}{}", t.colon)), escape(value));
    let name =
        |category: &CategoryRef<'_>| format!("<bdi{}>{}</bdi>", edition.category(&category.id), escape(&category.name));
    if let Some(alike) = alike {
        let is_shared = |category: &&CategoryRef<'_>| alike.categories.iter().any(|of| of.id == category.id);
        let shared: Vec<_> = item.categories.iter().filter(is_shared).take(MAX_SHARED).map(name).collect();
        return Some(match &*shared {
            [] => quiet(t.similar_meaning),
            shared => format!("{} {}", quiet(&format!("{}{}", t.in_common, t.colon)), shared.join(", ")),
        });
    }
    if tier.is_related() {
        return Some(quiet(t.similar_meaning));
    }
    // Some of the searched fields have no highlights.
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric()).map(|part| folded(part).collect());
        parts.filter(|part: &String| !part.is_empty() && !is_function_word(part)).collect()
    };
    let words = parts(q);
    let is_named = |text: &str| parts(text).iter().any(|part| words.contains(part));
    let attributes = attribute::shown(&edition.catalogue.tables.attributes);
    let facts = attributes.map(|of| Fact::new(edition, of, product));
    let mut facts = facts.filter_map(|fact| Some((fact.name.0, fact.values.into_iter().find(|of| is_named(&of.0))?.0)));
    let also = query.synonyms.iter().map(|synonym| &*synonym.to);
    let has = |text: &str, term: &str| folded(text).collect::<String>().contains(&*folded(term).collect::<String>());
    if let Some((label, value)) = facts.next() {
        Some(labelled(label, &value))
    } else if let Some(replaced) = &query.alternatives_to {
        Some(labelled(t.alternative_to, replaced))
    } else if let Some((category, term)) =
        also.clone().find_map(|term| Some((item.categories.iter().find(|category| has(&category.name, term))?, term)))
    {
        let label = quiet(&format!("{}{}", t.category, t.colon));
        Some(format!("{label} {} · {}", name(category), labelled(t.also_searched, term)))
    } else {
        let kind = item.offering_type.replace('-', " ");
        let is_meant = is_named(&kind) || also.clone().any(|term| has(&kind, term));
        is_meant.then(|| labelled(t.kind, &row::kind(t, &item.offering_type).unwrap_or(t.software_kind.into())))
    }
}

/// Breadcrumbs from the home page to a category.
fn breadcrumbs(site: &Site, t: &'static Texts, category: &CategoryResource) -> Vec<JsonLd> {
    if site.config.base().is_empty() {
        return Vec::new();
    }
    vec![JsonLd::breadcrumbs(&[
        (t.categories, site.absolute().page("/categories")),
        (&category.name, of_category(site.absolute(), &category.id)),
    ])]
}

/// The line above the first product of a tier; none above products that match the whole query.
fn tier_line(t: &'static Texts, tier: Tier, page: &SearchPage<'_>) -> Option<&'static str> {
    match tier {
        Tier::RelatedDemo | Tier::Related if page.total_by_words() > 0 => Some(t.near_in_meaning),
        Tier::RelatedDemo | Tier::Related => Some(t.no_product_has_these_words),
        Tier::Demo | Tier::Words if page.query.with_all_words == 0 => Some(t.no_product_has_all_words),
        Tier::Demo | Tier::Words | Tier::Pinned | Tier::ExactName => None,
    }
}

/// The API search behind a list.
fn call(list: &List) -> Call {
    let mut call = Call::new("/v1/search", "search.products");
    if let Some(category) = &list.category {
        call = call.with(CATEGORY.name, category.id.as_str());
    }
    for (name, value) in list.address.pairs().filter(|(name, _)| ![PAGE, COMPARED].contains(name)) {
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
    /// Where readers can suggest the product that they looked for.
    pub(super) suggest_product: Option<String>,
}

#[derive(Debug)]
pub(super) struct Way<'a> {
    pub(super) label: String,
    pub(super) lang: Lang<'a>,
    pub(super) href: String,
    /// The number of products.
    pub(super) count: Option<u64>,
}

/// The address of the first export that takes suggestions.
fn suggest_product(snapshot: &Snapshot, name: &str) -> Option<String> {
    let exports = snapshot.catalogue.tables.exports.iter().map(|export| &export.resource);
    let mut templates = exports.filter_map(|export| {
        let template = Corrections::parse(export.corrections.as_deref()?).ok()?;
        Some(template.url(["", name, &export.id, ""]))
    });
    templates.next()
}

impl<'a> Nothing<'a> {
    /// What to offer after this list's search, which found nothing, within what's left of the page's
    /// budget.
    fn found(visit: &'a Visit, list: &List, report: &QueryReport, budget: Budget) -> Result<Self, ApiError> {
        let (edition, snapshot) = (visit.edition(), &visit.snapshot);
        let chips = facets::chips(edition, &list.address);
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
            suggest_product: list.search.q.as_deref().and_then(|q| suggest_product(snapshot, q)),
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
        nothing.queries = counter.ways(edition.base, queries)?;
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
        nothing.words = counter.ways(edition.base, words)?;
        let suggestions = service::suggest(snapshot, &q, FEW, edition.language, &counter.budget)?;
        let product = |product: &SoftwareRef| Way {
            label: product.name.clone(),
            lang: Lang::default(),
            href: edition.software_href(&product.id),
            count: None,
        };
        nothing.products = suggestions.software.iter().map(product).collect();
        let category = |category: &CategorySuggestion<'_>| Way {
            label: category.name.to_owned(),
            lang: edition.category(category.id),
            href: edition.category_href(category.id),
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
    fn ways<'a>(&self, base: Base<'_>, queries: Vec<String>) -> Result<Vec<Way<'a>>, ApiError> {
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
