//! Lists and looks up products.

use super::{ListSoftware, Page, PageRequest, ServiceError};
use crate::catalogue::{Order, SoftwareFilter, SortedBy};
use crate::engine::{EngineError, Record, SearchHits, SearchRequest};
use crate::generation::Snapshot;
use crate::search::budget::Budget;
use crate::search::{Plan, names};

/// `GET /v1/software`.
pub async fn list_software(snapshot: &Snapshot, query: &ListSoftware) -> Result<Page, ServiceError> {
    let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
    let order = query.sort.as_ref().and_then(|sort| sort.sorted_by(&snapshot.catalogue.tables.attributes));
    let found = match q {
        None => {
            let order = order.or(Some(SortedBy::Stored(Order::Name)));
            search(snapshot, &Plan::default(), &query.filter, order, query.page).await?
        }
        Some(q) => search_names(snapshot, q, &query.filter, order, query.page).await?,
    };
    let data = found.hits.into_iter().map(|hit| hit.item).collect();
    Ok(Page { data, pagination: query.page.pagination(found.total) })
}

/// Returns a product; `None` if the id is unknown.
pub async fn get_software(snapshot: &Snapshot, id: &str) -> Result<Option<Record>, ServiceError> {
    Ok(snapshot.engine.record(id).await?)
}

/// Returns only the hash of the detail that [`get_software`] returns; `None` if the id is unknown.
pub async fn get_software_hash(snapshot: &Snapshot, id: &str) -> Result<Option<u64>, ServiceError> {
    Ok(snapshot.engine.detail_hash(id).await?)
}

pub(super) async fn search_names(
    snapshot: &Snapshot,
    q: &str,
    filter: &SoftwareFilter,
    order: Option<SortedBy>,
    page: PageRequest,
) -> Result<SearchHits, EngineError> {
    let Some(plan) = names::plan(q) else { return Ok(SearchHits::default()) };
    search(snapshot, &plan, filter, order, page).await
}

async fn search(
    snapshot: &Snapshot,
    plan: &Plan,
    filter: &SoftwareFilter,
    order: Option<SortedBy>,
    page: PageRequest,
) -> Result<SearchHits, EngineError> {
    // Names are short, so there's little work. Besides, a list has no way to say that it's
    // incomplete.
    let budget = Budget::new(u64::MAX);
    let request =
        SearchRequest { plan, filter, order, page: page.range(), facets: None, texts: false, budget: &budget };
    snapshot.engine.search(&request).await
}
