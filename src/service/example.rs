//! Example queries, taken from a directory's content.

use std::cmp::Reverse;

use super::{ListSoftware, PageRequest, SearchSoftware, ServiceError, Stop, list_software, search_software};
use crate::catalogue::resource::{CategoryResource, SoftwareItem};
use crate::generation::Snapshot;

/// The maximum length of a name that's used as a query, in characters.
const MAX_LENGTH: usize = 40;

/// Returns up to `most` queries that find products: names of the largest categories, or a product's
/// name if there are none.
pub fn example_queries(snapshot: &Snapshot, most: usize) -> Result<Vec<String>, ServiceError> {
    let mut categories: Vec<&CategoryResource> = snapshot.catalogue.tables.categories.iter().collect();
    categories.retain(|category| category.software_count > 0);
    categories.sort_by_key(|category| Reverse(category.software_count));
    let mut names: Vec<String> =
        categories.into_iter().take(2 * most).map(|category| category.name.to_lowercase()).collect();
    if names.is_empty() {
        let page = PageRequest { limit: 1, offset: 0 };
        let first = list_software(snapshot, &ListSoftware { page, ..ListSoftware::default() }, &Stop::default())?;
        names = first
            .data
            .iter()
            .map(|item| Ok(serde_json::from_slice::<SoftwareItem<'_>>(item)?.name.into_owned()))
            .collect::<Result<_, ServiceError>>()?;
    }
    let mut queries = Vec::new();
    for name in names.into_iter().filter(|name| name.chars().count() <= MAX_LENGTH) {
        let search = SearchSoftware { page: PageRequest { limit: 1, offset: 0 }, ..SearchSoftware::new(&name) };
        if queries.len() < most && search_software(snapshot, &search)?.pagination.total > 0 {
            queries.push(name);
        }
    }
    Ok(queries)
}
