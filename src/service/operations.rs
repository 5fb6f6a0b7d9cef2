//! The operations.

use std::io;
use std::ops::Range;

use bytes::Bytes;

use super::highlight::Highlighter;
use super::{
    GlossaryPage, ListGlossary, ListSoftware, Page, PageRequest, ReviewsPage, SearchPage, SearchResults,
    SearchSoftware, SearchSort, SoftwareFilter,
};
use crate::catalogue::{Catalogue, DamagedText, ExportDocument, Filter, Order, Ordinal, Span, StoredExport};
use crate::engine::{EngineError, SearchHits, SearchRequest};
use crate::resource::{Correction, Pagination, QueryReport};
use crate::search::analyse::{Word, written};
use crate::search::budget::Budget;
use crate::search::collect::{Candidate, FacetCounts};
use crate::search::expand::{ENOUGH, Expansion, Options, Prefix, expand};
use crate::search::query::{ParsedQuery, parse};
use crate::search::understand::Documents;
use crate::search::{Alternative, Group, Plan, Term, names};
use crate::snapshot::Snapshot;

/// A failure of an operation that isn't the caller's.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The engine could not carry out the query.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A product's stored text is damaged.
    #[error(transparent)]
    Text(#[from] DamagedText),
    /// A product's JSON could not be read for highlights, or they could not be written.
    #[error("the highlights of a hit can't be made")]
    Highlight(#[from] serde_json::Error),
}

/// Lists products (`GET /v1/software`).
///
/// # Errors
/// Where the engine fails; only with `q`.
pub fn list_software<'s>(snapshot: &'s Snapshot, query: &ListSoftware) -> Result<Page<'s>, ServiceError> {
    let catalogue = &snapshot.catalogue;
    let filter = resolve(catalogue, &query.filter);
    let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
    let (ordinals, total) = match q {
        None => in_order(catalogue, &filter, query.sort.unwrap_or(Order::Name), query.page),
        Some(q) => search_names(snapshot, q, &filter, query.sort, query.page)?,
    };
    let data = catalogue.items(ordinals.iter().copied()).collect();
    Ok(Page { data, pagination: pagination(query.page, total) })
}

/// One product as a response body, `{"data": {…}}`; `None` for an unknown id.
///
/// # Errors
/// Where its text is damaged.
pub fn get_software(snapshot: &Snapshot, id: &str) -> Result<Option<Bytes>, ServiceError> {
    let ordinal = snapshot.catalogue.find(id);
    Ok(ordinal.map(|ordinal| snapshot.catalogue.detail(ordinal)).transpose()?)
}

/// Lists categories by name.
#[must_use]
pub fn list_categories(snapshot: &Snapshot, page: PageRequest) -> Page<'_> {
    page_of_spans(&snapshot.catalogue, &snapshot.catalogue.tables.category_objects, page)
}

/// Lists a product's reviews, newest first; `None` for an unknown product.
#[must_use]
pub fn list_reviews<'s>(snapshot: &'s Snapshot, software_id: &str, page: PageRequest) -> Option<ReviewsPage<'s>> {
    let ordinal = snapshot.catalogue.find(software_id)?;
    let reviews = snapshot.catalogue.tables.reviews.of(ordinal);
    let page = page_of_spans(&snapshot.catalogue, &reviews.objects, page);
    Some(ReviewsPage { page, summary: &reviews.summary })
}

/// Lists glossary terms by term, or with `q` best match first.
#[must_use]
pub fn list_glossary<'s>(snapshot: &'s Snapshot, query: &ListGlossary) -> GlossaryPage<'s> {
    let entries = &snapshot.catalogue.tables.glossary;
    let spans: Vec<Span> = match query.q.as_deref().filter(|q| !q.trim().is_empty()) {
        None => entries.iter().map(|entry| entry.object).collect(),
        Some(q) => snapshot.glossary.search(q, entries).into_iter().map(|at| entries[at].object).collect(),
    };
    page_of_spans(&snapshot.catalogue, &spans, query.page)
}

/// Searches products.
///
/// # Errors
/// Where the engine fails, or a highlight can't be written.
pub fn search_software<'s>(snapshot: &'s Snapshot, query: &SearchSoftware) -> Result<SearchPage<'s>, ServiceError> {
    Ok(find_software(snapshot, query)?.page(snapshot, query))
}

/// The costly part of [`search_software`]: everything but the texts of the hits.
///
/// # Errors
/// Where the engine fails, or a highlight can't be written.
pub fn find_software(snapshot: &Snapshot, query: &SearchSoftware) -> Result<SearchResults, ServiceError> {
    find_software_within(snapshot, query, &budget(snapshot))
}

