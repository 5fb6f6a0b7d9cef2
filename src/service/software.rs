//! Lists and looks up products.

use bytes::Bytes;

use super::{ListItems, ListSoftware, Page, PageRequest, ServiceError, Translator};
use crate::catalogue::resource::SoftwareItem;
use crate::catalogue::{Order, Record, SoftwareFilter, SortedBy, StoredProduct};
use crate::generation::Snapshot;
use crate::index::{IndexError, SearchHits, SearchRequest};
use crate::record::Language;
use crate::search::Plan;
use crate::search::budget::{Budget, Stop};
use crate::search::identity::{plan_by_name, plan_by_whole_name};

pub fn list_software(snapshot: &Snapshot, query: &ListSoftware, stop: &Stop) -> Result<Page, ServiceError> {
    let budget = &unlimited(stop);
    let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
    let order = query.sort.as_ref().and_then(|sort| sort.sorted_by(&snapshot.catalogue.tables.attributes));
    let mut items = ListItems::new(Translator::new(&snapshot.catalogue, query.language.as_ref()), &query.include);
    let texts = items.needs_texts();
    let found = match q {
        None => {
            let order = order.or(Some(SortedBy::Stored(Order::Name)));
            search(snapshot, &Plan::default(), &query.filter, order, query.page, texts, budget)?
        }
        Some(q) => search_names(snapshot, q, &query.filter, order, query.page, texts, budget)?,
    };
    let texts = found.texts.iter().map(Some).chain(std::iter::repeat(None));
    let data = found.hits.into_iter().zip(texts).map(|(hit, texts)| items.item(hit.item, texts));
    let data = data.collect::<Result<_, _>>()?;
    Ok(Page { data, pagination: query.page.pagination(found.total), is_in_language: items.translator.is_any() })
}

/// The budget for a list. It only stops early if the stop signal is set, because a list can't be
/// marked as incomplete. Besides, names are short, so there's little work.
pub(super) fn unlimited(stop: &Stop) -> Budget {
    Budget::new(u64::MAX).until(stop)
}

/// Returns the list items of these products in the order of their ids, with their text in the given
/// language. Products that don't exist are left out.
pub fn get_items(snapshot: &Snapshot, ids: &[String], language: Option<&Language>) -> Result<Vec<Bytes>, ServiceError> {
    let budget = &unlimited(&Stop::default());
    let (mut items, mut translator) = (Vec::with_capacity(ids.len()), Translator::new(&snapshot.catalogue, language));
    for id in ids {
        let filter = SoftwareFilter { ids: vec![id.clone()], ..SoftwareFilter::default() };
        let (page, texts) = (PageRequest { limit: 1, offset: 0 }, translator.needs_texts());
        let found =
            search(snapshot, &Plan::default(), &filter, Some(SortedBy::Stored(Order::Name)), page, texts, budget)?;
        for hit in found.hits {
            items.push(translator.item(hit.item, found.texts.first())?);
        }
    }
    Ok(items)
}

/// Returns a product as a response body with its text in the given language, and whether any text is
/// in that language; `None` if the id is unknown.
pub fn get_software(
    snapshot: &Snapshot,
    id: &str,
    language: Option<&Language>,
) -> Result<Option<(Record, bool)>, ServiceError> {
    let mut translator = Translator::new(&snapshot.catalogue, language);
    if !translator.needs_texts() {
        return Ok(snapshot.records.get(id)?.map(|record| (record, language.is_some())));
    }
    let Some(ordinal) = snapshot.records.find(id) else { return Ok(None) };
    let stored = snapshot.records.stored(ordinal)?;
    let mut product = stored.read()?;
    translator.detail(&mut product);
    let (detail_hash, body) = (snapshot.records.detail_hash(ordinal), product.to_body()?.into());
    Ok(Some((Record { detail_hash, body }, translator.is_any())))
}

/// Returns a product, ready to be parsed; `None` if the id is unknown.
pub fn read_software(snapshot: &Snapshot, id: &str) -> Result<Option<StoredProduct>, ServiceError> {
    Ok(snapshot.records.find(id).map(|ordinal| snapshot.records.stored(ordinal)).transpose()?)
}

/// Returns the id of the best product with exactly this name or alias.
pub fn find_named(snapshot: &Snapshot, name: &str) -> Result<Option<String>, ServiceError> {
    let (page, plan) = (PageRequest { limit: 1, offset: 0 }, plan_by_whole_name(name));
    let budget = &unlimited(&Stop::default());
    let found = search(snapshot, &plan, &SoftwareFilter::default(), None, page, false, budget)?;
    let Some(hit) = found.hits.into_iter().next() else { return Ok(None) };
    Ok(Some(serde_json::from_slice::<SoftwareItem<'_>>(&hit.item)?.id.into_owned()))
}

/// Returns only the hash of the detail that [`get_software`] returns; `None` if the id is unknown.
pub fn get_software_hash(snapshot: &Snapshot, id: &str) -> Option<u64> {
    snapshot.records.find(id).map(|ordinal| snapshot.records.detail_hash(ordinal))
}

pub(super) fn search_names(
    snapshot: &Snapshot,
    q: &str,
    filter: &SoftwareFilter,
    order: Option<SortedBy>,
    page: PageRequest,
    texts: bool,
    budget: &Budget,
) -> Result<SearchHits, IndexError> {
    let Some(plan) = plan_by_name(q) else { return Ok(SearchHits::default()) };
    search(snapshot, &plan, filter, order, page, texts, budget)
}

fn search(
    snapshot: &Snapshot,
    plan: &Plan,
    filter: &SoftwareFilter,
    order: Option<SortedBy>,
    page: PageRequest,
    texts: bool,
    budget: &Budget,
) -> Result<SearchHits, IndexError> {
    let request = SearchRequest { plan, filter, order, page: page.range(), facets: None, texts, budget };
    snapshot.index.search(&request)
}
