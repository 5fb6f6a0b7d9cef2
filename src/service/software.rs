//! Products: lists of them, and one of them.

use bytes::Bytes;

use super::{ListSoftware, Page, PageRequest, ServiceError};
use crate::catalogue::{Catalogue, Filter, Order, Ordinal};
use crate::engine::{EngineError, SearchRequest};
use crate::search::budget::Budget;
use crate::search::names;
use crate::snapshot::Snapshot;

/// Lists products (`GET /v1/software`).
///
/// # Errors
/// Where the engine fails; only with `q`.
pub fn list_software<'s>(snapshot: &'s Snapshot, query: &ListSoftware) -> Result<Page<'s>, ServiceError> {
    let catalogue = &snapshot.catalogue;
    let mut filter = query.filter.resolve(catalogue);
    if !query.ids.is_empty() {
        let mut ordinals: Vec<_> = query.ids.iter().filter_map(|id| catalogue.find(id)).collect();
        ordinals.sort_unstable();
        ordinals.dedup();
        filter.ordinals = Some(ordinals);
    }
    let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
    let (ordinals, total) = match q {
        None => in_order(catalogue, &filter, query.sort.unwrap_or(Order::Name), query.page),
        Some(q) => search_names(snapshot, q, &filter, query.sort, query.page)?,
    };
    let data = catalogue.items(ordinals.iter().copied()).collect();
    Ok(Page { data, pagination: query.page.pagination(total) })
}

/// One product as a response body, `{"data": {…}}`; `None` for an unknown id.
///
/// # Errors
/// Where its text is damaged.
pub fn get_software(snapshot: &Snapshot, id: &str) -> Result<Option<Bytes>, ServiceError> {
    let ordinal = snapshot.catalogue.find(id);
    Ok(ordinal.map(|ordinal| snapshot.catalogue.detail(ordinal)).transpose()?)
}

/// A page of the products with names that match a text, and their total.
pub(super) fn search_names(
    snapshot: &Snapshot,
    q: &str,
    filter: &Filter,
    order: Option<Order>,
    page: PageRequest,
) -> Result<(Vec<Ordinal>, u64), EngineError> {
    let Some(plan) = names::plan(q) else { return Ok((Vec::new(), 0)) };
    // A query is short and names are too, so the work is little; a list has no place to say that it is incomplete.
    let budget = Budget::new(u64::MAX);
    let request = SearchRequest { plan: &plan, filter, order, page: page.range(), facets: None, budget: &budget };
    let found = snapshot.engine.search(&request)?;
    Ok((found.hits.iter().map(|hit| hit.ordinal).collect(), found.total))
}

/// A page of the products that pass a filter, in a stored order.
fn in_order(catalogue: &Catalogue, filter: &Filter, order: Order, page: PageRequest) -> (Vec<Ordinal>, u64) {
    let columns = &catalogue.tables.columns;
    let order = columns.order(order);
    if let Some(some) = &filter.ordinals {
        // A few products: sorted by their places in the order, which isn't walked.
        let mut admitted: Vec<_> =
            some.iter().copied().filter(|ordinal| filter.admit(columns, *ordinal).passed()).collect();
        admitted.sort_unstable_by_key(|ordinal| order.ranks[*ordinal as usize]);
        return (page.slice(&admitted).to_vec(), admitted.len() as u64);
    }
    if filter.is_open() {
        return (page.slice(&order.ordinals).to_vec(), order.ordinals.len() as u64);
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