/// The same with another budget than the service's.
///
/// # Errors
/// Where the engine fails, or a highlight can't be written.
pub fn find_software_within(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    budget: &Budget,
) -> Result<SearchResults, ServiceError> {
    let filter = resolve(&snapshot.catalogue, &query.filter);
    let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
    let parsed = q.map(parse).unwrap_or_default();
    let search = |parsed: &_| understand_and_search(snapshot, query, parsed, &filter, budget);
    let (mut expansion, mut found) = search(&parsed)?;
    // The filter doesn't change how a query is understood: a facet's count is the total with its filter.
    if found.unfiltered_total == 0 && query.typo && !parsed.phrases.is_empty() {
        // No product has the phrases: their words are searched, and the report says so.
        let unquoted =
            parsed.phrases.iter().map(|phrase| unquoted(q.unwrap_or_default(), &parsed.words[phrase.clone()]));
        let unquoted: Vec<_> = unquoted.collect();
        (expansion, found) = search(&parsed.without_phrases())?;
        expansion.report.corrected.splice(0..0, unquoted);
    }
    let highlights = if query.highlight { Some(highlights(snapshot, &expansion, &found.hits, budget)?) } else { None };
    Ok(SearchResults {
        hits: found.hits.iter().map(|hit| (hit.ordinal, shown_score(*hit, &expansion.plan))).collect(),
        highlights,
        total: found.total,
        query: QueryReport { with_all_words: found.complete, incomplete: budget.is_exceeded(), ..expansion.report },
        counts: found.facets.map(Box::new),
    })
}

/// Expands a parsed query and searches for it. The last word is taken for a beginning after all where it is closed and too few
/// products are found.
fn understand_and_search(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    parsed: &ParsedQuery,
    filter: &Filter,
    budget: &Budget,
) -> Result<(Expansion, SearchHits), ServiceError> {
    let (expansion, found) = search_as(snapshot, query, parsed, query.prefix, filter, budget)?;
    if expansion.is_closed && found.unfiltered_total < ENOUGH as u64 {
        return search_as(snapshot, query, parsed, Prefix::Always, filter, budget);
    }
    Ok((expansion, found))
}

fn search_as(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    parsed: &ParsedQuery,
    prefix: Prefix,
    filter: &Filter,
    budget: &Budget,
) -> Result<(Expansion, SearchHits), ServiceError> {
    let expansion = match query.q.as_deref().filter(|q| !q.trim().is_empty()) {
        Some(q) => expand(&snapshot.search, snapshot, q, parsed, Options { typo: query.typo, prefix }, budget)?,
        None => Expansion::default(),
    };
    let request = SearchRequest {
        plan: &expansion.plan,
        filter,
        order: search_order(query.sort),
        page: range(query.page),
        facets: !query.facets.is_empty(),
        budget,
    };
    let found = if expansion.is_hopeless {
        SearchHits { facets: request.facets.then(FacetCounts::default), ..SearchHits::default() }
    } else {
        snapshot.engine.search(&request)?
    };
    Ok((expansion, found))
}

/// How many products are looked at to learn in which categories those with a name are.
const EXAMPLES: usize = 10;

impl Documents for Snapshot {
    type Error = EngineError;

    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError> {
        self.engine.document_frequency(term)
    }

    fn categories(&self, term: &Term) -> Result<Vec<String>, EngineError> {
        let alternatives = vec![Alternative { term: term.clone(), weight: 1.0 }];
        let plan =
            Plan { groups: vec![Group { alternatives, required: true, indispensable: false }], ..Plan::default() };
        let filter = Filter::default();
        let budget = Budget::of_documents(self.search.forward.len());
        let request = SearchRequest {
            plan: &plan,
            filter: &filter,
            order: None,
            page: 0..EXAMPLES,
            facets: false,
            budget: &budget,
        };
        let tables = &self.catalogue.tables;
        let mut categories: Vec<_> = self
            .engine
            .search(&request)?
            .hits
            .iter()
            .flat_map(|hit| tables.columns.categories_of(hit.ordinal))
            .map(|category| tables.categories[*category as usize].id.clone())
            .collect();
        categories.sort_unstable();
        categories.dedup();
        Ok(categories)
    }
}

/// The correction of a phrase to its words.
fn unquoted(text: &str, phrase: &[Word]) -> Correction {
    let words = written(text, phrase);
    Correction { from: format!("\"{words}\""), to: words.to_owned() }
}

/// The highlights of some hits.
fn highlights(
    snapshot: &Snapshot,
    expansion: &Expansion,
    hits: &[Candidate],
    budget: &Budget,
) -> Result<Box<[Bytes]>, ServiceError> {
    let ordinals = hits.iter().map(|hit| hit.ordinal);
    let mut highlighter = Highlighter::new(snapshot, expansion, ordinals, budget);
    hits.iter().map(|hit| highlighter.highlights(hit).map(Bytes::from)).collect()
}

/// Lists the loaded exports by id.
#[must_use]
pub fn list_exports(snapshot: &Snapshot, page: PageRequest) -> Page<'_> {
    let spans: Vec<_> = snapshot.catalogue.tables.exports.iter().map(|export| export.object).collect();
    page_of_spans(&snapshot.catalogue, &spans, page)
}

