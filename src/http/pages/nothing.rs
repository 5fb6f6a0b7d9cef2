//! Ways on from a search that found nothing: looser queries, and what has a similar name.

use super::links::{of_category, of_search, of_software};
use crate::catalogue::resource::{CategorySuggestion, SoftwareRef};
use crate::generation::Snapshot;
use crate::http::problem::ApiError;
use crate::service::parameter::definition::SEARCH_Q;
use crate::service::{self, PageRequest, SearchSoftware, SoftwareFilter};

/// The most words of a query that are tried alone.
const MAX_WORDS: usize = 6;

/// The most products and categories.
const FEW: u32 = 5;

#[derive(Debug)]
pub(super) struct Nothing {
    pub(super) q: Option<String>,
    pub(super) has_filters: bool,
    /// How many products there are without the filters.
    pub(super) without_filters: u64,
    /// Words of the query that find products alone.
    pub(super) words: Vec<Way>,
    pub(super) products: Vec<Way>,
    pub(super) categories: Vec<Way>,
}

#[derive(Debug)]
pub(super) struct Way {
    pub(super) label: String,
    pub(super) href: String,
    /// The number of products.
    pub(super) count: Option<u64>,
}

impl Nothing {
    pub(super) async fn found(base: &str, snapshot: &Snapshot, search: &SearchSoftware) -> Result<Self, ApiError> {
        let has_filters = search.filter != SoftwareFilter::default();
        let total = async |q: Option<&str>| -> Result<u64, ApiError> {
            let page = PageRequest { limit: 1, offset: 0 };
            let looser = SearchSoftware { page, q: q.map(str::to_owned), ..SearchSoftware::new("") };
            Ok(service::search_software(snapshot, &looser).await?.pagination.total)
        };
        let q = search.q.as_deref();
        let mut nothing = Self {
            q: search.q.clone(),
            has_filters,
            without_filters: if has_filters { total(q).await? } else { 0 },
            words: Vec::new(),
            products: Vec::new(),
            categories: Vec::new(),
        };
        let Some(q) = q else { return Ok(nothing) };
        let words: Vec<&str> = q.split_whitespace().collect();
        if words.len() > 1 {
            for word in words.into_iter().take(MAX_WORDS) {
                let count = total(Some(word)).await?;
                if count > 0 {
                    let href = of_search(base, SEARCH_Q.name, word);
                    nothing.words.push(Way { label: word.to_owned(), href, count: Some(count) });
                }
            }
        }
        let suggestions = service::suggest(snapshot, q, FEW, search.language.as_ref()).await?;
        let product = |product: &SoftwareRef| Way {
            label: product.name.clone(),
            href: of_software(base, &product.id),
            count: None,
        };
        nothing.products = suggestions.software.iter().map(product).collect();
        let category = |category: &CategorySuggestion<'_>| Way {
            label: category.name.to_owned(),
            href: of_category(base, category.id),
            count: Some(category.software_count),
        };
        nothing.categories = suggestions.categories.iter().map(category).collect();
        Ok(nothing)
    }
}
