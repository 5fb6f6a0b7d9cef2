//! What to offer after a search that found nothing: similar and looser queries, and records with a
//! similar name.

use super::edition::{Edition, Lang};
use super::facets;
use super::links::{of_category, of_search, of_software};
use super::list::List;
use crate::catalogue::resource::{CategorySuggestion, QueryReport, SoftwareRef};
use crate::http::extract::Snapshot;
use crate::http::problem::ApiError;
use crate::service::parameter::definition::SEARCH_Q;
use crate::service::{self, Budget, PageRequest, SearchSoftware};
use crate::text::english::is_function_word;
use crate::text::fold::folded;

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
        let unknown: Vec<String> = report.unknown.iter().map(|word| folded(word).collect()).collect();
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
