//! Reads the URL of a product list.

use super::compare;
use super::facets;
use super::links::{Address, Base, COMPARED, PAGE, of_category};
use super::pager::offset;
use super::visit::Visit;
use crate::catalogue::Catalogue;
use crate::catalogue::resource::{CategoryResource, Correction, QueryReport};
use crate::http::problem::{ApiError, ErrorCode, ParameterProblem};
use crate::service::parameter::definition::{CATEGORY, FILTERS, PREFIX, SEARCH_Q, SEARCH_SORT, TYPO};
use crate::service::parameter::{Given, Interface, Refusal, Values};
use crate::service::{self, Facet, MAX_QUERY_CHARACTERS, MAX_QUERY_OFFSET, PageRequest, SearchSoftware};
use crate::text::fold::folded;
use crate::text::shorten::is_longer;

/// Products per page.
const LIMIT: u32 = 20;

/// The parameters in a list's URL, except the filters.
const OTHERS: [&str; 6] = [SEARCH_Q.name, SEARCH_SORT.name, TYPO.name, PREFIX.name, PAGE, COMPARED];

/// The parameters in a list's URL.
pub(super) fn names() -> Vec<&'static str> {
    FILTERS.iter().map(|filter| filter.name()).chain(OTHERS).collect()
}

/// A list to show.
#[derive(Debug)]
pub(super) struct List {
    pub(super) address: Address,
    pub(super) search: SearchSoftware,
    /// The category that the whole page is about.
    pub(super) category: Option<CategoryResource>,
    /// The ids of the products chosen for comparison, which forms and links keep without scripts.
    pub(super) compared: Vec<String>,
}

impl List {
    /// Reads a list's URL.
    pub(super) fn read(address: Address, visit: &Visit, category: Option<CategoryResource>) -> Result<Self, ApiError> {
        let catalogue = &visit.snapshot.catalogue;
        let mut address = address.reading(&visit.query, &names());
        let prefix = address.take(PREFIX.name);
        let prefix = prefix.as_deref().map(|prefix| (PREFIX.name, prefix));
        let mut search = search(address.pairs().chain(prefix))?;
        let category = match &visit.of_texts {
            Some(language) => category.map(|category| category.in_language(language).0),
            None => category,
        };
        search.language.clone_from(&visit.of_texts);
        search.page = PageRequest { limit: LIMIT, offset: offset(address.page(), LIMIT) };
        if search.q.is_some() && search.page.offset > MAX_QUERY_OFFSET {
            return Err(too_deep());
        }
        let fixed = category.is_some();
        let refusals = service::refuse_attributes(catalogue, &search.filter, &[], search.sort.attribute());
        if !refusals.is_empty() {
            return Err(refusals.into());
        }
        // Filters need a server.
        search.facets = if address.has_pages() { Vec::new() } else { facets::shown(catalogue) };
        search.facets.retain(|facet| !(fixed && *facet == Facet::Category));
        search.highlight = search.q.is_some();
        if let Some(category) = &category {
            search.filter.categories = vec![category.id.clone()];
        }
        let compared = address.pairs().filter(|(name, _)| *name == COMPARED);
        let compared = compare::chosen(compared.map(|(_, id)| id.into()));
        Ok(Self { address, search, category, compared })
    }

    /// The form that the filters and rows belong to: the header's search form, so a new query keeps
    /// them. A category's page has its own form.
    pub(super) fn form(&self) -> &'static str {
        if self.category.is_some() { "narrow" } else { "find" }
    }

    /// The URL under which search engines should list this page: without its query, and a category's
    /// own URL instead of a filter by it.
    pub(super) fn canonical(&self, catalogue: &Catalogue, base: Base<'_>) -> String {
        let is_query = |name: &str| [SEARCH_Q.name, SEARCH_SORT.name, TYPO.name].contains(&name);
        let has_query = self.search.q.is_some();
        let list = self.address.without(|name| name == COMPARED || (has_query && is_query(name)));
        let page = if has_query { 1 } else { list.page() };
        let mut filters = list.pairs().filter(|(name, _)| *name != PAGE);
        match (filters.next(), filters.next()) {
            (Some((name, value)), None) if name == CATEGORY.name => match catalogue.categories_named(value) {
                [at] => Address::new(of_category(base, &catalogue.tables.categories[*at as usize].id)).at_page(page),
                _ => list.at_page(page),
            },
            _ => list.at_page(page),
        }
    }

    /// The query with its corrections applied, unless that makes it too long for a query.
    pub(super) fn corrected(&self, report: &QueryReport) -> Option<String> {
        let q = self.search.q.as_deref()?;
        let words = q.split_whitespace().map(|word| {
            report.corrected.iter().fold(word.to_owned(), |word, Correction { from, to }| {
                let part = word.split(|c: char| !c.is_alphanumeric()).find(|part| folded(part).eq(from.chars()));
                part.map_or_else(|| word.clone(), |part| word.replacen(part, to, 1))
            })
        });
        let corrected = words.collect::<Vec<_>>().join(" ");
        Some(if is_longer(&corrected, MAX_QUERY_CHARACTERS) { q.to_owned() } else { corrected })
    }

    /// The query string of the search's feeds, which don't correct words.
    pub(super) fn feed(&self, report: &QueryReport) -> String {
        let q = self.corrected(report).map(|q| (SEARCH_Q.name, q));
        let category = self.category.iter().map(|category| (CATEGORY.name, category.id.clone()));
        let filters = self.address.pairs().filter(|(name, _)| facets::is_filter(name));
        let pairs = q.into_iter().chain(category).chain(filters.map(|(name, value)| (name, value.to_owned())));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    }

    /// The search without some of the URL's parameters.
    pub(super) fn keeping(&self, keep: impl Fn(usize, &str) -> bool) -> Result<SearchSoftware, ApiError> {
        let pairs = self.address.pairs().enumerate().filter(|(at, (name, _))| keep(*at, name)).map(|(_, pair)| pair);
        let mut looser = search(pairs)?;
        if self.category.is_some() {
            looser.filter.categories.clone_from(&self.search.filter.categories);
        }
        Ok(looser)
    }
}

/// The search that a URL describes, without its page number.
fn search<'p>(pairs: impl Iterator<Item = (&'static str, &'p str)>) -> Result<SearchSoftware, Vec<Refusal>> {
    let mut values = Values::new(Interface::Http);
    for (name, value) in pairs.filter(|(name, _)| ![PAGE, COMPARED].contains(name)) {
        values.push(name, Some(Given::Text(value)));
    }
    values.read(SearchSoftware::from_values)
}

fn too_deep() -> ApiError {
    ApiError::Parameters(vec![ParameterProblem {
        param: PAGE.to_owned(),
        code: ErrorCode::OffsetTooLarge,
        message: format!("A search shows at most {} products.", MAX_QUERY_OFFSET + u64::from(LIMIT)),
    }])
}