/// One export for download; `None` for an unknown id.
#[must_use]
pub fn get_export<'s>(snapshot: &'s Snapshot, id: &str) -> Option<ExportDownload<'s>> {
    let document = snapshot.catalogue.tables.exports.iter().find(|export| export.resource.id == id)?;
    Some(ExportDownload { catalogue: &snapshot.catalogue, document })
}

/// An export for download.
#[derive(Debug, Clone, Copy)]
pub struct ExportDownload<'s> {
    catalogue: &'s Catalogue,
    document: &'s ExportDocument,
}

impl ExportDownload<'_> {
    /// The licence that governs it: a URI.
    #[must_use]
    pub fn license(&self) -> &str {
        &self.document.resource.license
    }

    /// Opens the document, unless it is damaged. Blocks on the disk.
    ///
    /// # Errors
    /// Where the kept document is damaged.
    pub fn open(&self) -> io::Result<StoredExport> {
        self.document.open(self.catalogue)
    }
}

fn resolve(catalogue: &Catalogue, filter: &SoftwareFilter) -> Filter {
    let categories = (!filter.categories.is_empty()).then(|| {
        let mut categories: Vec<_> =
            filter.categories.iter().filter_map(|category| catalogue.category(category)).collect();
        categories.sort_unstable();
        categories.dedup();
        categories
    });
    Filter {
        categories,
        offering_type: filter.offering_type,
        evidence_status: filter.evidence_status,
        min_rating: filter.min_rating,
        evidence_checked_before: filter.evidence_checked_before,
    }
}

/// The budget of a search.
fn budget(snapshot: &Snapshot) -> Budget {
    Budget::of_documents(snapshot.search.forward.len())
}

const fn search_order(sort: SearchSort) -> Option<Order> {
    match sort {
        SearchSort::Relevance => None,
        SearchSort::Name => Some(Order::Name),
        SearchSort::Rating => Some(Order::Rating),
        SearchSort::ReviewCount => Some(Order::ReviewCount),
    }
}

/// A page of the products with names that match a text, and their total.
fn search_names(
    snapshot: &Snapshot,
    q: &str,
    filter: &Filter,
    order: Option<Order>,
    page: PageRequest,
) -> Result<(Vec<Ordinal>, u64), EngineError> {
    let Some(plan) = names::plan(q) else { return Ok((Vec::new(), 0)) };
    // A query is short and names are too, so the work is little; a list has no place to say that it is incomplete.
    let budget = Budget::new(u64::MAX);
    let request = SearchRequest { plan: &plan, filter, order, page: range(page), facets: false, budget: &budget };
    let found = snapshot.engine.search(&request)?;
    Ok((found.hits.iter().map(|hit| hit.ordinal).collect(), found.total))
}

/// A page of the products that pass a filter, in a stored order.
fn in_order(catalogue: &Catalogue, filter: &Filter, order: Order, page: PageRequest) -> (Vec<Ordinal>, u64) {
    let columns = &catalogue.tables.columns;
    let order = columns.order(order);
    if filter.is_open() {
        return (slice(&order.ordinals, page).to_vec(), order.ordinals.len() as u64);
    }
    let mut ordinals = Vec::new();
    let mut total = 0;
    let end = page.offset.saturating_add(u64::from(page.limit));
    for ordinal in order.ordinals.iter().filter(|ordinal| filter.admit(columns, **ordinal).passed()) {
        if (page.offset..end).contains(&total) {
            ordinals.push(*ordinal);
        }
        total += 1;
    }
    (ordinals, total)
}

/// The score of a hit in responses: the tier, plus the match's score scaled to 0 to 1. It falls from hit to hit.
fn shown_score(hit: Candidate, plan: &Plan) -> f32 {
    if plan.names.is_empty() {
        return 0.0;
    }
    f32::from(hit.tier as u8) + hit.score / (hit.score + 10.0)
}

fn page_of_spans<'s>(catalogue: &'s Catalogue, spans: &[Span], page: PageRequest) -> Page<'s> {
    let data = slice(spans, page).iter().map(|span| catalogue.object(*span)).collect();
    Page { data, pagination: pagination(page, spans.len() as u64) }
}

/// The part of a list that a page shows; empty past its end.
fn slice<T>(items: &[T], page: PageRequest) -> &[T] {
    let Range { start, end } = range(page);
    let end = end.min(items.len());
    &items[start.min(end)..end]
}

/// The places of a page's items.
fn range(page: PageRequest) -> Range<usize> {
    let start = usize::try_from(page.offset).unwrap_or(usize::MAX);
    start..start.saturating_add(page.limit as usize)
}

pub(super) const fn pagination(page: PageRequest, total: u64) -> Pagination {
    Pagination { limit: page.limit, offset: page.offset, total }
}
